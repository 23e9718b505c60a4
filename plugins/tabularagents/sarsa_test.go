package tabularagents

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// Following the uniform policy, SARSA(λ) approaches its values, whatever λ and
// the traces: within 5% of the largest after 300,000 steps, at a fixed seed.
func TestSARSAValuesThePolicy(t *testing.T) {
	const gamma = 0.8
	for _, tt := range []struct{ env, params string }{{"chain", `{"limit":0}`}, {"chain", `{"limit":5}`}, {"gridworld", `{"rows":3,"cols":3,"slip":0.2}`}} {
		for _, how := range []string{`"lambda":0`, `"lambda":0.5,"traces":"replacing"`, `"lambda":0.5,"traces":"accumulating"`} {
			t.Run(tt.env+tt.params+how, func(t *testing.T) {
				x, m := trained(t, tt.env, tt.params, "sarsa", fmt.Sprintf(`{"gamma":%v,"epsilon":1,"schedule":"harmonic","power":0.8,%s}`, gamma, how), 300_000)
				c := must.Get(mdp.Induce(m, mdp.Uniform{}))(t)
				v := must.Get(c.EvaluateDiscounted(gamma))(t)
				var want []float64
				for s := range m.NumStates() {
					for a := range m.NumActions() {
						q := m.Reward(s, a)
						next, prob := m.Transition(s, a)
						for k, u := range next {
							q += gamma * prob[k] * v[u]
						}
						want = append(want, q)
					}
				}
				near(t, m, x.(*sarsa).table.q, want, 0.05*slices.Max(want))
			})
		}
	}
}

// The sparse traces are those of the textbook, which sweeps over all pairs.
func TestTracesAreTheTextbooks(t *testing.T) {
	const alpha, gamma, lambda = 0.25, 0.9, 0.8
	for _, traces := range []string{"replacing", "accumulating"} {
		t.Run(traces, func(t *testing.T) {
			c := agenttest.NewCaller(t, find(t, "sarsa"), fmt.Sprintf(`{"step":%v,"gamma":%v,"lambda":%v,"traces":%q,"epsilon":1,"initial":1}`, alpha, gamma, lambda, traces))
			rng := rand.New(rand.NewPCG(5, 6))
			q, e := []float64{1, 1, 1, 1, 1, 1}, make([]float64, 6)
			call := func(s vector.Signal, state int, r float64, terminated bool) int {
				must.Do(t, c.Step(s, int64(5+state), r, terminated, false))
				return 2*state + int(c.Actions.Int64[0]) - 1
			}
			last := call(vector.NewRun, 0, 0, false)
			for range 500 {
				r, next, terminated := rng.NormFloat64(), rng.IntN(3), rng.IntN(8) == 0
				pair := call(vector.Continue, next, r, terminated)
				delta := r - q[last]
				if !terminated {
					delta += gamma * q[pair]
				}
				if traces == "replacing" {
					e[last] = 1
				} else {
					e[last]++
				}
				for i := range q {
					q[i] += alpha * delta * e[i]
					e[i] *= gamma * lambda
				}
				last = pair
				if terminated {
					clear(e)
					last = call(vector.NewEpisode, rng.IntN(3), 0, false)
				}
			}
			got := lanes.Learners[int](c.Agent)[0].(*sarsa).table.q
			for i := range q {
				if math.Abs(got[i]-q[i]) > 1e-4 { // traces below 1e-6 are dropped
					t.Errorf("pair %d: %v, want %v", i, got[i], q[i])
				}
			}
		})
	}
}

// On the cliff, the policy that explores keeps away from the edge, and Q-learning does
// not (Sutton & Barto 2018, Example 6.6). Its mean reward of an episode is better: 10
// runs, by a one-sided comparison at many standard errors.
func TestSARSAKeepsFromTheCliff(t *testing.T) {
	edge := func(agent, params string) (steps float64) {
		for run := range uint64(10) {
			x, m := trained(t, "cliffwalking", ``, agent, params, 50_000+int(run))
			var v *table
			switch x := x.(type) {
			case *qLearner:
				v = &x.table
			case *sarsa:
				v = &x.table
			}
			s := 36 // the start: walk greedily and count the steps beside the cliff
			for range 40 {
				best := slices.Index(v.row(s), argmax.Max(v.row(s)))
				next, _ := m.Transition(s, best)
				if s = int(next[0]); s > 24 && s < 35 {
					steps++
				}
				if m.Terminal(s) {
					break
				}
			}
		}
		return steps / 10
	}
	const common = `"step":0.5,"gamma":1,"epsilon":0.1`
	q, s := edge("q-learning", `{`+common+`}`), edge("sarsa", `{`+common+`,"lambda":0}`)
	if q < 8 || s > 4 {
		t.Errorf("steps along the edge: Q-learning %.1f of 10, SARSA %.1f", q, s)
	}
}
