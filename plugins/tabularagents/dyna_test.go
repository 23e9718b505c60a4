package tabularagents

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// Without planning, Dyna-Q is Q-learning, value for value.
func TestDynaWithoutPlanningIsQLearning(t *testing.T) {
	const params = `"policy":"epsilon-z-greedy","epsilon":0.2,"schedule":"harmonic"`
	for _, env := range []string{"chain", "gridworld"} {
		q, _ := trained(t, env, ``, "q-learning", `{`+params+`}`, 20_000)
		d, _ := trained(t, env, ``, "dyna-q", `{"planning":0,`+params+`}`, 20_000)
		if !slices.Equal(q.(*qLearner).table.q, d.(*dyna).table.q) {
			t.Errorf("%s: the values differ", env)
		}
	}
}

// With much planning the values approach the optimum of the model seen: within 2%
// of the largest, at a fixed seed. The terminal state is the model's own.
func TestDynaSolvesWhatItHasSeen(t *testing.T) {
	for _, tt := range []struct{ env, params string }{{"chain", `{"limit":0}`}, {"chain", `{"limit":5}`}, {"gridworld", `{"rows":3,"cols":3,"slip":0.2}`}} {
		x, m := trained(t, tt.env, tt.params, "dyna-q", `{"gamma":0.8,"epsilon":1,"planning":100,"schedule":"harmonic","power":0.7}`, 5000)
		d := x.(*dyna)
		want := optimal(t, d.outcomes.(frequencies).counts.Empirical(), 0.8)
		near(t, m, d.table.q, want[:len(d.table.q)], 0.02*slices.Max(want))
	}
}

// A model of what happened last is exact on a deterministic task.
func TestDynaSolvesDeterministicTasks(t *testing.T) {
	x, m := trained(t, "gridworld", `{"rows":4,"cols":4}`, "dyna-q", `{"gamma":0.8,"epsilon":1,"planning":50,"model":"last","step":0.5}`, 5000)
	want := optimal(t, m, 0.8)
	near(t, m, x.(*dyna).table.q, want, 1e-6)
}

func TestFrequencies(t *testing.T) {
	f := newFrequencies(finite.Task{States: 3, Actions: 2})
	for k, n := range []int{0, 2, 0, 6} { // 3 is termination
		for range n {
			f.update(1, 1, float64(k), k)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	seen := make([]float64, 4)
	for range 10_000 {
		r, next := f.sample(1, 1, rng)
		if math.Abs(r-2.5) > 1e-12 {
			t.Fatalf("reward %v, want the mean 2.5", r)
		}
		seen[next]++
	}
	fits(t, "successors", seen, []float64{0, 0.25, 0, 0.75})
}

// Greedy and satisfied, Dyna-Q never tries the other action of a loop that pays;
// Dyna-Q+ does, and the more often the larger kappa.
func TestDynaPlusTriesAgain(t *testing.T) {
	others := func(kappa float64) (n int) {
		c := agenttest.NewCaller(t, find(t, "dyna-q"), fmt.Sprintf(`{"epsilon":0,"gamma":0.5,"kappa":%v}`, kappa))
		must.Do(t, c.Step(vector.NewRun, 5, 0, false, false))
		first := c.Actions.Int64[0]
		for range 5000 {
			r := 0.0
			if c.Actions.Int64[0] == first {
				r = 1
			} else {
				n++
			}
			must.Do(t, c.Step(vector.Continue, 5, r, false, false))
		}
		return n
	}
	none, some, more := others(0), others(0.05), others(0.2)
	if none != 0 || some == 0 || more <= 2*some {
		t.Errorf("tried %d, %d and %d times", none, some, more)
	}
}

// The bonus by hand: one state, two actions, one of them tried k steps ago.
func TestDynaPlusBonus(t *testing.T) {
	p := dynaParams{defaultValues(0.1), defaultBehaviour(), 4000, "last", 0.1}
	p.Gamma, p.Step = 0.5, 1
	x := &dyna{qLearner: qLearner{table: newTable(&p.Values, finite.Task{States: 2, Actions: 2})}, p: &p, t: finite.Task{States: 2, Actions: 2}}
	x.selector.init(&p.Behaviour, 2)
	x.rng = rand.New(&x.pcg)
	x.seen, x.actions, x.numActions, x.tried = make([]bool, 2), make([]int32, 4), make([]int32, 2), make([]float64, 4)
	x.Start(1)
	x.last = 0
	x.remember(1, 2) // action 0 of state 0 ends with reward 1
	x.now += 9       // and is not tried for 9 steps
	x.plan()
	// Action 1 is taken to lead back: its value is 0.1√10 + half the better one's.
	first := 1 + 0.1*3
	want := []float64{first, 0.1*math.Sqrt(10) + 0.5*first, 0, 0}
	for i := range want {
		if math.Abs(x.table.q[i]-want[i]) > 1e-12 {
			t.Fatalf("got %v, want %v", x.table.q, want)
		}
	}
}

// Planning pays: on a deterministic maze Dyna-Q collects more reward in the first
// 3000 steps than Q-learning, on average over 20 runs.
func TestPlanningPays(t *testing.T) {
	reward := func(agent string) (sum float64) {
		for _, o := range play(t, "gridworld", `{"rows":6,"cols":9}`, agent, ``, 0, 20, 3000, []int{3000}, result.CumulativeReward) {
			sum += o.Curves[result.CumulativeReward][0] / 20
		}
		return sum
	}
	if q, d := reward("q-learning"), reward("dyna-q"); d < 1.2*q {
		t.Errorf("goals reached: %v with planning, %v without", d, q)
	}
}

// Planning also bootstraps where an episode was truncated and not where it terminated: α
// = 1, γ = 1/2, all values 4 at first.
func TestDynaPlansToTheEnd(t *testing.T) {
	for _, model := range []string{"last", "empirical"} {
		for _, terminated := range []bool{true, false} {
			c := agenttest.NewCaller(t, find(t, "dyna-q"), fmt.Sprintf(`{"step":1,"gamma":0.5,"initial":4,"model":%q}`, model))
			must.Do(t, c.Step(vector.NewRun, 5, 0, false, false))
			a, want := int(c.Actions.Int64[0])-1, 1.0
			if !terminated {
				want += 0.5 * 4
			}
			must.Do(t, c.Step(vector.Continue, 7, 1, terminated, !terminated))
			if got := lanes.Learners[int](c.Agent)[0].(*dyna).table.q[a]; got != want {
				t.Errorf("%s, terminated %v: %v, want %v", model, terminated, got, want)
			}
		}
	}
}
