package options

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rlrun/rlrun/mdp"
)

// Lookahead returns the exact advantage, in state s and per unit of 1/(1−γ), of
// following policy x for hold ≥ 1 steps and then what they showed to be better,
// over following y for ever (docs/theory.md §3.2): with B the Bellman backup of x
// in M_k,
//
//	sup_δ mean_k (1−γ)[(B^T W_k)(s) − V^y_k(s)]
//
// where W_k is the value of x in M_k (of an optimal policy for an uninformed x) if
// that is by δ better than y in s, else of y. It knows the state, which the
// reduction does not: it is what the reduction is measured by. It takes T times
// the size of a model for each member.
func Lookahead(members []*mdp.Tabular, x, y mdp.Policy, class Class, s, hold int, gamma float64) (float64, error) {
	if err := oneSize(members); err != nil {
		return 0, err
	}
	if s < 0 || s >= members[0].NumStates() || hold < 1 {
		return 0, fmt.Errorf("options: no option is held for %d steps in state %d", hold, s)
	}
	type outcome struct{ lead, good, bad float64 }
	outcomes := make([]outcome, len(members))
	for k, m := range members {
		trial, err := mdp.Induce(m, x)
		if err != nil {
			return 0, err
		}
		after, err := mdp.Induce(m, y)
		if err != nil {
			return 0, err
		}
		vy, err := after.EvaluateDiscounted(gamma)
		if err != nil {
			return 0, err
		}
		var vx []float64
		if class == Uninformed {
			sol, err := mdp.SolveDiscounted(m, gamma, mdp.Options{})
			if err != nil {
				return 0, err
			}
			vx = sol.Value
		} else if vx, err = trial.EvaluateDiscounted(gamma); err != nil {
			return 0, err
		}
		outcomes[k] = outcome{vx[s] - vy[s],
			follow(trial, vx, s, hold, gamma) - vy[s], follow(trial, vy, s, hold, gamma) - vy[s]}
	}
	slices.SortFunc(outcomes, func(a, b outcome) int { return cmp.Compare(b.lead, a.lead) })
	sum := 0.0
	for _, o := range outcomes {
		sum += o.bad
	}
	best := sum
	for i, o := range outcomes {
		if o.lead <= 0 {
			break
		}
		sum += o.good - o.bad
		if i+1 == len(outcomes) || outcomes[i+1].lead < o.lead { // of equal leads, all or none
			best = max(best, sum)
		}
	}
	return (1 - gamma) * best / float64(len(members)), nil
}

// follow returns (B^T w)(s).
func follow(c *mdp.Chain, w []float64, s, steps int, gamma float64) float64 {
	v, next := slices.Clone(w), make([]float64, len(w))
	for range steps {
		for x := range v {
			succ, prob := c.Row(x)
			sum := 0.0
			for i, t := range succ {
				sum += prob[i] * v[t]
			}
			next[x] = c.Reward(x) + gamma*sum
		}
		v, next = next, v
	}
	return v[s]
}
