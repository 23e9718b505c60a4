package compare

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/stat"
	"github.com/rlrun/rlrun/internal/must"
)

// texts returns the answer as the terminal and JSON show it.
func texts(t *testing.T, r *Result) (table, data string) {
	t.Helper()
	var b strings.Builder
	must.Do(t, WriteTable(&b, r, 0))
	return b.String(), string(must.Get(json.Marshal(r))(t))
}

// Two environments that rank three agents alike say little: one of six orders does. The
// formula of F says p = 0.
func TestFriedmanOfFewEnvironments(t *testing.T) {
	r := compared(t, []*Input{experiment("d", 1, []string{"a", "b", "c"}, noisy(8, 1, 0, 10, 20), noisy(8, 2, 0, 10, 20))}, usual)
	k := r.Overall.Ranks
	if math.Abs(k.P-1./6) > 1e-12 || !k.Exact || !math.IsNaN(k.F) {
		t.Errorf("%+v", k)
	}
	table, data := texts(t, r)
	if !strings.Contains(table, "χ² = 4, p = 0.1667 (exact, of all arrangements of ranks)") || strings.Contains(table, "Inf") {
		t.Error(table)
	}
	if !strings.Contains(data, `"f":null`) || !strings.Contains(data, `"p":0.1666`) || !strings.Contains(data, `"test":"exact, of all arrangements of ranks"`) {
		t.Error(data)
	}
}

// Equal values in another order have another sum in the last bits. Their agents tie.
func TestRanksOfMeansThatRound(t *testing.T) {
	values := []float64{0.1, 0.2, 0.3, 0.7, 1.1, 1e5}
	back := slices.Clone(values)
	slices.Reverse(back)
	if stat.Mean(values) == stat.Mean(back) {
		t.Fatal("these values do not round")
	}
	r := compared(t, []*Input{experiment("d", 1, []string{"a", "b"}, [][]float64{values, back}, [][]float64{values, back})}, usual)
	if k := r.Overall.Ranks; k.Mean[0] != 1.5 || k.Mean[1] != 1.5 || k.P != 1 {
		t.Errorf("%+v", k)
	}
}

// With one, two or three runs there is a p value that counting gives, and no interval that
// it does not; the answer says why.
func TestComparisonsOfFewRuns(t *testing.T) {
	better := [][]float64{{1, 1, 1}, {2, 3, 4}}
	for n, want := range map[int]float64{1: 1, 2: 0.5, 3: 0.25} {
		r := compared(t, []*Input{experiment("d", 1, []string{"a", "b"}, [][]float64{better[0][:n], better[1][:n]})}, usual)
		c := r.Comparisons[0]
		if c.P != want || !math.IsNaN(c.Difference.Low) || c.Reason != fewRuns || c.Better != "" {
			t.Errorf("%d pairs: %+v", n, c)
		}
		table, data := texts(t, r)
		note := "1 of 1 differences have no interval: at level 0.05 it takes 6 pairs of runs"
		if !strings.Contains(table, note) || !strings.Contains(data, note) || !strings.Contains(data, `"ci_low":null`) || !strings.Contains(data, `"reason":"too few runs`) {
			t.Errorf("%d pairs: %s\n%s", n, table, data)
		}
	}
	apart := with(func(o *Config) { o.Unpaired = true })
	for n, want := range map[int]float64{1: 1, 2: 1. / 3, 3: 0.1} {
		same := [][]float64{slices.Repeat([]float64{1}, n), slices.Repeat([]float64{2}, n)}
		c := compared(t, []*Input{experiment("d", 1, []string{"a", "b"}, same)}, apart).Comparisons[0]
		if math.Abs(c.P-want) > 1e-12 || c.Test != "permutation, all" || !math.IsNaN(c.Difference.Low) {
			t.Errorf("%d runs each without a variance: %+v", n, c)
		}
	}
	// Where every difference is the same, there is no interval.
	flat := compared(t, []*Input{experiment("d", 1, []string{"a", "b"}, [][]float64{make([]float64, 8), slices.Repeat([]float64{2}, 8)})}, usual)
	if c := flat.Comparisons[0]; c.P != 2./256 || c.Reason != noSpread || !math.IsNaN(c.Difference.Low) || !strings.Contains(strings.Join(flat.Notes, " "), "They have no interval") {
		t.Errorf("equal differences: %+v, %q", c, flat.Notes)
	}
	// A metric that is the same in all runs, as the reward of a step is in CartPole, says so.
	const note = "the mean reward is 1 in every run of every agent"
	ones := compared(t, []*Input{experiment("d", 1, []string{"a", "b"}, [][]float64{{1, 1}, {1, 1}})}, usual)
	if !strings.Contains(strings.Join(ones.Notes, " "), note) || strings.Contains(strings.Join(flat.Notes, " "), "in every run") {
		t.Errorf("%q, %q", ones.Notes, flat.Notes)
	}
	// So it is of equal agents.
	equal := compared(t, []*Input{experiment("d", 1, []string{"a", "b"}, [][]float64{published[0], published[0]})}, usual)
	if c := equal.Comparisons[0]; c.P != 1 || c.Reason != noSpread || !math.IsNaN(c.Difference.Low) {
		t.Errorf("equal agents: %+v", c)
	}
}

// Every run of b is 0.1 above that of a, but for the last bits of sums. All differences count as
// the same: there is no interval, no spread to plan with, and the margin 0.1 is not kept. Signs
// are flipped of sizes that are equal.
func TestDifferencesThatRound(t *testing.T) {
	a, b := make([]float64, 12), make([]float64, 12)
	differ := false
	for k := range a {
		a[k] = float64(k*k%7) / 7
		b[k] = a[k] + 0.1
		differ = differ || b[k]-a[k] != b[0]-a[0]
	}
	if !differ {
		t.Fatal("these differences do not round")
	}
	in := experiment("d", 1, []string{"a", "b"}, [][]float64{a, b}, [][]float64{a, b})
	r := compared(t, []*Input{in}, with(func(o *Config) {
		o.Margins = map[string]float64{"": 0.1}
		o.Scores = map[string]Range{"env 0": {Low: 0, High: 3}, "env 1": {Low: -1, High: 2}}
	}))
	if c := r.Comparisons[0]; !math.IsNaN(c.Difference.Low) || c.Reason != noSpread || c.P != 2./4096 || c.Equivalence != 1 {
		t.Errorf("%+v", c)
	}
	if d := r.Overall.Improvements[0].IQM; math.Abs(d.Value-0.1/3) > 1e-12 || !math.IsNaN(d.Low) {
		t.Errorf("the difference of IQMs: %+v", d)
	}
	powers, _ := must.Get2(Powers([]*Input{in}, usual, map[string]float64{"": 0.1}, 0.8))(t)
	if s := powers[0]; s.SD != 0 || s.Needed != 0 || !math.IsNaN(float64(s.Detectable)) {
		t.Errorf("%+v", s)
	}
}
