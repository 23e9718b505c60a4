package loop

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/must"
)

// A run with a budget in episodes is the beginning of one with a budget in steps. Its points are those at the
// ends of episodes, whatever runs are beside it, and whether lanes are stepped together or alone. A run that
// reaches its most steps before has no values from there on.
func TestBudgetInEpisodes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps, episodes := rapid.IntRange(1, 600).Draw(rt, "steps"), rapid.IntRange(1, 60).Draw(rt, "episodes")
		grid := LogGrid(rapid.IntRange(1, 50).Draw(rt, "points"), episodes)
		runs := rapid.SliceOfNDistinct(rapid.IntRange(0, 99), 1, 6, rapid.ID).Draw(rt, "runs")
		of := []result.Metric{result.Reward, result.CumulativeReward, result.DiscountedReturn, result.EpisodeReturn, result.Regret, metric.Steps}
		b, _, _ := laneBatch(t, runs, steps, EveryGrid(1, steps))
		b.Metrics = append(slices.Clone(of), metric.EpisodeRate)
		whole := must.Get(Run(t.Context(), b))(rt)

		b, w, _ := laneBatch(t, runs, steps, grid)
		b.Metrics, b.Episodes = of, episodes
		var made Work
		b.Progress = func(n Work, _ func() []Outcome) { made.Steps, made.Units = made.Steps+n.Steps, made.Units+n.Units }
		got := must.Get(Run(t.Context(), b))(rt)
		sum := 0
		for i, o := range got {
			var ends []int // step numbers
			for k, rate := range whole[i].Curves[metric.EpisodeRate] {
				if rate > 0 && len(ends) < episodes {
					ends = append(ends, k+1)
				}
			}
			last := steps
			if len(ends) == episodes {
				last = ends[episodes-1]
			}
			if sum += o.Steps; o.Steps != last || o.Episodes != len(ends) {
				rt.Fatalf("run %d made %d steps and %d episodes, want %d and %d", o.Run, o.Steps, o.Episodes, last, len(ends))
			}
			for _, m := range of {
				if m == result.Reward { // of windows
					continue
				}
				want := make([]float64, 0, len(grid))
				for _, e := range grid {
					want = append(want, math.NaN())
					if e <= len(ends) {
						want[len(want)-1] = whole[i].Curves[m][ends[e-1]-1]
					}
				}
				if grid[0] > len(ends) {
					want = nil // no value
				}
				equal := func(x, y float64) bool { return math.Abs(x-y) < 1e-9*max(1, math.Abs(x)) || x != x && y != y }
				if curve := o.Curves[m]; !slices.EqualFunc(curve, want, equal) { // sums of windows differ by rounding
					rt.Fatalf("run %d, %s: %v, want %v", o.Run, m, curve, want)
				}
			}
		}
		if want := (Work{sum, len(runs) * episodes}); made != want {
			rt.Fatalf("told %+v, want %+v", made, want)
		}
		if steps > 100 && episodes > 30 && w.alone == 0 {
			rt.Fatal("no lane was stepped by itself")
		}
		for name, same := range map[string]func() []Outcome{
			"together": func() []Outcome {
				b, _, _ := laneBatch(t, runs, steps, grid)
				b.Metrics, b.Episodes = of, episodes
				return must.Get(Run(t.Context(), together(b)))(rt)
			},
			"apart": func() (out []Outcome) {
				for _, run := range runs {
					b, _, _ := laneBatch(t, []int{run}, steps, grid)
					b.Metrics, b.Episodes = of, episodes
					out = append(out, must.Get(Run(t.Context(), b))(rt)...)
				}
				return out
			},
		} {
			if again := same(); fmt.Sprint(again) != fmt.Sprint(got) { // NaN = NaN
				rt.Fatalf("%s: got %v, want %v", name, again, got)
			}
		}
	})
}

// With a budget in episodes, the agent is kept and evaluated after episodes, and at the end of a run.
func TestEvaluationInEpisodes(t *testing.T) {
	runs, episodes := []int{0, 1, 2, 3}, 9
	steps := map[int][]float64{}
	b := sailing(t, runs, 400, EveryGrid(1, episodes))
	b.Episodes, b.Evaluation.Every, b.KeepEvery = episodes, 2, 4
	b.Metrics = append(b.Metrics, metric.Steps)
	b.Keep = func(run, _ int, s *Snapshot) error {
		steps[run] = append(steps[run], float64(s.Step))
		if s.Last != (len(steps[run]) == 3) {
			t.Errorf("run %d, kept after step %d: last %v", run, s.Step, s.Last)
		}
		return nil
	}
	for _, o := range must.Get(Run(t.Context(), b))(t) {
		ends := o.Curves[metric.Steps]
		if got, want := steps[o.Run], []float64{ends[3], ends[7], ends[8]}; !slices.Equal(got, want) {
			t.Errorf("run %d kept its agent after steps %v, want %v", o.Run, got, want)
		}
		for k, x := range o.Curves[result.EvaluationReturn] {
			if evaluated := (k+1)%2 == 0 || k == episodes-1; math.IsNaN(x) == evaluated {
				t.Errorf("run %d, episode %d: evaluation %v", o.Run, k+1, x)
			}
		}
	}
}
