package compare

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/result"
)

// Two agents earn the same rewards in every run, but in another order, so their sums differ in
// the last bit. No test calls one of them better.
func TestRoundingDecidesNothing(t *testing.T) {
	up, down := 0.0, 0.0
	for i, rewards := 0, []float64{0.1, 0.2, 0.3}; i < 3; i++ {
		up, down = up+rewards[i], down+rewards[2-i]
	}
	if up == down {
		t.Fatal("the two sums are equal, so that this tests nothing")
	}
	var env [][]float64
	for _, x := range []float64{up, down, 2 * up} {
		env = append(env, slices.Repeat([]float64{x}, 100))
	}
	in := experiment("d", 1, []string{"up", "down", "twice"}, env, env)
	for name, o := range map[string]Config{"paired": usual, "unpaired": with(func(o *Config) { o.Unpaired = true })} {
		r := compared(t, []*Input{in}, o)
		same, twice := r.Comparisons[0], r.Comparisons[1]
		if same.Verdict != NotDecided || same.Difference.Value != 0 || !math.IsNaN(same.Difference.Low) || same.WinRate != 0.5 || same.P < 1 {
			t.Errorf("%s: %+v", name, same)
		}
		if twice.Verdict != "twice is better" || twice.WinRate != 1 {
			t.Errorf("%s: %+v", name, twice)
		}
		if p := r.Overall.Improvements[0].Probability.Value; p != 0.5 {
			t.Errorf("%s: probability of improvement %g", name, p)
		}
		if m := r.Overall.Ranks.Mean; !slices.Equal(m, []float64{1, 2.5, 2.5}) {
			t.Errorf("%s: ranks %v", name, m)
		}
	}
	if got := in.Summary.Row("env 0", "up", result.Reward).Values[0]; got != up {
		t.Errorf("the value of the record %v became %v", up, got)
	}
	progress, _ := play(t, in, sequential(in, 20))
	for _, p := range progress {
		if want := map[string]string{"down": "", "twice": "twice"}[p.A]; p.Better != want {
			t.Errorf("until decided: %+v, want %q", p, want)
		}
	}
}

// Rewards of both signs cancel, and regret is a difference: rounding is small beside the
// rewards that were added up, not beside their sum. The bounds of rewards say how large
// these may be. A real difference, however small, stays one.
func TestRoundingOfWhatCancels(t *testing.T) {
	low, high, optimum := -0.3, 0.3, 100.0
	bounds := result.Task{States: 2, RewardLow: &low, RewardHigh: &high}
	for name, c := range map[string]struct {
		metric result.Metric
		task   result.Task
		x, y   float64
		same   bool
	}{
		"cancelled":              {result.Reward, bounds, 0, 1e-17, true},
		"signs":                  {result.Reward, bounds, -1e-17, 1e-17, true},
		"small":                  {result.Reward, bounds, 0, 1e-9, false},
		"cumulative":             {result.CumulativeReward, bounds, 0, 2e-12, true},
		"cumulative, small":      {result.CumulativeReward, bounds, 0, 1e-9, false},
		"no bounds":              {result.Reward, result.Task{}, 0, 1e-17, false},
		"one sign":               {result.Reward, result.Task{RewardLow: new(float64), RewardHigh: &optimum}, 1e-17, 2e-17, false},
		"vast":                   {result.Reward, result.Task{RewardLow: new(-1e300), RewardHigh: new(1e300)}, 1e299, 2e299, false},
		"regret":                 {result.Regret, result.Task{States: 2, RewardLow: new(float64), RewardHigh: &optimum}, 0, 1e-10, true},
		"regret of a bandit":     {result.Regret, result.Task{States: 1, RewardLow: new(float64), RewardHigh: &optimum}, 0, 1e-10, false},
		"regret, small":          {result.Regret, result.Task{States: 2, RewardLow: new(float64), RewardHigh: &optimum}, 0, 1e-6, false},
		"wide on one side alone": {result.Reward, result.Task{RewardLow: &low, RewardHigh: new(1e12)}, -0.1, -0.1 + 1e-11, false},
	} {
		x, y := slices.Repeat([]float64{c.x}, 100), slices.Repeat([]float64{c.y}, 100)
		in := experiment("d", 1, []string{"x", "y"}, [][]float64{x, y})
		meta := &in.Summary.Meta
		meta.Tasks, meta.Optimum = map[string]result.Task{"env 0": c.task}, map[string]float64{"env 0": optimum}
		for i := range in.Summary.Rows {
			in.Summary.Rows[i].Metric = c.metric
		}
		r := compared(t, []*Input{in}, with(func(o *Config) { o.Metric = c.metric }))
		if got := r.Comparisons[0].Verdict == NotDecided; got != c.same {
			t.Errorf("%s: %+v", name, r.Comparisons[0])
		}
		s := sequential(in, 20)
		s.Metric = c.metric
		progress, _ := play(t, in, s)
		if got := progress[0].Better == ""; got != c.same {
			t.Errorf("%s, until decided: %+v", name, progress[0])
		}
	}
}

// A scale of the wrong direction is refused: it would give the worst agent the best score.
func TestScaleOfTheWrongDirection(t *testing.T) {
	regret := experiment("d", 1, []string{"a", "b", "c", "d"}, published, published)
	for i := range regret.Summary.Rows {
		regret.Summary.Rows[i].Metric = result.Regret
	}
	reward := experiment("d", 1, []string{"a", "b", "c", "d"}, published, published)
	for name, c := range map[string]struct {
		in   *Input
		m    result.Metric
		r    Range
		want string
	}{
		"regret, rising":  {regret, result.Regret, Range{Low: 0, High: 1}, "scores of env 1: lower values of regret are better"},
		"regret, falling": {regret, result.Regret, Range{Low: 1, High: 0}, ""},
		"reward, falling": {reward, result.Reward, Range{Low: 1, High: 0}, "scores of env 1: higher values of reward are better"},
		"reward, rising":  {reward, result.Reward, Range{Low: 0, High: 1}, ""},
		"empty":           {reward, result.Reward, Range{Low: 1, High: 1}, "scores of env 1: low and high must differ"},
	} {
		_, err := Compare([]*Input{c.in}, with(func(o *Config) { o.Metric, o.Scores = c.m, map[string]Range{"env 1": c.r} }))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
