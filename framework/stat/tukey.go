package stat

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/rlrun/rlrun/internal/root"
)

// gauss holds the points and weights of a Gauss–Legendre rule on [0,1].
type gauss struct{ x, weight [16]float64 }

func newGauss() *gauss {
	g := new(gauss)
	quad.Legendre{}.FixedLocations(g.x[:], g.weight[:], 0, 1)
	return g
}

// integrate integrates f over [from, to] in panels of equal width.
func (g *gauss) integrate(f func(float64) float64, from, to float64, panels int) float64 {
	sum, width := 0.0, (to-from)/float64(panels)
	for i := range panels {
		for j, x := range g.x {
			sum += g.weight[j] * f(from+(float64(i)+x)*width)
		}
	}
	return sum * width
}

// rangeCDF is the distribution function of the range of k standard normal values:
// k ∫ φ(z) (Φ(z) − Φ(z−w))^(k−1) dz.
func (g *gauss) rangeCDF(w float64, k int) float64 {
	if w <= 0 {
		return 0
	}
	f := func(z float64) float64 {
		// The difference of upper tails, which does not cancel for large z.
		inside := 0.5 * (math.Erfc((z-w)/math.Sqrt2) - math.Erfc(z/math.Sqrt2))
		if z < 0 {
			inside = 0.5 * (math.Erfc(-z/math.Sqrt2) - math.Erfc((w-z)/math.Sqrt2))
		}
		return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * math.Pow(inside, float64(k-1))
	}
	return min(1, float64(k)*g.integrate(f, -8.5, 8.5, 8))
}

// StudentizedRangeCDF is P(Q ≤ q), Q being the range of k independent normal means
// over their estimated standard error with df degrees of freedom, which may be +Inf
// (Tukey 1949; Lund & Lund 1983). k is at least 2.
func StudentizedRangeCDF(q float64, k int, df float64) float64 {
	if math.IsNaN(q) || math.IsNaN(df) || k < 2 || df <= 0 {
		return math.NaN()
	}
	if q <= 0 {
		return 0
	}
	if math.IsInf(q, 1) {
		return 1
	}
	g := newGauss()
	if math.IsInf(df, 1) {
		return g.rangeCDF(q, k)
	}
	// The estimated standard deviation s has density
	// 2 (df/2)^(df/2) / Γ(df/2) · s^(df−1) exp(−df s²/2).
	gamma, _ := math.Lgamma(df / 2)
	constant := math.Log(2) + df/2*math.Log(df/2) - gamma
	f := func(s float64) float64 {
		return math.Exp(constant+(df-1)*math.Log(s)-df*s*s/2) * g.rangeCDF(q*s, k)
	}
	// s lies within ten standard deviations of 1, and the range's distribution function
	// rises from 0 to 1 below s = 12/q, which may be a small part of that.
	spread := 10 / math.Sqrt(2*df)
	from, to := max(0, 1-spread), 1+spread
	split := min(max(12/q, from), to)
	return min(1, g.integrate(f, from, split, 6)+g.integrate(f, split, to, 6))
}

// StudentizedRangeQuantile returns q with StudentizedRangeCDF(q, k, df) = p, p in
// (0,1).
func StudentizedRangeQuantile(p float64, k int, df float64) float64 {
	if !(p > 0 && p < 1) || k < 2 || !(df > 0) {
		return math.NaN()
	}
	short := func(q float64) float64 { return p - StudentizedRangeCDF(q, k, df) }
	low, high := 0.0, 4.0
	for ; short(high) > 0; low, high = high, 2*high {
		if high > 5e8 {
			return math.Inf(1)
		}
	}
	return root.Find(short, low, high)
}

// Pairwise is a comparison of two of several groups, first minus second.
type Pairwise struct {
	First, Second int     // indices of the groups
	P             float64 // adjusted for all pairs of groups
	Interval
}

// TukeyKramer compares all pairs of independent groups with equal variances, with p
// values and intervals that hold for all pairs together (Tukey 1949; Kramer 1956).
// Pairs come in the order (0,1), (0,2), …, (1,2), …. P and the ends of intervals are
// NaN if no group has two values. If the values of every group are equal, P is that of the
// permutation test, times the number of pairs, and there are no intervals.
func TukeyKramer(groups [][]float64, level float64) []Pairwise {
	k := len(groups)
	pairs := float64(k*(k-1)) / 2
	mean := make([]float64, k)
	root, df := 0.0, -float64(k) // of the sum of squares
	for i, g := range groups {
		m := momentsOf(g)
		mean[i] = m.Mean
		root = math.Hypot(root, m.root())
		df += float64(len(g))
	}
	critical := math.NaN()
	if df > 0 {
		critical = StudentizedRangeQuantile(level, k, df)
	}
	var out []Pairwise
	for i := range k {
		for j := i + 1; j < k; j++ {
			stderr := root / math.Sqrt(df) * math.Sqrt((1/float64(len(groups[i]))+1/float64(len(groups[j])))/2)
			d := mean[i] - mean[j]
			p := 1.0
			switch {
			case df <= 0:
				p = math.NaN()
			case d != 0 && root == 0:
				p = min(1, separated(len(groups[i]), len(groups[j]))*pairs)
			case d != 0:
				p = studentizedRangeTail(math.Abs(d)/stderr, k, df)
			}
			out = append(out, Pairwise{i, j, p, NewInterval(d, d-critical*stderr, d+critical*stderr)})
		}
	}
	return out
}

// studentizedRangeTail is P(Q > q). Small ones drown in 1 − StudentizedRangeCDF. There it
// is the sum of the pairs' probabilities, which is an upper bound and close.
func studentizedRangeTail(q float64, k int, df float64) float64 {
	if p := 1 - StudentizedRangeCDF(q, k, df); p > 1e-8 {
		return p
	}
	return float64(k*(k-1)) * distuv.StudentsT{Sigma: 1, Nu: df}.CDF(-q/math.Sqrt2)
}
