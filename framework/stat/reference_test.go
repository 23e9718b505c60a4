package stat

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// vectorCase is one reference computation of testdata/stats_vectors.json at the root
// of the module, or of the file that RLRUN_VECTORS names, which has the same format.
type vectorCase struct {
	ID, Kind      string
	Input, Expect json.RawMessage
	Tolerance     *float64 `json:"abs_tol"`
}

// checks has a function for every kind of case.
var checks = map[string]func(c *check){
	"iqm":                            func(c *check) { c.near("iqm", IQM(c.scores()), c.number()) },
	"mean_of_task_means":             func(c *check) { c.near("mean", MeanOfMeans(c.scores()), c.number()) },
	"median_of_task_means":           func(c *check) { c.near("median", MedianOfMeans(c.scores()), c.number()) },
	"optimality_gap":                 checkOptimalityGap,
	"performance_profile":            checkProfile(Profile),
	"average_score_profile":          checkProfile(AverageProfile),
	"probability_of_improvement":     checkTwoAgents(ProbabilityOfImprovement),
	"paired_win_rate":                checkTwoAgents(PairedWinRate),
	"bootstrap_iqm_limit":            checkBootstrap,
	"stratified_bootstrap_iqm_limit": checkBootstrap,
	"paired_t":                       checkPairedT,
	"welch_t":                        checkWelch,
	"paired_signflip":                checkSignFlip,
	"unpaired_permutation":           checkPermutation,
	"holm":                           checkAdjusted(Holm),
	"benjamini_hochberg":             checkAdjusted(BenjaminiHochberg),
	"paired_signflip_holm":           checkSignFlipHolm,
	"tukey_hsd":                      checkTukey,
	"friedman_demsar":                checkFriedman,
	"wilcoxon_exact":                 checkWilcoxon,
	"sequential_paired":              checkSequential,
}

func TestReference(t *testing.T) {
	path := cmp.Or(os.Getenv("RLRUN_VECTORS"), filepath.Join("testdata", "stats_vectors.json"))
	// A relative path is the package's, or that from the root of the module.
	if _, err := os.Stat(path); err != nil && !filepath.IsAbs(path) {
		path = filepath.Join("..", "..", path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// RLRUN_VECTORS may name vectors of the other packages, whose cases are an object.
	var file struct{ Cases json.RawMessage }
	var cases []vectorCase
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if err := json.Unmarshal(file.Cases, &cases); err != nil {
		if os.Getenv("RLRUN_VECTORS") != "" && len(file.Cases) > 0 && file.Cases[0] == '{' {
			t.Skipf("%s holds vectors of other packages", path)
		}
		t.Fatalf("%s: cases: %v", path, err)
	}
	if len(cases) == 0 {
		t.Fatalf("%s has no cases", path)
	}
	for _, v := range cases {
		t.Run(v.Kind+"/"+v.ID, func(t *testing.T) {
			run := checks[v.Kind]
			if run == nil {
				t.Fatalf("no check for the kind %q", v.Kind)
			}
			if v.Tolerance == nil {
				t.Fatal("the case has no abs_tol")
			}
			run(&check{t, v, *v.Tolerance})
		})
	}
}

// check is a case under test.
type check struct {
	t         *testing.T
	c         vectorCase
	tolerance float64
}

func decode[T any](c *check, from json.RawMessage) (v T) {
	c.t.Helper()
	if err := json.Unmarshal(from, &v); err != nil {
		c.t.Fatalf("%s: %v", from, err)
	}
	return v
}

func (c *check) near(what string, got, want float64) {
	c.t.Helper()
	if got != want && !(math.Abs(got-want) <= c.tolerance) {
		c.t.Errorf("%s = %.17g, want %.17g (off by %.3g, tolerance %g)", what, got, want, got-want, c.tolerance)
	}
}

func (c *check) nearAll(what string, got, want []float64) {
	c.t.Helper()
	if len(got) != len(want) {
		c.t.Fatalf("%s has %d values, want %d", what, len(got), len(want))
	}
	for i := range got {
		c.near(fmt.Sprintf("%s[%d]", what, i), got[i], want[i])
	}
}

func (c *check) number() float64 { return decode[float64](c, c.c.Expect) }

// byEnvironment turns scores[run][environment] into Scores.
func byEnvironment(runs [][]float64) Scores {
	s := make(Scores, len(runs[0]))
	for _, row := range runs {
		for e, x := range row {
			s[e] = append(s[e], x)
		}
	}
	return s
}

func (c *check) scores() Scores {
	return byEnvironment(decode[struct{ Scores [][]float64 }](c, c.c.Input).Scores)
}

func checkOptimalityGap(c *check) {
	gamma := decode[struct{ Gamma float64 }](c, c.c.Input).Gamma
	c.near("gap", OptimalityGap(c.scores(), gamma), c.number())
}

func checkProfile(profile func(Scores, []float64) []float64) func(*check) {
	return func(c *check) {
		taus := decode[struct{ Tau []float64 }](c, c.c.Input).Tau
		c.nearAll("profile", profile(c.scores(), taus), decode[[]float64](c, c.c.Expect))
	}
}

func checkTwoAgents(of func(x, y Scores) float64) func(*check) {
	return func(c *check) {
		in := decode[struct{ X, Y [][]float64 }](c, c.c.Input)
		c.near("probability", of(byEnvironment(in.X), byEnvironment(in.Y)), c.number())
	}
}

// checkBootstrap compares with the limit of infinitely many samples: the mean within
// four standard errors, the ends of the interval within sampling error and one atom.
func checkBootstrap(c *check) {
	in := decode[struct {
		Values []float64
		Scores [][]float64
		Level  float64
	}](c, c.c.Input)
	want := decode[struct{ Mean, Low, High float64 }](c, c.c.Expect)
	s := Scores{in.Values}
	if in.Scores != nil {
		s = byEnvironment(in.Scores)
	}
	seeds := make([]uint64, len(s))
	for e := range seeds {
		seeds[e] = uint64(e) + 1
	}
	r := NewResampler(in.Level, seeds)
	iqm := r.Aggregate(s, 1, nil).IQM
	mean, squares := moments(iqm.Samples)
	n := float64(len(iqm.Samples))
	if stderr := math.Sqrt(squares / (n - 1) / n); math.Abs(mean-want.Mean) > 4*stderr {
		c.t.Errorf("mean of samples = %g, want %g within %g", mean, want.Mean, 4*stderr)
	}
	got := r.Interval(iqm)
	c.near("estimate", got.Value, IQM(s))
	sorted := slices.Sorted(slices.Values(iqm.Samples))
	atoms := slices.Compact(slices.Clone(sorted))
	end := func(what string, got, want, p float64) {
		c.t.Helper()
		spread := 4 * math.Sqrt(p*(1-p)/n)
		low, high := Quantile(sorted, max(0, p-spread)), Quantile(sorted, min(1, p+spread))
		i, _ := slices.BinarySearch(atoms, low)
		j, _ := slices.BinarySearch(atoms, high)
		low, high = atoms[max(0, i-1)], atoms[min(len(atoms)-1, j+1)]
		if want < low || want > high || got < low || got > high {
			c.t.Errorf("%s = %g, want %g, both within [%g, %g]", what, got, want, low, high)
		}
	}
	end("low", got.Low, want.Low, (1-in.Level)/2)
	end("high", got.High, want.High, (1+in.Level)/2)
}

func checkPairedT(c *check) {
	in := decode[struct {
		X, Y  []float64
		Level float64
	}](c, c.c.Input)
	d := make([]float64, len(in.X))
	for i := range d {
		d[i] = in.X[i] - in.Y[i]
	}
	c.tTest(PairedT(d, in.Level))
}

func checkWelch(c *check) {
	in := decode[struct {
		X, Y  []float64
		Level float64
	}](c, c.c.Input)
	c.tTest(Welch(in.X, in.Y, in.Level))
}

func (c *check) tTest(got TTest) {
	c.t.Helper()
	want := decode[struct{ T, DF, P, Low, High float64 }](c, c.c.Expect)
	c.nearAll("t, df, p, low, high", []float64{got.T, got.DF, got.P, got.Low, got.High}, []float64{want.T, want.DF, want.P, want.Low, want.High})
}

func checkSignFlip(c *check) {
	p, exact := SignFlip(decode[struct{ D []float64 }](c, c.c.Input).D, 9999, 1)
	if !exact {
		c.t.Error("not exact")
	}
	c.near("p", p, c.number())
}

func checkPermutation(c *check) {
	in := decode[struct{ X, Y []float64 }](c, c.c.Input)
	p, exact := Permutation(in.X, in.Y, 9999, 1)
	if !exact {
		c.t.Error("not exact")
	}
	c.near("p", p, c.number())
}

func checkAdjusted(adjust func([]float64) []float64) func(*check) {
	return func(c *check) {
		c.nearAll("adjusted", adjust(decode[struct{ P []float64 }](c, c.c.Input).P), decode[[]float64](c, c.c.Expect))
	}
}

func checkSignFlipHolm(c *check) {
	in := decode[struct {
		First  []float64
		Others map[string][]float64
	}](c, c.c.Input)
	want := decode[struct{ P, Holm map[string]float64 }](c, c.c.Expect)
	var names []string
	var ps []float64
	for name, other := range in.Others {
		d := make([]float64, len(other))
		for i := range d {
			d[i] = in.First[i] - other[i]
		}
		p, _ := SignFlip(d, 9999, 1)
		names, ps = append(names, name), append(ps, p)
	}
	if len(names) != len(want.P) || len(names) != len(want.Holm) {
		c.t.Fatalf("%d agents, want p of %d and Holm's of %d", len(names), len(want.P), len(want.Holm))
	}
	for i, adjusted := range Holm(ps) {
		c.near("p of "+names[i], ps[i], want.P[names[i]])
		c.near("Holm p of "+names[i], adjusted, want.Holm[names[i]])
	}
}

// checkTukey expects values named p01, low01, high01: groups 0 and 1.
func checkTukey(c *check) {
	in := decode[struct {
		Groups [][]float64
		Level  *float64
	}](c, c.c.Input)
	level := 0.95
	if in.Level != nil {
		level = *in.Level
	}
	got := map[string]float64{}
	for _, pair := range TukeyKramer(in.Groups, level) {
		at := fmt.Sprintf("%d%d", pair.First, pair.Second)
		got["p"+at], got["low"+at], got["high"+at] = pair.P, pair.Low, pair.High
	}
	for name, want := range decode[map[string]float64](c, c.c.Expect) {
		value, ok := got[name]
		if !ok {
			c.t.Errorf("nothing is computed under the name %q", name)
		}
		c.near(name, value, want)
	}
}

func checkFriedman(c *check) {
	in := decode[struct {
		Scores [][]float64
		Larger *bool `json:"larger_is_better"`
	}](c, c.c.Input)
	if in.Larger != nil && !*in.Larger {
		for _, row := range in.Scores {
			for a := range row {
				row[a] = -row[a]
			}
		}
	}
	var want struct {
		Ranks []float64 `json:"mean_ranks"`
		Chi2  float64
		F, P  float64
		Q     *float64 `json:"nemenyi_q05"`
		CD    *float64 `json:"nemenyi_cd05"`
	}
	if err := json.Unmarshal(c.c.Expect, &want); err != nil {
		c.t.Fatal(err)
	}
	got := Friedman(in.Scores)
	c.nearAll("mean ranks", got.MeanRanks, want.Ranks)
	c.nearAll("chi2, F, p", []float64{got.ChiSquared, got.F, got.P}, []float64{want.Chi2, want.F, want.P})
	k, n := len(in.Scores[0]), len(in.Scores)
	if want.Q != nil {
		c.near("Nemenyi's q", NemenyiQ(k, 0.05), *want.Q)
	}
	if want.CD != nil {
		c.near("Nemenyi's CD", NemenyiCD(k, n, 0.05), *want.CD)
	}
}

func checkWilcoxon(c *check) {
	want := decode[struct{ W, P float64 }](c, c.c.Expect)
	w, p := Wilcoxon(decode[struct{ D []float64 }](c, c.c.Input).D)
	c.near("W", w, want.W)
	c.near("p", p, want.P)
}

func checkSequential(c *check) {
	in := decode[struct {
		D     []float64
		N, K  int
		Alpha float64
	}](c, c.c.Input)
	var want struct {
		Decision Decision
		Stage    int
		Runs     int
		Bounds   []*float64
		Spent    []float64 `json:"alpha_spent"`
	}
	if err := json.Unmarshal(c.c.Expect, &want); err != nil {
		c.t.Fatal(err)
	}
	var blocks [][]float64
	for block := range slices.Chunk(in.D, in.N) {
		blocks = append(blocks, block)
	}
	got := Design{Runs: in.N * in.K, Block: in.N, Alpha: in.Alpha}.Test(blocks, 1)
	if got.Decision != want.Decision || len(got.Looks) != want.Stage || got.Runs() != want.Runs {
		c.t.Errorf("%s at look %d after %d runs, want %s at %d after %d",
			got.Decision, len(got.Looks), got.Runs(), want.Decision, want.Stage, want.Runs)
	}
	if len(got.Looks) != len(want.Bounds) || len(got.Looks) != len(want.Spent) {
		c.t.Fatalf("%d looks, want %d bounds and %d levels spent", len(got.Looks), len(want.Bounds), len(want.Spent))
	}
	for k, look := range got.Looks {
		if b := want.Bounds[k]; b == nil {
			if !math.IsNaN(look.Bound) {
				c.t.Errorf("bound %d = %g, want none", k, look.Bound)
			}
		} else {
			c.near(fmt.Sprintf("bound %d", k), look.Bound, *b)
		}
		c.near(fmt.Sprintf("level spent %d", k), look.Spent, want.Spent[k])
	}
}
