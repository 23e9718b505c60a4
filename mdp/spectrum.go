package mdp

import (
	"fmt"
	"math"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Spectrum holds what bounds how fast a chain forgets (docs/theory.md §2.3). NaN
// marks what is not defined: Sigma2, PseudoGap and reversibility belong to
// irreducible chains.
type Spectrum struct {
	// Lambda2 is the second largest modulus of an eigenvalue: the asymptotic rate.
	// It is a lower bound, d(t) ≥ ½|λ₂|^t, and none from above.
	Lambda2 float64
	// Dobrushin is τ(P), the largest total variation between two rows: every step
	// shrinks any difference by this factor at least.
	Dobrushin float64
	overlap   float64 // 1 − Dobrushin, without its cancellation in a slow chain
	// Doeblin is Σ_y min_x P(x,y) ≤ 1 − Dobrushin.
	Doeblin float64
	// Sigma2 is the second singular value of D^½ P D^−½, D = diag(μ).
	Sigma2 float64
	// PseudoGap is the pseudo-spectral gap max_k (1 − σ₂(P^k)²)/k (Paulin 2015). k is
	// searched from 1 to 1000.
	PseudoGap  float64
	PseudoK    int       // the k that attains PseudoGap
	Reversible bool      // detailed balance; false when not irreducible
	Stationary []float64 // stationary distribution μ; nil when not irreducible

	c    *Chain
	logs []float64 // of Stationary, whose entries may underflow
}

// spectrumLimit is the largest number of states for eigenvalues and singular
// values.
const spectrumLimit = 1000

// Spectrum computes the spectral quantities of a chain of up to 1000 states.
func (c *Chain) Spectrum() (*Spectrum, error) {
	n := c.NumStates()
	if n > spectrumLimit {
		return nil, fmt.Errorf("mdp: the spectrum is for up to %d states, not %d", spectrumLimit, n)
	}
	p := newLifter(c).powers[0]
	sp := &Spectrum{c: c, Sigma2: math.NaN(), PseudoGap: math.NaN()}
	sp.Dobrushin, sp.overlap = dobrushin(p)
	for j := range n {
		least := math.Inf(1)
		for i := range n {
			least = min(least, p.At(i, j))
		}
		sp.Doeblin += least
	}
	var err error
	if !c.Structure().Irreducible() {
		sp.Lambda2, err = secondEigenvalue(p)
		return sp, err
	}
	all := make([]int, n)
	for s := range all {
		all[s] = s
	}
	sp.Stationary = make([]float64, n)
	sp.logs = c.gth(sp.Stationary, all)
	sp.Reversible = reversible(p, sp.logs)
	if !sp.Reversible {
		if sp.Lambda2, err = secondEigenvalue(p); err != nil {
			return nil, err
		}
		scaled, err := secondEigenvalueScaled(p, sp.logs)
		if err != nil {
			return nil, err
		}
		sp.Lambda2 = min(sp.Lambda2, scaled)
	}
	if err := sp.pseudo(p); err != nil {
		return nil, err
	}
	if sp.Reversible { // then D^½ P D^−½ is symmetric
		sp.Lambda2 = sp.Sigma2
	}
	return sp, nil
}

// reversible reports detailed balance, given the logarithms of μ.
func reversible(p *mat.Dense, logs []float64) bool {
	for i := range logs {
		for j := range i {
			x, y := p.At(i, j), p.At(j, i)
			if (x > 0 || y > 0) && !(math.Abs(logs[i]+math.Log(x)-logs[j]-math.Log(y)) <= 1e-10) {
				return false
			}
		}
	}
	return true
}

// pseudo finds σ₂ and the pseudo-spectral gap. No k can be better than
// (1 − |λ₂|^{2k})/k, as σ₂(P^k) ≥ |λ₂|^k, which ends the search.
func (sp *Spectrum) pseudo(p *mat.Dense) error {
	power := mat.DenseCopyOf(p)
	for k := 1; k <= 1000; k++ {
		if k > 1 {
			if (1-math.Pow(sp.Lambda2, 2*float64(k)))/float64(k) <= sp.PseudoGap {
				break
			}
			var next mat.Dense
			next.Mul(power, p)
			power = &next
		}
		s, err := secondSingular(power, sp.logs)
		if err != nil {
			return err
		}
		if k == 1 {
			sp.Sigma2 = s
		}
		if gap := max(1-s*s, 0) / float64(k); k == 1 || gap > sp.PseudoGap {
			sp.PseudoGap, sp.PseudoK = gap, k
		}
		if sp.Reversible { // σ₂(P^k) = σ₂(P)^k: k = 1 is the best
			break
		}
	}
	return nil
}

// secondEigenvalue returns the second largest modulus. It takes the eigenvalues of P on
// the measures of sum zero, in coordinates that leave out one state o: Q(i,j) = P(i,j) −
// P(o,j). These are the eigenvalues of P without one eigenvalue 1. The state o is the one
// that leaves most zeros. Then balancing finds exactly the eigenvalues of chains with
// finite memory. They are zero but defective, and roundoff would otherwise spread them to
// 1e-3.
func secondEigenvalue(p *mat.Dense) (float64, error) {
	n, _ := p.Dims()
	if n == 1 {
		return 0, nil
	}
	reference, most := 0, -1
	for o := range n {
		zeros, base := 0, p.RawRowView(o)
		for i := range n {
			for j, x := range p.RawRowView(i) {
				if x == base[j] {
					zeros++
				}
			}
		}
		if zeros > most {
			reference, most = o, zeros
		}
	}
	q := mat.NewDense(n-1, n-1, nil)
	for i := range n {
		for j := range n {
			if i != reference && j != reference {
				a, b := i, j
				if a > reference {
					a--
				}
				if b > reference {
					b--
				}
				q.Set(a, b, p.At(i, j)-p.At(reference, j))
			}
		}
	}
	return largestEigenvalue(q)
}

// secondEigenvalueScaled is secondEigenvalue of an irreducible chain, given the
// logarithms of its stationary distribution. It uses D^½ P D^−½ and takes out
// the eigenvector for 1, which is √μ on both sides. In a chain that drifts one
// way the eigenvalues of P itself move by a tenth when a single bit changes;
// these do not. If the other way is exact, roundoff spreads these outwards, so the
// smaller result is the better.
func secondEigenvalueScaled(p *mat.Dense, logs []float64) (float64, error) {
	m := scaled(p, logs)
	for i, x := range logs {
		for j, y := range logs {
			m.Set(i, j, m.At(i, j)-math.Exp((x+y)/2))
		}
	}
	return largestEigenvalue(m)
}

// scaled returns D^½ P D^−½, given the logarithms of D.
func scaled(p *mat.Dense, logs []float64) *mat.Dense {
	m := mat.NewDense(len(logs), len(logs), nil)
	for i := range logs {
		for j := range logs {
			if x := p.At(i, j); x != 0 { // the entry is at most √x, as μ(j) ≥ μ(i)·x
				m.Set(i, j, math.Exp((logs[i]-logs[j])/2)*x)
			}
		}
	}
	return m
}

// largestEigenvalue returns the largest modulus of an eigenvalue.
func largestEigenvalue(m *mat.Dense) (float64, error) {
	var e mat.Eigen
	if !e.Factorize(m, mat.EigenNone) {
		return 0, fmt.Errorf("mdp: the eigenvalues do not converge")
	}
	largest := 0.0
	for _, x := range e.Values(nil) {
		largest = max(largest, cmplx.Abs(x))
	}
	return largest, nil
}

// dobrushin returns τ(P), the largest total variation between two rows, and what it
// lacks to one, the smallest overlap Σ_y min(P(x,y), P(x',y)) of two rows.
func dobrushin(p *mat.Dense) (tau, overlap float64) {
	n, _ := p.Dims()
	overlap = 1
	for i := range n {
		x := p.RawRowView(i)
		for j := range i {
			apart, shared := 0.0, 0.0
			for k, y := range p.RawRowView(j) {
				apart += math.Abs(x[k] - y)
				shared += min(x[k], y)
			}
			tau, overlap = max(tau, apart/2), min(overlap, shared)
		}
	}
	return tau, overlap
}

// secondSingular returns the second singular value of D^½ P D^−½, given the
// logarithms of D.
func secondSingular(p *mat.Dense, logs []float64) (float64, error) {
	n := len(logs)
	if n == 1 {
		return 0, nil
	}
	var svd mat.SVD
	if !svd.Factorize(scaled(p, logs), mat.SVDNone) {
		return 0, fmt.Errorf("mdp: the singular values do not converge")
	}
	return svd.Values(nil)[1], nil
}

// MixingBounds are upper bounds on the exploration mixing time; Never where a
// bound has nothing to say.
type MixingBounds struct {
	Dobrushin      int // by τ(P)
	DobrushinPower int // by τ(P^m) for the best m = 1, 2, 4, …, 64
	Spectral       int // by σ₂(P^k) at the k of the pseudo-spectral gap
}

// Bounds returns bounds on the mixing time of every deviation whose first
// distance is at most tv in total variation, for the threshold η (docs/theory.md
// §2.3). The spectral one takes the worst distribution of the deviation over
// states, so it exceeds the others where a state is rare.
func (sp *Spectrum) Bounds(tv, eta float64) MixingBounds {
	b := MixingBounds{Dobrushin: contraction(tv, eta, sp.overlap, 1), Spectral: Never}
	b.DobrushinPower = b.Dobrushin
	l := newLifter(sp.c)
	for j := 1; j <= 6; j++ {
		_, overlap := dobrushin(l.power(j))
		b.DobrushinPower = min(b.DobrushinPower, contraction(tv, eta, overlap, 1<<j))
	}
	if sp.Stationary != nil {
		// (Σν²/μ)^½ ≤ ‖ν‖₁/√min μ; 1−σ₂² = k·gap, and 1−σ₂ = (1−σ₂²)/(1+σ₂).
		gap := sp.PseudoGap * float64(sp.PseudoK)
		loss := gap / (1 + math.Sqrt(max(0, 1-gap)))
		b.Spectral = contraction(tv*math.Exp(-slices.Min(sp.logs)/2), eta, loss, sp.PseudoK)
	}
	return b
}

// contraction returns a T with d_T below eta when d_1 ≤ first and every m steps
// shrink distances by 1 − loss: T = 1 + m(⌊ln(eta/first)/ln(1 − loss)⌋ + 1).
func contraction(first, eta, loss float64, m int) int {
	switch {
	case first < eta:
		return 1
	case loss <= 1e-15:
		return Never
	case loss >= 1:
		return 1 + m
	}
	q := math.Floor(math.Log(eta/first)/math.Log1p(-loss)) + 1
	if q > 1e15 {
		return Never
	}
	return 1 + m*int(q)
}

// WorstMixing returns the mixing time in the usual sense: the smallest t ≥ 0
// after which, from every state, the distribution is within total variation η
// of the stationary one. It is Never, with a MissingError, when the chain has
// several closed classes or a periodic one. For chains of up to 512 states.
func (c *Chain) WorstMixing(eta float64) (int, error) {
	n := c.NumStates()
	if n > liftLimit {
		return 0, fmt.Errorf("mdp: the worst-case mixing time is for up to %d states, not %d", liftLimit, n)
	}
	if !(eta >= 1e-12) {
		return 0, fmt.Errorf("mdp: the threshold η = %v is not at least 1e-12", eta)
	}
	st := c.Structure()
	if err := st.RequireUnichain(); err != nil {
		return Never, err
	}
	if err := st.RequireAperiodic(); err != nil {
		return Never, err
	}
	mu, _, err := c.Stationary()
	if err != nil {
		return 0, err
	}
	v := mat.NewDense(n, n, nil)
	all := make([]int, n)
	for s := range n {
		all[s] = s
		for t, x := range mu {
			if x >= negligible {
				v.Set(s, t, -x)
			}
		}
		v.Set(s, s, 1-mu[s])
	}
	t := newLifter(c).steps(v, [][]int{all}, func(_ int, norms []float64) bool {
		for _, x := range norms {
			if x > 2*eta {
				return true
			}
		}
		return false
	})[0]
	if t == Never {
		return Never, ErrNotConverged
	}
	return t, nil
}
