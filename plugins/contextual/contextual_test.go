package contextual

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/rltest"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
	"github.com/rlrun/rlrun/plugins/plugintest"
)

// variants are parameters of the agent that reach all of its code.
var variants = map[string][]string{"linear-bandit": {
	``,
	`{"gain":"mean","belief":"bootstrap","members":7,"prior":2,"horizon":200}`,
	`{"policy":"thompson"}`,
	`{"policy":"thompson","belief":"bootstrap"}`,
	`{"policy":"linucb","width":0.5,"noise":0.1}`,
	`{"policy":"epsilon-greedy","epsilon":0.3}`,
	`{"policy":"greedy"}`,
}}

func TestConform(t *testing.T) {
	boxed := framework.Spec{
		ID:          "test/boxed@1",
		Observation: space.Box{Low: []float64{-1}, High: []float64{1}, Shape: []int{2}, Type: space.Float32},
		Action:      space.Discrete{N: 3, Start: 1}, RewardLow: -1, RewardHigh: 1,
	}
	counted := boxed
	counted.Observation, counted.Continuing = space.Discrete{N: 4, Start: -2}, true
	agenttest.Every(t, []vector.Plugin{Agent()}, variants, func(t *testing.T, p vector.Plugin, params string) {
		if params == "" {
			plugintest.Conform(t, p, nil, boxed, counted)
		} else if err := rltest.CheckPlugin(t.Context(), p, json.RawMessage(params), boxed, counted); err != nil {
			t.Error(err)
		}
	})
	for _, params := range []string{`{"arms":3,"features":2}`, `{"contexts":4,"noise":0}`} {
		plugintest.Conform(t, Environment(), json.RawMessage(params))
	}
}

// The belief solves the normal equations: Σ⁻¹ = 1/prior² + XᵀX/noise².
// Members are draws from the belief. Their means and variances agree with it within five standard errors.
func TestRegression(t *testing.T) {
	const d, steps, members, prior, noise = 3, 20, 4000, 1.5, 0.7
	rng := rand.New(rand.NewPCG(1, 2))
	r := regression{make([]float64, d), make([]float64, d*d), make([]float64, members*d)}
	r.forget(prior, rng)
	precision, moment := mat.NewSymDense(d, nil), mat.NewVecDense(d, nil)
	for k := range d {
		precision.SetSym(k, k, 1/(prior*prior))
	}
	u := make([]float64, d)
	for range steps {
		x := []float64{1, rng.NormFloat64(), rng.NormFloat64()}
		y := 2*x[1] - x[2] + noise*rng.NormFloat64()
		r.learn(u, x, y, noise, rng)
		v := mat.NewVecDense(d, x)
		precision.SymRankOne(precision, 1/(noise*noise), v)
		moment.AddScaledVec(moment, y/(noise*noise), v)
	}
	var cov mat.Dense
	must.Do(t, cov.Inverse(precision))
	var mean mat.VecDense
	mean.MulVec(&cov, moment)
	for j := range d {
		if math.Abs(r.mean[j]-mean.AtVec(j)) > 1e-9 {
			t.Errorf("mean %d: %g, want %g", j, r.mean[j], mean.AtVec(j))
		}
		for k := range d {
			one := make([]float64, d)
			one[k] = 1
			if r.spread(u, one); math.Abs(u[j]-cov.At(j, k)) > 1e-9 {
				t.Errorf("covariance %d, %d: %g, want %g", j, k, u[j], cov.At(j, k))
			}
		}
		sum, squares := 0.0, 0.0
		for k := range members {
			z := (r.members[k*d+j] - mean.AtVec(j)) / math.Sqrt(cov.At(j, j))
			sum, squares = sum+z, squares+z*z
		}
		if math.Abs(sum)/math.Sqrt(members) > 5 || math.Abs(squares-members)/math.Sqrt(2*members) > 5 {
			t.Errorf("weight %d of the members: sum %g, squares %g of %d", j, sum, squares, members)
		}
	}
}

// With any prior and noise the belief is that of exact arithmetic: the normal equations, solved with 4,000 bits.
func TestRegressionOfAnyScale(t *testing.T) {
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(4000).SetFloat64(x) }
	for _, scale := range []struct{ prior, noise float64 }{{1, 1}, {1e8, 1}, {1e10, 1}, {1, 1e-8}, {1e100, 1}, {1e60, 1e-60}, {1, 1e-100}, {1e-8, 1e8}} {
		for _, d := range []int{1, 3, 6} {
			rng := rand.New(rand.NewPCG(3, uint64(d)))
			r := regression{mean: make([]float64, d), factors: make([]float64, d*d)}
			r.forget(scale.prior, rng)
			rows := make([][]*big.Float, d) // the precision, and the moment in the last column
			for j := range rows {
				rows[j] = make([]*big.Float, d+1)
				for k := range rows[j] {
					rows[j][k] = number(0)
				}
				sq := new(big.Float).Mul(number(scale.prior), number(scale.prior))
				rows[j][j].Quo(number(1), sq)
			}
			u, x := make([]float64, d), make([]float64, d)
			for range 3 * d {
				for k := range x {
					x[k] = rng.NormFloat64()
				}
				y := rng.NormFloat64()
				r.learn(u, x, y, scale.noise, rng)
				for j := range rows {
					for k, w := range append(slices.Clone(x), y) {
						term := new(big.Float).Mul(number(x[j]), number(w))
						sq := new(big.Float).Mul(number(scale.noise), number(scale.noise))
						rows[j][k].Add(rows[j][k], term.Quo(term, sq))
					}
				}
			}
			for j := range rows { // Gauss and Jordan; the precision is positive definite
				for i := range rows {
					if i == j {
						continue
					}
					by := new(big.Float).Quo(rows[i][j], rows[j][j])
					for k := range rows[i] {
						rows[i][k].Sub(rows[i][k], new(big.Float).Mul(by, rows[j][k]))
					}
				}
			}
			for j := range rows {
				want, _ := new(big.Float).Quo(rows[j][d], rows[j][j]).Float64()
				if got := r.mean[j]; math.Abs(got-want) > 1e-9*math.Abs(want) {
					t.Errorf("prior %g, noise %g, %d weights: mean %d is %g, want %g", scale.prior, scale.noise, d, j, got, want)
				}
			}
		}
	}
}

// A trial shows everything about equal contexts, and nothing about uncorrelated ones.
func TestRelevance(t *testing.T) {
	open := func(o space.Space) *contextual {
		a := must.Get(Agent().OpenAgent(t.Context(), nil, framework.Spec{ID: "test/x@1", Observation: o, Action: space.Discrete{N: 2}, Steps: 100}, 1))(t)
		x := lanes.Learners[[]float64](a)[0].(*contextual)
		x.Start(1)
		return x
	}
	one := open(space.Box{Low: []float64{-9}, High: []float64{9}, Shape: []int{2}})
	for range 3 {
		one.Begin([]float64{0.3, 0.4})
		one.learn(1)
	}
	if got := one.relevance(0); math.Abs(got-1) > 1e-9 {
		t.Errorf("one context: %g", got)
	}
	two := open(space.Box{Low: []float64{-9}, High: []float64{9}, Shape: []int{1}})
	for _, o := range [][]float64{{1}, {-1}, {1}, {-1}} { // (1, 1) and (1, -1) are uncorrelated
		two.Begin(o)
		two.run.Steps++
	}
	if got := two.relevance(0); math.Abs(got-0.5) > 1e-9 {
		t.Errorf("two contexts that are apart, by features: %g", got)
	}
	counted := open(space.Discrete{N: 5})
	for _, c := range []float64{2, 3, 3, 3} {
		counted.Begin([]float64{c})
		counted.learn(0)
	}
	counted.Begin([]float64{2})
	if got := counted.relevance(0); got != 2.0/5 {
		t.Errorf("a context seen twice in five steps: %g", got)
	}
}

// The threshold earns more than never exploring and than Thompson sampling, in either kind of contexts. The seeds are
// fixed. The differences are over six standard errors, and the test asks for three. So it fails
// with a probability of about 1e-3 if the random numbers change.
func TestThresholdPays(t *testing.T) {
	for _, env := range []string{`{"contexts":20}`, `{}`} {
		regret := map[string][]float64{}
		for _, params := range []string{`{}`, `{"policy":"greedy"}`, `{"policy":"thompson"}`} {
			for _, run := range agenttest.Plugins(Plugins()).Play(t, "contextual-bandit", env, "linear-bandit", params, 0, 40, 500, []int{500}, result.Regret) {
				regret[params] = append(regret[params], run.Curves[result.Regret][0])
			}
		}
		for _, other := range []string{`{"policy":"greedy"}`, `{"policy":"thompson"}`} {
			sum, squares, n := 0.0, 0.0, 0.0
			for i, x := range regret[other] {
				d := x - regret[`{}`][i]
				sum, squares, n = sum+d, squares+d*d, n+1
			}
			mean := sum / n
			if se := math.Sqrt((squares/n - mean*mean) / (n - 1)); mean < 3*se {
				t.Errorf("%s: less regret than %s by %g ± %g", env, other, mean, se)
			}
		}
	}
}
