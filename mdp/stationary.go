package mdp

import (
	"fmt"
	"math"
)

// ErrNotConverged is returned, together with the best result so far, when an
// iteration stops at its limit before its tolerance.
var ErrNotConverged = fmt.Errorf("mdp: not converged within the iteration limit")

// denseLimit is the largest number of states for which dense linear algebra,
// with its S² memory and S³ time, is used.
const denseLimit = 2000

// Stationary returns the stationary distribution of policy π in model m; see
// Chain.Stationary.
func Stationary(m Model, pi Policy) (mu []float64, residual float64, err error) {
	c, err := Induce(m, pi)
	if err != nil {
		return nil, 0, err
	}
	return c.Stationary()
}

// Stationary returns the stationary distribution μ = μP of a chain with a
// single closed class (else a MissingError) and the residual ‖μP−μ‖₁. Closed
// classes of up to 2000 states are solved by elimination without subtractions
// (Grassmann, Taksar & Heyman 1985), so every entry is accurate, however small.
// Larger ones are solved by iteration, to a residual of 1e-12 or else with
// ErrNotConverged.
func (c *Chain) Stationary() (mu []float64, residual float64, err error) {
	st := c.Structure()
	if err := st.RequireUnichain(); err != nil {
		return nil, 0, err
	}
	mu = make([]float64, c.NumStates())
	err = c.stationaryOf(mu, st.Classes[st.Closed[0]])
	next := make([]float64, len(mu))
	c.Propagate(next, mu)
	for s := range next {
		residual += math.Abs(next[s] - mu[s])
	}
	return mu, residual, err
}

// stationaryOf writes the stationary distribution of a closed class into the
// places of mu of its states.
func (c *Chain) stationaryOf(mu []float64, class []int) error {
	if len(class) <= denseLimit {
		c.gth(mu, class)
		return nil
	}
	return c.iterateStationary(mu, class)
}

// gth eliminates the states of the class one by one, those with the longest way
// to its first state first. So each has a transition to a remaining state, and
// no divisor is less than the smallest probability in the chain. It returns the
// logarithms of the probabilities.
func (c *Chain) gth(mu []float64, class []int) (logs []float64) {
	n := len(class)
	place := make(map[int32]int, n)
	for i, s := range class {
		place[int32(s)] = i
	}
	from := make([][]int, n) // by which states each is entered
	for i, s := range class {
		next, _ := c.Row(s)
		for _, t := range next {
			from[place[t]] = append(from[place[t]], i)
		}
	}
	order, rank := make([]int, 1, n), make([]int, n)
	for k := 0; k < len(order); k++ {
		for _, i := range from[order[k]] {
			if rank[i] == 0 && i != 0 {
				rank[i] = len(order)
				order = append(order, i)
			}
		}
	}
	p := make([]float64, n*n)
	for i, s := range class {
		next, prob := c.Row(s)
		for k, t := range next {
			p[rank[i]*n+rank[place[t]]] += prob[k]
		}
	}
	x, scaled := make([]float64, n), make([]float64, n)
	gth(x, scaled, p)
	logs = make([]float64, n)
	for i, s := range class {
		mu[s], logs[i] = x[rank[i]], scaled[rank[i]]
	}
	return logs
}

// gth writes the stationary distribution of the irreducible matrix p, which it
// overwrites, into x. If logs is not nil, it gets the logarithms, which show
// how rare a state is even where the probability itself underflows.
// Off-diagonal entries of p suffice. Weights are held as fractions with
// exponents of their own, since in a long chain that drifts one way their range is larger
// than a float64's.
func gth(x, logs, p []float64) {
	const least = 0x1p-1022 // for a state that is all but left for good
	n := len(x)
	for k := n - 1; k > 0; k-- {
		out := 0.0
		for j := range k {
			out += p[k*n+j]
		}
		out = max(out, least)
		for i := range k {
			f := p[i*n+k] / out
			p[i*n+k] = f
			if f != 0 {
				row, last := p[i*n:i*n+k], p[k*n:k*n+k]
				for j := range row {
					row[j] += f * last[j]
				}
			}
		}
	}
	exponent := make([]int, n)
	x[0] = 1
	highest := 0
	for k := 1; k < n; k++ {
		top := math.MinInt
		for i := range k {
			if _, e := math.Frexp(p[i*n+k] * x[i]); p[i*n+k]*x[i] != 0 {
				top = max(top, exponent[i]+e)
			}
		}
		sum := 0.0
		for i := range k {
			if y, e := math.Frexp(p[i*n+k] * x[i]); y != 0 {
				sum += math.Ldexp(y, exponent[i]+e-top)
			}
		}
		if x[k], exponent[k] = math.Frexp(sum); sum != 0 {
			exponent[k] += top
			highest = max(highest, exponent[k])
		}
	}
	total := 0.0
	for i := range x {
		total += math.Ldexp(x[i], exponent[i]-highest)
	}
	for i := range x {
		if logs != nil {
			logs[i] = math.Log(x[i]) + float64(exponent[i]-highest)*math.Ln2 - math.Log(total)
		}
		x[i] = math.Ldexp(x[i], exponent[i]-highest) / total
	}
}

// iterateStationary makes Gauss-Seidel sweeps, in alternating directions, of
// μ(t) ← Σ_{s≠t} μ(s)P(s,t) / (1−P(t,t)), slightly under-relaxed so that they
// converge whatever the period.
func (c *Chain) iterateStationary(mu []float64, class []int) error {
	const limit, tolerance, relax = 100_000, 1e-12, 0.95
	back := c.model().predecessors()
	n := len(class)
	for _, s := range class {
		mu[s] = 1 / float64(n)
	}
	for sweep := range limit {
		change, total := 0.0, 0.0
		for i := range n {
			t := class[i]
			if sweep&1 == 1 {
				t = class[n-1-i]
			}
			in, stay := 0.0, 0.0
			from, prob := back.Row(t)
			for k, s := range from {
				if int(s) == t {
					stay = prob[k]
				} else {
					in += mu[s] * prob[k]
				}
			}
			x := mu[t] + relax*(in/(1-stay)-mu[t])
			change += (1 - stay) * math.Abs(x-mu[t])
			mu[t] = x
			total += x
		}
		for _, s := range class {
			mu[s] /= total
		}
		if change < tolerance {
			return nil
		}
	}
	return ErrNotConverged
}
