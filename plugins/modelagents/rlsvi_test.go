package modelagents

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// The values drawn are θ = θ̄ + Σ^½ z of Osband, Van Roy & Wen (2016), Algorithm 1, with
// Σ = (AᵀA/σ² + λI)⁻¹ and θ̄ = ΣAᵀb/σ², where A has a row for each step seen, with a 1 for its
// pair, and b has the targets. The test makes these matrices, and has the same draws z.
func TestRLSVIIsLeastSquares(t *testing.T) {
	const horizon, states, actions, sigma, lambda = 3, 3, 2, 0.5, 2.0
	x := newAgent(t, "rlsvi", `{"horizon":3,"sigma":0.5,"lambda":2}`, agenttest.Finite)
	rng := rand.New(rand.NewPCG(1, 1))
	var a mat.Dense
	var rewards []float64
	var next []int
	features := mat.NewDense(40, states*actions, nil)
	for i := range 40 {
		s, action, u, r := rng.IntN(states), rng.IntN(actions), rng.IntN(states), rng.NormFloat64()
		x.Counts.Update(s, action, r, u)
		features.Set(i, s*actions+action, 1)
		rewards, next = append(rewards, r), append(next, u)
	}
	a.Mul(features.T(), features)
	a.Scale(1/(sigma*sigma), &a)
	for i := range states * actions {
		a.Set(i, i, a.At(i, i)+lambda)
	}
	var covariance mat.Dense
	if err := covariance.Inverse(&a); err != nil {
		t.Fatal(err)
	}
	draws := rand.New(rand.NewPCG(5, 5))
	*x.Rand = *rand.New(rand.NewPCG(5, 5))
	p := x.Planner.(*modelbased.Induction)
	p.Plan(0)
	value := make([]float64, states)
	for h := 1; h <= horizon; h++ { // steps to go
		b := mat.NewVecDense(len(next), nil)
		for i, u := range next {
			b.SetVec(i, rewards[i]+value[u])
		}
		var theta mat.VecDense
		theta.MulVec(features.T(), b)
		theta.MulVec(&covariance, &theta)
		theta.ScaleVec(1/(sigma*sigma), &theta)
		for s := range states {
			value[s] = math.Inf(-1)
			for action := range actions {
				i := s*actions + action
				want := theta.AtVec(i) + math.Sqrt(covariance.At(i, i))*draws.NormFloat64()
				if got := p.Q[h*states*actions+i]; math.Abs(got-want) > 1e-9 {
					t.Fatalf("%d steps to go, state %d, action %d: %v, want %v", h, s, action, got, want)
				}
				value[s] = max(value[s], want)
			}
		}
	}
}

// Its exploration is deep: in DeepSea with ten rows it finds the treasure, which is 2¹⁰ episodes
// away for random actions, and then takes the best path, in 400 episodes.
func TestRLSVIFindsTheTreasure(t *testing.T) {
	if got := plugins.Earns(t, "deepsea", `{"size":10}`, "rlsvi", `{"horizon":10}`, 5, 4000, 6000, "reward"); got < 0.8*0.099 {
		t.Errorf("a step earns %v, the best is 0.099", got)
	}
}
