package mdp

import (
	"fmt"
	"math"

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
// Szepesvári 2015, Algorithm 1 and Theorem 4). States are 0..states-1, at most 500.
// It is wide: reckon with 1/(gap²·rarest) steps times the number of states and
// some constant before it says anything.
func TrajectorySpectrum(path []int, states int, delta float64) (*SpectralInterval, error) {
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
	out := &SpectralInterval{High: 1}
	var err error
	if out.Gap, err = absoluteGap(p, mu); err != nil {
		return nil, err
	}
	sensitivity, err := sensitivity(p, mu)
	if err != nil {
		return nil, err
	}
	tau := logTerm(float64(len(path)), d, delta)
	const c = 1.1
	largest, weighted := 0.0, 0.0
	for i, n := range visits {
		if n == 0 {
			return out, nil
		}
		for j := range states {
			x := p.At(i, j)
			half := c * tau / (2 * n)
			b := math.Sqrt(half) + math.Sqrt(half+math.Sqrt(2*c*x*(1-x)*tau/n)+(4.0/3*tau+math.Abs(x-1/d))/n)
			b *= b
			largest = max(largest, b)
			weighted += mu[i] / mu[j] * b * b
		}
	}
	shift := sensitivity * largest // bounds |μ̂ − μ|
	rho := 0.0
	out.Rarest = 1
	for _, x := range mu {
		out.Rarest = min(out.Rarest, x-shift)
		if x <= shift {
			rho = math.Inf(1)
		} else {
			rho = max(rho, shift/(x-shift)/2)
		}
	}
	out.Rarest = max(out.Rarest, 0)
	if width := 2*rho + rho*rho + (1+2*rho+rho*rho)*math.Sqrt(weighted); width < 1 {
		out.Low, out.High = max(out.Gap-width, 0), min(out.Gap+width, 1)
	}
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
// inverse of I − P: |μ̂ − μ| ≤ κ max|P̂ − P| (Cho & Meyer 2001).
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

// Mixing returns an upper bound on the exploration mixing time of every
// deviation, for the threshold η, that holds with the confidence of the interval
// (docs/theory.md §2.3, reversible chains); Never when the data say nothing.
func (i *SpectralInterval) Mixing(eta float64) int {
	if i.Rarest == 0 || i.Low == 0 {
		return Never
	}
	return contraction(1/math.Sqrt(i.Rarest), eta, 1-i.Low, 1)
}
