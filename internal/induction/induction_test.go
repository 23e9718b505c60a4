package induction_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/induction"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// However many layers there are, the values are the same: here with n steps left the
// binomial coefficients of n, which a step can also make in place.
func TestLayers(t *testing.T) {
	pascal := func(_ int, dst, next []float64) bool {
		for s := len(dst) - 1; s > 0; s-- {
			dst[s] = next[s] + next[s-1]
		}
		dst[0] = next[0]
		return false
	}
	for layers := 1; layers <= 7; layers++ {
		memory := make([][]float64, layers)
		for k := range memory {
			memory[k] = make([]float64, 7)
		}
		memory[0][0] = 1
		if got := induction.Backward(memory, 6, pascal); !slices.Equal(got, []float64{1, 6, 15, 20, 15, 6, 1}) {
			t.Errorf("%d layers: %v", layers, got)
		}
	}
}

func TestStops(t *testing.T) {
	for steps, want := range []float64{0, 1, 2, 3, 3, 3} {
		got := induction.Backward([][]float64{{0}, {0}}, steps, func(left int, dst, next []float64) bool {
			dst[0] = next[0] + 1
			return left == 3
		})
		if got[0] != want {
			t.Errorf("%d steps that end after 3: made %v, want %v", steps, got[0], want)
		}
	}
}

// Two routes to one answer: the plan for two Bernoulli arms, over the lattice of counts, and
// the solution of the finite model whose states are these counts.
func TestBanditPlanIsTheModelsSolution(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		pulls := 1 + rng.IntN(6)
		priors := []bandit.Beta{{A: 3 * rng.Float64(), B: 3 * rng.Float64()}, {A: 3 * rng.Float64(), B: 3 * rng.Float64()}}
		plan := must.Get(bandit.NewPlan(priors, bandit.Finite(pulls-1), pulls, 0))(t)
		size := pulls + 1 // of a count; counts beyond are not reached
		place := []int{1, size, size * size, size * size * size}
		m := must.Get(mdp.Generate(mdp.Definition{States: size * place[3], Actions: 2}, func(s, arm int, row *mdp.Row) {
			won, lost := s/place[2*arm]%size, s/place[2*arm+1]%size
			a, b := priors[arm].A+float64(won), priors[arm].B+float64(lost)
			row.AddRewarded(min(s+place[2*arm], size*place[3]-1), a/(a+b), 1)
			row.AddRewarded(min(s+place[2*arm+1], size*place[3]-1), b/(a+b), 0)
		}))(t)
		value, _ := must.Get2(mdp.SolveHorizon(m, pulls))(t)
		if math.Abs(value[0]-plan.Value()) > 1e-12*float64(pulls) {
			t.Errorf("%v, %d pulls: the plan is worth %v, the model %v", priors, pulls, plan.Value(), value[0])
		}
	}
}
