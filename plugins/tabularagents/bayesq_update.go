package tabularagents

import (
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/mathext"

	"github.com/rlrun/rlrun/bandit"
)

// leastAlpha is the least shape of a belief after a mixture update, above 1 so that
// values have a variance. Dearden, Friedman & Russell (1998) ask for 1+ε.
const leastAlpha = 1.01

// momentUpdate is the belief after a return r + γR if only the first two moments
// of R are known (Dearden, Friedman & Russell 1998, §5.1). R is a return as the
// belief next predicts it: of mean μ and variance (λ+1)β/(λ(α−1)).
func momentUpdate(b, next bandit.NormalGamma, r, gamma float64) bandit.NormalGamma {
	variance := (next.Lambda + 1) / next.Lambda * next.Beta / (next.Alpha - 1)
	b.Update(r+gamma*next.Mu, nil)
	b.Beta += gamma * gamma * variance / 2
	return b
}

// mixtureUpdate averages the beliefs after a return r + γx over x as the belief
// next predicts it. It returns the normal-gamma belief closest to that average in
// Kullback-Leibler divergence from it (Dearden, Friedman & Russell 1998, §5.2).
// With the averages Eτ, Eμτ, Eμ²τ and E log τ,
//
//	μ₀ = Eμτ/Eτ,  1/λ = Eμ²τ − μ₀²Eτ,  log α − ψ(α) = log Eτ − E log τ,  β = α/Eτ.
//
// After a return y the belief has μ₀(y) = μ₀ + e/(λ+1), with e = y−μ₀, λ+1, α+½
// and β(y) = β + λe²/(2(λ+1)). So only averages of functions of 1/β(y), e/β(y),
// e²/β(y) and log β(y) are needed.
func mixtureUpdate(b, next bandit.NormalGamma, r, gamma float64) bandit.NormalGamma {
	nu := 2 * next.Alpha
	scale := gamma * math.Sqrt(next.Beta*(next.Lambda+1)/(next.Alpha*next.Lambda))
	m := mixture{at: r + gamma*next.Mu - b.Mu, width: scale * math.Sqrt(nu), nu: nu,
		beta: b.Beta, slope: b.Lambda / (2 * (b.Lambda + 1))}
	m.run()
	alpha := b.Alpha + 0.5
	tau := alpha * m.inverse
	shift := m.first / m.inverse // of e, weighted by τ
	spread := alpha * (m.second - m.first*shift)
	n := b.Lambda + 1
	g := logMinusDigamma(alpha) + math.Log(m.inverse) + m.log
	out := bandit.NormalGamma{Mu: b.Mu + shift/n, Lambda: 1 / (1/n + max(spread, 0)/(n*n)), Alpha: max(leastAlpha, inverseLogMinusDigamma(g))}
	out.Beta = out.Alpha / tau
	return out
}

// mixture integrates by the trapezoidal rule over t in e = at + width·sinh t. Here e
// is Student's t with ν degrees of freedom, and the density of t falls like cosh⁻ᵛ
// t. Its error falls like exp(−2πd/step), where d is the distance from the real axis
// of the poles, where β(y) = 0 (Trefethen & Weideman 2014). A first step of at most
// d/2 sees them; it is halved, which squares the error, until that changes less than
// 1e-5 of anything.
type mixture struct {
	at, width, nu float64
	beta, slope   float64 // β(y) = beta + slope·e²
	// The averages of 1/β(y), e/β(y), e²/β(y) and log β(y).
	inverse, first, second, log float64
	sums                        [5]float64 // of the weights, and of those
}

func (m *mixture) run() {
	if m.width == 0 { // e is certain
		m.add(0, 1)
		m.settle()
		return
	}
	far := math.Acosh(math.Exp(30 / m.nu)) // where the density is e⁻³⁰
	pole := cmplx.Asinh(complex(-m.at, math.Sqrt(m.beta/m.slope)) / complex(m.width, 0))
	step := min(far/8, max(imag(pole)/2, far/4096))
	m.add(0, 1)
	m.sum(step, step, far)
	m.settle()
	for range 10 {
		last := *m
		m.sum(step/2, step, far)
		m.settle()
		step /= 2
		if close(m.inverse, last.inverse) && close(m.second, last.second) && math.Abs(m.log-last.log) <= 1e-5 {
			return
		}
	}
}

// sum adds the terms at ±t for t from the first on.
func (m *mixture) sum(first, by, far float64) {
	for t := first; t <= far; t += by {
		up := math.Exp(t)
		down := 1 / up
		weight := math.Exp(-m.nu * math.Log((up+down)/2))
		s := m.width * (up - down) / 2
		m.add(s, weight)
		m.add(-s, weight)
	}
}

func (m *mixture) add(s, weight float64) {
	e := m.at + s
	beta := m.beta + m.slope*e*e
	v := weight / beta
	m.sums[0] += weight
	m.sums[1] += v
	m.sums[2] += v * e
	m.sums[3] += v * e * e
	m.sums[4] += weight * math.Log(beta)
}

func (m *mixture) settle() {
	w := m.sums[0]
	m.inverse, m.first, m.second, m.log = m.sums[1]/w, m.sums[2]/w, m.sums[3]/w, m.sums[4]/w
}

func close(a, b float64) bool { return math.Abs(a-b) <= 1e-5*math.Abs(a) }

// logMinusDigamma is log x − ψ(x), which falls from ∞ to 0.
func logMinusDigamma(x float64) float64 {
	if x > 1e4 { // where the difference cancels
		return 1/(2*x) + 1/(12*x*x)
	}
	return math.Log(x) - mathext.Digamma(x)
}

// inverseLogMinusDigamma returns the x > 0 at which log x − ψ(x) = y, by Newton's
// method in 1/x (Minka 2002).
func inverseLogMinusDigamma(y float64) float64 {
	if !(y > 1e-12) {
		return 5e11
	}
	x := (3 - y + math.Sqrt((y-3)*(y-3)+24*y)) / (12 * y)
	for range 20 {
		d := logMinusDigamma(x) - y
		slope := 1 - x*mathext.Zeta(2, x) // x times that of log x − ψ(x)
		if x > 1e4 {
			slope = -1/(2*x) - 1/(6*x*x)
		}
		z := 1 / (1/x + d/(x*slope))
		if !(z > 0) {
			z = x / 2
		}
		if math.Abs(z-x) <= 1e-14*x {
			return z
		}
		x = z
	}
	return x
}
