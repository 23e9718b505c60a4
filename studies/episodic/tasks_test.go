package episodic

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// Every task has a largest return of an episode and, if episodes follow each other, a largest
// reward per step. In all kinds but nim, and in most tasks, an optimal policy of the one is not
// optimal for the other. Splits and seeds have different tasks.
func TestTasks(t *testing.T) {
	seen := map[string]string{}
	for _, kind := range Kinds {
		differ := 0
		for _, split := range []string{"development", "test"} {
			for seed := range uint64(3) {
				m := must.Get(Model(kind, split, seed))(t)
				raw := must.Get(json.Marshal(m))(t)
				raw = bytes.Replace(raw, []byte(m.Name()), nil, 1)
				if other, ok := seen[string(raw)]; ok {
					t.Errorf("%s is %s", m.Name(), other)
				}
				seen[string(raw)] = m.Name()
				total, policy, err := mdp.SolveHorizon(m, 100_000)
				if err != nil {
					t.Fatalf("%s: %v", m.Name(), err)
				}
				again := must.Get(m.Restarting())(t)
				average, err := mdp.SolveAverage(again, mdp.SolverConfig{})
				if err != nil {
					t.Fatalf("%s: %v", m.Name(), err)
				}
				// The gain of the policy that has the largest return.
				starts, prob := m.Initial()
				value, length := 0.0, episodeLength(m, policy)
				for i, s := range starts {
					value += prob[i] * total[s]
				}
				if gain := value / length; gain < average.Gain[0]-1e-6 {
					differ++
				} else if gain > average.Gain[0]+1e-6 {
					t.Errorf("%s: a return of %v in %v steps is %v per step, the optimum is %v", m.Name(), value, length, gain, average.Gain[0])
				}
			}
		}
		if kind != "nim" && differ < 4 {
			t.Errorf("%s: the measures differ in %d of 6 tasks", kind, differ)
		}
	}
}

// episodeLength returns the expected length of an episode under a policy.
func episodeLength(m *mdp.Tabular, policy []int) (sum float64) {
	at, next := make([]float64, m.NumStates()), make([]float64, m.NumStates())
	starts, prob := m.Initial()
	for i, s := range starts {
		at[s] = prob[i]
	}
	for alive := 1.0; alive > 1e-12; {
		clear(next)
		alive = 0
		for s, p := range at {
			if p == 0 || m.Terminal(s) {
				continue
			}
			alive += p
			to, q := m.Transition(s, policy[s])
			for k, y := range to {
				next[y] += p * q[k]
			}
		}
		sum += alive
		at, next = next, at
	}
	return sum
}
