package mdp

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// SpectralInterval is what one trajectory says about the spectral gap of a
// reversible chain, and so about its worst-case mixing.
type SpectralInterval struct {
	Gap       float64 // estimate of the absolute gap 1 − max(λ₂, |λ_S|)
	Low, High float64 // interval that contains the gap; [0,1] when the data say nothing
	// Rarest bounds the smallest stationary probability from below; 0 when the data
	// say nothing.
	Rarest float64
}

// TrajectorySpectrum computes an interval that contains the absolute spectral
// gap of the chain that made the path, if that is reversible and ergodic, with
// probability at least 1−delta, from the path alone (Hsu, Kontorovich &
// Szepesvári 2015, Algorithm 1, with the bound on μ̂−μ of docs/theory.md §2.5). For
// other chains see TrajectoryPseudoGap. States are 0..states-1, at most 500.
// It is wide: reckon with 1/(gap²·rarest) steps times the number of states
// squared and some constant before it says anything.
func TrajectorySpectrum(path []int, states int, delta float64) (*SpectralInterval, error) {
	e, err := estimateTrajectory(path, states, delta)
	if err != nil {
		return nil, err
	}
	out := &SpectralInterval{High: 1, Rarest: e.rarest}
	if out.Gap, err = absoluteGap(e.p, e.mu); err != nil {
		return nil, err
	}
	if e.width < 1 {
		out.Low, out.High = max(out.Gap-e.width, 0), min(out.Gap+e.width, 1)
	}
	return out, nil
}

// Mixing returns an upper bound on the exploration mixing time of every
// deviation, for the threshold η, that holds with the confidence of the interval
// (docs/theory.md §2.3, reversible chains); Never when the data say nothing.
func (i *SpectralInterval) Mixing(eta float64) int {
	if i.Rarest == 0 || i.Low == 0 {
		return Never
	}
	return contraction(1/math.Sqrt(i.Rarest), eta, i.Low, 1)
}

// PseudoGapInterval is what one trajectory says about the pseudo-spectral gap of
// a chain that need not be reversible, and so about its worst-case mixing.
type PseudoGapInterval struct {
	// Gap estimates max_k (1 − σ₂(P^k)²)/k (Paulin 2015), and K is the k that attains
	// the estimate, at most 100.
	Gap float64
	K   int
	// Low and High contain the gap; 0 and 1 when the data say nothing.
	Low, High float64
	Rarest    float64 // as in SpectralInterval

	sigma []float64 // upper bounds on σ₂(P^k), k = 1, 2, …
}

// TrajectoryPseudoGap computes an interval that contains the pseudo-spectral
// gap of the irreducible chain that made the path, with probability at least
// 1−delta, from the path alone: what Wolfer & Kontorovich (2019) do by chains that
// skip k−1 steps, here by the powers of the one that skips none (docs/theory.md
// §2.5). States are 0..states-1, at most 500. It is wider than what
// TrajectorySpectrum has to say of reversible chains.
func TrajectoryPseudoGap(path []int, states int, delta float64) (*PseudoGapInterval, error) {
	e, err := estimateTrajectory(path, states, delta)
	if err != nil {
		return nil, err
	}
	logs := make([]float64, states)
	for s, x := range e.mu {
		logs[s] = math.Log(x)
	}
	out := &PseudoGapInterval{K: 1, Rarest: e.rarest}
	power := mat.DenseCopyOf(e.p)
	for k := 1; k <= 100; k++ {
		longest := 1 / float64(k) // no k from here on has a gap beyond
		if longest <= out.Gap && longest <= out.High {
			break
		}
		if k > 1 {
			var next mat.Dense
			next.Mul(power, e.p)
			power = &next
		}
		sigma, err := secondSingular(power, logs)
		if err != nil {
			return nil, err
		}
		if gap := max(0, 1-sigma*sigma) * longest; gap > out.Gap {
			out.Gap, out.K = gap, k
		}
		most, least := min(1, sigma+float64(k)*e.width), max(0, sigma-float64(k)*e.width)
		out.sigma = append(out.sigma, most)
		out.Low = max(out.Low, (1-most*most)*longest)
		out.High = max(out.High, (1-least*least)*longest)
	}
	out.High = max(out.High, 1/float64(len(out.sigma)+1))
	return out, nil
}

// Mixing returns an upper bound on the exploration mixing time of every
// deviation, for the threshold η, that holds with the confidence of the interval
// (docs/theory.md §2.3, σ₂ of the best P^k); Never when the data say nothing.
func (i *PseudoGapInterval) Mixing(eta float64) int {
	best := Never
	if i.Rarest > 0 {
		for k, sigma := range i.sigma {
			best = min(best, contraction(1/math.Sqrt(i.Rarest), eta, 1-sigma, k+1))
		}
	}
	return best
}

// trajectoryEstimate is a chain estimated from one of its paths, and how well.
type trajectoryEstimate struct {
	p  *mat.Dense
	mu []float64 // stationary under p
	// With the probability asked for, width bounds ‖L̂−L‖₂, L = D^½ P D^−½, and
	// rarest the smallest stationary probability from below. +Inf and 0 when the
	// data say nothing.
	width, rarest float64
}

func estimateTrajectory(path []int, states int, delta float64) (*trajectoryEstimate, error) {
	switch {
	case states < 1 || states > 500:
		return nil, fmt.Errorf("mdp: a spectral interval is for 1 to 500 states, not %d", states)
	case !(delta > 0 && delta < 1):
		return nil, fmt.Errorf("mdp: failure probability %v is outside (0,1)", delta)
	case len(path) < 2:
		return nil, fmt.Errorf("mdp: a trajectory of %d states has no transition", len(path))
	}
	d := float64(states)
	visits := make([]float64, states)
	p := mat.NewDense(states, states, nil)
	for t, s := range path {
		if s < 0 || s >= states {
			return nil, fmt.Errorf("mdp: state %d at time %d is outside 0..%d", s, t, states-1)
		}
		if t > 0 {
			visits[path[t-1]]++
			p.Set(path[t-1], s, p.At(path[t-1], s)+1)
		}
	}
	for i, n := range visits {
		for j := range states {
			p.Set(i, j, (p.At(i, j)+1/d)/(n+1))
		}
	}
	mu := make([]float64, states)
	gth(mu, nil, append([]float64(nil), p.RawMatrix().Data...))
	out := &trajectoryEstimate{p: p, mu: mu, width: math.Inf(1)}
	sensitivity, err := sensitivity(p, mu)
	if err != nil {
		return nil, err
	}
	tau := logTerm(float64(len(path)), d, delta)
	const c = 1.1
	largest, weighted := 0.0, 0.0 // of the rows' ‖P̂−P‖₁; Σ μ̂(i)/μ̂(j) (P̂−P)(i,j)²
	for i, n := range visits {
		if n == 0 {
			return out, nil
		}
		row := 0.0
		for j := range states {
			x := p.At(i, j)
			half := c * tau / (2 * n)
			b := math.Sqrt(half) + math.Sqrt(half+math.Sqrt(2*c*x*(1-x)*tau/n)+(4.0/3*tau+math.Abs(x-1/d))/n)
			b *= b
			row += b
			weighted += mu[i] / mu[j] * b * b
		}
		largest = max(largest, row)
	}
	shift := sensitivity * largest // bounds |μ̂ − μ|
	out.rarest = max(0, slices.Min(mu)-shift)
	rho := shift / out.rarest / 2 // bounds |√(μ/μ̂) − 1| and |√(μ̂/μ) − 1|; +Inf if need be
	out.width = 2*rho + rho*rho + (1+2*rho+rho*rho)*math.Sqrt(weighted)
	return out, nil
}

// logTerm returns the smallest t ≥ 0 with 2d²(1 + ⌈log_1.1(2n/t)⌉₊) e^−t ≤ δ, found
// by bisection.
func logTerm(n, d, delta float64) float64 {
	fails := func(t float64) bool {
		return 2*d*d*(1+max(math.Ceil(math.Log(2*n/t)/math.Log(1.1)), 0))*math.Exp(-t) > delta
	}
	low, high := 0.0, 1.0
	for fails(high) {
		low, high = high, 2*high
	}
	for range 60 {
		if mid := (low + high) / 2; fails(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// absoluteGap returns 1 − max(λ₂, |λ_S|) of the symmetric part of D^½ P D^−½.
func absoluteGap(p *mat.Dense, mu []float64) (float64, error) {
	n := len(mu)
	if n == 1 {
		return 1, nil
	}
	l := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			l.SetSym(i, j, (math.Sqrt(mu[i]/mu[j])*p.At(i, j)+math.Sqrt(mu[j]/mu[i])*p.At(j, i))/2)
		}
	}
	var e mat.EigenSym
	if !e.Factorize(l, false) {
		return 0, fmt.Errorf("mdp: the eigenvalues do not converge")
	}
	values := e.Values(nil) // increasing
	return 1 - max(values[n-2], math.Abs(values[0])), nil
}

// sensitivity returns κ = ½ max_j (A#(j,j) − min_i A#(i,j)), A# being the group
// inverse of I − P: in every state |μ̂ − μ| ≤ κ max_i ‖P̂(i,·) − P(i,·)‖₁ (κ₃ of Cho
// & Meyer 2001; docs/theory.md §2.5).
func sensitivity(p *mat.Dense, mu []float64) (float64, error) {
	n := len(mu)
	a := mat.NewDense(n, n, nil) // I − P + 1μ, whose inverse is A# + 1μ
	for i := range n {
		for j := range n {
			a.Set(i, j, mu[j]-p.At(i, j))
		}
		a.Set(i, i, a.At(i, i)+1)
	}
	var inverse mat.Dense
	if err := inverse.Inverse(a); err != nil {
		return 0, fmt.Errorf("mdp: the group inverse: %w", err)
	}
	kappa := 0.0
	for j := range n {
		least := math.Inf(1)
		for i := range n {
			least = min(least, inverse.At(i, j))
		}
		kappa = max(kappa, (inverse.At(j, j)-least)/2)
	}
	return kappa, nil
}
