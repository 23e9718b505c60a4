package bandit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/internal/vectors"
	"pgregory.net/rapid"
)

var (
	_ Learner = (*Population)(nil)
	_ Learner = (*Beta)(nil)
	_ Learner = (*Gaussian)(nil)
	_ Learner = (*NormalGamma)(nil)
)

var beliefKinds = []string{"beta", "gaussian", "normal-gamma", "gamma-poisson", "exponential", "uniform", "two-point", "population"}

// drawBelief draws a belief of one of the kinds, all if none is named, with
// its bulk somewhere in [-1, 2].
func drawBelief(t *rapid.T, label string, kinds ...string) Belief {
	if len(kinds) == 0 {
		kinds = beliefKinds
	}
	real := func(name string, lo, hi float64) float64 { return rapid.Float64Range(lo, hi).Draw(t, label+" "+name) }
	size := func(name string) float64 { return math.Pow(10, real(name, -2, 1)) }
	switch kind := rapid.SampledFrom(kinds).Draw(t, label); kind {
	case "beta":
		return Beta{10 * size("a"), 10 * size("b")}
	case "gaussian":
		return Gaussian{real("mean", -1, 2), size("sd"), 1}
	case "normal-gamma":
		return NormalGamma{real("mean", -1, 2), size("lambda"), 0.6 + 3*size("alpha"), size("beta")}
	case "gamma-poisson":
		return GammaPoisson{1 + size("a"), 1 + size("b")}
	case "exponential":
		return ShiftedExponential{real("mu", -1, 1), size("rate")}
	case "uniform":
		lo := real("lo", -1, 1)
		return Uniform{lo, lo + size("width")}
	case "two-point":
		lo := real("lo", -1, 1)
		return TwoPoint{lo, lo + size("width"), real("w", 0.01, 0.99)}
	default:
		// Two digits make ties.
		x := rapid.SliceOfN(rapid.IntRange(-100, 200), 1, 40).Draw(t, label+" members")
		m := make([]float64, len(x))
		for k := range x {
			m[k] = float64(x[k]) / 100
		}
		return must.Get(NewPopulation(m, PopulationConfig{}))(t)
	}
}

func TestExceedFallsFromOneToZero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawBelief(t, "belief")
		x := rapid.Float64Range(-5, 5).Draw(t, "x")
		y := x + rapid.Float64Range(0, 3).Draw(t, "step")
		p, q := b.Exceed(x), b.Exceed(y)
		if !(p <= 1 && p >= q && q >= 0) {
			t.Fatalf("P(q ≥ %v) = %v, P(q ≥ %v) = %v", x, p, y, q)
		}
		above, below := shapeOf(b).tails(x)
		if above != p || math.Abs(above+below-1) > 1e-14 {
			t.Fatalf("tails %v and %v, P(q ≥ x) = %v", above, below, p)
		}
		if b.Exceed(-1e30) < 1-1e-9 || b.Exceed(1e30) > 1e-9 {
			t.Fatalf("far ends: %v, %v", b.Exceed(-1e30), b.Exceed(1e30))
		}
	})
}

// E(q−x)⁺ = ∫ₓ P(q ≥ t) dt: between two points by quadrature, so that a
// heavy tail needs no limit.
func TestGainIntegratesExceed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawBelief(t, "belief")
		x := rapid.Float64Range(-3, 4).Draw(t, "x")
		y := x + rapid.Float64Range(0.01, 3).Draw(t, "step")
		cuts := []float64{x, y}
		for _, c := range cutsOf(b) {
			if c > x && c < y {
				cuts = append(cuts, c)
			}
		}
		sum := 0.0
		slices.Sort(cuts)
		for k := range len(cuts) - 1 {
			sum += integrate(func(left, _ float64) float64 { return b.Exceed(cuts[k] + left) }, cuts[k], cuts[k+1])
		}
		if diff := b.Gain(x) - b.Gain(y); math.Abs(diff-sum) > 1e-9*(1+sum) {
			t.Fatalf("gains differ by %v, the integral is %v", diff, sum)
		}
		if g := b.Gain(y); !(g >= 0) || g < b.Mean()-y-1e-12 {
			t.Fatalf("gain %v at %v with mean %v", g, y, b.Mean())
		}
	})
}

// cutsOf returns where P(q ≥ x) is not smooth or changes within a short space.
func cutsOf(b Belief) []float64 {
	var cuts []float64
	if a, ok := b.(atomic); ok {
		eachAtom(a, func(x, _ float64) { cuts = append(cuts, x) })
		return cuts
	}
	lo, centre, spread, hi := b.(window).window()
	for _, k := range []float64{-12, -3, 0, 3, 12} {
		cuts = append(cuts, centre+k*spread)
	}
	return append(cuts, lo, hi)
}

func TestGainFarOutIsRelativelyAccurate(t *testing.T) {
	for _, c := range []struct {
		name string
		b    Belief
		x    float64
		want float64 // mpmath 1.3, 50 digits: ∫ₓ P(q ≥ t) dt
	}{
		{"gaussian 10 sd", Gaussian{0, 1, 1}, 10, 7.474560254589328e-25},
		{"gaussian -10 sd", Gaussian{0, 1, 1}, -10, 10},
		{"gaussian 30 sd", Gaussian{0, 1, 1}, 30, 1.6319567340914012e-199},
		{"beta(2,300)", Beta{2, 300}, 0.5, 1.2354010045120107e-91},
		{"beta(50,50)", Beta{50, 50}, 0.95, 3.9375534940159913e-41},
		{"beta(0.1,3)", Beta{0.1, 3}, 0.999, 9.6302007940245731e-15},
	} {
		vectors.Close(t, c.name, c.b.Gain(c.x), c.want, 1e-9, 0)
	}
}

// With many counts the tails keep their digits, where a continued fraction and logarithms lose them.
func TestBetaOfManyCounts(t *testing.T) {
	for _, c := range []struct {
		b               Beta
		x, exceed, gain float64 // mpmath 1.3, 40 digits
	}{
		{Beta{20000, 20000}, 0.5, 0.5, 0.000997349467549931},
		{Beta{20000, 20000}, 0.501249984375293, 0.308540564245965, 0.000494489338087475},
		{Beta{20000, 20000}, 0.4925000937482422, 0.998650600531576, 0.0075008610717242},
		{Beta{20000, 9e+08}, 2.2221728406035422e-05, 0.499059715109578, 6.26853807826675e-8},
		{Beta{20000, 9e+08}, 2.2300293207282354e-05, 0.307915282018584, 3.11446089129452e-8},
		{Beta{20000, 9e+08}, 2.1750339598553817e-05, 0.998732440217629, 4.71444058283083e-7},
		{Beta{4e+08, 4e+08}, 0.5, 0.5, 7.05236979214309e-6},
		{Beta{4e+08, 4e+08}, 0.5000088388347593, 0.308537538876854, 3.49658217511238e-6},
		{Beta{4e+08, 4e+08}, 0.49994696699144414, 0.998650101993302, 5.30397641533844e-5},
	} {
		vectors.Close(t, fmt.Sprint(c.b, c.x, " exceed"), c.b.Exceed(c.x), c.exceed, 1e-8, 0)
		vectors.Close(t, fmt.Sprint(c.b, c.x, " gain"), c.b.Gain(c.x), c.gain, 1e-7, 0)
	}
}

// Sample means and frequencies of 20,000 draws of each of 40 beliefs lie within
// 6 standard errors: a false alarm in 1e7 runs at other seeds.
func TestSampleFollowsTheBelief(t *testing.T) {
	const n = 20000
	rng := seeded(11)
	p, _ := NewPopulations(1, 16, Uniform{0, 1}, PopulationConfig{}, rng)
	for _, b := range []Belief{
		Beta{1, 1}, Beta{0.1, 0.1}, Beta{0.01, 0.02}, Beta{0.5, 3}, Beta{40, 2}, Beta{3000, 5000}, Beta{1, 30},
		Gaussian{-2, 0.3, 1}, NormalGamma{1, 2, 3, 4}, NormalGamma{0, 1, 60, 2}, NormalGamma{0, 5, 1.7, 2},
		ShiftedExponential{0.5, 3}, Uniform{-2, 1}, TwoPoint{0, 1, 0.2}, &p[0],
	} {
		x := make([]float64, n)
		mean, square := 0.0, 0.0
		for k := range x {
			x[k] = b.Sample(rng)
			mean += x[k] / n
		}
		for _, v := range x {
			square += (v - mean) * (v - mean) / n
		}
		if e := math.Abs(mean - b.Mean()); !(e <= 6*math.Sqrt(square/n)) {
			t.Errorf("%T%v: sample mean %v, mean %v", b, b, mean, b.Mean())
		}
		for _, at := range []float64{mean, mean + math.Sqrt(square), mean - math.Sqrt(square)/2} {
			count := 0.0
			for _, v := range x {
				if v >= at {
					count++
				}
			}
			want := b.Exceed(at)
			if e := math.Abs(count/n - want); !(e <= 6*math.Sqrt(want*(1-want)/n)+1e-9) {
				t.Errorf("%T%v: P(q ≥ %v) = %v, frequency %v", b, b, at, want, count/n)
			}
		}
	}
}

func TestConjugateUpdatesEqualTheBatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rewards := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 50).Draw(t, "rewards")
		n := float64(len(rewards))
		sum := 0.0
		for _, r := range rewards {
			sum += r
		}
		mean, scatter := sum/n, 0.0
		for _, r := range rewards {
			scatter += (r - mean) * (r - mean)
		}
		close := func(what string, got, want float64) {
			if !(math.Abs(got-want) <= 1e-11*(1+math.Abs(want))) {
				t.Fatalf("%s = %v, want %v", what, got, want)
			}
		}
		beta := Beta{0.7, 2}
		gauss := Gaussian{0.3, rapid.Float64Range(0.1, 3).Draw(t, "sigma"), rapid.Float64Range(0.1, 3).Draw(t, "noise")}
		ng := NormalGamma{0.2, 1.5, 0.8, 0.4}
		g, m := gauss, ng
		for _, r := range rewards {
			beta.Update(r, nil)
			g.Update(r, nil)
			m.Update(r, nil)
		}
		close("A", beta.A, 0.7+sum)
		close("B", beta.B, 2+n-sum)
		precision := 1/(gauss.Sigma*gauss.Sigma) + n/(gauss.Noise*gauss.Noise)
		close("mu", g.Mu, (gauss.Mu/(gauss.Sigma*gauss.Sigma)+sum/(gauss.Noise*gauss.Noise))/precision)
		close("sigma", g.Sigma, 1/math.Sqrt(precision))
		close("mu", m.Mu, (ng.Lambda*ng.Mu+sum)/(ng.Lambda+n))
		close("lambda", m.Lambda, ng.Lambda+n)
		close("alpha", m.Alpha, ng.Alpha+n/2)
		close("beta", m.Beta, ng.Beta+scatter/2+ng.Lambda*n*(mean-ng.Mu)*(mean-ng.Mu)/(2*(ng.Lambda+n)))
	})
}

// Student's t with 5 degrees of freedom at 2.015048 exceeds with probability
// 0.05, and with 30 at 2.749996 with 0.005 (any printed table).
func TestNormalGammaMarginal(t *testing.T) {
	d := NormalGamma{Mu: 1, Lambda: 2, Alpha: 2.5, Beta: 5} // scale 1
	vectors.Close(t, "t5", d.Exceed(1+2.015048373), 0.05, 1e-8, 0)
	e := NormalGamma{Mu: 0, Lambda: 1, Alpha: 15, Beta: 15}
	vectors.Close(t, "t30", e.Exceed(2.749995654), 0.005, 1e-8, 0)
	// Many degrees of freedom: normal.
	f := NormalGamma{Mu: 0, Lambda: 1, Alpha: 1e7, Beta: 1e7}
	g := Gaussian{0, 1, 1}
	vectors.Close(t, "t∞", f.Exceed(1.3), g.Exceed(1.3), 1e-6, 0)
	vectors.Close(t, "its gain", f.Gain(1.3), g.Gain(1.3), 1e-6, 0)
}

func second[A any](_ A, err error) error { return err }

func TestConstructorsRejectBadData(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, err := range map[string]error{
		"beta 0":         second(NewBeta(0, 1)),
		"beta NaN":       second(NewBeta(1, nan)),
		"beta inf":       second(NewBeta(inf, 1)),
		"beta 2e9":       second(NewBeta(2e9, 1)),
		"shape 2e9":      second(NewNormalGamma(0, 1, 2e9, 1)),
		"poisson 1e13":   second(NewGammaPoisson(1e13, 1)),
		"gaussian mean":  second(NewGaussian(nan, 1, 1)),
		"gaussian sd":    second(NewGaussian(0, 0, 1)),
		"gaussian noise": second(NewGaussian(0, 1, -1)),
		"t mean":         second(NewNormalGamma(inf, 1, 1, 1)),
		"t alpha":        second(NewNormalGamma(0, 1, 0.5, 1)),
		"t lambda":       second(NewNormalGamma(0, 0, 1, 1)),
		"exp rate":       second(NewShiftedExponential(0, 0)),
		"exp mu":         second(NewShiftedExponential(nan, 1)),
		"uniform":        second(NewUniform(1, 1)),
		"uniform inf":    second(NewUniform(0, inf)),
		"two-point w":    second(NewTwoPoint(0, 1, 1.1)),
		"two-point":      second(NewTwoPoint(2, 1, 0.1)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for name, err := range map[string]error{
		"beta":     second(NewBeta(1, 2)),
		"gaussian": second(NewGaussian(0, 1, 1)),
		"t":        second(NewNormalGamma(0, 1, 1, 1)),
		"exp":      second(NewShiftedExponential(0, 1)),
		"uniform":  second(NewUniform(-1, 1)),
		"two":      second(NewTwoPoint(0, 1, 1)),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	mustPanic(t, "beta reward", func() { b := Beta{1, 1}; b.Update(2, nil) })
	mustPanic(t, "no noise", func() { b := Gaussian{0, 1, 0}; b.Update(2, nil) })
}

// mixture is a belief that the package knows nothing about.
type mixture struct {
	parts   []Belief
	weights []float64
}

func (m mixture) sum(f func(Belief) float64) float64 {
	s := 0.0
	for k, b := range m.parts {
		s += m.weights[k] * f(b)
	}
	return s
}

func (m mixture) Mean() float64 { return m.sum(Belief.Mean) }
func (m mixture) Exceed(x float64) float64 {
	return m.sum(func(b Belief) float64 { return b.Exceed(x) })
}
func (m mixture) Gain(x float64) float64 { return m.sum(func(b Belief) float64 { return b.Gain(x) }) }

func (m mixture) Sample(rng *rand.Rand) float64 {
	u := rng.Float64()
	for k, w := range m.weights {
		if u -= w; u < 0 {
			return m.parts[k].Sample(rng)
		}
	}
	return m.parts[0].Sample(rng)
}

func drawMixture(t *rapid.T) mixture {
	n := rapid.IntRange(2, 4).Draw(t, "parts")
	m := mixture{weights: make([]float64, n)}
	total := 0.0
	for k := range n {
		m.parts = append(m.parts, drawBelief(t, "part", "beta", "gaussian", "exponential", "uniform", "two-point"))
		m.weights[k] = math.Pow(10, rapid.Float64Range(-3, 0).Draw(t, "weight"))
		total += m.weights[k]
	}
	for k := range m.weights {
		m.weights[k] /= total
	}
	return m
}
