package bandit

import "math"

// Comparison is the greedy arm j that an exploratory pull has to beat.
type Comparison struct {
	// Known is q̄_j, the mean of the greedy arm's belief.
	Known float64
	// LowerBound is b, below which no arm's mean reward can lie.
	LowerBound float64
	// Hold is T, the number of pulls that an exploration takes; 0 means 1.
	Hold int
}

// check returns c = q̄_j − b and T.
func (c Comparison) check() (cost float64, hold int) {
	cost = c.Known - c.LowerBound
	if math.IsNaN(cost) || math.IsInf(cost, 0) {
		panic("bandit: a comparison needs a finite mean and a finite lower bound")
	}
	hold = c.Hold
	if hold == 0 {
		hold = 1
	}
	checkHold(hold)
	return cost, hold
}

// ExplorationBound returns U(i,j,T,δ,b) of Lemma 1 in its corrected form
// (docs/theory.md §1.4). It is a lower bound on the expected weighted return of
// pulling arm i for T pulls and then knowing whether q_i ≥ q̄_j+δ, an event of
// probability p:
//
//	U = H_T (q̄_j + δp) + G_T ((q̄_j+δ)p + b(1−p))
func ExplorationBound(h Horizon, c Comparison, delta, p float64) float64 {
	_, hold := c.check()
	return h.Tail(hold)*(c.Known+delta*p) +
		h.Head(hold)*((c.Known+delta)*p+c.LowerBound*(1-p))
}

// Advantage returns U − G·q̄_j = G(δp − (1−p)ρ_T(q̄_j−b)), how much more than
// pulling the greedy arm for ever the bound promises. Exploring pays if it is
// positive for some δ > 0; see Explore.
func Advantage(h Horizon, c Comparison, delta, p float64) float64 {
	cost, hold := c.check()
	return h.Total() * (delta*p - (1-p)*h.Share(hold)*cost)
}

// Thresholds says what it takes to make exploring arm i worthwhile
// (docs/theory.md §1.2). The decision rests on φ(δ) = δp/(1−p) with
// p = P(q_i ≥ q̄_j+δ): explore exactly if φ* = sup φ exceeds ρ_T·(q̄_j−b).
type Thresholds struct {
	// DeltaStar is the δ > 0 that maximises φ, or 0 if the supremum is the
	// limit for δ → 0. NaN if φ* is infinite, or zero.
	DeltaStar float64
	// PStar is p at DeltaStar, 0 if φ* is zero, NaN if φ* is infinite.
	PStar float64
	// PhiStar is φ*: +Inf if p = 1 for some δ > 0, 0 if arm i cannot be
	// better. It may underflow to zero, which LogPhiStar, its logarithm,
	// does not for the exponential and Gaussian beliefs.
	PhiStar, LogPhiStar float64
	// Attained says whether φ(DeltaStar) = φ*.
	Attained bool
	// Never says that exploring does not pay at any horizon, as arm i cannot
	// be better than q̄_j.
	Never bool
	// ShareStar is φ*/(q̄_j−b): explore exactly if ρ_T is less. It is +Inf
	// where even ρ_T = 1 explores because q̄_j ≤ b.
	ShareStar float64
	// GammaStar is the discount with an infinite horizon above which
	// exploring pays: 0 always, 1 never. It may round to 1.
	GammaStar float64
	// NStar is the least N for which exploring pays undiscounted over N+1
	// rewards. It is math.MaxInt if there is none (Never) or if it is larger
	// than that.
	NStar int
	// NStarOverflow says that such an N exists and is larger than math.MaxInt.
	NStarOverflow bool

	cost float64
	hold int
}

// Threshold compares the belief about arm i with the greedy arm. Closed forms
// serve ShiftedExponential (Lambert's W), Uniform and TwoPoint; Gaussian is the
// root of one equation, a Population is exact in O(K), and any other belief is
// searched with a certified bracket.
func Threshold(b Belief, c Comparison) Thresholds {
	c.check()
	return peakOf(b, c.Known).thresholds(c)
}

// Explore reports whether trying arm i for T pulls is worth it in the given
// horizon: whether δp > (1−p)ρ_T(q̄_j−b) for some δ > 0 (docs/theory.md §1.1).
// Ties exploit.
func Explore(h Horizon, b Belief, c Comparison) bool {
	_, hold := c.check()
	return Threshold(b, c).Explore(h.Share(hold))
}

// Explore reports whether exploring pays if it takes the share rho = ρ_T of
// the horizon.
func (t Thresholds) Explore(rho float64) bool {
	target := rho * t.cost
	switch {
	case target < 0:
		return true
	case target == 0:
		return !t.Never
	case t.PhiStar == 0 && !t.Never:
		return t.LogPhiStar > math.Log(target)
	}
	return t.PhiStar > target
}

// GammaStarWithin returns the discount in [0,1] above which exploring pays with
// n+1 rewards, n ≥ 0, and whether there is one. If even γ = 1 does not explore,
// it returns 1 and false. With N finite ρ_T falls in γ from 1 to T/(N+1).
func (t Thresholds) GammaStarWithin(n int) (gamma float64, ok bool) {
	share := func(gamma float64) float64 { return DiscountedFinite(gamma, n).Share(t.hold) }
	switch {
	case t.Explore(1):
		return 0, true
	case !t.Explore(share(1)):
		return 1, false
	}
	lo, hi := 0.0, 1.0
	for range 1100 {
		mid := lo + (hi-lo)/2
		if !(mid > lo && mid < hi) {
			break
		}
		if t.Explore(share(mid)) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi, true
}

// peak is the supremum of φ.
type peak struct {
	delta, p, phi, logPhi float64
	attained              bool
	possible              bool // P(q_i > q̄_j) > 0
}

var (
	noPeak       = peak{delta: math.NaN(), logPhi: math.Inf(-1)}
	infinitePeak = peak{delta: math.NaN(), p: math.NaN(), phi: math.Inf(1), logPhi: math.Inf(1), possible: true}
)

// peaker is a belief with its own way to find the supremum of φ.
type peaker interface {
	peak(known float64) peak
}

func peakOf(b Belief, known float64) peak {
	if s, ok := b.(peaker); ok {
		return s.peak(known)
	}
	return searchPeak(shapeOf(b), known)
}

func searchPeak(d shape, known float64) peak {
	best := objective{base: known, odds: true}.maximise(d)
	switch {
	case math.IsInf(best.value, 1):
		return infinitePeak
	case best.value == 0:
		none := noPeak
		none.possible = canExceed(d, known)
		return none
	}
	return peak{best.y, best.above, best.value, math.Log(best.value), best.y > 0, true}
}

// canExceed reports whether P(q > x) > 0.
func canExceed(d shape, x float64) bool {
	if _, ok := d.(opaque); ok {
		return d.Gain(x) > 0
	}
	_, hi := d.support()
	return hi > x
}

func (k peak) thresholds(c Comparison) Thresholds {
	cost, hold := c.check()
	t := Thresholds{
		DeltaStar: k.delta, PStar: k.p, PhiStar: k.phi, LogPhiStar: k.logPhi,
		Attained: k.attained, Never: !k.possible && cost >= 0,
		cost: cost, hold: hold,
	}
	const tooLarge = 1 << 63
	switch {
	case t.Never:
		t.ShareStar = k.phi / cost
		if k.phi == 0 {
			t.ShareStar = 0
		}
		t.GammaStar, t.NStar = 1, math.MaxInt
		if k.phi < 0 {
			t.GammaStar = math.Pow(1-t.ShareStar, 1/float64(hold))
		}
	case k.phi > cost || cost <= 0:
		t.ShareStar = math.Inf(1)
		if cost > 0 {
			t.ShareStar = k.phi / cost
		}
	default:
		t.ShareStar = math.Exp(k.logPhi - math.Log(cost))
		if k.phi > 1e-300 {
			t.ShareStar = k.phi / cost
		}
		t.GammaStar = math.Exp(math.Log1p(-t.ShareStar) / float64(hold))
		n := math.Floor(float64(hold) / t.ShareStar)
		share := func(n float64) float64 { return min(1, float64(hold)/(n+1)) }
		if n > 0 && t.Explore(share(n-1)) { // at a tie rounding decides, and here as in Explore
			n--
		} else if !t.Explore(share(n)) {
			n++
		}
		if n < tooLarge {
			t.NStar = int(n)
		} else {
			t.NStar, t.NStarOverflow = math.MaxInt, true
		}
	}
	return t
}

// BestDelta returns the δ ≥ 0 that maximises the advantage at the share rho =
// ρ_T in [0,1]. It also returns that advantage relative to the total weight,
// sup_δ p(δ+ρc) − ρc with c = q̄_j−b. It is −ρc if arm i cannot be better; 0
// stands for the limit δ → 0. With rho = 0 it is sup δp, the gain that the test
// of U⁺ sets against the gap q̄_j−q̄_i (docs/theory.md §1.8).
func BestDelta(b Belief, c Comparison, rho float64) (delta, advantage float64) {
	cost, _ := c.check()
	charge := rho * cost
	if p, ok := b.(*Population); ok {
		return p.bestDelta(c.Known, charge)
	}
	best := objective{base: c.Known, extra: charge, share: 1}.maximise(shapeOf(b))
	if best.value == 0 {
		return 0, -charge
	}
	return best.y, best.value - charge
}

func (p *Population) bestDelta(known, charge float64) (delta, advantage float64) {
	best := 0.0
	for m := range p.x {
		d := p.at(m) - known
		if d <= 0 {
			break
		}
		if v := float64(m+1) * (d + charge); v > best {
			best, delta = v, d
		}
	}
	return delta, best/float64(len(p.x)) - charge
}
