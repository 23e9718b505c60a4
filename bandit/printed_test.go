package bandit

import "math"

// thresholdExponentialPair compares arm i with arm j when both beliefs are
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
func thresholdExponentialPair(i, j ShiftedExponential, lowerBound float64, hold int) Thresholds {
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
