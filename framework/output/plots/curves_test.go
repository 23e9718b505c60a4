package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/output/outputtest"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/must"
)

func equal(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool {
		return math.Abs(x-y) < 1e-12 || (math.IsNaN(x) && math.IsNaN(y))
	})
}

// line is the line of a curve whose points stand for widths steps, are of runs and have bands ± 1 where known.
func line(m result.Metric, ys, widths []float64, runs []int, smooth, limit int) Line {
	c := &result.Curve{Runs: runs}
	steps := 0
	for i, y := range ys {
		steps += int(widths[i])
		c.Steps, c.Mean, c.Low, c.High = append(c.Steps, steps), append(c.Mean, y), append(c.Low, y-1), append(c.High, y+1)
	}
	return NewLine("", c, metric.Define(m), smooth, limit)
}

func ones(n int) []float64 { return slices.Repeat([]float64{1}, n) }

func TestMovingAverage(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		ys, widths []float64
		runs       []int
		k          int
		want       []float64
	}{
		{[]float64{1, 2, 6}, ones(3), []int{4, 4, 4}, 1, []float64{1, 2, 6}},
		{[]float64{1, 2, 6}, ones(3), []int{4, 4, 4}, 2, []float64{1, 1.5, 4}},
		{[]float64{1, 2, 6}, []float64{1, 1, 3}, []int{4, 4, 4}, 2, []float64{1, 1.5, 5}}, // (2+3·6)/4
		{[]float64{1, nan, 6}, ones(3), []int{4, 4, 4}, 3, []float64{1, nan, 3.5}},
		{[]float64{1, 2}, ones(2), []int{4, 4}, 9, []float64{1, 1.5}},
		{[]float64{9, 2, 6, 7}, ones(4), []int{1, 4, 4, 3}, 3, []float64{9, 2, 4, 7}}, // points of the same runs
	} {
		l := line(result.Reward, tt.ys, tt.widths, tt.runs, tt.k, MaxPoints)
		if !equal(l.Y, tt.want) {
			t.Errorf("%v over %d: got %v, want %v", tt.ys, tt.k, l.Y, tt.want)
		}
		for i, y := range l.Y { // bands of one width have it in the mean
			if !equal([]float64{l.Low[i], l.High[i]}, []float64{y - 1, y + 1}) {
				t.Errorf("%v over %d: band %v to %v at %v", tt.ys, tt.k, l.Low[i], l.High[i], y)
			}
		}
	}
	c := &result.Curve{Steps: []int{1, 2, 3, 4}, Runs: []int{4, 4, 4, 4}, Mean: []float64{0, 1, 1, 1}, Low: []float64{nan, 0, 0, 0}, High: []float64{nan, 2, 2, 2}}
	if l := NewLine("", c, metric.Define(result.Reward), 3, MaxPoints); !equal(l.Low, []float64{0, 0, 0, 0}) || !equal(l.High, []float64{0, 1, 4. / 3, 2}) {
		t.Errorf("equal runs first: %v to %v", l.Low, l.High)
	}
}

func TestThin(t *testing.T) {
	ys, widths, runs := []float64{1, 2, 3, 4, 5}, []float64{1, 1, 1, 1, 3}, []int{4, 4, 4, 4, 4}
	if l, want := line(result.Regret, ys, widths, runs, 1, 2), []float64{2, 5}; !equal(l.Y, want) || !equal(l.X, []float64{2, 7}) {
		t.Errorf("cumulative: got %v at %v, want %v", l.Y, l.X, want)
	}
	if l, want := line(result.Reward, ys, widths, runs, 1, 2), []float64{1.5, 22. / 5}; !equal(l.Y, want) || !equal(l.X, []float64{2, 7}) { // (3+4+3·5)/5
		t.Errorf("mean: got %v at %v, want %v", l.Y, l.X, want)
	}
	if l := line(result.Reward, ys, widths, runs, 1, 5); !equal(l.Y, ys) {
		t.Errorf("got %v", l.Y)
	}
}

// Thinned means of windows keep the mean over all steps when groups are even, and
// the last value of what is cumulative.
func TestThinKeepsTotals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 6).Draw(t, "limit")
		group := rapid.IntRange(1, 5).Draw(t, "group")
		ys := rapid.SliceOfN(rapid.Float64Range(-10, 10), limit*group, limit*group).Draw(t, "ys")
		runs := slices.Repeat([]int{4}, len(ys))
		sum := func(xs []float64) (s float64) {
			for _, x := range xs {
				s += x
			}
			return s
		}
		thinned := line(result.Reward, ys, ones(len(ys)), runs, 1, limit).Y
		if math.Abs(sum(thinned)*float64(group)-sum(ys)) > 1e-9 {
			t.Fatalf("%v became %v", ys, thinned)
		}
		if last := line(result.Regret, ys, ones(len(ys)), runs, 1, limit).Y; last[limit-1] != ys[len(ys)-1] {
			t.Fatalf("%v became %v", ys, last)
		}
	})
}

func TestIsLog(t *testing.T) {
	for _, tt := range []struct {
		grid []int
		want bool
	}{
		{[]int{10, 20, 30, 40}, false},
		{[]int{1, 2, 3, 5, 8, 13, 21, 34, 55, 89}, true},
		{[]int{10, 20, 30, 35}, false},
		{[]int{1, 1000}, false},
		{nil, false},
	} {
		if got := IsLog(tt.grid); got != tt.want {
			t.Errorf("%v: got %v", tt.grid, got)
		}
	}
}

func TestNewFigure(t *testing.T) {
	s := outputtest.Demo(t, []string{"a", "b", "c"}, 1000, 50, 5, true)
	const env = "bernoulli-bandit, 16 arms"
	f := must.Get(NewFigure(s, env, result.Reward, Config{Smooth: 1}))(t)
	if len(f.Lines) != 3 || !f.LogX || len(f.Levels) != 1 || f.Levels[0].Y != 0.941 || f.YLabel != "mean reward per step" {
		t.Errorf("got %d lines, log %v, levels %v, y %q", len(f.Lines), f.LogX, f.Levels, f.YLabel)
	}
	if c := s.Curve(env, "b", result.Reward); !equal(f.Lines[1].Y, c.Mean) || !equal(f.Lines[1].Low, c.Low) || !equal(f.Lines[1].High, c.High) {
		t.Error("a line is not its curve")
	}
	linear := false
	f = must.Get(NewFigure(s, env, result.Regret, Config{Title: "T", Agents: []string{"c", "a"}, Labels: []string{"see", "ay"}, LogX: &linear, Smooth: 5}))(t)
	if f.Title != "T" || f.LogX || len(f.Levels) != 0 || f.Lines[0].Label != "see" || !equal(f.Lines[0].Y, s.Curve(env, "c", result.Regret).Mean) {
		t.Errorf("got %q, log %v, levels %v, first line %q", f.Title, f.LogX, f.Levels, f.Lines[0].Label)
	}
	for name, call := range map[string]func() (*Figure, error){
		"unknown agent":  func() (*Figure, error) { return NewFigure(s, env, result.Reward, Config{Agents: []string{"x"}}) },
		"labels":         func() (*Figure, error) { return NewFigure(s, env, result.Reward, Config{Labels: []string{"x"}}) },
		"no such metric": func() (*Figure, error) { return NewFigure(s, env, "volume", Config{}) },
	} {
		if _, err := call(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// By default a point stands for a twentieth of the grid where a run is the mean of its curve.
func TestDefaultSmoothing(t *testing.T) {
	s := outputtest.Demo(t, []string{"a"}, 1000, 50, 5, false)
	for m, want := range map[result.Metric]int{result.Reward: 2, result.Regret: 1, result.EvaluationReturn: 1} {
		if got := Width(s.Meta.Define(m), 0, 50); got != want {
			t.Errorf("%s: %d points", m, got)
		}
	}
	f := must.Get(NewFigure(s, "gaussian-bandit", result.Reward, Config{}))(t)
	c := s.Curve("gaussian-bandit", "a", result.Reward)
	n := len(c.Steps)
	late, earlier := float64(c.Steps[n-1]-c.Steps[n-2]), float64(c.Steps[n-2]-c.Steps[n-3])
	want := (late*c.Mean[n-1] + earlier*c.Mean[n-2]) / (late + earlier)
	if got := f.Lines[0].Y[n-1]; math.Abs(got-want) > 1e-12 || f.YLabel != "mean reward per step (moving average)" {
		t.Errorf("got %v, want %v; y %q", got, want, f.YLabel)
	}
}

// Drawing must not change the statistics.
func TestSmoothingLeavesTheSummaryAlone(t *testing.T) {
	s := outputtest.Demo(t, []string{"a"}, 1000, 900, 3, false)
	c := s.Curve("gaussian-bandit", "a", result.Reward)
	before := slices.Clone(c.Mean)
	must.Get(NewFigure(s, "gaussian-bandit", result.Reward, Config{Smooth: 10}))(t)
	if !equal(before, c.Mean) {
		t.Error("the summary changed")
	}
}

// A thousand grey lines are an area. Their quantiles are drawn instead, by hand here: lines of
// 0, 1, …, 100 have the median 50, and half of them are from 25 to 75.
func TestFigureOfAThousandAgents(t *testing.T) {
	var lines []Line
	for i := range 101 {
		lines = append(lines, Line{X: []float64{1, 2}, Y: []float64{float64(i), math.NaN()}})
	}
	q := quantileLines(lines)
	if half, most := q[1], q[0]; half.Y[0] != 50 || half.Low[0] != 25 || half.High[0] != 75 || most.Low[0] != 5 || most.High[0] != 95 || !math.IsNaN(half.Y[1]) || half.Of != 101 {
		t.Errorf("%+v", q)
	}
	var labels []string
	for i := range 1000 {
		labels = append(labels, fmt.Sprintf("agent %d", i))
	}
	f := must.Get(NewFigure(outputtest.Invented(labels, 1, 30), "environment 0", result.Reward, Config{}))(t)
	if all := texts(t, svg(t, f)); len(f.Lines) != bestColored+2 || !slices.Contains(all, "990 more: median,") {
		t.Errorf("%d lines, %q", len(f.Lines), all)
	}
}

// A curve that is not of all runs says so.
func TestPartialCurves(t *testing.T) {
	for want, counts := range map[string][]int{
		"": {2, 2, 2}, "before step 4 not all runs have a value": {0, 1, 2}, "not all runs have a value": {0, 1, 1},
	} {
		s := &result.Summary{Meta: result.Meta{Agents: []string{"a"}, Environments: []string{"e"}, Grid: []int{1, 2, 4}},
			Counts: []result.Count{{Environment: "e", Agent: "a", Ended: result.Ended{OK: 2}}},
			Curves: []result.Curve{{Environment: "e", Agent: "a", Metric: result.EpisodeReturn, Steps: []int{1, 2, 4}, Runs: counts}}}
		if got := Partial(s, "e", result.EpisodeReturn, s.Meta.Agents); got != want {
			t.Errorf("%v: %q, want %q", counts, got, want)
		}
	}
}

// Colour, dash and mark together tell 32 lines apart, and each of colour and mark tells eight.
func TestLinesDiffer(t *testing.T) {
	seen, shapes := map[string]int{}, map[string]int{}
	for i := range 32 {
		col, dash := lineStyle(i)
		m := mark(i)
		key := fmt.Sprintf("%v %v %T", col, dash, m.Shape)
		if j, twice := seen[key]; twice {
			t.Errorf("lines %d and %d are both %s", i, j, key)
		}
		seen[key] = i
		for _, key := range []string{fmt.Sprint(col), fmt.Sprintf("%T", m.Shape)} {
			if j, twice := shapes[key]; twice && i < 8 {
				t.Errorf("lines %d and %d have %s", i, j, key)
			}
			shapes[key] = i
		}
	}
}

// A figure of many agents has a legend of the best alone.
func TestFigureOfManyAgents(t *testing.T) {
	var labels []string
	for i := range 60 {
		labels = append(labels, fmt.Sprintf("agent %d", i))
	}
	s := outputtest.Invented(labels, 1, 30)
	for m, lower := range map[result.Metric]bool{result.Reward: false, result.Regret: true} {
		f := must.Get(NewFigure(s, "environment 0", m, Config{}))(t)
		all := texts(t, svg(t, f))
		if n := len(slices.DeleteFunc(slices.Clone(all), func(s string) bool { return !strings.HasPrefix(s, "agent ") })); n != bestColored {
			t.Errorf("%d agents are in the legend, want %d", n, bestColored)
		}
		if !slices.Contains(all, "50 more agents") {
			t.Error("the legend does not say how many agents are grey")
		}
		worst, best := math.Inf(-1), math.Inf(1) // of the legend's and of the others, by what is lost
		for _, l := range f.Lines {
			x := s.Row("environment 0", l.Label, m).Mean
			if !lower {
				x = -x
			}
			if l.Faint {
				best = min(best, x)
			} else {
				worst = max(worst, x)
			}
		}
		if worst > best {
			t.Errorf("%s: an agent in grey is better than one in colour", m)
		}
	}
}
