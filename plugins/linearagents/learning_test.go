package linearagents

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework/explore"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/options"
)

// suttonBarto codes the mountain car as Sutton & Barto do: tiles an eighth of their
// bounds wide, [−1.2, 0.5] × [−0.07, 0.07], and counted from 0.
const suttonBarto = `"features":{"tiles":9,"low":[-1.275,-0.07],"high":[0.6375,0.0875]},"epsilon":0`

// SARSA(λ) takes as many steps per episode in the mountain car as an independent
// implementation, testdata/mountaincar.py, with Sutton & Barto's numbers. Their Figure
// 10.4 shows about 280 for λ = 0 (n = 1) and the first 50 episodes. The two means are
// compared by their standard errors; a false alarm has probability below 1e-5 each (4.5
// standard errors).
func TestSARSAInTheMountainCar(t *testing.T) {
	notRacing(t)
	for _, tt := range []struct {
		name, params         string
		runs, episodes, last int
		mean, sd, n          float64
	}{
		{"λ=0, first 50", `{"lambda":0,` + suttonBarto + `}`, 30, 50, 50, 282.52, 3.96, 20},
		{"λ=0, episodes 451 to 500", `{"lambda":0,` + suttonBarto + `}`, 8, 500, 50, 118.53, 4.31, 20},
		{"λ=0.9, first 50", `{"lambda":0.9,` + suttonBarto + `}`, 30, 50, 50, 209.22, 7.2, 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e, a := pair(t, "mountaincar", `{"max_steps":0}`, "sarsa-linear", tt.params, tt.runs)
			lengths, _ := episodes(t, e, a, tt.runs, tt.episodes)
			mean, sd := stat.MeanStdDev(ends(lengths, tt.last), nil)
			se := math.Sqrt(sd*sd/float64(tt.runs) + tt.sd*tt.sd/tt.n)
			if math.Abs(mean-tt.mean) > 4.5*se {
				t.Errorf("%.1f (%.1f) steps per episode over %d runs, want %.1f (%.1f) as over %v", mean, sd, tt.runs, tt.mean, tt.sd, tt.n)
			}
		})
	}
}

// notRacing skips a long test of learning under the race detector.
func notRacing(t *testing.T) {
	if racing {
		t.Skip("long, and of one goroutine")
	}
}

// ends returns the mean of each run's last entries.
func ends(runs [][]float64, last int) (means []float64) {
	for _, r := range runs {
		means = append(means, stat.Mean(r[len(r)-last:], nil))
	}
	return means
}

// bootstrap-linear is given nothing but the bounds of observations and λ. It balances
// CartPole's pole: within 300 episodes it reaches 475 steps per episode over 100
// episodes, on average over runs. Gymnasium then counts the task as solved. Within 400
// episodes it brings the mountain car up in 130 steps; the limit is 200 steps, in which
// random actions never succeed. The others likewise. Seeds are fixed.
func TestBootstrapSolves(t *testing.T) {
	notRacing(t)
	for _, tt := range []struct {
		env, params    string
		episodes, last int
		want           float64
	}{
		{"cartpole", `{"lambda":0.9,"behaviour":"mean","features":{` + cartPoleBox + `}}`, 300, 100, 475},
		{"mountaincar", ``, 400, 50, -130},
		{"acrobot", `{"members":4,"features":{"tiles":4,"memory":16384}}`, 150, 50, -260},
		{"puddleworld", `{"sd":1}`, 300, 50, -40},
	} {
		t.Run(tt.env, func(t *testing.T) {
			t.Parallel()
			const runs = 2
			e, a := pair(t, tt.env, ``, "bootstrap-linear", tt.params, runs)
			_, returns := episodes(t, e, a, runs, tt.episodes)
			if got := ends(returns, tt.last); stat.Mean(got, nil) < tt.want {
				t.Errorf("%.0f in episodes %d to %d, want %v on average", got, tt.episodes-tt.last+1, tt.episodes, tt.want)
			}
		})
	}
}

// The prior values of CartPole are too low: 0 ± 10, where 100 is possible. The greedy
// policy stays with what it found. The paper's threshold lets the agent explore where
// that pays, and it earns more in the second half of 30,000 steps. The mean difference of
// paired runs is more than 4 standard errors above 0, which has probability below 3e-3 by
// chance (t with 7 degrees of freedom; seeds are fixed).
func TestThresholdExplores(t *testing.T) {
	notRacing(t)
	const runs, steps = 8, 30_000
	params := `{"mean":0,"sd":10,"lambda":0.9,"features":{` + cartPoleBox + `}}`
	zero := 0.0
	var numbers []int
	for i := range runs {
		numbers = append(numbers, i)
	}
	returns := func(score *options.Rule) (list []float64) {
		e, a := pair(t, "cartpole", ``, "bootstrap-linear", params, runs)
		host := must.Get(explore.New(t.Context(), a.Abilities().Options, e.Spec(), runs, explore.Config{
			Decider: options.DeciderConfig{Horizon: bandit.Discounted(0.99), Rule: score, Bound: bandit.U}, LowerBound: &zero,
		}))(t)
		out := must.Get(loop.Run(t.Context(), loop.Batch{
			Environment: e, Agent: host, Runs: numbers, Seeds: seed.NewSource(1, e.Spec().ID),
			Steps: steps, Grid: []int{steps / 2, steps}, Metrics: []result.Metric{result.EpisodeReturn},
		}))(t)
		for i, o := range out {
			explored, hold := host.Exploration(i)
			if hold < 1 || (score == options.RuleNever) != (explored == 0) {
				t.Errorf("%v: run %d explored in %d steps, with a window of %d", score, i, explored, hold)
			}
			list = append(list, o.Curves[result.EpisodeReturn][1])
		}
		return list
	}
	more := returns(options.RuleCommonModel)
	for i, r := range returns(options.RuleNever) {
		more[i] -= r
	}
	mean, sd := stat.MeanStdDev(more, nil)
	if se := sd / math.Sqrt(runs); mean < 4*se {
		t.Errorf("the threshold earns %.0f more than the greedy option, give or take %.0f", mean, se)
	}
}
