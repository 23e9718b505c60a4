package catalog_test

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// chain is the chain of n states of Osband's TabulaRL. Its actions are left and right,
// and right in the last state pays 1 on average. An episode has n steps and begins in
// state 0. A move to the right goes left instead with probability slip.
func chain(t *testing.T, n int, slip float64) *mdp.Tabular {
	t.Helper()
	return must.Get(mdp.Generate(mdp.Definition{States: n, Actions: 2, Initial: []mdp.Weight{{S: 0, P: 1}}},
		func(s, a int, row *mdp.Row) {
			left, right := max(s-1, 0), min(s+1, n-1)
			if a == 0 {
				row.Add(left, 1)
				return
			}
			if s == n-1 {
				row.Reward(1)
			}
			row.Add(right, 1-slip)
			if slip > 0 {
				row.Add(left, slip)
			}
		}))(t)
}

// TabulaRL's deterministicChain is worth 1 an episode, its stochasticChain, in
// which right fails with probability 1/n, (1−1/n)^(n−1): only n−1 successes in a
// row reach the reward. The decimals were computed independently.
func TestTabulaRLChains(t *testing.T) {
	for _, tt := range []struct {
		name string
		n    int
		slip float64
		want float64
	}{
		{"deterministic", 10, 0, 1},
		{"deterministic", 50, 0, 1},
		{"stochastic", 10, 1. / 10, 0.387420},
		{"stochastic", 50, 1. / 50, 0.371602},
	} {
		sol := must.Get(mdp.SolveFinite(chain(t, tt.n, tt.slip), tt.n))(t)
		v := sol.Value[tt.n][0]
		if math.Abs(v-tt.want) > 1e-6 || math.Abs(v-math.Pow(1-tt.slip, float64(tt.n-1))) > 1e-12 {
			t.Errorf("%s chain of %d: worth %v, want %v", tt.name, tt.n, v, tt.want)
		}
	}
}
