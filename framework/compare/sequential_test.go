package compare

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/stat"
	"github.com/rlrun/rlrun/internal/must"
)

// partly keeps the first runs of an input: those below count[environment][agent].
func partly(in *Input, count map[result.Key]int) (*result.Summary, map[result.Key]bool) {
	s := &result.Summary{Meta: in.Summary.Meta}
	for _, r := range in.Summary.Rows {
		limit := count[result.Key{Environment: r.Environment, Agent: r.Agent}]
		n := 0
		for n < len(r.Runs) && r.Runs[n] < limit {
			n++
		}
		r.Runs, r.Values = r.Runs[:n], r.Values[:n]
		s.Rows = append(s.Rows, r)
	}
	made := map[result.Key]bool{}
	for key, n := range count {
		for key.Run = range n {
			made[key] = true
		}
	}
	return s, made
}

// play runs an experiment as the test asks for runs, and returns the outcome and how
// many runs each agent made.
func play(t *testing.T, in *Input, s *Sequential) ([]Progress, map[result.Key]int) {
	t.Helper()
	made := map[result.Key]int{}
	for range 100 {
		summary, recorded := partly(in, made)
		progress := s.Decide(summary, recorded)
		needed := s.Needed(progress, recorded)
		if len(needed) == 0 {
			return progress, made
		}
		for key, n := range needed {
			if n <= made[key] {
				t.Fatalf("%v needs %d runs and has %d", key, n, made[key])
			}
			made[key] = n
		}
	}
	t.Fatal("never ends")
	return nil, nil
}

func sequential(in *Input, block int) *Sequential {
	m := in.Summary.Meta
	return &Sequential{Metric: result.Reward, Pairs: "first", Alpha: 0.05, Block: block, Runs: m.Runs, Seed: 1,
		Environments: m.Environments, Agents: m.Agents}
}

// A clear difference ends early, none goes on to the end, and who is decided stops.
func TestSequentialStopsAgents(t *testing.T) {
	in := experiment("d", 1, []string{"first", "better", "same", "worse"}, noisy(55, 1, 0, 3, 0, -3))
	s := sequential(in, 10)
	must.Do(t, s.Check())
	progress, made := play(t, in, s)
	want := map[string]string{"better": "better", "same": "", "worse": "first"}
	for _, p := range progress {
		if p.B != "first" || p.Better != want[p.A] || p.Open() {
			t.Errorf("%s", p.String())
		}
	}
	runs := func(agent string) int { return made[result.Key{Environment: "env 0", Agent: agent}] }
	if runs("better") >= 40 || runs("same") != 55 || runs("first") != 55 {
		t.Errorf("runs made: %v", made)
	}
	// The verdict does not depend on runs that were made besides.
	all := map[result.Key]int{}
	for _, a := range in.Summary.Meta.Agents {
		all[result.Key{Environment: "env 0", Agent: a}] = 55
	}
	for i, p := range s.Decide(partly(in, all)) {
		if p.Decision != progress[i].Decision || p.Runs() != progress[i].Runs() {
			t.Errorf("with all runs %s, as they came %s", p.String(), progress[i].String())
		}
	}
}

// A block counts once both agents have a record of each of its runs; a failed run drops
// its pair.
func TestSequentialBlocks(t *testing.T) {
	values := [][]float64{make([]float64, 30), make([]float64, 30)}
	for k := range 30 {
		values[1][k] = float64(k%2)*2 - 1 // no agent is better
	}
	values[1][3] = math.NaN()
	in := experiment("d", 1, []string{"a", "b"}, values)
	s := sequential(in, 10)
	key := func(agent string) result.Key { return result.Key{Environment: "env 0", Agent: agent} }
	for _, tt := range []struct{ a, b, looks, needA, needB int }{
		{0, 0, 0, 10, 10}, {9, 30, 0, 10, 10}, {10, 10, 1, 20, 20}, {25, 19, 1, 20, 20}, {29, 29, 2, 30, 30},
	} {
		p := s.Decide(partly(in, map[result.Key]int{key("a"): tt.a, key("b"): tt.b}))
		needed := s.Needed(p, nil)
		if len(p[0].Looks) != tt.looks || needed[key("a")] != tt.needA || needed[key("b")] != tt.needB || !p[0].Open() || Looked(p) != (tt.looks > 0) {
			t.Errorf("%+v: %d looks, needs %v", tt, len(p[0].Looks), needed)
		}
	}
	p := s.Decide(partly(in, map[result.Key]int{key("a"): 30, key("b"): 30}))[0]
	if p.Decision != stat.Undecided || p.Runs() != 29 || p.Dropped != 1 || !strings.Contains(p.String(), "not decided by all 29 runs; 1 left out, as a run failed or has no value") {
		t.Errorf("%s, dropped %d", p.String(), p.Dropped)
	}
	// A comparison of the finished experiment says the same. It uses the level
	// of the test, not the level in its options.
	in.Until, in.Metric, in.Alpha = []Progress{p}, s.Metric, s.Alpha
	r := compared(t, []*Input{in}, with(func(o *Config) { o.Metric, o.Alpha = s.Metric, 0.01 }))
	c := r.Comparisons[0]
	// Of another metric it says that runs were stopped only if some were not made.
	for notNeeded, says := range []bool{false, true} {
		in.Summary.Counts = []result.Count{{Ended: result.Ended{OK: 30, NotNeeded: notNeeded}}}
		in.Metric = result.Regret
		other := compared(t, []*Input{in}, with(func(o *Config) { o.Metric = s.Metric }))
		if got := strings.Contains(strings.Join(other.Notes, " "), "Runs were stopped by a test"); got != says {
			t.Errorf("%d runs not needed: %q", notNeeded, other.Notes)
		}
	}
	if !c.Stopped || c.Dropped != 1 || c.Alpha != s.Alpha || c.RunsText() != "29 (to the end, 1 left out)" || !strings.Contains(Method(r), "at level 0.05") {
		t.Errorf("%+v, %s: %s", c, c.RunsText(), Method(r))
	}
}

// Of regret the smaller is better. All pairs share the level, in all environments.
func TestSequentialFamily(t *testing.T) {
	in := experiment("d", 1, []string{"a", "b", "c"}, noisy(20, 1, 0, 3, 6), noisy(20, 2, 0, 3, 6))
	for i := range in.Summary.Rows {
		in.Summary.Rows[i].Metric = result.Regret
	}
	s := sequential(in, 20)
	s.Metric, s.Pairs = result.Regret, "all"
	if got := s.design().Alpha; math.Abs(got-0.05/6) > 1e-15 {
		t.Errorf("level of one of six comparisons: %g", got)
	}
	progress, _ := play(t, in, s)
	var better []string
	for _, p := range progress {
		better = append(better, p.Better)
	}
	if !slices.Equal(better, []string{"a", "a", "b", "a", "a", "b"}) {
		t.Errorf("better: %v", better)
	}
}

func TestSequentialRefuses(t *testing.T) {
	in := experiment("d", 1, []string{"a", "b"}, noisy(5, 1, 0, 3))
	if err := sequential(in, 5).Check(); !errors.Is(err, stat.ErrTooFewRuns) || !strings.Contains(err.Error(), "at least 6 runs") {
		t.Errorf("five runs: %v", err)
	}
	for name, change := range map[string]func(*Sequential){
		"metric": func(s *Sequential) { s.Metric = result.MixingTime },
		"pairs":  func(s *Sequential) { s.Pairs = "a,b" },
		"alpha":  func(s *Sequential) { s.Alpha = 2 },
		"agents": func(s *Sequential) { s.Agents = s.Agents[:1] },
	} {
		s := sequential(experiment("d", 1, []string{"a", "b"}, noisy(20, 1, 0, 3)), 5)
		change(s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An agent that is not made for an environment has no comparison there, and the others go
// on without it. One that is alone makes all runs.
func TestUntilDecidedSkips(t *testing.T) {
	in := experiment("d", 1, []string{"a", "b", "c"}, noisy(60, 1, 0, 3, 6), noisy(60, 2, 0, 3, 6), noisy(60, 3, 0, 3, 6))
	s := sequential(in, 10)
	s.Pairs = "all"
	s.Skips = func(environment, agent string) bool {
		return environment == "env 1" && agent == "a" || environment == "env 2" && agent != "c"
	}
	progress, made := play(t, in, s)
	var got []string
	for _, p := range progress {
		if p.Better == "" {
			t.Errorf("%+v", p)
		}
		got = append(got, p.Environment+p.A+p.B)
	}
	if want := []string{"env 0ba", "env 0ca", "env 0cb", "env 1cb"}; !slices.Equal(got, want) {
		t.Errorf("compared %v, want %v", got, want)
	}
	if n := made[result.Key{Environment: "env 2", Agent: "c"}]; n != 60 {
		t.Errorf("an agent that is alone made %d runs, want 60", n)
	}
	for _, key := range []result.Key{{Environment: "env 1", Agent: "a"}, {Environment: "env 2", Agent: "a"}} {
		if made[key] != 0 {
			t.Errorf("%v made %d runs", key, made[key])
		}
	}
}
