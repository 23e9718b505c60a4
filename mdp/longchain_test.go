package mdp_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// A chain moves on with probability t and back with 2t, however small t is: two thirds of the steps are in state 0.
func TestChainThatHardlyMoves(t *testing.T) {
	for _, p := range []float64{1e-5, 1e-100, 1e-290, 1e-300, 2.5e-308} {
		m := must.Get(mdp.NewModel(mdp.Definition{States: 2, Actions: 1, Transitions: []mdp.Transition{
			{0, 0, 0, 1 - p}, {0, 0, 1, p}, {1, 0, 1, 1 - 2*p}, {1, 0, 0, 2 * p},
		}}))(t)
		if mu, _, err := mdp.Stationary(m, mdp.Constant(2, 0)); err != nil || !near(mu[0], 2.0/3, 1e-12) || !near(mu[1], 1.0/3, 1e-12) {
			t.Errorf("p = %v: %v, %v", p, mu, err)
		}
	}
}

// In a river of 400 states, swimming right visits the left end with probability 1e-337,
// which no float64 holds. By detailed balance each interior state is visited 7 times as
// often as the one before. The chain is reversible, so its |λ₂| equals |λ₂| of the
// symmetric matrix √(P(s,u)P(u,s)). The span of the bias and T were computed
// independently, in 60 digits and by propagation.
func TestChainOfALongRiver(t *testing.T) {
	const n = 400
	task := must.Get(catalog.RiverSwim(n))(t)
	right := mdp.Constant(n, 1)
	for name, order := range map[string][]int{
		"in order":        identity(n),
		"ends first":      append([]int{0, n - 1}, identity(n)[1:n-1]...),
		"in random order": rand.New(rand.NewPCG(1, 1)).Perm(n),
	} {
		t.Run(name, func(t *testing.T) {
			place := make([]int, n) // of each state in the order
			for i, s := range order {
				place[s] = i
			}
			m := must.Get(mdp.Generate(mdp.Definition{States: n, Actions: 2}, func(i, a int, row *mdp.Row) {
				next, prob := task.Model.Transition(order[i], a)
				for k, u := range next {
					row.Add(place[u], prob[k])
				}
				row.Reward(task.Model.Reward(order[i], a))
			}))(t)
			c := must.Get(mdp.Induce(m, right))(t)
			mu, residual, err := c.Stationary()
			if err != nil || residual > 1e-12 {
				t.Fatalf("residual %v, %v", residual, err)
			}
			for s := n - 2; s > n-300; s-- {
				if got, want := mu[place[s-1]], mu[place[s]]/7; !near(got, want, 1e-9*want) {
					t.Fatalf("state %d has %v, want %v", s-1, got, want)
				}
			}
			sp := must.Get(c.Spectrum())(t)
			symmetric := mat.NewSymDense(n, nil)
			for i := range n {
				next, prob := c.Row(i)
				for k, u := range next {
					back, q := c.Row(int(u))
					j, _ := slices.BinarySearch(back, int32(i))
					symmetric.SetSym(i, int(u), math.Sqrt(prob[k]*q[j]))
				}
			}
			var e mat.EigenSym
			if !e.Factorize(symmetric, false) {
				t.Fatal("no eigenvalues")
			}
			values := e.Values(nil)
			lambda := max(values[n-2], -values[0])
			if !sp.Reversible || !near(sp.Lambda2, lambda, 1e-9) || !near(sp.PseudoGap, 1-lambda*lambda, 1e-9) {
				t.Errorf("reversible %v, |λ₂| %v, pseudo-spectral gap %v; want |λ₂| %v", sp.Reversible, sp.Lambda2, sp.PseudoGap, lambda)
			}
			gain, bias, err := c.EvaluateAverage()
			if err != nil || !near(gain[0], 3./7, 1e-9) || !near(slices.Max(bias)-slices.Min(bias), 569.166666667, 1e-6) {
				t.Errorf("gain %v, span %v, %v", gain[0], slices.Max(bias)-slices.Min(bias), err)
			}
			if name != "in order" {
				return
			}
			mix, err := mdp.MixingTime(m, right, mdp.MixingConfig{})
			if err != nil || mix.Max != 15 || mix.MaxAt != (mdp.Pair{S: 3, A: 0}) || !near(mix.MeanNonGreedy, 3.98632008286149, 1e-9) {
				t.Errorf("T = %d at %v, mean %v, %v", mix.Max, mix.MaxAt, mix.MeanNonGreedy, err)
			}
		})
	}
}

// The mixing time of 200 states, as computed independently.
func TestWorstMixingOfALongRiver(t *testing.T) {
	task := must.Get(catalog.RiverSwim(200))(t)
	if worst, err := induced(t, task.Model, mdp.Constant(200, 1)).WorstMixing(0.25); err != nil || worst != 686 {
		t.Errorf("mixing time %d, %v, want 686", worst, err)
	}
}

func identity(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
