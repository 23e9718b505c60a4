package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/stat"
	"github.com/rlrun/rlrun/internal/must"
)

// normal draws n values with mean and standard deviation.
func normal(rng *rand.Rand, n int, mean, sd float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = mean + sd*rng.NormFloat64()
	}
	return out
}

// Where the true difference is the margin, agents are called equivalent in the share alpha of
// experiments, from either side; where it is none, mostly. 1,000 experiments: the bounds are
// three standard errors away.
func TestEquivalenceKeepsItsLevel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ difference, low, high float64 }{{0.5, 0.029, 0.071}, {-0.5, 0.029, 0.071}, {0, 0.9, 1}, {1, 0, 0}} {
		for name, p := range map[string]func(x, y []float64) float64{
			"paired": func(x, y []float64) float64 {
				d := make([]result.Rounded, len(x))
				for i := range x {
					d[i].Value = x[i] - y[i]
				}
				cmp := Comparison{Margin: 0.5}
				new(comparer).pairedEquivalence(&cmp, d, 9999, rng.Uint64())
				return cmp.Equivalence
			},
			"Welch": func(x, y []float64) float64 {
				cmp := Comparison{Margin: 0.5}
				(&comparer{Result: Result{Config: usual}}).welchEquivalence(&cmp, x, y, 9999, rng.Uint64())
				return cmp.Equivalence
			},
		} {
			equivalent := 0
			for range 1000 {
				if p(normal(rng, 20, c.difference, 0.4), normal(rng, 20, 0, 0.3)) <= 0.05 {
					equivalent++
				}
			}
			if share := float64(equivalent) / 1000; share < c.low || share > c.high {
				t.Errorf("%s, difference %v: equivalent in %v, want %v to %v", name, c.difference, share, c.low, c.high)
			}
		}
	}
}

// Both questions are asked of every pair, each with its correction.
func TestEquivalence(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	base := normal(rng, 30, 1, 1)
	plus := func(by, noise float64) []float64 {
		out := slices.Clone(base)
		for i := range out {
			out[i] += by + noise*rng.NormFloat64()
		}
		return out
	}
	in := experiment("d", 1, []string{"base", "same", "little", "unknown", "more"},
		[][]float64{base, plus(0, 0.01), plus(0.02, 0.01), plus(0, 3), plus(1, 0.01)})
	r := compared(t, []*Input{in}, with(func(o *Config) { o.Margins = map[string]float64{"": 0.1} }))
	want := []struct {
		verdict    string
		equivalent bool
		sentence   string
	}{
		{Equivalent, true, "In env 0, same and base are equivalent ("},
		{"little is better", true, "; within ±0.1: corrected p = "},
		{NotDecided, false, "it is not decided"},
		{"more is better", false, "more is better than base"},
	}
	for i, w := range want {
		c := &r.Comparisons[i]
		if c.Verdict != w.verdict || c.Equivalent != w.equivalent || !strings.Contains(c.Sentence(), w.sentence) {
			t.Errorf("%s: %q, equivalent %v: %s", c.A, c.Verdict, c.Equivalent, c.Sentence())
		}
	}
	// Without a margin nothing is said of it.
	for _, c := range compared(t, []*Input{in}, usual).Comparisons {
		if c.Equivalent || !math.IsNaN(c.Equivalence) || c.Verdict == Equivalent {
			t.Errorf("%s: %+v", c.A, c)
		}
	}
	// Six equal differences are one of 64 cases.
	six := experiment("d", 1, []string{"a", "b"}, [][]float64{{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}})
	c := compared(t, []*Input{six}, with(func(o *Config) { o.Margins = map[string]float64{"env 0": 0.5} })).Comparisons[0]
	if c.Equivalence != 1.0/64 || c.Verdict != Equivalent {
		t.Errorf("six equal differences: p %v, %s", c.Equivalence, c.Verdict)
	}
	// A mean difference beyond the margin: −1 ± 0 is the least of the four sums, so all are at least as large.
	two := experiment("d", 1, []string{"a", "b"}, [][]float64{{0, 0}, {1, 2}})
	if c := compared(t, []*Input{two}, with(func(o *Config) { o.Margins = map[string]float64{"env 0": 1} })).Comparisons[0]; c.Equivalence != 1 {
		t.Errorf("a difference beyond the margin: p %v", c.Equivalence)
	}
	for _, bad := range []map[string]float64{{"": 0}, {"": math.NaN()}, {"env 7": 1}} {
		if _, err := Compare([]*Input{in}, with(func(o *Config) { o.Margins = bad })); err == nil {
			t.Errorf("margins %v are accepted", bad)
		}
	}
}

// One agent, or the best of each environment, is compared with all others. The best was chosen
// from the values, so the correction is that of all pairs.
func TestAgainst(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	in := experiment("d", 1, []string{"a", "b", "c"},
		[][]float64{normal(rng, 20, 1, 1), normal(rng, 20, 2, 1), normal(rng, 20, 1.5, 1)},
		[][]float64{normal(rng, 20, 3, 1), normal(rng, 20, 0, 1), normal(rng, 20, 0, 1)})
	pairs := func(r *Result) (out []string) {
		for _, c := range r.Comparisons {
			out = append(out, c.Environment+" "+c.A+c.B)
		}
		return out
	}
	r := compared(t, []*Input{in}, with(func(o *Config) { o.Pairs = "against b" }))
	if got, want := strings.Join(pairs(r), ", "), "env 0 ab, env 0 cb, env 1 ab, env 1 cb"; got != want || r.Tests != 4 {
		t.Errorf("got %s, %d tests", got, r.Tests)
	}
	all := compared(t, []*Input{in}, with(func(o *Config) { o.Pairs = "all" }))
	r = compared(t, []*Input{in}, with(func(o *Config) { o.Pairs = "against best" }))
	if got, want := strings.Join(pairs(r), ", "), "env 0 ba, env 0 cb, env 1 ba, env 1 ca"; got != want || r.Tests != 6 {
		t.Errorf("got %s, %d tests, want %s", got, r.Tests, want)
	}
	for _, c := range r.Comparisons {
		i := slices.IndexFunc(all.Comparisons, func(o Comparison) bool { return o.Environment == c.Environment && o.A == c.A && o.B == c.B })
		if all.Comparisons[i].Adjusted != c.Adjusted {
			t.Errorf("%s %s: corrected p %v, of all pairs %v", c.A, c.B, c.Adjusted, all.Comparisons[i].Adjusted)
		}
	}
	if len(r.Overall.Improvements) != 3 || !strings.Contains(Method(r), "all 6 comparisons") {
		t.Errorf("%d pairs over environments; %s", len(r.Overall.Improvements), Method(r))
	}
	if _, err := Compare([]*Input{in}, with(func(o *Config) { o.Pairs = "against d" })); err == nil {
		t.Error("an agent that is not there is accepted")
	}
}

// Reference values of the t test: 34 pairs and 64 runs of each agent decide half a standard
// deviation with power 0.8 at level 0.05 (Cohen 1988, table 2.4.1 for two samples; G*Power 3.1).
// Ours takes a shifted t for the noncentral one, which is right to one run.
func TestPowerReference(t *testing.T) {
	for _, c := range []struct {
		paired     bool
		sd         float64
		power      float64
		needed     int
		detectable float64 // of 34 runs
	}{{true, 1, 0.8, 34, 0.4952}, {true, 1, 0.9, 44, 0.5729}, {false, math.Sqrt2, 0.8, 64, 0.6902}} {
		s := Power{Paired: c.paired, Runs: 34, SD: result.Number(c.sd), Alpha: 0.05, Difference: 0.5}
		s.plan(c.power)
		if s.Needed < c.needed || s.Needed > c.needed+1 || s.Cautious <= s.Needed || math.Abs(float64(s.Detectable)-c.detectable) > 0.002 {
			t.Errorf("%+v: needed %d, cautious %d, detectable %v", c, s.Needed, s.Cautious, s.Detectable)
		}
	}
}

// Runs that do not differ say nothing of the spread of others, and a number beyond the search is not
// known: neither is a number of runs.
func TestPowerThatIsNotKnown(t *testing.T) {
	for _, s := range []Power{{SD: 0, Difference: 0.5}, {SD: 1, Difference: 1e-300}} {
		s.Paired, s.Runs, s.Alpha = true, 12, 0.05
		if s.plan(0.8); s.Needed != 0 || s.Cautious != 0 || (s.SD == 0) != math.IsNaN(float64(s.Detectable)) {
			t.Errorf("%+v", s)
		}
	}
}

// The number of runs that a pilot asks for decides the difference about as often as it says,
// by the test of rlrun compare. 1,000 experiments: the bounds are three standard errors away,
// and 0.02 for sign flips in place of t.
func TestPowerHolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	x := normal(rng, 12, 0, 1)
	y := normal(rng, 12, 0, 1)
	in := experiment("pilot", 1, []string{"a", "b"}, [][]float64{x, y})
	powers, _ := must.Get2(Powers([]*Input{in}, usual, map[string]float64{"": 1.2}, 0.8))(t)
	s := powers[0]
	decided := 0
	for range 1000 {
		if p, _ := stat.SignFlip(normal(rng, s.Needed, 1.2, float64(s.SD)), 9999, rng.Uint64()); p <= 0.05 {
			decided++
		}
	}
	if share := float64(decided) / 1000; share < 0.74 || share > 0.86 || s.Runs != 12 || s.Needed > 40 {
		t.Errorf("%+v: decided in %v", s, share)
	}
	// Three agents are two comparisons; fewer than two runs say nothing.
	in = experiment("pilot", 1, []string{"a", "b", "c"}, [][]float64{x, y, append(normal(rng, 1, 0, 1), slices.Repeat([]float64{math.NaN()}, 11)...)})
	two, _ := must.Get2(Powers([]*Input{in}, usual, map[string]float64{"env 0": 1.2}, 0.8))(t)
	if two[0].Alpha != 0.025 || two[0].Needed <= s.Needed || two[1].Needed != 0 || !math.IsNaN(float64(two[1].Detectable)) {
		t.Errorf("%+v", two)
	}
	for _, bad := range []map[string]float64{{}, {"env 1": 1}, {"": -1}} {
		if _, _, err := Powers([]*Input{in}, usual, bad, 0.8); err == nil {
			t.Errorf("differences %v are accepted", bad)
		}
	}
	if _, _, err := Powers([]*Input{in}, usual, map[string]float64{"": 1}, 1); err == nil {
		t.Error("power 1 is accepted")
	}
	low := usual
	low.Alpha = 0.5
	if p, _, err := Powers([]*Input{in}, low, map[string]float64{"": 1}, 0.01); err == nil || !strings.Contains(err.Error(), "power 0.01 is not above the level of a comparison, 0.") {
		t.Errorf("%v: %+v", err, p)
	}
}
