package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The tests of this file are at the points where formulas fail: one, two or three values,
// ties, no variance, perfect agreement, and values whose squares are no float64. What is
// right there is counted.

// arrangements returns all orders of the values, each as often as there are ways to it.
func arrangements(values []float64) (out [][]float64) {
	if len(values) == 0 {
		return [][]float64{nil}
	}
	for i, x := range values {
		for _, rest := range arrangements(slices.Concat(values[:i:i], values[i+1:])) {
			out = append(out, append([]float64{x}, rest...))
		}
	}
	return out
}

// every calls do with every choice of one arrangement a row.
func every(rows [][]float64, chosen [][]float64, do func([][]float64)) {
	if len(chosen) == len(rows) {
		do(chosen)
		return
	}
	for _, row := range arrangements(rows[len(chosen)]) {
		every(rows, append(slices.Clone(chosen), row), do)
	}
}

// share counts the cases that are at least as extreme as the first argument.
type share struct{ extreme, all int }

func (s *share) add(statistic, observed float64) {
	s.all++
	if statistic >= observed-1e-9 {
		s.extreme++
	}
}

func (s *share) p() float64 { return float64(s.extreme) / float64(s.all) }

func TestFriedmanAgainstEnumeration(t *testing.T) {
	p := func(t interface{ Fatal(...any) }, scores [][]float64) float64 {
		p, exact := FriedmanPermutation(scores, 0, 1)
		if !exact {
			t.Fatal("not exact")
		}
		return p
	}
	// Three agents in two environments that agree: 6 of 36 arrangements do.
	if got := p(t, [][]float64{{3, 2, 1}, {9, 5, 4}}); math.Abs(got-1./6) > 1e-15 {
		t.Errorf("two environments that agree: p = %g, want 1/6", got)
	}
	if f := Friedman([][]float64{{3, 2, 1}, {9, 5, 4}}); !math.IsNaN(f.F) || !math.IsNaN(f.P) || math.Abs(f.ChiSquared-4) > 1e-12 {
		t.Errorf("two environments that agree: %+v", f)
	}
	for _, c := range []struct {
		scores [][]float64
		want   float64
	}{
		{[][]float64{{1, 0}, {1, 0}}, 0.5},                     // as two signs
		{[][]float64{{1, 0}, {1, 0}, {1, 0}}, 0.25},            // as three signs
		{[][]float64{{1, 1, 1}, {1, 1, 1}}, 1},                 // nothing but ties
		{[][]float64{{1, 1, 0}, {1, 1, 0}}, 1. / 3},            // the last of three, twice the same
		{[][]float64{{5, 4, 3, 2}, {5, 4, 3, 2}}, 1. / 24},     // one of the 24 orders
		{[][]float64{{5, 4}, {4, 5}, {5, 4}, {4, 5}}, 1},       // as many for either
		{[][]float64{{3, 2, 1}, {3, 2, 1}, {2, 2, 2}}, 1. / 6}, // the third says nothing
	} {
		if got := p(t, c.scores); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%v: p = %g, want %g", c.scores, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 4).Draw(t, "agents")
		n := rapid.IntRange(2, 6-k).Filter(func(n int) bool { return n > 1 }).Draw(t, "environments")
		var scores [][]float64
		for range n {
			scores = append(scores, values(k, k).Draw(t, "row"))
		}
		observed := Friedman(scores).ChiSquared
		var s share
		every(scores, nil, func(rows [][]float64) { s.add(Friedman(rows).ChiSquared, observed) })
		near(t, "p", p(t, scores), s.p(), 1e-12)
	})
	// Of many environments the formula and the count agree: 0.0198 by Iman and Davenport.
	rng := rand.New(rand.NewPCG(1, 1))
	var scores [][]float64
	for range 14 {
		row := make([]float64, 4)
		for a := range row {
			row[a] = rng.NormFloat64() + float64(a)/3
		}
		scores = append(scores, row)
	}
	counted, formula := p(t, scores), Friedman(scores).P
	drawn, exact := FriedmanPermutation(append(scores, slices.Repeat([][]float64{{1, 2, 3, 4}}, 20)...), 999, 1)
	if math.Abs(counted-formula) > 0.01 || exact || drawn != 0.001 {
		t.Errorf("of 14 environments %g, by the formula %g; of 34 %g, exact: %v", counted, formula, drawn, exact)
	}
}

// A p value from random arrangements is at most 5 % in at most 5 % of all tables without a
// difference. Of 1,000 trials more than 75 fail with probability 3e-4.
func TestFriedmanDrawsKeepTheLevel(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	rejected := 0
	for trial := range 1000 {
		scores := make([][]float64, 3)
		for e := range scores {
			for range 10 {
				scores[e] = append(scores[e], float64(rng.IntN(5)))
			}
		}
		p, exact := FriedmanPermutation(scores, 199, uint64(trial))
		if exact {
			t.Fatal("counts ten agents")
		}
		if p <= 0.05 {
			rejected++
		}
	}
	if rejected > 75 || rejected < 25 {
		t.Errorf("%d of 1000 tables without a difference have p <= 0.05", rejected)
	}
}

// Nemenyi's critical difference is an asymptotic one, and comparisons show it from six
// environments on. There the probability that any two agents are farther apart is at most α, by
// counting for three agents and by 4,000 random tables for more: 5 % have a standard error of 0.35 %.
func TestNemenyiFromSixEnvironmentsOn(t *testing.T) {
	spread := func(ranks []float64) float64 { return slices.Max(ranks) - slices.Min(ranks) }
	var s share
	rows := slices.Repeat([][]float64{{1, 2, 3}}, 6)
	critical := NemenyiCD(3, 6, 0.05)
	every(rows, rows[:1], func(rows [][]float64) { s.add(spread(Friedman(rows).MeanRanks), critical) })
	if s.all != 7776 || s.p() > 0.05 {
		t.Errorf("three agents: %g of %d", s.p(), s.all)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for _, k := range []int{4, 8, 20} {
		var s share
		critical := NemenyiCD(k, 6, 0.05)
		for range 4000 {
			sums := make([]float64, k)
			for range 6 {
				for a, r := range rng.Perm(k) {
					sums[a] += float64(r) / 6
				}
			}
			s.add(spread(sums), critical)
		}
		if s.p() > 0.05+3*0.0035 {
			t.Errorf("%d agents: %g", k, s.p())
		}
	}
}

// signs calls do with d under all sign vectors.
func signs(d []float64, do func([]float64)) {
	for mask := range 1 << len(d) {
		flipped := slices.Clone(d)
		for i := range d {
			if mask>>i&1 == 1 {
				flipped[i] = -d[i]
			}
		}
		do(flipped)
	}
}

func TestSignTestsAgainstEnumeration(t *testing.T) {
	for _, c := range []struct {
		d              []float64
		flip, wilcoxon float64
	}{
		{[]float64{1}, 1, 1}, {[]float64{0}, 1, 1}, {[]float64{1, 1}, 0.5, 0.5}, {[]float64{1, -1}, 1, 1},
		{[]float64{0, 0, 0}, 1, 1}, {[]float64{1, 1, 1}, 0.25, 0.25}, {[]float64{0, 1, 1}, 0.5, 0.5},
	} {
		p, exact := SignFlip(c.d, 99, 1)
		if _, w := Wilcoxon(c.d); p != c.flip || !exact || w != c.wilcoxon {
			t.Errorf("%v: sign flips %g, Wilcoxon %g; want %g and %g", c.d, p, w, c.flip, c.wilcoxon)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		d := values(1, 7).Draw(t, "d")
		var flip, above, wilcoxon share
		rankSum := func(d []float64) float64 {
			var sizes []float64
			for _, x := range d {
				if x != 0 {
					sizes = append(sizes, -math.Abs(x))
				}
			}
			sum, i := 0.0, 0
			for _, x := range d {
				if x != 0 {
					sum += math.Copysign(Ranks(sizes)[i], x)
					i++
				}
			}
			return math.Abs(sum)
		}
		signs(d, func(s []float64) {
			flip.add(math.Abs(total(s)), math.Abs(total(d)))
			above.add(total(s), total(d))
			wilcoxon.add(rankSum(s), rankSum(d))
		})
		p, _ := SignFlip(d, 99, 1)
		near(t, "sign flips", p, flip.p(), 1e-12)
		p, _ = SignFlipAbove(d, 99, 1)
		near(t, "sign flips, one side", p, above.p(), 1e-12)
		_, p = Wilcoxon(d)
		near(t, "Wilcoxon", p, wilcoxon.p(), 1e-12)
	})
	// 0.3 − 0.2 and 0.2 − 0.1 differ in their last bits, and are a tie.
	x, y, z := 0.1, 0.2, 0.3
	if w, _ := Wilcoxon([]float64{z - y, -(y - x), 1}); w != 1.5 {
		t.Errorf("a tie by rounding: W = %g, want 1.5", w)
	}
}

func total(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum
}

func TestPermutationAgainstEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := values(1, 3).Draw(t, "x"), values(1, 3).Draw(t, "y")
		var s, above share
		difference := func(pool []float64) float64 { return Mean(pool[:len(x)]) - Mean(pool[len(x):]) }
		pool := slices.Concat(x, y)
		for _, a := range arrangements(pool) {
			s.add(math.Abs(difference(a)), math.Abs(difference(pool)))
			above.add(difference(a), difference(pool))
		}
		p, exact := Permutation(x, y, 0, 1)
		if !exact {
			t.Fatal("not exact")
		}
		near(t, "p", p, s.p(), 1e-12)
		p, _ = PermutationAbove(x, y, 0, 1)
		near(t, "p, one side", p, above.p(), 1e-12)
	})
}

// Many sign flips are drawn, also with one side: the share of sums at least as large as a sum of 0 is ½ and half of
// that of ties, here about 0.5 + 0.5 · 0.1123 of 50 signs. The bound is four standard errors of 9,999 draws.
func TestSignFlipAboveDraws(t *testing.T) {
	d := slices.Concat(slices.Repeat([]float64{1}, 25), slices.Repeat([]float64{-1}, 25))
	p, exact := SignFlipAbove(d, 9_999, 1)
	if want := 0.5 + 0.1122751726/2; exact || math.Abs(p-want) > 4*math.Sqrt(want*(1-want)/9_999) {
		t.Errorf("p = %g, want %g", p, want)
	}
}

// Without a variance Student's formulas say p = 0. One value has none that can be known.
func TestStudentWithoutVariance(t *testing.T) {
	for n := 1; n <= 3; n++ {
		d := slices.Repeat([]float64{0.25}, n)
		want, _ := SignFlip(d, 0, 1)
		if n == 1 {
			want = math.NaN()
		}
		if got := PairedT(d, 0.95); got.P != want && !(math.IsNaN(want) && math.IsNaN(got.P)) {
			t.Errorf("%d equal differences: p = %g, want %g", n, got.P, want)
		}
		if got := PairedT(make([]float64, n), 0.95); n > 1 && got.P != 1 {
			t.Errorf("%d differences of zero: p = %g", n, got.P)
		}
	}
	if got := Welch([]float64{1}, []float64{2, 3}, 0.95); !math.IsNaN(got.P) || !math.IsNaN(got.Low) {
		t.Errorf("one value against two: %+v", got)
	}
	for i, pair := range TukeyKramer([][]float64{{1}, {2}, {2}}, 0.95) {
		if !math.IsNaN(pair.P) || !math.IsNaN(pair.Low) {
			t.Errorf("pair %d of single values: %+v", i, pair)
		}
	}
	// A single value is compared by the variance of the others.
	if pair := TukeyKramer([][]float64{{1}, {2, 4}}, 0.95)[0]; !(pair.P > 0 && pair.P < 1) {
		t.Errorf("one value against two: %+v", pair)
	}
}

// No interval claims that another value cannot differ: where values do not vary there is none. Sums of
// equal values that differ in their last bits do not make one, and no bound is outside of the values.
func TestNoIntervalWithoutVariance(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, x := range []float64{0, 0.1, 1. / 3, -0.7, 1e300} {
		values, others := slices.Repeat([]float64{x}, 11), slices.Repeat([]float64{x / 3}, 11)
		r := NewResampler(0.95, []uint64{1, 2})
		a := r.Aggregate(Scores{values, others}, 0.7, []float64{-2})
		for what, i := range map[string]Interval{
			"paired t": PairedT(values, 0.95).Interval, "Welch": Welch(values, others, 0.95).Interval, "Tukey": TukeyKramer([][]float64{values, others}, 0.95)[0].Interval,
			"mean": r.Mean(0, values), "IQM": BootstrapIQM([][]float64{values}, 0.95, rng)[0], "trimmed": TrimmedInterval(values, 2, 0.95),
			"IQM of scores": r.Interval(a.IQM), "mean of scores": r.Interval(a.Mean), "median of scores": r.Interval(a.Median), "gap": r.Interval(a.OptimalityGap),
			"profile": r.Interval(a.Profile[0]), "difference": r.Difference(a.IQM, a.IQM),
			"improvement": r.ProbabilityOfImprovement(Scores{{1, 2, 3, 4, 5, 6}, {0, 0, 0, 0, 0, 0}}, Scores{{0, 0, 0, 0, 0, 0}, {1, 2, 3, 4, 5, 6}}),
		} {
			if !math.IsNaN(i.Low) || !math.IsNaN(i.High) || math.IsNaN(i.Value) {
				t.Errorf("%s of %g: %v", what, x, i)
			}
		}
	}
	for k := range 2000 {
		values := []float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1 * float64(1+k%7)}
		for range k % 30 {
			values = append(values, rng.Float64())
		}
		i := NewResampler(0.95, []uint64{uint64(k)}).Mean(0, values)
		if j := BootstrapIQM([][]float64{values}, 0.95, rng)[0]; i.Low < slices.Min(values) || i.High > slices.Max(values) || j.Low < slices.Min(values) || j.High > slices.Max(values) {
			t.Fatalf("%v: %v, %v", values, i, j)
		}
	}
}

// Of two groups Tukey's test is Student's, with one, two and three degrees of freedom too,
// and far out.
func TestTukeyOfTwoIsStudents(t *testing.T) {
	for _, df := range []float64{1, 2, 3, 30} {
		for _, q := range []float64{0.1, 1, 5, 30, 300, 1e5} {
			s := df + q*q/2
			want := tailF(q*q/2, 1, df) // t² has the F distribution
			if got := studentizedRangeTail(q, 2, df); math.Abs(got-want) > 1e-9+1e-6*want || got <= 0 {
				t.Errorf("%g degrees of freedom, q = %g: %g, want %g (%g)", df, q, got, want, s)
			}
		}
	}
	// Far apart, p is small and not 0.
	if p := TukeyKramer([][]float64{{0, 1, 2, 3, 4, 5}, {1000, 1001, 1002, 1003, 1004, 1005}, {0, 2, 3, 4, 1, 1}}, 0.95)[0].P; !(p > 0 && p < 1e-20) {
		t.Errorf("p = %g", p)
	}
}

// Tests and intervals do not depend on the unit of values, also where squares overflow or
// vanish. Scales are powers of two, so that no digit changes.
func TestAnyUnit(t *testing.T) {
	x := []float64{1, 3, 2, 5, 8, 4, 4, 9}
	y := []float64{2, 2, 1, 3, 5, 5, 1, 3}
	var many []float64
	for i := range 60 {
		many = append(many, float64(i*i%11)-3)
	}
	scaled := func(xs []float64, e int) []float64 {
		out := make([]float64, len(xs))
		for i := range xs {
			out[i] = math.Ldexp(xs[i], e)
		}
		return out
	}
	same := func(what string, e int, got, want Interval) {
		t.Helper()
		for _, ends := range [][2]float64{{got.Value, want.Value}, {got.Low, want.Low}, {got.High, want.High}} {
			if back := math.Ldexp(ends[0], -e); math.Abs(back-ends[1]) > 1e-9*math.Abs(want.High-want.Low) {
				t.Errorf("%s times 2^%d: %v, of 1: %v", what, e, got, want)
			}
		}
	}
	for _, e := range []int{-990, -600, -520, 480, 600, 990} {
		for _, shift := range []float64{0, 64} {
			moved := slices.Clone(x)
			for i := range moved {
				moved[i] += shift
			}
			same("paired t", e, PairedT(scaled(moved, e), 0.95).Interval, PairedT(moved, 0.95).Interval)
		}
		same("Welch", e, Welch(scaled(x, e), scaled(y, e), 0.95).Interval, Welch(x, y, 0.95).Interval)
		near(t, "Welch", Welch(scaled(x, e), scaled(y, e), 0.95).P, Welch(x, y, 0.95).P, 1e-9)
		groups := [][]float64{x, y, many}
		near(t, "Tukey", TukeyKramer([][]float64{scaled(x, e), scaled(y, e), scaled(many, e)}, 0.95)[0].P, TukeyKramer(groups, 0.95)[0].P, 1e-9)
		sorted := slices.Sorted(slices.Values(x))
		same("trimmed", e, TrimmedInterval(scaled(sorted, e), 2, 0.95), TrimmedInterval(sorted, 2, 0.95))
		p, _ := SignFlip(scaled(many, e), 999, 1)
		q, _ := SignFlip(many, 999, 1)
		near(t, "sign flips", p, q, 0)
		p, _ = Permutation(scaled(x, e), scaled(y, e), 999, 1)
		q, _ = Permutation(x, y, 999, 1)
		near(t, "permutation", p, q, 0)
	}
	// A small deviation from a first large one, and the other way round.
	for _, values := range [][]float64{{0, 0x1p-700, 0x1p700, 1}, {0, 0x1p700, 0x1p-700, 1}, {0x1p-700, 1, 0, 0x1p700}} {
		m := momentsOf(values)
		if want := 0x1p700 / 4; math.Abs(m.Mean/want-1) > 1e-12 || math.Abs(m.StdErr()/want-1) > 1e-12 {
			t.Errorf("%v: mean %g ± %g, want %g both", values, m.Mean, m.StdErr(), want)
		}
	}
}

// A bootstrap's interval lies between the least and the largest value. So does the mean of n
// symmetric values, except with probability 2¹⁻ⁿ, which is above 5 % below six.
func TestTooFewForABootstrap(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for n := 1; n <= 7; n++ {
		values := make([]float64, n)
		for i := range values {
			values[i] = rng.NormFloat64()
		}
		made := n >= 6
		name := fmt.Sprint(n, " values")
		r := NewResampler(0.95, []uint64{1, 2})
		for what, i := range map[string]Interval{
			"mean": r.Mean(0, values), "IQM": BootstrapIQM([][]float64{values}, 0.95, rng)[0],
			"improvement": r.ProbabilityOfImprovement(Scores{values}, Scores{values}),
		} {
			if math.IsNaN(i.Low) == made || math.IsNaN(i.High) == made || math.IsNaN(i.Value) {
				t.Errorf("%s: %s %v", name, what, i)
			}
		}
	}
	for _, c := range []struct {
		runs []int
		want bool
	}{{[]int{5}, false}, {[]int{6}, true}, {[]int{3, 3}, false}, {[]int{4, 3}, true}, {[]int{1, 9}, false}} {
		var s Scores
		for _, n := range c.runs {
			s = append(s, make([]float64, n))
		}
		if Enough(s, 0.95) != c.want {
			t.Errorf("%v runs are enough: %v", c.runs, !c.want)
		}
	}
	r := NewResampler(0.95, []uint64{1, 2})
	// An environment with one run has an unknown variance, however many runs the other has.
	if i := r.Interval(r.Aggregate(Scores{{1}, {1, 2, 3, 4, 5, 6, 7, 8}}, 1, nil).Mean); !math.IsNaN(i.Low) {
		t.Errorf("one run in an environment: %v", i)
	}
	if i := TrimmedInterval([]float64{1, 2, 3}, 1, 0.95); i.Value != 2 || !math.IsNaN(i.Low) {
		t.Errorf("one value remains: %v", i)
	}
	if i := TrimmedInterval([]float64{1, 2}, 1, 0.95); !math.IsNaN(i.Value) {
		t.Errorf("no value remains: %v", i)
	}
}

// Eight runs of either, all of one better: four disjoint pairs, all won. The probability of
// that is p⁴, and 2.5 % at the lower end.
func TestImprovementWithoutOverlap(t *testing.T) {
	x, y := Scores{{5, 6, 7, 8, 9, 5, 6, 7}}, Scores{{0, 1, 2, 3, 4, 0, 1, 2}}
	r := NewResampler(0.95, []uint64{1})
	low := math.Pow(0.025, 0.25)
	if i := r.ProbabilityOfImprovement(x, y); i.Value != 1 || math.Abs(i.Low-low) > 1e-12 || i.High != 1 {
		t.Errorf("%v, want 1 [%g, 1]", i, low)
	}
	if i := r.ProbabilityOfImprovement(y, x); i.Value != 0 || i.Low != 0 || math.Abs(i.High-(1-low)) > 1e-12 {
		t.Errorf("%v, want 0 [0, %g]", i, 1-low)
	}
	if i := r.ProbabilityOfImprovement(x, x); i.Value != 0.5 || !(i.Low < 0.5 && i.High > 0.5) {
		t.Errorf("%v of the same", i)
	}
}
