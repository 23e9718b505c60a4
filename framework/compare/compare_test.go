package compare

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/stat"
	"github.com/rlrun/rlrun/internal/must"
)

// experiment makes an input: values[environment][agent] is the reward of each run, NaN
// for a run that failed.
func experiment(dir string, seed uint64, agents []string, values ...[][]float64) *Input {
	in := &Input{Dir: dir, Summary: &result.Summary{}, Streams: map[string]Stream{}}
	meta := &in.Summary.Meta
	meta.Agents, meta.Steps, meta.Runs, meta.Seed = agents, 100, len(values[0][0]), seed
	for e, ofAgents := range values {
		env := fmt.Sprintf("env %d", e)
		meta.Environments = append(meta.Environments, env)
		in.Streams[env] = Stream{Seed: seed, Steps: 100, Discount: 0.99, Plugin: "chain", Params: "{}"}
		for a, runs := range ofAgents {
			row := result.Row{Environment: env, Agent: agents[a], Metric: result.Reward}
			for k, x := range runs {
				if !math.IsNaN(x) {
					row.Runs, row.Values = append(row.Runs, k), append(row.Values, x)
				}
			}
			in.Summary.Rows = append(in.Summary.Rows, row)
		}
	}
	return in
}

var usual = Config{Metric: result.Reward, Pairs: "first", Alpha: 0.05, Correction: Holm}

func with(change func(*Config)) Config {
	o := usual
	change(&o)
	return o
}

func compared(t *testing.T, inputs []*Input, o Config) *Result {
	t.Helper()
	r := must.Get(Compare(inputs, o))(t)
	return r
}

// noisy draws n values around a mean, with noise that agents of one run share.
func noisy(n int, seed uint64, means ...float64) [][]float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	out := make([][]float64, len(means))
	for range n {
		shared := rng.NormFloat64()
		for a, m := range means {
			out[a] = append(out[a], m+shared+0.3*rng.NormFloat64())
		}
	}
	return out
}

// The values of the reference case signflip-holm.
var published = [][]float64{
	{0.52, 0.47, 0.61, 0.38, 0.55, 0.49, 0.58, 0.44, 0.5, 0.53},
	{0.62, 0.52, 0.81, 0.53, 0.65, 0.47, 0.7, 0.52, 0.53, 0.64},
	{0.53, 0.44, 0.65, 0.4, 0.5, 0.52, 0.58, 0.43, 0.52, 0.59},
	{0.5, 0.42, 0.6, 0.29, 0.51, 0.46, 0.59, 0.38, 0.43, 0.51},
}

// Where actions make no difference the optimal reward is the random one, up to rounding:
// no scale of scores.
func TestNoScaleWithinRounding(t *testing.T) {
	low, high := -1.0, 1.0
	for gain, want := range map[float64]bool{0.4642346321420219: false, 0.46423464: true} {
		random := 0.4642346321420218
		if _, ok := modelRange(&result.Task{Gain: &gain, RandomGain: &random}, metric.Define(result.Reward), 100); ok != want {
			t.Errorf("gain %v: scale %v", gain, ok)
		}
	}
	gain, random := 1e-17, -1e-17
	if r, ok := modelRange(&result.Task{Gain: &gain, RandomGain: &random, RewardLow: &low, RewardHigh: &high}, metric.Define(result.Reward), 100); ok {
		t.Errorf("rewards that cancel: scale %v", r)
	}
}

// Who reads a verdict must know what who reads the table does.
func TestNotesOfTheExperiment(t *testing.T) {
	in := experiment("d", 1, []string{"a", "b"}, published[:2])
	in.Summary.Meta.Notes, in.Summary.Mixed = []string{"Runs are not independent"}, "rlrun (1, 2)"
	other := experiment("e", 1, []string{"c"}, published[2:3])
	other.Summary.Meta.Notes = []string{"Something else"}
	r := compared(t, []*Input{in, other}, usual)
	var latex strings.Builder
	must.Do(t, WriteLaTeX(&latex, r))
	for _, want := range []string{"d: Runs are not independent.", "d: Mixed: runs were made by different programs: rlrun (1, 2).", "e: Something else."} {
		n := len(slices.DeleteFunc(slices.Clone(r.Notes), func(note string) bool { return note != want }))
		if n != 1 {
			t.Errorf("%q is said %d times: %q", want, n, r.Notes)
		}
		if !strings.Contains(latex.String(), "\n% Note: "+want+"\n") {
			t.Errorf("%q is not below the table:\n%s", want, &latex)
		}
	}
}

// The final reward of a run that records two points is the mean of its second half, and
// its return per episode is another mean. Such values are not compared with those of more
// points: an agent would be better than itself.
func TestOtherRecordedSteps(t *testing.T) {
	for _, tt := range []struct {
		metric  result.Metric
		grid    []int
		refused bool
	}{
		{result.FinalReward, []int{50, 100}, true},
		{result.FinalReward, []int{90, 100}, false}, // the same last tenth
		{result.FinalReward, []int{100}, true},
		{result.EpisodeReturn, []int{90, 100}, true},
		{"agent.loss", []int{90, 100}, true},
		{result.Reward, []int{50, 100}, false},
		{result.OptimalAction, []int{50, 100}, false},
		{result.CumulativeReward, []int{50, 100}, false},
		{result.DiscountedReturn, []int{100}, false},
	} {
		one, other := experiment("one", 1, []string{"a"}, published[:1]), experiment("other", 1, []string{"a"}, published[1:2])
		for _, in := range []*Input{one, other} {
			in.Summary.Meta.Grid = []int{10, 20, 30, 40, 50, 60, 70, 80, 90, 100}
			in.Summary.Meta.Definitions = []metric.Definition{{Name: "agent.loss", Better: metric.Lower}}
			in.Summary.Rows[0].Metric = tt.metric
		}
		other.Summary.Meta.Grid = tt.grid
		_, err := Compare([]*Input{one, other}, with(func(o *Config) { o.Metric = tt.metric }))
		if errors.Is(err, ErrOtherGrid) != tt.refused || err != nil && !tt.refused {
			t.Errorf("%s at %v: %v", tt.metric, tt.grid, err)
		}
	}
}

// Labels may hold commas, and one may be "best": what may mean two things is refused.
func TestAmbiguousPairs(t *testing.T) {
	in := experiment("one", 1, []string{"a", "b,c", "a,b", "c", "best"}, slices.Concat(published, published)[:5])
	for pairs, says := range map[string]string{
		"a,b,c":            "pairs a,b,c is ambiguous: a and b,c, or a,b and c",
		"against best":     "against best is ambiguous",
		"a,c":              "",
		"against one:best": "",
	} {
		_, err := Compare([]*Input{in}, with(func(o *Config) { o.Pairs = pairs }))
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", pairs, err, says)
		}
	}
}

// A discounted return of another discount is another metric, and so is an evaluation that is cut off elsewhere. It is so
// also of independent runs.
func TestOtherMeaning(t *testing.T) {
	for _, tt := range []struct {
		metric result.Metric
		set    func(*Stream)
		says   string
	}{
		{result.DiscountedReturn, func(s *Stream) { s.Discount = 0.5 }, "depends on discount (0.5 and 0.99)"},
		{result.EvaluationReturn, func(s *Stream) { s.Limit = 3 }, "depends on evaluate.limit (3 and 0)"},
		{result.EvaluationReward, func(s *Stream) { s.Evaluated = 3 }, "depends on evaluate.steps (3 and 0)"},
		{result.EvaluationReturn, func(s *Stream) { s.Evaluated, s.Discount = 3, 0.5 }, ""},
		{result.Reward, func(s *Stream) { s.Limit, s.Evaluated, s.Discount = 3, 3, 0.5 }, ""},
	} {
		one, other := experiment("one", 1, []string{"a"}, published[:1]), experiment("other", 2, []string{"a"}, published[1:2])
		for _, in := range []*Input{one, other} {
			in.Summary.Rows[0].Metric = tt.metric
		}
		for env, stream := range other.Streams {
			tt.set(&stream)
			other.Streams[env] = stream
		}
		_, err := Compare([]*Input{one, other}, with(func(o *Config) { o.Metric = tt.metric }))
		if errors.Is(err, ErrOtherGrid) != (tt.says != "") || err != nil && (tt.says == "" || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%s: %v, want %q", tt.metric, err, tt.says)
		}
	}
}

func TestComparesWithTheFirst(t *testing.T) {
	in := experiment("d", 1, []string{"a", "b", "c", "d"}, published)
	r := compared(t, []*Input{in}, usual)
	want := []struct {
		a       string
		p, holm float64
		verdict string
	}{{"b", 0.00390625, 0.01171875, "b is better"}, {"c", 0.45703125, 0.45703125, NotDecided}, {"d", 0.005859375, 0.01171875, "a is better"}}
	if len(r.Comparisons) != len(want) {
		t.Fatalf("%d comparisons", len(r.Comparisons))
	}
	for i, w := range want {
		c := r.Comparisons[i]
		if c.A != w.a || c.B != "a" || c.Verdict != w.verdict || math.Abs(c.P-w.p) > 1e-12 || math.Abs(c.Adjusted-w.holm) > 1e-12 || !c.Paired || c.N != 10 {
			t.Errorf("%+v, want %+v", c, w)
		}
		if d := stat.Mean(published[i+1]) - stat.Mean(published[0]); math.Abs(c.Difference.Value-d) > 1e-12 || !(c.Difference.Low <= d && d <= c.Difference.High) {
			t.Errorf("difference %+v, want %g", c.Difference, d)
		}
	}
	if w := r.Comparisons[0].WinRate; math.Abs(w-0.9) > 1e-12 {
		t.Errorf("b wins %g, want nine of ten", w)
	}
	if r.Overall != nil {
		t.Error("there is one environment, and something over environments")
	}
}

// Of regret the smaller is better; the difference keeps its sign.
func TestLowerIsBetter(t *testing.T) {
	in := experiment("d", 1, []string{"a", "b", "c", "d"}, published)
	for i := range in.Summary.Rows {
		in.Summary.Rows[i].Metric = result.Regret
	}
	r := compared(t, []*Input{in}, with(func(o *Config) { o.Metric = result.Regret }))
	c := r.Comparisons[0]
	if c.Verdict != "a is better" || c.Difference.Value <= 0 || math.Abs(c.WinRate-0.1) > 1e-12 {
		t.Errorf("%+v", c)
	}
	for _, m := range []result.Metric{result.MixingTime, result.ExplorationShare} {
		if _, err := Compare([]*Input{in}, with(func(o *Config) { o.Metric = m })); err == nil {
			t.Errorf("%s is compared", m)
		}
	}
}

// The correction is over all environments and pairs.
func TestFamily(t *testing.T) {
	in := experiment("d", 1, []string{"a", "b", "c", "d"}, published, published)
	all := compared(t, []*Input{in}, with(func(o *Config) { o.Pairs = "all" }))
	if len(all.Comparisons) != 12 {
		t.Fatalf("%d comparisons of 4 agents in 2 environments", len(all.Comparisons))
	}
	var ps []float64
	for _, c := range all.Comparisons {
		ps = append(ps, c.P)
	}
	for i, p := range stat.Holm(ps) {
		if got := all.Comparisons[i].Adjusted; got != p {
			t.Errorf("comparison %d: Holm p %g, want %g", i, got, p)
		}
	}
	bh := compared(t, []*Input{in}, with(func(o *Config) { o.Pairs, o.Correction = "all", BenjaminiHochberg }))
	for i, p := range stat.BenjaminiHochberg(ps) {
		if got := bh.Comparisons[i].Adjusted; got != p {
			t.Errorf("comparison %d: BH p %g, want %g", i, got, p)
		}
	}
}

// Runs are paired by their numbers; a run that failed takes its pair with it.
func TestPairsByRunNumber(t *testing.T) {
	nan := math.NaN()
	in := experiment("d", 1, []string{"a", "b"}, [][]float64{{1, nan, 3, 4, 5, 6, 7}, {nan, 9, 4, 5, 6, 7, 8}})
	c := compared(t, []*Input{in}, usual).Comparisons[0]
	if c.N != 5 || c.Dropped != 2 || c.Difference.Value != 1 || c.WinRate != 1 || c.P != 2.0/32 {
		t.Errorf("%+v", c)
	}
}

func TestStreamsDecidePairing(t *testing.T) {
	agents := []string{"x"}
	first := experiment("r/one", 1, agents, noisy(30, 1, 0)[:1])
	for _, tt := range []struct {
		name      string
		change    func(*Stream)
		paired    bool
		dependent bool
		reason    string
	}{
		{"same", func(*Stream) {}, true, false, ""},
		{"seed", func(s *Stream) { s.Seed = 2 }, false, false, "root seeds differ (2 and 1)"},
		{"steps", func(s *Stream) { s.Steps = 7 }, false, true, "steps differ"},
		{"discount", func(s *Stream) { s.Discount = 1 }, false, true, "discounts differ"},
		{"plugin", func(s *Stream) { s.Plugin = "other" }, false, true, "plugins differ"},
		{"params", func(s *Stream) { s.Params = `{"states":9}` }, false, true, "parameters of the environment differ"},
	} {
		second := experiment("r/two", 1, agents, noisy(30, 2, 1)[:1])
		s := second.Streams["env 0"]
		tt.change(&s)
		second.Streams["env 0"] = s
		r, err := Compare([]*Input{first, second}, usual)
		if tt.dependent {
			if !errors.Is(err, ErrDependent) || !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("%s: error %v", tt.name, err)
			}
		} else if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		} else if c := r.Comparisons[0]; c.Paired != tt.paired || c.Reason != tt.reason || c.A != "two:x" {
			t.Errorf("%s: %+v", tt.name, c)
		}
		free := compared(t, []*Input{first, second}, with(func(o *Config) { o.Unpaired = true })).Comparisons[0]
		w := stat.Welch(second.Summary.Rows[0].Values, first.Summary.Rows[0].Values, 0.95)
		if free.Paired || free.P != w.P || free.Difference != w.Interval || free.Test != "Welch" {
			t.Errorf("%s unpaired: %+v", tt.name, free)
		}
	}
}

// Runs are pairs where the same program was the environment, by its identity in their records and by
// what it loaded later.
func TestProgramsDecidePairing(t *testing.T) {
	const p = "programs of the environment differ: "
	made := func(agent string, programs ...result.Span) *Input {
		in := experiment("r/"+agent, 1, []string{agent}, noisy(8, 1, 0)[:1])
		in.Summary.Rows[0].Programs = programs
		in.Code = map[string]result.Code{"old": {"module helper": "sha256:0123456789000", "python3": "sha256:77"}, "new": {"module helper": "sha256:0123abcdef000", "python3": "sha256:77"}}
		return in
	}
	old, other := result.Span{Program: "old"}, result.Span{Program: "new"}
	later := func(in *Input, name, digest string) *Input { in.Code["old"][name] = digest; return in }
	for name, tt := range map[string]struct {
		a, b  *Input
		why   string // the runs are no pairs
		pairs int
	}{
		"same":           {made("a", old), made("b", old), "", 8},
		"changed":        {made("a", other), made("b", old), p + "module helper was sha256:0123abcdef and is sha256:0123456789", 0},
		"bundled before": {made("a", old), made("b", result.Span{}), p + "old and bundled", 0},
		"in a part":      {made("a", old, result.Span{From: 5, Program: "new"}), made("b", old), "", 5},
		"both in a part": {made("a", old, result.Span{From: 5, Program: "new"}), made("b", old, result.Span{From: 5, Program: "new"}), "", 8},
		"loaded later":   {later(made("a", old), "module maze", "sha256:1"), later(made("b", old), "module maze", "sha256:2"), p + "module maze was sha256:1 and is sha256:2", 0},
		"loaded in one":  {later(made("a", old), "module maze", "sha256:1"), made("b", old), "", 8},
	} {
		inputs := []*Input{tt.b, tt.a}
		_, _, powerErr := Powers(inputs, usual, map[string]float64{"": 1}, 0.8)
		r, err := Compare(inputs, usual)
		if tt.why != "" {
			free := compared(t, inputs, with(func(o *Config) { o.Unpaired = true }))
			notes := strings.Join(free.Notes, "\n")
			if !errors.Is(err, ErrDependent) || !errors.Is(powerErr, ErrDependent) || free.Comparisons[0].Paired || !strings.Contains(notes, "the tasks differ between") {
				t.Errorf("%s: %v, power %v, notes %s", name, err, powerErr, notes)
			}
			if !strings.Contains(fmt.Sprint(err), tt.why) {
				t.Errorf("%s: %v, want %s", name, err, tt.why)
			}
			continue
		}
		if err != nil || powerErr != nil {
			t.Errorf("%s: %v, power %v", name, err, powerErr)
			continue
		}
		left := strings.Contains(strings.Join(r.Notes, "\n"), fmt.Sprintf("%d pairs of runs of r/a and r/b are left out: %s%s", 8-tt.pairs, p, "module helper was sha256:0123abcdef"))
		if c := r.Comparisons[0]; !c.Paired || c.N != tt.pairs || c.Dropped != 0 || left != (tt.pairs < 8) {
			t.Errorf("%s: %+v, notes %v", name, c, r.Notes)
		}
	}
}

func TestPairsByName(t *testing.T) {
	one := experiment("r/one", 1, []string{"a", "b, with a comma"}, noisy(6, 1, 0, 1))
	two := experiment("r/two", 1, []string{"a", "c"}, noisy(6, 1, 0, 1))
	for _, tt := range []struct{ pairs, a, b, problem string }{
		{"c,b, with a comma", "two:c", "one:b, with a comma", ""},
		{"one:a,two:a", "one:a", "two:a", ""},
		{"r/one:a, r/two:c", "one:a", "two:c", ""},
		{"a,c", "", "", "several directories"},
		{"c,nobody", "", "", "no agent is called"},
		{"c,c", "", "", "twice"},
		{"some", "", "", "must be first, all"},
	} {
		r, err := Compare([]*Input{one, two}, with(func(o *Config) { o.Pairs = tt.pairs }))
		switch {
		case tt.problem != "":
			if err == nil || !strings.Contains(err.Error(), tt.problem) {
				t.Errorf("%s: %v, want %q", tt.pairs, err, tt.problem)
			}
		case err != nil:
			t.Errorf("%s: %v", tt.pairs, err)
		case len(r.Comparisons) != 1 || r.Comparisons[0].A != tt.a || r.Comparisons[0].B != tt.b:
			t.Errorf("%s: %+v", tt.pairs, r.Comparisons)
		}
	}
}

func TestBadRequests(t *testing.T) {
	in := experiment("d", 1, []string{"a", "b"}, noisy(6, 1, 0, 1))
	for name, o := range map[string]Config{
		"metric": with(func(o *Config) { o.Metric = result.Regret }), "alpha": with(func(o *Config) { o.Alpha = 1 }),
		"correction": with(func(o *Config) { o.Correction = "bonferroni" }),
	} {
		if _, err := Compare([]*Input{in}, o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Compare([]*Input{experiment("d", 1, []string{"a"}, [][]float64{{1, 2}})}, usual); err == nil {
		t.Error("one agent is compared")
	}
	other := experiment("e", 1, []string{"z"}, [][]float64{{1, 2, 3, 4, 5, 6}})
	other.Summary.Meta.Environments[0] = "elsewhere"
	other.Summary.Rows[0].Environment = "elsewhere"
	if _, err := Compare([]*Input{in, other}, with(func(o *Config) { o.Pairs = "a,z" })); err == nil || !strings.Contains(err.Error(), "only in") {
		t.Errorf("no environment in common: %v", err)
	}
}

// six environments of three agents, the second best by far, with known scales.
func several() *Input {
	var values [][][]float64
	for e := range 7 {
		values = append(values, noisy(25, uint64(e)+20, 0, 5, 0))
	}
	in := experiment("d", 3, []string{"a", "b", "c"}, values...)
	low, high := 0.0, 10.0
	in.Summary.Meta.Tasks = map[string]result.Task{}
	for _, env := range in.Summary.Meta.Environments[:6] {
		in.Summary.Meta.Tasks[env] = result.Task{Gain: &high, RandomGain: &low}
	}
	return in
}

func TestOverEnvironments(t *testing.T) {
	in := several()
	r := compared(t, []*Input{in}, with(func(o *Config) { o.Scores = map[string]Range{"env 0": {Low: -10, High: 10}} }))
	o := r.Overall
	if !slices.Equal(o.Unscored, []string{"env 6"}) || o.Scores["env 0"].Source != "given" || o.Scores["env 1"] != (Scale{Range{0, 10}, "model"}) {
		t.Errorf("scales %v, without %v", o.Scores, o.Unscored)
	}
	var scores stat.Scores
	for e := range 6 {
		values := slices.Clone(in.Summary.Row(fmt.Sprintf("env %d", e), "b", result.Reward).Values)
		for i := range values {
			if values[i] /= 10; e == 0 {
				values[i] = values[i]/2 + 0.5
			}
		}
		scores = append(scores, values)
	}
	b := o.Aggregates[1]
	if math.Abs(b.IQM.Value-stat.IQM(scores)) > 1e-12 || !(b.IQM.Low < b.IQM.Value && b.IQM.Value < b.IQM.High) {
		t.Errorf("IQM %+v, want %g", b.IQM, stat.IQM(scores))
	}
	if math.Abs(b.OptimalityGap.Value-stat.OptimalityGap(scores, 1)) > 1e-12 {
		t.Errorf("optimality gap %+v", b.OptimalityGap)
	}
	for i, p := range stat.Profile(scores, o.Tau) {
		if b.Profile[i].Value != p {
			t.Errorf("profile at %g: %+v, want %g", o.Tau[i], b.Profile[i], p)
		}
	}
	imp := o.Improvements[0]
	if imp.A != "b" || imp.Environments != 7 || imp.Probability.Value < 0.99 || imp.IQM == nil || !(imp.IQM.Low > 0) {
		t.Errorf("b against a: %+v", imp)
	}
	// Runs share most of their noise, so that the difference is known better than
	// either mean.
	if own, diff := b.IQM.High-b.IQM.Low, imp.IQM.High-imp.IQM.Low; diff > own/1.5 {
		t.Errorf("the interval of the difference is %g wide, that of b %g", diff, own)
	}
	k := o.Ranks
	if k.Agents[0] != "b" || k.Mean[0] != 1 || len(k.Environments) != 7 || math.Abs(k.CriticalDifference-stat.NemenyiCD(3, 7, 0.05)) > 1e-12 {
		t.Errorf("ranks %+v", k)
	}
	if !slices.Equal(k.Cliques, [][2]int{{1, 2}}) {
		t.Errorf("cliques %v of %+v", k.Cliques, k)
	}
	few := compared(t, []*Input{experiment("d", 1, []string{"a", "b", "c"}, noisy(8, 1, 0, 1, 2), noisy(8, 2, 0, 1, 2))}, usual).Overall
	if len(few.Aggregates) != 0 || !math.IsNaN(few.Ranks.CriticalDifference) || few.Ranks.Mean[0] != 1 {
		t.Errorf("two environments without scale: %+v", few)
	}
}

// Aggregates are over the environments in which all agents have values; one agent that
// has none anywhere does not take all of them away.
func TestIncompleteEnvironments(t *testing.T) {
	in := several()
	in.Summary.Meta.Agents = append(in.Summary.Meta.Agents, "never ran")
	row := in.Summary.Row("env 2", "c", result.Reward)
	row.Runs, row.Values = nil, nil
	r := compared(t, []*Input{in}, usual)
	o := r.Overall
	if !slices.Equal(o.Incomplete, []string{"env 2"}) || len(o.Scores) != 5 || len(o.Aggregates) != 3 || len(o.Ranks.Agents) != 3 || len(o.Ranks.Environments) != 6 {
		t.Errorf("incomplete %v, %d scales, %d aggregates, ranks %+v", o.Incomplete, len(o.Scores), len(o.Aggregates), o.Ranks)
	}
	if want := "env 2: no run of c, never ran has a value of reward."; !slices.Contains(r.Skipped, want) {
		t.Errorf("skipped %q, want %q", r.Skipped, want)
	}
}

func TestModelRange(t *testing.T) {
	low, high := 0.2, 0.7
	task := &result.Task{Gain: &high, RandomGain: &low}
	for m, want := range map[result.Metric]Range{
		result.Reward: {0.2, 0.7}, result.FinalReward: {0.2, 0.7}, result.CumulativeReward: {20, 70}, result.Regret: {50, 0},
	} {
		if r, ok := modelRange(task, metric.Define(m), 100); !ok || math.Abs(r.Low-want.Low) > 1e-12 || math.Abs(r.High-want.High) > 1e-12 {
			t.Errorf("%s: %v, want %v", m, r, want)
		}
	}
	if _, ok := modelRange(task, metric.Define(result.EpisodeReturn), 100); ok {
		t.Error("returns of episodes have a scale")
	}
	if _, ok := modelRange(&result.Task{Gain: &low, RandomGain: &low}, metric.Define(result.Reward), 100); ok {
		t.Error("a scale from a value to the same")
	}
}

// More comparisons need more random sign vectors, so that a corrected p value can
// still be small.
func TestDraws(t *testing.T) {
	c := &comparer{Result: Result{Config: usual}}
	for m, want := range map[int]int{1: 9999, 100: 9999, 101: 99999, 5000: 999999, 1e6: 999999} {
		if got := c.draws(m); got != want {
			t.Errorf("%d comparisons: %d draws, want %d", m, got, want)
		}
	}
}

// Equal input gives equal files, and each of them holds every comparison.
func TestFiles(t *testing.T) {
	in := several()
	in.Summary.Meta.Agents[2] = `<b> & "50 %_#"`
	for i := range in.Summary.Rows {
		if in.Summary.Rows[i].Agent == "c" {
			in.Summary.Rows[i].Agent = in.Summary.Meta.Agents[2]
		}
	}
	r := compared(t, []*Input{in}, usual)
	for name, write := range map[string]func(io.Writer, *Result) error{"text": func(w io.Writer, r *Result) error { return WriteTable(w, r, 0) }, "csv": WriteCSV, "latex": WriteLaTeX} {
		var first, again bytes.Buffer
		must.Do(t, errors.Join(write(&first, r), write(&again, compared(t, []*Input{in}, usual))))
		if !bytes.Equal(first.Bytes(), again.Bytes()) {
			t.Errorf("%s differs", name)
		}
		text := first.String()
		switch name {
		case "latex":
			if !strings.Contains(text, `$<$b$>$ \& ''50 \%\_\#''`) || strings.Count(text, `\\`) != len(r.Comparisons)+1 {
				t.Errorf("latex:\n%s", text)
			}
		case "csv":
			rows, err := csv.NewReader(&first).ReadAll()
			if err != nil || len(rows) != len(r.Comparisons)+1 || len(rows[0]) != len(fields) {
				t.Errorf("csv: %d rows, %v", len(rows), err)
			}
		}
	}
	data := must.Get(json.Marshal(r))(t)
	var answer struct {
		Comparisons []struct {
			A, Verdict string
			P          *float64 `json:"p"`
			Tukey      *float64 `json:"tukey_p"`
		}
		Overall struct{ Aggregates []struct{ Agent string } }
	}
	must.Do(t, json.Unmarshal(data, &answer))
	if len(answer.Comparisons) != 14 || *answer.Comparisons[0].P != r.Comparisons[0].P || answer.Comparisons[0].Tukey != nil || len(answer.Overall.Aggregates) != 3 {
		t.Errorf("JSON: %s", data)
	}
}

// Of many comparisons tables and pages count verdicts, and a million of them are
// refused.
func TestManyComparisons(t *testing.T) {
	meta := result.Meta{Name: "many", Steps: 1, Grid: []int{1}, Environments: []string{"e"}, Runs: 2}
	var recs []result.Record
	for i := range 40 {
		agent := fmt.Sprintf("agent %02d", i)
		meta.Agents = append(meta.Agents, agent)
		for run := range meta.Runs {
			recs = append(recs, result.Record{Environment: "e", Agent: agent, Run: run, Status: result.OK, Steps: 1,
				Curves: map[result.Metric][]float64{result.Reward: {float64(i)}}})
		}
	}
	s := must.Get(result.Aggregate(meta, result.Sorted(recs)))(t)
	var told atomic.Int64
	o := Config{Metric: result.Reward, Pairs: "all", Alpha: 0.05, Correction: Holm, Progress: func(_, all int) { told.Store(int64(all)) }}
	r := must.Get(Compare([]*Input{{Dir: "many", Summary: s}}, o))(t)
	if told.Load() != 780 {
		t.Errorf("told of %d comparisons, want 780", told.Load())
	}
	for i := range r.Comparisons { // two runs decide nothing: here the larger mean does
		r.Comparisons[i].Better = max(r.Comparisons[i].A, r.Comparisons[i].B)
	}
	first := standings(r, "e")[0]
	if want := (standing{agent: "agent 39", better: 39}); first != want {
		t.Errorf("the first is %+v, want %+v", first, want)
	}
	var b strings.Builder
	must.Do(t, WriteTable(&b, r, 0))
	if text := b.String(); !strings.Contains(text, "Verdicts of 780 comparisons") || strings.Count(text, "agent 00") != 1 {
		t.Errorf("the table does not count verdicts:\n%s", text)
	}
	s.Meta.Agents, s.Meta.Environments = make([]string, 1000), []string{"e", "f", "g"}
	for i := range s.Meta.Agents {
		s.Meta.Agents[i] = fmt.Sprint("agent ", i)
	}
	if _, err := Compare([]*Input{{Dir: "many", Summary: s}}, o); err == nil || !strings.Contains(err.Error(), "1498500 comparisons") {
		t.Errorf("a million comparisons: %v", err)
	}
}

// With many agents the diagram shows the best ones, whose ranks may be in the
// hundreds. Its axis begins there, its labels are inside it, and a critical
// difference that is longer than the axis ends in an arrow.
func TestDiagramOfManyAgents(t *testing.T) {
	k := &Ranks{CriticalDifference: 673}
	for i := range 1000 {
		k.Agents, k.Mean = append(k.Agents, fmt.Sprintf("ε=0.%03d decay=0.5", i)), append(k.Mean, 357+float64(i)/2)
	}
	svg := CriticalDifferenceSVG(&Result{Overall: &Overall{Ranks: k}})
	texts := regexp.MustCompile(`<text x="([-0-9.]+)"[^>]*text-anchor="(\w+)"[^>]*>([^<]*)<`).FindAllStringSubmatch(svg, -1)
	width := must.Get(strconv.ParseFloat(regexp.MustCompile(`width="([0-9.]+)"`).FindStringSubmatch(svg)[1], 64))(t)
	ticks := ""
	for _, m := range texts {
		x := must.Get(strconv.ParseFloat(m[1], 64))(t)
		if long := 6.5 * float64(len([]rune(m[3]))); m[2] == "end" && x < long || m[2] == "start" && x+long > width {
			t.Errorf("%q at %g (%s) leaves a drawing of width %g", m[3], x, m[2], width)
		}
		if m[2] == "middle" {
			ticks += m[3] + " "
		}
	}
	if !strings.HasPrefix(ticks, "357 358 ") {
		t.Errorf("ticks %s", ticks)
	}
	if len(texts) < 25 {
		t.Errorf("only %d texts in %s", len(texts), svg)
	}
}
