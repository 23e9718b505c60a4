package stat

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

func near(t rapid.TB, what string, got, want, tolerance float64) {
	t.Helper()
	if got != want && !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %.15g, want %.15g", what, got, want)
	}
}

// values draws small samples with many ties.
func values(least, most int) *rapid.Generator[[]float64] {
	return rapid.SliceOfN(rapid.Map(rapid.IntRange(-6, 6), func(i int) float64 { return float64(i) / 2 }), least, most)
}

func negated(xs []float64) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = -x
	}
	return out
}

// Who compares A with B and who compares B with A come to the same conclusion.
func TestComparisonsAreSymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := values(1, 8).Draw(t, "x"), values(1, 8).Draw(t, "y")
		near(t, "P(X>Y)+P(Y>X)", ProbabilityOfImprovement(Scores{x}, Scores{y})+ProbabilityOfImprovement(Scores{y}, Scores{x}), 1, 1e-12)
		p, _ := SignFlip(x, 99, 1)
		q, _ := SignFlip(negated(x), 99, 1)
		near(t, "sign flips", p, q, 0)
		p, _ = Permutation(x, y, 99, 1)
		q, _ = Permutation(y, x, 99, 1)
		near(t, "permutation", p, q, 1e-12)
		_, p = Wilcoxon(x)
		_, q = Wilcoxon(negated(x))
		near(t, "Wilcoxon", p, q, 1e-12)
		if len(x) > 1 && len(y) > 1 {
			near(t, "Welch", Welch(x, y, 0.95).T, -Welch(y, x, 0.95).T, 1e-12)
		}
	})
}

// A p value from all sign vectors is at most α with probability at most α, for every
// set of sizes.
func TestSignFlipKeepsItsLevel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := values(1, 6).Draw(t, "d")
		var ps []float64
		for mask := range 1 << len(size) {
			d := slices.Clone(size)
			for i := range d {
				if mask>>i&1 == 1 {
					d[i] = -d[i]
				}
			}
			p, _ := SignFlip(d, 99, 1)
			ps = append(ps, p)
		}
		for _, p := range ps {
			small := 0
			for _, q := range ps {
				if q <= p {
					small++
				}
			}
			if share := float64(small) / float64(len(ps)); share > p+1e-12 {
				t.Fatalf("a share %g of the sign vectors has p ≤ %g", share, p)
			}
		}
	})
}

// The sums of two halves count all sign vectors.
func TestSignFlipCountsAllSigns(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 2, 5, 13} {
		for trial := range 20 {
			d := make([]float64, n)
			for i := range d {
				d[i] = math.Round(3*rng.NormFloat64()) + float64(trial%3) // many ties
			}
			total, count := math.Abs(sumOf(d)), 0
			for mask := range 1 << n {
				sum := 0.0
				for i, x := range d {
					if mask>>i&1 == 1 {
						x = -x
					}
					sum += x
				}
				if math.Abs(sum) >= total {
					count++
				}
			}
			if p, exact := SignFlip(d, 99, 1); !exact || p != float64(count)/float64(int(1)<<n) {
				t.Errorf("%v: p = %g, of all vectors %d/2^%d", d, p, count, n)
			}
		}
	}
}

// With more than 40 differences random signs stand in for all of them.
func TestSignFlipDrawsSigns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	d := make([]float64, 40)
	for i := range d {
		d[i] = rng.NormFloat64() + 0.35
	}
	all, exact := SignFlip(d, 9999, 1)
	if !exact {
		t.Fatal("40 differences are tested with random signs")
	}
	// A difference of zero changes no sum, only the method.
	p, exact := SignFlip(append(d, 0), 9999, 1)
	if exact {
		t.Fatal("41 differences are tested with all signs")
	}
	near(t, "p from 9,999 draws", p, all, 4*math.Sqrt(all*(1-all)/9999))
	if again, _ := SignFlip(append(d, 0), 9999, 1); again != p {
		t.Errorf("the same seed gives %g and %g", p, again)
	}
	strong := slices.Repeat([]float64{1}, 45)
	if p, _ := SignFlip(strong, 9999, 1); p != 1.0/10000 {
		t.Errorf("p = %g, want the least that 9,999 draws can give", p)
	}
}

// The random version of Permutation also agrees with the exact one.
func TestPermutationDraws(t *testing.T) {
	x, y := make([]float64, 14), make([]float64, 14) // 40 million allocations
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range x {
		x[i], y[i] = rng.NormFloat64()+0.8, rng.NormFloat64()
	}
	p, exact := Permutation(x, y, 9999, 1)
	if exact {
		t.Fatal("tried all allocations")
	}
	near(t, "p beside that of Welch's test", p, Welch(x, y, 0.95).P, 0.01)
}

// Aggregates do what their definitions say of agents that are shifted or repeated.
func TestAggregateLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "runs")
		s := Scores{values(n, n).Draw(t, "first"), values(n, n).Draw(t, "second")}
		shifted := Scores{}
		for _, v := range s {
			up := slices.Clone(v)
			for i := range up {
				up[i] += 10
			}
			shifted = append(shifted, up)
		}
		near(t, "IQM", IQM(shifted), IQM(s)+10, 1e-9)
		near(t, "mean of means", MeanOfMeans(shifted), MeanOfMeans(s)+10, 1e-9)
		near(t, "probability of improvement", ProbabilityOfImprovement(shifted, s), 1, 0)
		near(t, "against itself", ProbabilityOfImprovement(s, s), 0.5, 1e-12)
		near(t, "win rate", PairedWinRate(shifted, s), 1, 0)
		if g := OptimalityGap(s, 1); g < 1-slices.Max(s.pool()) || OptimalityGap(shifted, 1) != 0 {
			t.Errorf("optimality gap %g, shifted %g", g, OptimalityGap(shifted, 1))
		}
		taus := []float64{-10, -1, 0, 0.25, 1, 10}
		profile := Profile(s, taus)
		if profile[0] != 1 || profile[len(profile)-1] != 0 || !slices.IsSortedFunc(profile, func(a, b float64) int { return cmp.Compare(b, a) }) {
			t.Errorf("profile %v does not fall from 1 to 0", profile)
		}
	})
}

// Samples that are drawn once each are the data: the weighted statistics are those of
// the values.
func TestWeightedStatistics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := values(1, 9).Draw(t, "x"), values(1, 9).Draw(t, "y")
		rx, ry := newRanked(x), newRanked(y)
		counts := func(n int) []uint32 { return slices.Repeat([]uint32{1}, n) }
		cut := len(x) / 4
		near(t, "IQM", rx.iqm(counts(len(x))), Mean(slices.Sorted(slices.Values(x))[cut:len(x)-cut]), 1e-12)
		near(t, "improvement", above(rx, ry, counts(len(x)), counts(len(y))), ProbabilityOfImprovement(Scores{x}, Scores{y}), 1e-12)
		// Drawing every value twice is the sample written twice.
		twice := slices.Concat(y, y)
		near(t, "improvement over twice", above(rx, newRanked(twice), nil, nil), ProbabilityOfImprovement(Scores{x}, Scores{y}), 1e-12)
		taus := []float64{-2, 0, 0.5, 3}
		share := make([]float64, len(taus))
		rx.tail(counts(len(x)), taus, share)
		for i, tau := range taus {
			above := slices.DeleteFunc(slices.Clone(x), func(v float64) bool { return v <= tau })
			near(t, "profile", share[i], float64(len(above))/float64(len(x)), 1e-12)
			near(t, "profile once", Profile(Scores{x}, taus)[i], share[i], 0)
		}
	})
}

// Agents are drawn jointly: the difference of an agent and a shifted copy of it is
// known exactly, while either mean is not.
func TestResamplerDrawsJointly(t *testing.T) {
	s := Scores{{1, 5, 2, 8, 3}, {0, 4, 4, 9, 1}}
	shifted := Scores{{2, 6, 3, 9, 4}, {1, 5, 5, 10, 2}}
	r := NewResampler(0.95, []uint64{7, 8})
	a, b := r.Aggregate(s, 1, nil), r.Aggregate(shifted, 1, nil)
	d := r.Difference(b.Mean, a.Mean)
	near(t, "low", d.Low, 1, 1e-12)
	near(t, "high", d.High, 1, 1e-12)
	if own := r.Interval(a.Mean); !(own.Low < own.Value && own.Value < own.High) {
		t.Errorf("interval of one agent: %+v", own)
	}
	if one := r.Mean(0, []float64{3}); one.Value != 3 || !math.IsNaN(one.Low) {
		t.Errorf("one run: %+v", one)
	}
	if one := r.Interval(r.Aggregate(Scores{{3}, {4}}, 1, []float64{3.5}).IQM); one.Value != 3.5 || !math.IsNaN(one.High) {
		t.Errorf("one run an environment: %+v", one)
	}
	if p := r.ProbabilityOfImprovement(shifted, s); !(p.Low <= p.Value && p.Value <= p.High) {
		t.Errorf("probability of improvement: %+v", p)
	}
}

// Adjusted p values keep the order, are never below the p values, and Holm's are at
// least those of Benjamini and Hochberg.
func TestAdjustments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 12).Draw(t, "p")
		holm, bh := Holm(p), BenjaminiHochberg(p)
		for i := range p {
			if !(p[i] <= bh[i]+1e-15 && bh[i] <= holm[i]+1e-15 && holm[i] <= 1) {
				t.Fatalf("p %g, BH %g, Holm %g", p[i], bh[i], holm[i])
			}
			for j := range p {
				if p[i] < p[j] && (holm[i] > holm[j] || bh[i] > bh[j]) {
					t.Fatalf("the order of %g and %g changed", p[i], p[j])
				}
			}
		}
	})
}

// Values of scipy 1.17, scipy.stats.studentized_range.cdf.
func TestStudentizedRange(t *testing.T) {
	for _, c := range []struct {
		q    float64
		k    int
		df   float64
		want float64
	}{
		{3.5, 3, 10, 0.92289668916159},
		{1, 2, 1, 0.391826552030607},
		{30, 5, 2, 0.993195024729592},
		{4.2, 20, 60, 0.718688937198409},
		{5.5, 100, 1000, 0.793749646509997},
		{8, 1000, 5000, 0.994132078617043},
		{3, 10, 10000, 0.487763092731921},
		{60, 3, 1.5, 0.99542269287483},
		{6.5, 1000, math.Inf(1), 0.550753144149701},
	} {
		got := StudentizedRangeCDF(c.q, c.k, c.df)
		near(t, "P(Q ≤ q)", got, c.want, 1e-7)
		if got > 1e-6 && got < 1-1e-6 {
			near(t, "quantile", StudentizedRangeQuantile(got, c.k, c.df), c.q, 1e-6*c.q)
		}
	}
	// The range of two means is the size of their difference: a t test.
	for _, df := range []float64{1, 3, 30, 400} {
		student := distuv.StudentsT{Sigma: 1, Nu: df}
		near(t, "two means", StudentizedRangeCDF(2.5, 2, df), 1-2*student.CDF(-2.5/math.Sqrt2), 1e-9)
	}
	for _, bad := range []float64{StudentizedRangeCDF(1, 1, 3), StudentizedRangeCDF(math.NaN(), 3, 3), StudentizedRangeQuantile(1, 3, 3), StudentizedRangeQuantile(0.5, 3, 0)} {
		if !math.IsNaN(bad) {
			t.Errorf("bad arguments give %g", bad)
		}
	}
}

// Ranks add up, whatever the ties; an environment ranks the same agents alike.
func TestRanks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := values(1, 9).Draw(t, "x")
		sum := 0.0
		for _, r := range Ranks(x) {
			sum += r
		}
		near(t, "sum of ranks", sum, float64(len(x)*(len(x)+1))/2, 1e-9)
		best := slices.Max(x)
		for i, r := range Ranks(x) {
			if x[i] == best && r > Ranks(x)[slices.Index(x, slices.Min(x))] {
				t.Fatalf("ranks of %v: %v", x, Ranks(x))
			}
		}
	})
	same := Friedman([][]float64{{3, 2, 1}, {9, 5, 4}, {3, 1, 0}})
	if !math.IsNaN(same.F) || !math.IsNaN(same.P) {
		t.Errorf("environments that agree: F %g, p %g", same.F, same.P)
	}
	// scipy.stats.f.sf(8.08662, 39, 195): far below the spacing of numbers at 1.
	if p := tailF(8.08662, 39, 195); !(math.Abs(p/3.580603600360465e-24-1) < 1e-9) {
		t.Errorf("tail of F = %g", p)
	}
	if one := Friedman([][]float64{{3, 2, 1}}); !math.IsNaN(one.P) || one.MeanRanks[0] != 1 {
		t.Errorf("one environment: %+v", one)
	}
}

// Cliques are the longest stretches without a difference.
func TestCliques(t *testing.T) {
	order := []int{3, 0, 2, 1}
	pairs := func(list ...[2]int) func(a, b int) bool {
		return func(a, b int) bool { return slices.Contains(list, [2]int{a, b}) || slices.Contains(list, [2]int{b, a}) }
	}
	for _, c := range []struct {
		name    string
		differs func(a, b int) bool
		want    [][2]int
	}{
		{"no two differ", pairs(), [][2]int{{0, 3}}},
		{"ends differ", pairs([2]int{3, 1}), [][2]int{{0, 2}, {1, 3}}},
		{"the best differs from all", pairs([2]int{3, 0}, [2]int{3, 2}, [2]int{3, 1}), [][2]int{{1, 3}}},
		{"all differ", func(a, b int) bool { return true }, nil},
	} {
		if got := Cliques(order, c.differs); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// All 2ⁿ sign vectors of the same sizes make a null distribution: the share of them on
// which the sequential test decides is at most its level.
func TestSequentialKeepsItsLevelExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		block := rapid.IntRange(1, 4).Draw(t, "block")
		size := values(2, 9).Draw(t, "d")
		design := Design{Runs: len(size), Block: block, Alpha: rapid.SampledFrom([]float64{0.05, 0.1, 0.3}).Draw(t, "alpha")}
		decided := 0
		for mask := range 1 << len(size) {
			d := slices.Clone(size)
			for i := range d {
				if mask>>i&1 == 1 {
					d[i] = -d[i]
				}
			}
			v := design.Test(slices.Collect(slices.Chunk(d, block)), 1)
			if v.Decision != Undecided {
				decided++
			}
			if spent := v.Looks[len(v.Looks)-1].Spent; spent > design.Alpha+1e-12 {
				t.Fatalf("spent %g of %g", spent, design.Alpha)
			}
		}
		if share := float64(decided) / float64(int(1)<<len(size)); share > design.Alpha+1e-12 {
			t.Fatalf("decides on a share of %g of the sign vectors at level %g", share, design.Alpha)
		}
	})
}

// Level and power with random sign vectors: more than 20 runs, as in docs/statistics.md.
func TestSequentialSimulated(t *testing.T) {
	design := Design{Runs: 40, Block: 10, Alpha: 0.05}
	decided := func(effect float64, trials int) (share, runs float64) {
		rng := rand.New(rand.NewPCG(5, uint64(effect*100)))
		for trial := range trials {
			d := make([]float64, design.Runs)
			for i := range d {
				d[i] = rng.NormFloat64() + effect
			}
			v := design.Test(slices.Collect(slices.Chunk(d, design.Block)), uint64(trial))
			if v.Decision != Undecided {
				share += 1 / float64(trials)
			}
			if v.Decision == Smaller && effect > 0.5 {
				t.Errorf("decides for the worse agent at effect %g", effect)
			}
			runs += float64(v.Runs()) / float64(trials)
		}
		return share, runs
	}
	if share, _ := decided(0, 150); share > 0.05+4*math.Sqrt(0.05*0.95/150) {
		t.Errorf("decides %g of the trials without an effect", share)
	}
	share, runs := decided(1, 40)
	if share < 0.95 || runs > 25 {
		t.Errorf("decides %g of the trials at an effect of 1, after %g runs on average", share, runs)
	}
}

// A verdict is a function of the blocks: with the first ones alone the test is open or
// has said the same already.
func TestSequentialGoesOn(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	design := Design{Runs: 55, Block: 10, Alpha: 0.05}
	d := make([]float64, design.Runs)
	for i := range d {
		d[i] = rng.NormFloat64() + 0.45
	}
	blocks := slices.Collect(slices.Chunk(d, design.Block))
	whole := design.Test(blocks, 3)
	for k := range len(blocks) + 1 {
		part := design.Test(blocks[:k], 3)
		n := min(k, len(whole.Looks))
		if len(part.Looks) != n {
			t.Fatalf("%d blocks make %d looks", k, len(part.Looks))
		}
		for i, look := range part.Looks {
			if w := whole.Looks[i]; look.Runs != w.Runs || look.Sum != w.Sum || look.Spent != w.Spent {
				t.Errorf("with %d blocks look %d is %+v, with all %+v", k, i, look, w)
			}
		}
		if want := Open; k < len(whole.Looks) && part.Decision != want {
			t.Errorf("with %d blocks: %s", k, part.Decision)
		} else if k >= len(whole.Looks) && part.Decision != whole.Decision {
			t.Errorf("with %d blocks %s, with all %s", k, part.Decision, whole.Decision)
		}
	}
}

func TestDesignsThatCannotDecide(t *testing.T) {
	for _, d := range []Design{{5, 5, 0.05}, {0, 5, 0.05}, {10, 0, 0.05}, {10, 5, 0}, {10, 5, 1}} {
		if d.Check() == nil {
			t.Errorf("%+v is accepted", d)
		}
	}
	d := Design{4, 2, 0.05}
	if err := d.Check(); !errors.Is(err, ErrTooFewRuns) || d.LeastRuns() != 6 {
		t.Errorf("%v, at least %d runs", err, d.LeastRuns())
	}
	if err := (Design{6, 6, 0.05}).Check(); err != nil {
		t.Error(err)
	}
	if v := (Design{6, 6, 0.05}).Test([][]float64{{1, 2, 3, 4, 5, 6}}, 1); v.Decision != Larger {
		t.Errorf("six runs of one sign: %s", v.Decision)
	}
}

func sumOf(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum
}

// Draws are not kept: those of many runs take gigabytes. They are the same again.
func TestResamplerOfManyRuns(t *testing.T) {
	values := make([]float64, 16_001)
	for i := range values {
		values[i] = float64(i % 7)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	NewResampler(0.95, []uint64{1}).Mean(0, values)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
		t.Errorf("the mean of %d runs took %d MB", len(values), used>>20)
	}

	r, x, y := NewResampler(0.95, []uint64{1, 2}), Scores{{1, 2, 3, 5}, {4, 4, 1}}, Scores{{1, 0, 3, 4}, {4, 2, 9}}
	if a, b := r.Aggregate(x, 1, []float64{2}), r.Aggregate(x, 1, []float64{2}); !reflect.DeepEqual(a, b) {
		t.Errorf("aggregates %v, then %v", a, b)
	}
	if a, b := r.ProbabilityOfImprovement(x, y), r.ProbabilityOfImprovement(x, y); a != b {
		t.Errorf("probability %v, then %v", a, b)
	}
}

// Values have the same quantiles in any order, also where many are equal.
func TestQuantileWithoutSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 2, 3, 40, 2000} {
		for _, kinds := range []int{1, 2, 30, 1 << 40} {
			values := make([]float64, n)
			for i := range values {
				values[i] = float64(rng.IntN(kinds))
			}
			sorted := slices.Clone(values)
			slices.Sort(sorted)
			for _, p := range []float64{0, 0.025, 0.5, 0.975, 1} {
				if got, want := quantile(values, p), Quantile(sorted, p); got != want {
					t.Errorf("%d values of %d kinds: quantile %g is %g, not %g", n, kinds, p, got, want)
				}
			}
			if slices.Sort(values); !slices.Equal(values, sorted) {
				t.Errorf("%d values of %d kinds are others now", n, kinds)
			}
		}
	}
}

// Samples of two runs that end in 0 or 1 are {0, 0} and {1, 1} in an eighth of all cases,
// where both agents succeed half of the time. Without a variance Welch's test said p = 0.
func TestEqualValuesAreNoCertainty(t *testing.T) {
	for _, size := range [][2]int{{2, 2}, {3, 3}, {2, 4}, {5, 3}, {8, 8}} {
		x, y := slices.Repeat([]float64{1}, size[0]), slices.Repeat([]float64{0.25}, size[1])
		want, exact := Permutation(x, y, 0, 1)
		if !exact {
			t.Fatal("not exact")
		}
		near(t, fmt.Sprint("Welch ", size), Welch(x, y, 0.95).P, want, 1e-12)
		near(t, fmt.Sprint("Tukey ", size), TukeyKramer([][]float64{x, y}, 0.95)[0].P, want, 1e-12)
	}
	if p := Welch(make([]float64, 2000), slices.Repeat([]float64{1}, 2000), 0.95).P; p != 0 {
		t.Errorf("of many runs p is %g", p)
	}
	// The level holds also for outcomes of 0 and 1.
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{2, 3, 4} {
		rejected, trials := 0, 4000
		for range trials {
			x, y := make([]float64, n), make([]float64, n)
			for i := range n {
				x[i], y[i] = float64(rng.IntN(2)), float64(rng.IntN(2))
			}
			if Welch(x, y, 0.95).P <= 0.05 {
				rejected++
			}
		}
		if share := float64(rejected) / float64(trials); share > 0.06 {
			t.Errorf("%d runs each: %.3f of equal agents differ", n, share)
		}
	}
}
