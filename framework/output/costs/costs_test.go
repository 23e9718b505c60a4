package costs_test

import (
	"math"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework/output/costs"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
)

// A point stands at the microseconds of a step and the mean, with the interval; a single run has
// none. What has no time or no mean is left out, and keeps its colour.
func TestFigure(t *testing.T) {
	s := &result.Summary{Meta: result.Meta{Environments: []string{"maze"}, Agents: []string{"untimed", "fast", "once"}}}
	for i, agent := range s.Meta.Agents {
		r := result.Row{Environment: "maze", Agent: agent, Metric: result.Reward}
		r.Mean, r.Low, r.High = float64(i), float64(i)-1, float64(i)+2
		if agent == "once" {
			r.Low, r.High = math.NaN(), math.NaN()
		}
		s.Rows = append(s.Rows, r)
	}
	cost := func(agent, processor string, steps int, seconds float64) store.Cost {
		return store.Cost{CostOf: store.CostOf{Environment: "maze", Agent: agent, Processor: processor}, Steps: steps, Seconds: seconds}
	}
	f := costs.NewFigure(s, []store.Cost{cost("fast", "a", 2000, 0.001), cost("fast", "b", 1000, 0.002), cost("once", "a", 100, 1)}, "maze", result.Reward)
	if len(f.Lines) != 3 || len(f.Lines[0].X) != 0 {
		t.Fatalf("the lines are %+v", f.Lines)
	}
	fast, once := f.Lines[1], f.Lines[2]
	if !slices.Equal(fast.X, []float64{0.5, 2}) || !slices.Equal(fast.Y, []float64{1, 1}) || !slices.Equal(fast.Low, []float64{0, 0}) || !slices.Equal(fast.High, []float64{3, 3}) {
		t.Errorf("fast is drawn as %+v", fast)
	}
	if !slices.Equal(once.X, []float64{1e4}) || !slices.Equal(once.Low, []float64{2}) || !slices.Equal(once.High, []float64{2}) {
		t.Errorf("once is drawn as %+v", once)
	}
	if f := costs.NewFigure(s, nil, "maze", result.Reward); f != nil {
		t.Errorf("without times there is %+v", f)
	}
}
