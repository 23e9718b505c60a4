package voi

import "math"

// points is the size of the grid of concentrations.
const points = 9

// mixture is a distribution over concentrations of Dirichlet processes: pairs whose
// outcome is always the same and pairs whose outcomes vary are told apart by it. It is
// fitted to all pairs by maximum likelihood (Kiefer & Wolfowitz 1956), with one
// uniform pseudo-pair.
type mixture struct {
	alpha, weight [points]float64
}

// newMixture returns the uniform distribution over concentrations from e^-9 to e^top,
// equally spaced in logarithms.
func newMixture(top float64) mixture {
	var m mixture
	for g := range points {
		m.alpha[g] = math.Exp(-9 + (9+top)*float64(g)/(points-1))
		m.weight[g] = 1.0 / points
	}
	return m
}

// likelihood is how likely what a pair has shown is under each concentration, up to a
// factor.
type likelihood [points]float64

// flat is that of a pair that has shown nothing.
var flat = func() (l likelihood) {
	for g := range l {
		l[g] = 1
	}
	return l
}()

// observe takes in one more outcome of a pair with n ≥ 1 before, a new one or not. Here and
// below, u is the share of the base that the pair has not shown.
func (m *mixture) observe(l *likelihood, n, u float64, isNew bool) {
	top := 0.0
	for g, a := range m.alpha {
		if isNew {
			l[g] *= a * u / (n + a)
		} else {
			l[g] *= (n + a*(1-u)) / (n + a)
		}
		top = max(top, l[g])
	}
	for g := range l {
		l[g] /= top
	}
}

// predict returns the probability that the next outcome of a pair with n ≥ 1 is new.
func (m *mixture) predict(l *likelihood, n, u float64) float64 {
	sum, p := 0.0, 0.0
	for g, a := range m.alpha {
		w := m.weight[g] * l[g]
		sum += w
		p += w * a * u / (n + a)
	}
	return p / sum
}

// ahead returns the probability q that k more outcomes of a pair with n ≥ 1 have a new
// one among them. It also returns the result of predict after k outcomes with none.
func (m *mixture) ahead(l *likelihood, n, u, k float64) (q, after float64) {
	sum, none, p := 0.0, 0.0, 0.0
	for g, a := range m.alpha {
		w := m.weight[g] * l[g]
		sum += w
		fresh := a * u
		old := n + a - fresh
		if k == 1 {
			w *= old / (n + a)
		} else { // ∏ (old+j)/(n+j+a) for j < k, by Stirling's formula
			w *= math.Exp(fresh * math.Log((old-0.5+0.5*fresh)/(old+k-0.5+0.5*fresh))) // faster than math.Pow
		}
		none += w
		p += w * fresh / (n + k + a)
	}
	return 1 - none/sum, p / none
}

// fit makes a step of expectation maximisation. likelihoods yields those of all pairs
// that were tried more than once.
func (m *mixture) fit(likelihoods func(yield func(*likelihood) bool)) {
	var sum [points]float64
	pairs := 1.0
	for g := range sum {
		sum[g] = 1.0 / points
	}
	for l := range likelihoods {
		z := 0.0
		for g := range l {
			z += m.weight[g] * l[g]
		}
		z = 1 / z
		for g := range l {
			sum[g] += m.weight[g] * l[g] * z
		}
		pairs++
	}
	for g := range sum {
		m.weight[g] = sum[g] / pairs
	}
}
