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

	"github.com/rlrun/rlrun/internal/must"
)

// vectorCase is one reference computation of testdata/stats_vectors.json at the root
// of the module, or of the file that RLRUN_VECTORS names, which has the same format.
// Inputs may leave out level (0.95), gamma (1), tau (101 from 0 to 1), alpha (0.05) and
// larger_is_better (true); null stands for a run without a value. Each value that a case
// expects is compared, and one that is not computed fails.
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
	"average_score_profile":          checkProfile(averageProfile),
	"probability_of_improvement":     checkImprovement,
	"paired_win_rate":                checkPairedWinRate,
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
	raw := must.Get(os.ReadFile(path))(t)
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
			tolerance := 1e-9
			if v.Tolerance != nil {
				tolerance = *v.Tolerance
			}
			run(&check{t, v, tolerance})
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
	if err := json.Unmarshal(from, &v); err != nil || string(from) == "null" {
		c.t.Fatalf("%s: %v", from, err)
	}
	return v
}

// numbers are values of runs, NaN where null says that there is none.
type numbers []float64

func (n *numbers) UnmarshalJSON(raw []byte) error {
	var values []*float64
	if err := json.Unmarshal(raw, &values); err != nil {
		return err
	}
	*n = make(numbers, len(values))
	for i, v := range values {
		(*n)[i] = math.NaN()
		if v != nil {
			(*n)[i] = *v
		}
	}
	return nil
}

func (n numbers) present() []float64 {
	return slices.DeleteFunc(slices.Clone(n), func(x float64) bool { return math.IsNaN(x) })
}

// differences are those of the pairs that have both values.
func (c *check) differences(x, y numbers) []float64 {
	c.t.Helper()
	if len(x) != len(y) {
		c.t.Fatalf("%d and %d values are not pairs", len(x), len(y))
	}
	d := make(numbers, len(x))
	for i := range d {
		d[i] = x[i] - y[i]
	}
	return d.present()
}

// fields compares the values that the case expects by name. null expects NaN.
func (c *check) fields(got map[string]float64) {
	c.t.Helper()
	want := decode[map[string]*float64](c, c.c.Expect)
	if len(want) == 0 {
		c.t.Fatal("the case expects nothing")
	}
	for name, w := range want {
		switch g, ok := got[name]; {
		case !ok:
			c.t.Errorf("nothing is computed under the name %q", name)
		case w != nil:
			c.near(name, g, *w)
		case !math.IsNaN(g):
			c.t.Errorf("%s = %g, want none", name, g)
		}
	}
}

// sampled compares a p value that is an estimate from so many draws unless it is exact.
func (c *check) sampled(p float64, exact bool, draws int) {
	c.t.Helper()
	want := c.number()
	if !exact {
		n := float64(draws)
		c.tolerance = max(c.tolerance, 4*math.Sqrt(want*(1-want)/n)+2/n)
	}
	c.near("p", p, want)
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
func byEnvironment(runs []numbers) Scores {
	s := make(Scores, len(runs[0]))
	for _, row := range runs {
		for e, x := range row {
			if !math.IsNaN(x) {
				s[e] = append(s[e], x)
			}
		}
	}
	return s
}

func (c *check) scores() Scores {
	return byEnvironment(decode[struct{ Scores []numbers }](c, c.c.Input).Scores)
}

func checkOptimalityGap(c *check) {
	gamma := 1.0
	if g := decode[struct{ Gamma *float64 }](c, c.c.Input).Gamma; g != nil {
		gamma = *g
	}
	c.near("gap", OptimalityGap(c.scores(), gamma), c.number())
}

func checkProfile(profile func(Scores, []float64) []float64) func(*check) {
	return func(c *check) {
		taus := decode[struct{ Tau []float64 }](c, c.c.Input).Tau
		if taus == nil {
			for i := range 101 {
				taus = append(taus, float64(i)/100)
			}
		}
		c.nearAll("profile", profile(c.scores(), taus), decode[[]float64](c, c.c.Expect))
	}
}

// twoAgents decodes the scores of two agents.
func (c *check) twoAgents() (x, y []numbers) {
	in := decode[struct{ X, Y []numbers }](c, c.c.Input)
	return in.X, in.Y
}

func checkImprovement(c *check) {
	x, y := c.twoAgents()
	c.near("probability", ProbabilityOfImprovement(byEnvironment(x), byEnvironment(y)), c.number())
}

func checkPairedWinRate(c *check) {
	x, y := c.twoAgents()
	for k := range min(len(x), len(y)) { // a run without a value drops its pair
		for e := range x[k] {
			x[k][e] += 0 * y[k][e]
			y[k][e] += 0 * x[k][e]
		}
	}
	c.near("probability", PairedWinRate(byEnvironment(x), byEnvironment(y)), c.number())
}

// checkBootstrap compares with the limit of infinitely many samples: the mean within
// four standard errors, the ends of the interval within sampling error and one atom.
func checkBootstrap(c *check) {
	in := decode[struct {
		Values numbers
		Scores []numbers
	}](c, c.c.Input)
	level := c.level()
	want := decode[struct{ Mean, Low, High *float64 }](c, c.c.Expect)
	if want.Mean == nil && want.Low == nil && want.High == nil {
		c.t.Fatal("the case expects nothing")
	}
	s := Scores{in.Values.present()}
	if in.Scores != nil {
		s = byEnvironment(in.Scores)
	}
	seeds := make([]uint64, len(s))
	for e := range seeds {
		seeds[e] = uint64(e) + 1
	}
	r := NewResampler(level, seeds)
	iqm := NewResampler(0.5, seeds).Aggregate(s, 1, nil).IQM // of few values there are samples at a low level
	if iqm.Samples == nil {
		c.t.Fatal("too few values for a bootstrap")
	}
	m := momentsOf(iqm.Samples)
	mean := m.Mean
	if near := 4*m.StdErr() + c.tolerance; want.Mean != nil && !(math.Abs(mean-*want.Mean) <= near) {
		c.t.Errorf("mean of samples = %g, want %g within %g", mean, *want.Mean, near)
	}
	got := r.Interval(iqm)
	c.near("estimate", got.Value, IQM(s))
	sorted := slices.Sorted(slices.Values(iqm.Samples))
	atoms := slices.Compact(slices.Clone(sorted))
	end := func(what string, got float64, want *float64, p float64) {
		c.t.Helper()
		if want == nil {
			return
		}
		spread := 4 * math.Sqrt(p*(1-p)/float64(len(iqm.Samples)))
		low, high := Quantile(sorted, max(0, p-spread)), Quantile(sorted, min(1, p+spread))
		i, _ := slices.BinarySearch(atoms, low)
		j, _ := slices.BinarySearch(atoms, high)
		low, high = atoms[max(0, i-1)]-c.tolerance, atoms[min(len(atoms)-1, j+1)]+c.tolerance
		if *want < low || *want > high || got < low || got > high {
			c.t.Errorf("%s = %g, want %g, both within [%g, %g]", what, got, *want, low, high)
		}
	}
	end("low", got.Low, want.Low, (1-level)/2)
	end("high", got.High, want.High, (1+level)/2)
}

// level is that of intervals.
func (c *check) level() float64 {
	if level := decode[struct{ Level *float64 }](c, c.c.Input).Level; level != nil {
		return *level
	}
	return 0.95
}

func (c *check) samples() (x, y numbers) {
	in := decode[struct{ X, Y numbers }](c, c.c.Input)
	return in.X, in.Y
}

func checkPairedT(c *check) {
	x, y := c.samples()
	c.tTest(PairedT(c.differences(x, y), c.level()))
}

func checkWelch(c *check) {
	x, y := c.samples()
	c.tTest(Welch(x.present(), y.present(), c.level()))
}

func (c *check) tTest(got TTest) {
	c.t.Helper()
	c.fields(map[string]float64{"t": got.T, "df": got.DF, "p": got.P, "difference": got.Value, "low": got.Low, "high": got.High})
}

func checkSignFlip(c *check) {
	d := decode[struct{ D numbers }](c, c.c.Input).D.present()
	p, exact := SignFlip(d, 9999, 1)
	if exact != (len(d) <= exactPairs) {
		c.t.Errorf("exact = %t with %d differences", exact, len(d))
	}
	c.sampled(p, exact, 9999)
}

func checkPermutation(c *check) {
	in, other := c.samples()
	x, y := in.present(), other.present()
	p, exact := Permutation(x, y, 9999, 1)
	if exact != (binomial(len(x)+len(y), len(x)) <= exactAllocations) {
		c.t.Errorf("exact = %t with %d and %d values", exact, len(x), len(y))
	}
	c.sampled(p, exact, 9999)
}

func checkAdjusted(adjust func([]float64) []float64) func(*check) {
	return func(c *check) {
		c.nearAll("adjusted", adjust(decode[struct{ P []float64 }](c, c.c.Input).P), decode[[]float64](c, c.c.Expect))
	}
}

func checkSignFlipHolm(c *check) {
	in := decode[struct {
		First  numbers
		Others map[string]numbers
	}](c, c.c.Input)
	want := decode[struct{ P, Holm map[string]float64 }](c, c.c.Expect)
	var names []string
	var ps []float64
	for name, other := range in.Others {
		d := c.differences(in.First, other)
		p, exact := SignFlip(d, 9999, 1)
		if !exact {
			c.tolerance = max(c.tolerance, 4*math.Sqrt(0.25/9999)*float64(len(in.Others)))
		}
		names, ps = append(names, name), append(ps, p)
	}
	if len(want.P)+len(want.Holm) == 0 {
		c.t.Fatal("the case expects nothing")
	}
	compare := func(what string, got []float64, want map[string]float64) {
		if want == nil {
			return
		}
		if len(got) != len(want) {
			c.t.Errorf("%s of %d agents, want %d", what, len(got), len(want))
		}
		for i, name := range names {
			w, ok := want[name]
			if !ok {
				c.t.Errorf("%s of %s is not expected", what, name)
			}
			c.near(what+" of "+name, got[i], w)
		}
	}
	compare("p", ps, want.P)
	compare("Holm p", Holm(ps), want.Holm)
}

// checkTukey expects values named p01, low01, high01: groups 0 and 1.
func checkTukey(c *check) {
	var groups [][]float64
	for _, g := range decode[struct{ Groups []numbers }](c, c.c.Input).Groups {
		groups = append(groups, g.present())
	}
	got := map[string]float64{}
	for _, pair := range TukeyKramer(groups, c.level()) {
		at := fmt.Sprintf("%d%d", pair.First, pair.Second)
		got["p"+at], got["difference"+at], got["low"+at], got["high"+at] = pair.P, pair.Value, pair.Low, pair.High
	}
	c.fields(got)
}

// checkFriedman expects Nemenyi's values by the level in percent: nemenyi_q05, nemenyi_cd10.
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
	want := decode[map[string]json.RawMessage](c, c.c.Expect)
	got := Friedman(in.Scores)
	if ranks, ok := want["mean_ranks"]; ok {
		c.nearAll("mean ranks", got.MeanRanks, decode[[]float64](c, ranks))
		delete(want, "mean_ranks")
		if len(want) == 0 {
			return
		}
	}
	rest, err := json.Marshal(want)
	if err != nil {
		c.t.Fatal(err)
	}
	c.c.Expect = rest
	values := map[string]float64{"chi2": got.ChiSquared, "F": got.F, "p": got.P}
	k, n := len(in.Scores[0]), len(in.Scores)
	for name := range want {
		var percent float64
		if _, err := fmt.Sscanf(name, "nemenyi_q%f", &percent); err == nil {
			values[name] = NemenyiQ(k, percent/100)
		} else if _, err := fmt.Sscanf(name, "nemenyi_cd%f", &percent); err == nil {
			values[name] = NemenyiCD(k, n, percent/100)
		}
	}
	c.fields(values)
}

func checkWilcoxon(c *check) {
	w, p := Wilcoxon(decode[struct{ D numbers }](c, c.c.Input).D.present())
	c.fields(map[string]float64{"W": w, "p": p})
}

func checkSequential(c *check) {
	in := decode[struct {
		D     numbers
		N, K  int
		Alpha *float64
	}](c, c.c.Input)
	want := decode[struct {
		Decision    *Decision
		Stage, Runs *int
		Bounds      []*float64
		Spent       []float64 `json:"alpha_spent"`
	}](c, c.c.Expect)
	design := Design{Runs: in.N * in.K, Block: in.N, Alpha: 0.05}
	if in.Alpha != nil {
		design.Alpha = *in.Alpha
	}
	var blocks [][]float64
	for block := range slices.Chunk(in.D, in.N) {
		blocks = append(blocks, block.present())
	}
	got := design.Test(blocks, 1)
	if want.Decision == nil {
		c.t.Fatal("the case expects no decision")
	}
	if got.Decision != *want.Decision {
		c.t.Errorf("decision is %s, want %s", got.Decision, *want.Decision)
	}
	if want.Stage != nil && len(got.Looks) != *want.Stage {
		c.t.Errorf("%d looks, want %d", len(got.Looks), *want.Stage)
	}
	if want.Runs != nil && got.Runs() != *want.Runs {
		c.t.Errorf("%d runs, want %d", got.Runs(), *want.Runs)
	}
	if want.Bounds != nil && len(got.Looks) != len(want.Bounds) || want.Spent != nil && len(got.Looks) != len(want.Spent) {
		c.t.Fatalf("%d looks, want %d bounds and %d levels spent", len(got.Looks), len(want.Bounds), len(want.Spent))
	}
	exact := c.tolerance
	for k, look := range got.Looks {
		if want.Bounds != nil {
			c.tolerance = exact
			if !design.exact() { // the bound is a quantile of random sign vectors
				c.tolerance = max(exact, 0.1*look.Bound)
			}
			switch b := want.Bounds[k]; {
			case b != nil:
				c.near(fmt.Sprintf("bound %d", k), look.Bound, *b)
			case !math.IsNaN(look.Bound):
				c.t.Errorf("bound %d = %g, want none", k, look.Bound)
			}
		}
		if want.Spent != nil {
			c.tolerance = exact
			if !design.exact() {
				c.tolerance = max(exact, 4*math.Sqrt(design.Alpha/float64(design.vectors())))
			}
			c.near(fmt.Sprintf("level spent %d", k), look.Spent, want.Spent[k])
		}
	}
}

// averageProfile is the share of environments in which the mean over runs is above each tau.
func averageProfile(s Scores, taus []float64) []float64 {
	return Profile(Scores{means(s)}, taus)
}
