package bandit

import (
	"cmp"
	"math"
	"slices"
)

// peak is docs/theory.md §1.7 with x = β(q̄_j−μ): −W₀(−e^{−1−x}) is p at the
// maximum and β times φ*, and δ* + φ* = 1/β.
func (d ShiftedExponential) peak(known float64) peak {
	switch {
	case d.Mu > known:
		return infinitePeak
	case d.Mu == known:
		return peak{0, 1, 1 / d.Rate, -math.Log(d.Rate), false, true}
	}
	x := d.Rate * (known - d.Mu)
	return wPeak(x, d.Rate)
}

func wPeak(x, rate float64) peak {
	u, rest := LambertW0NegExp(x)
	log := u - 1 - x // of u
	if x < 1 {
		log = math.Log1p(-rest)
	}
	return peak{rest / rate, u, u / rate, log - math.Log(rate), true, true}
}

// peak is docs/theory.md §1.7, φ* = (√L−√r)² and δ* = √(rL)−r, without their
// cancellation.
func (d Uniform) peak(known float64) peak {
	width, r, room := d.Hi-d.Lo, known-d.Lo, d.Hi-known
	switch {
	case r < 0:
		return infinitePeak
	case room <= 0:
		return noPeak
	case r == 0:
		return peak{0, 1, width, math.Log(width), false, true}
	}
	sum := math.Sqrt(width) + math.Sqrt(r)
	root := room / sum
	return peak{math.Sqrt(r) * root, root / math.Sqrt(width), root * root, 2 * math.Log(root), true, true}
}

// peak solves x·ϕ(z) = Q(z)Φ(z) with z = (q̄_j−μ)/σ + x and δ = σx
// (docs/theory.md §1.7), in ratios that neither under- nor overflow. The root is
// unique and below 0.63.
func (d Gaussian) peak(known float64) peak {
	m := (known - d.Mu) / d.Sigma
	x := root(func(x float64) float64 {
		z := math.Abs(m + x)
		return mills(z)*normalAbove(-z) - x
	}, 0, 0.63)
	log := math.Log(d.Sigma*x) + logNormalAbove(m+x) - logNormalAbove(-m-x)
	return peak{d.Sigma * x, normalAbove(m + x), math.Exp(log), log, true, true}
}

// ThresholdExponentialPair compares arm i with arm j when both beliefs are
// shifted exponentials and independent. As in the paper's print, the event is q_i
// ≥ q_j+δ with q_j random. Then φ is the odds of that event times δ, and the
// lower bound and T of the comparison act as in Threshold, with q̄_j the mean of
// j. With q_j random the bound of Lemma 1 is not valid in general (docs/theory.md
// §1.4).
//
// For δ ≥ d = μ_i−μ_j, p = κ e^{−β_i(δ−d)} with κ = β_j/(β_i+β_j). The maximum of
// φ is at (1+W₀(−κe^{−1+β_i d}))/β_i if that is at least d, that is if (β_i+β_j)d
// ≤ 1. Otherwise it lies below d, where 1−p = (1−κ)e^{−β_j(d−δ)}: with w =
// W₀((1−κ)e^{1−β_j d}), at δ = (1−w)/β_j with p = 1−w.
func ThresholdExponentialPair(i, j ShiftedExponential, lowerBound float64, hold int) Thresholds {
	c := Comparison{Known: j.Mean(), LowerBound: lowerBound, Hold: hold}
	c.check()
	lead := i.Mu - j.Mu
	var k peak
	if (i.Rate+j.Rate)*lead <= 1 {
		minusLogKappa := math.Log1p(i.Rate / j.Rate)
		k = wPeak(max(minusLogKappa-i.Rate*lead, 0), i.Rate)
	} else {
		logRest := -math.Log1p(j.Rate / i.Rate) // ln(1−κ)
		w := lambertW0Exp(logRest + 1 - j.Rate*lead)
		k = peak{delta: (1 - w) / j.Rate, p: 1 - w, attained: true, possible: true}
		k.phi = (1 - w) * (1 - w) / (j.Rate * w)
		k.logPhi = 2*math.Log1p(-w) - math.Log(j.Rate) - math.Log(w)
	}
	return k.thresholds(c)
}

// Joint compares two arms by K samples that were drawn jointly. So a bad case
// for one arm may also be bad for the other. It is the joint form of the
// corrected Lemma 1 (docs/theory.md §1.4, §3.2).
type Joint struct {
	// Ratio takes the place of φ*/(q̄_j−b): explore exactly if ρ_T is less.
	// It is sup_δ δp/E[(q_j−b)1{q_i−q_j<δ}], +Inf if exploring always pays.
	Ratio float64
	// SupDeltaP is sup_δ δp with p = P(q_i−q_j ≥ δ).
	SupDeltaP float64
	// Gain is E(q_i−q_j)⁺.
	Gain float64
	// Gap is q̄_j−q̄_i.
	Gap float64
}

// JointThreshold compares arm i with arm j by samples of equal weight, the
// k-th of both drawn together, and the lower bound b. The slices are read only;
// they must be of one length, at least one.
func JointThreshold(qi, qj []float64, lowerBound float64) Joint {
	n := len(qi)
	if n == 0 || len(qj) != n {
		panic("bandit: joint samples need one common, positive length")
	}
	type pair struct{ lead, cost float64 }
	pairs := make([]pair, n)
	rest := 0.0
	var t Joint
	for k := range pairs {
		pairs[k] = pair{qi[k] - qj[k], qj[k] - lowerBound}
		rest += pairs[k].cost
		t.Gap -= pairs[k].lead / float64(n)
		t.Gain += max(0, pairs[k].lead) / float64(n)
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Compare(b.lead, a.lead) })
	// Costs of the pairs that fall short, summed from the far end.
	short := make([]float64, n+1)
	for m := n - 1; m >= 0; m-- {
		short[m] = short[m+1] + pairs[m].cost
	}
	if rest < 0 {
		t.Ratio = math.Inf(1) // δ → ∞: the sure cost is negative
	}
	for m, p := range pairs {
		if p.lead <= 0 {
			break
		}
		if m+1 < n && pairs[m+1].lead == p.lead {
			continue
		}
		gain := p.lead * float64(m+1)
		t.SupDeltaP = max(t.SupDeltaP, gain/float64(n))
		if short[m+1] <= 0 {
			t.Ratio = math.Inf(1)
		} else {
			t.Ratio = max(t.Ratio, gain/short[m+1])
		}
	}
	return t
}

// GammaStar returns the discount with an infinite horizon above which holding
// arm i for T pulls pays: 0 always, 1 never.
func (t Joint) GammaStar(hold int) float64 {
	checkHold(hold)
	if t.Ratio >= 1 {
		return 0
	}
	return math.Exp(math.Log1p(-t.Ratio) / float64(hold))
}
