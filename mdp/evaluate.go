package mdp

import (
	"fmt"
	"math"
)

// EvaluateDiscounted returns the value v = Σ_t γ^t E r_t of the chain from each
// state, 0 ≤ γ < 1. Chains of up to 2000 states are solved directly, larger ones
// as SolveDiscounted solves a model with one action.
func (c *Chain) EvaluateDiscounted(gamma float64) ([]float64, error) {
	if err := checkDiscount(gamma); err != nil {
		return nil, err
	}
	n := c.NumStates()
	v := make([]float64, n)
	if n <= denseLimit {
		var r reduction
		r.reset(n)
		for s := range n {
			next, prob := c.Row(s)
			for k, t := range next {
				r.q[s*n+int(t)] = gamma * prob[k]
			}
			r.leave[s] = 1 - gamma
			r.f[0][s] = c.reward[s]
		}
		r.solve()
		copy(v, r.f[0])
		return v, nil
	}
	sol, err := SolveDiscounted(c.model(), gamma, SolverConfig{})
	if sol == nil {
		return nil, err
	}
	return sol.Value, err
}

// model returns the chain as a model with one action.
func (c *Chain) model() *Tabular {
	return &Tabular{states: c.NumStates(), actions: 1, start: c.start, next: c.next, prob: c.prob, reward: c.reward}
}

// EvaluateFinite returns the expected sum of the next horizon rewards from each
// state, like SolveHorizon.
func (c *Chain) EvaluateFinite(horizon int) []float64 {
	return overHorizon(horizon, c.NumStates(), func(dst, v []float64) {
		for s := range dst {
			dst[s] = c.reward[s] + c.expect(s, v)
		}
	})
}

// EvaluateAverage returns the gain (long-run reward per step) and the bias of
// the chain from each state. The bias is h = lim E Σ_{t<T} (r_t − g(s_t)), in
// the Cesàro sense when the chain is periodic (Puterman 1994, §8.2). There may
// be any number of closed classes; the gain is constant when there is one.
// Chains of more than 2000 states must have one; they are solved by iteration,
// the gain to an error of 1e-9 of the largest reward.
func (c *Chain) EvaluateAverage() (gain, bias []float64, err error) {
	n := c.NumStates()
	st := c.Structure()
	gain, bias = make([]float64, n), make([]float64, n)
	if n > denseLimit {
		if err := st.RequireUnichain(); err != nil {
			return nil, nil, err
		}
		return c.iterateAverage()
	}
	var red reduction
	place := make([]int, n) // index in the system being solved, -1 outside
	for s := range place {
		place[s] = -1
	}
	mu := make([]float64, n)
	for _, i := range st.Closed {
		class := st.Classes[i]
		c.gth(mu, class)
		// From its most likely state, so that cycles are short and what they cost
		// beyond the gain is not the difference of large numbers.
		reference := class[0]
		for _, s := range class {
			if mu[s] > mu[reference] {
				reference = s
			}
		}
		g, _ := red.cycle(class, reference, place, c.Row, c.Reward, bias)
		mean := 0.0
		for _, s := range class {
			mean += mu[s] * bias[s]
		}
		for _, s := range class {
			gain[s], bias[s], place[s] = g, bias[s]-mean, -1
		}
	}
	var transient []int
	for s := range n {
		if !st.Recurrent(s) {
			place[s] = len(transient)
			transient = append(transient, s)
		}
	}
	// First comes the gain, which is the mean of the gains of the classes; then
	// the bias.
	c.solveTransient(&red, transient, place, gain, func(int) float64 { return 0 })
	c.solveTransient(&red, transient, place, bias, func(s int) float64 { return c.reward[s] - gain[s] })
	for s, h := range bias {
		if math.IsNaN(h) || math.IsInf(h, 0) {
			return nil, nil, fmt.Errorf("mdp: the bias of state %d is larger than a float64 holds", s)
		}
	}
	return gain, bias, nil
}

// solveTransient carries x from the closed classes to the transient states, where it solves x(s) =
// pays(s) + Σ p(t|s) x(t). place is the index of a transient state, -1 for the others.
func (c *Chain) solveTransient(red *reduction, transient, place []int, x []float64, pays func(s int) float64) {
	red.reset(len(transient))
	for i, s := range transient {
		next, prob := c.Row(s)
		for k, t := range next {
			if j := place[t]; j >= 0 {
				red.q[i*red.n+j] = prob[k]
			} else {
				red.leave[i] += prob[k]
				red.f[0][i] += prob[k] * x[t]
			}
		}
		red.f[0][i] += pays(s)
	}
	red.solve()
	for i, s := range transient {
		x[s] = red.f[0][i]
	}
}

// iterateAverage evaluates a large chain with one closed class, as a model with
// one action, then shifts the bias to have mean zero.
func (c *Chain) iterateAverage() (gain, bias []float64, err error) {
	a := AverageSolver{t: c.model()}
	n := c.NumStates()
	a.sol = Solution{Policy: make(Deterministic, n), Gain: make([]float64, n), Bias: make([]float64, n)}
	sol, err := a.relativeValueIteration(SolverConfig{}, 1_000_000)
	if err != nil {
		return nil, nil, err
	}
	mu, _, err := c.Stationary()
	mean := 0.0
	for s, w := range mu {
		mean += w * sol.Bias[s]
	}
	for s := range sol.Bias {
		sol.Bias[s] -= mean
	}
	return sol.Gain, sol.Bias, err
}

func checkDiscount(gamma float64) error {
	if !(gamma >= 0 && gamma < 1) {
		return fmt.Errorf("mdp: discount %v is outside [0,1)", gamma)
	}
	return nil
}
