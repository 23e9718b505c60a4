package plugin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/run"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

const faultyID = "test/faulty@1"

// run is the run in which a fault strikes. If a lane can be named, it is not the
// first of its batch. Otherwise it is, so that it is also the first of a process when
// it is done alone.
func (f *faults) run() int {
	if f.Copies {
		return 3
	}
	return 2
}

// perform runs an experiment of 4 runs, 2 lanes at a time, and returns its
// records. A fault of environment or agent strikes a run at its third step. The
// other part is in this process.
func perform(t *testing.T, part string, f faults, o plugin.LaunchConfig) map[result.Key]result.Record {
	t.Helper()
	f.Step = struck - 1
	return performIn(t, part, f.run(), f, o)
}

// performIn is perform with a fault in another run, at the step that f names. The part
// is this test binary in a role, unless o says otherwise.
func performIn(t *testing.T, part string, run int, f faults, o plugin.LaunchConfig) map[result.Key]result.Record {
	t.Helper()
	none := must.Get(json.Marshal(faults{Lane: -1, ID: faultyID}))(t)
	params := map[string]json.RawMessage{"environment": none, "agent": none}
	purpose := seed.Environment
	if part == "agent" {
		purpose = seed.Agent
	}
	f.ID, f.Lane = faultyID, -1
	f.Seeds = []uint64{seed.NewSource(1, faultyID).Seed(run, purpose, 0)}
	params[part] = must.Get(json.Marshal(f))(t)
	p := must.Get(plan.Compile(plan.Config{
		Name: "faults", Runs: 4, Steps: 12, Lanes: 2, Workers: 1,
		Record:       plan.Recording{Metrics: []result.Metric{result.Reward}},
		Environments: []plan.Component{{Name: "e", Plugin: "environment", Params: params["environment"]}},
		Agents:       []plan.Component{{Name: "a", Plugin: "agent", Params: params["agent"]}},
	}))(t)
	if o.Command == "" {
		role := "serve-"
		switch {
		case slices.Contains(protocolFaults, f.Fault):
			role = "serve-hostile-"
		case f.Fault == "noise":
			role = "serve-noisily-"
		}
		o.Command, o.Args, o.Env = os.Args[0], []string{role + part}, []string{"GORACE=atexit_sleep_ms=0"}
	}
	o.Name = "faulty"
	open := func(ctx context.Context, c plan.Component) (vector.Plugin, func() error, error) {
		if c.Plugin != part {
			return map[string]vector.Plugin{"environment": faultyEnvironment(), "agent": faultyAgent()}[c.Plugin], func() error { return nil }, nil
		}
		p, err := plugin.Launch(ctx, o)
		if err != nil {
			return nil, nil, err
		}
		return p, p.Close, nil
	}
	dir := t.TempDir()
	runExperiment(t, p, dir, catalogue{open: open})
	records := map[result.Key]result.Record{}
	for r, err := range result.ReadRecords(dir) {
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := records[r.Key()]; twice {
			t.Errorf("%v has two records", r.Key())
		}
		records[r.Key()] = r
	}
	return records
}

// catalogue finds plugins by a function. remote may be nil.
type catalogue struct {
	open   run.Opener
	remote func(plan.Component) bool
}

func (c catalogue) Remote(comp plan.Component) (bool, error) {
	return c.remote != nil && c.remote(comp), nil
}

func (c catalogue) Open(ctx context.Context, comp plan.Component) (vector.Plugin, func() error, error) {
	return c.open(ctx, comp)
}

func (catalogue) Identify(_ context.Context, _ vector.Plugin, c plan.Component) (store.PluginProvenance, error) {
	return store.PluginProvenance{Plugin: c.Plugin}, nil
}

// runExperiment makes the runs of a plan in a directory. It does not check the plugins before,
// as they may fail when they are opened.
func runExperiment(t *testing.T, p *plan.Plan, dir string, plugins run.Plugins) {
	t.Helper()
	x := run.New(p, plugins)
	x.Dir.Path = dir
	must.Do(t, x.Run(t.Context(), store.Refuse, run.Settings{}))
	must.Do(t, x.Close())
}

// lines writes records as they stand in files, without the experiment: the fault is one of
// its parameters.
func lines(records map[result.Key]result.Record) map[result.Key]string {
	out := map[result.Key]string{}
	for k, r := range records {
		r.Experiment = ""
		out[k] = string(r.AppendJSON(nil))
	}
	return out
}

// experimentFault is a fault that strikes a run of an experiment.
type experimentFault struct {
	fault string
	agent bool     // an agent is to have it, too
	want  []string // parts of the error with which the run fails; none: it does not
}

// test lets the fault strike a part of experiments, once and always, and compares them
// with the records of an undisturbed one.
func (e experimentFault) test(t *testing.T, part string, f faults, o plugin.LaunchConfig, undisturbed map[result.Key]string) {
	if f.Fault == "loop" || f.Fault == "stop" {
		o.CallTimeout = time.Second
	}
	t.Run(fmt.Sprintf("%s/%s/once", e.fault, part), func(t *testing.T) {
		t.Parallel()
		f := f
		f.Once = filepath.Join(t.TempDir(), "struck")
		got := lines(perform(t, part, f, o))
		if _, err := os.Stat(f.Once); err != nil {
			t.Fatal("the fault did not strike")
		}
		if !maps.Equal(got, undisturbed) {
			t.Errorf("got %v, want %v", got, undisturbed)
		}
	})
	t.Run(fmt.Sprintf("%s/%s/always", e.fault, part), func(t *testing.T) {
		t.Parallel()
		got := perform(t, part, f, o)
		text := lines(got)
		if len(got) != 4 {
			t.Errorf("%d records, want 4", len(got))
		}
		for key, want := range undisturbed {
			if (key.Run != f.run() || e.want == nil) && text[key] != want {
				t.Errorf("run %d: got %s, want %s", key.Run, text[key], want)
			}
		}
		if e.want == nil {
			return
		}
		bad := got[result.Key{Environment: "e", Agent: "a", Run: f.run()}]
		if bad.Status != result.Failed {
			t.Fatalf("got %v, want a failed record", bad)
		}
		for _, part := range append(e.want, part+", call ", "plugin faulty: ") {
			if !strings.Contains(bad.Error, part) {
				t.Errorf("got %q, want %q in it", bad.Error, part)
			}
		}
	})
}

// Every fault of a plugin's process that strikes once is replayed: nothing shows
// in the records. A permanent fault fails its own run, with an error that says where
// and why, and what the process last wrote. The records of all other runs are those
// of an undisturbed experiment, bit for bit. The error names the lane. If none is
// known, it is the lane of the run that failed alone.
func TestFaultsInAnExperiment(t *testing.T) {
	undisturbed := undisturbedRecords(t)
	for _, e := range []experimentFault{
		{"panic", false, []string{"lane 0: panic: out of cheese", "strike"}},
		{"error", false, []string{"lane ", "no luck"}},
		{"crash", true, []string{"lane 0: the process died (exit status 2)", "panic: in a goroutine of its own"}},
		{"exit", false, []string{"lane 0: the process died (exit status 3)", "I give up"}},
		{"kill", false, []string{"lane 0: the process died (signal: killed, ", "goodbye"}},
		{"copies: panic", true, []string{"lane 1: panic: out of cheese", "strike"}},
		{"copies: crash", false, []string{"lane 0: the process died (exit status 2)", "panic: in a goroutine of its own"}},
		{"copies: exit", true, []string{"lane 0: the process died (exit status 3)", "I give up"}},
		{"copies: kill", false, []string{"lane 0: the process died (signal: killed, ", "goodbye"}},
		{"copies: loop", true, []string{"lane 0: no answer within 1s"}},
		{"copies: stop", false, []string{"lane 0: no answer within 1s"}},
		{"loop", false, []string{"lane 0: no answer within 1s"}},
		{"stop", true, []string{"lane 0: no answer within 1s"}},
		{"nan", false, []string{"lane ", "reward is NaN", "here it comes"}},
		{"inf", false, []string{"lane ", "reward is +Inf", "here it comes"}},
		{"outside", true, []string{"lane ", "not in discrete", "here it comes"}},
		{"short", true, []string{"lane 0: invalid answer: ", "column of ", "here it comes"}},
		{"wrong lane", true, []string{"lane 0: ", "it blames lane 1000 of", "here it comes"}},
		{"duplicate", true, []string{"lane 0: protocol error: the reply is to step 4", "here it comes"}},
		{"old step", false, []string{"lane 0: protocol error: the reply is to step 3", "here it comes"}},
		{"early close", false, []string{"lane 0: protocol error: the plugin ended the stream", "here it comes"}},
		{"status", false, []string{"lane 0: protocol error: ResourceExhausted: enough for today", "here it comes"}},
		{"garbage", false, []string{"lane 0: protocol error: ", "failed to unmarshal", "here it comes"}},
		{"empty", false, []string{"lane 0: protocol error: the reply is to step 0", "here it comes"}},
		{"huge", false, []string{"lane 0: protocol error: ResourceExhausted: ", "larger than max", "here it comes"}},
		{"noise", true, nil},
		{"stdout", false, nil},
		{"flood", false, nil},
	} {
		// One of each sort: refused, dead, hanging, hungry, and against the protocol.
		if testing.Short() && !slices.Contains([]string{"error", "exit", "copies: loop", "garbage", "noise"}, e.fault) {
			continue
		}
		fault, copies := strings.CutPrefix(e.fault, inCopies)
		for part, records := range undisturbed {
			if part == "environment" || e.agent {
				e.test(t, part, faults{Fault: fault, Copies: copies}, plugin.LaunchConfig{}, records[copies])
			}
		}
	}
}

// undisturbedRecords are those of experiments without faults, by the part that is in
// a process of its own and by whether its lanes are copies.
func undisturbedRecords(t *testing.T) map[string]map[bool]map[result.Key]string {
	t.Helper()
	all := map[string]map[bool]map[result.Key]string{}
	for _, part := range []string{"environment", "agent"} {
		all[part] = map[bool]map[result.Key]string{}
		for _, copies := range []bool{false, true} {
			records := lines(perform(t, part, faults{Copies: copies}, plugin.LaunchConfig{}))
			if len(records) != 4 || len(slices.Compact(slices.Sorted(maps.Values(records)))) != 4 {
				t.Fatalf("four different records are needed, got %v", records)
			}
			all[part][copies] = records
		}
	}
	return all
}

// Wherever the process dies: at any step of any run, by any of the ways to die, of
// the environment or of the agent. The runs that are not to blame never notice.
func TestDeathAtAnyStep(t *testing.T) {
	undisturbed := undisturbedRecords(t)
	where := map[bool]*regexp.Regexp{
		false: regexp.MustCompile(`, call \d+: plugin faulty: `),
		true:  regexp.MustCompile(`, call \d+: plugin faulty: lane \d: `),
	}
	rng := rand.New(rand.NewPCG(1, 0))
	for k := range 12 {
		copies := k%2 == 0
		part, fault := []string{"environment", "agent"}[rng.IntN(2)], []string{"exit", "crash", "panic"}[rng.IntN(3)]
		run, step := rng.IntN(4), 1+rng.IntN(3) // of an episode of four steps
		if part == "agent" {
			step = 1 + rng.IntN(10) // of the run
		}
		t.Run(fmt.Sprintf("%s/%s/copies=%t/run=%d/step=%d", part, fault, copies, run, step), func(t *testing.T) {
			t.Parallel()
			got := performIn(t, part, run, faults{Fault: fault, Step: step, Copies: copies}, plugin.LaunchConfig{})
			bad := result.Key{Environment: "e", Agent: "a", Run: run}
			if got[bad].Status != result.Failed || !where[copies].MatchString(got[bad].Error) || part == "environment" && !strings.Contains(got[bad].Error, fmt.Sprintf(", call %d: ", step+1)) {
				t.Errorf("got %v: %s", got[bad].Status, got[bad].Error)
			}
			text := lines(got)
			for key, want := range undisturbed[part][copies] {
				if key != bad && text[key] != want {
					t.Errorf("run %d: got %s, want %s", key.Run, text[key], want)
				}
			}
		})
	}
}

// A plugin that hangs or fails in every lane costs a few time-outs, however many runs
// the experiment has: after five runs that failed alike the others are given up.
func TestBrokenInEveryLane(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for time-outs")
	}
	const runs = 300
	for _, tt := range []struct {
		fault, want string
		copies      bool
	}{
		{"loop", "no answer within 300ms", true},
		{"loop", "no answer within 300ms", false},
		{"error", "no luck", false},
		{"exit", "the process died (exit status 3)", true},
	} {
		t.Run(fmt.Sprintf("%s/copies=%t", tt.fault, tt.copies), func(t *testing.T) {
			t.Parallel()
			f := faults{Fault: tt.fault, Copies: tt.copies, Lane: -1, ID: faultyID, Step: 2}
			for run := range runs {
				f.Seeds = append(f.Seeds, seed.NewSource(1, faultyID).Seed(run, seed.Environment, 0))
			}
			params := must.Get(json.Marshal(f))(t)
			p := must.Get(plan.Compile(plan.Config{
				Runs: runs, Steps: 12, Workers: 1,
				Environments: []plan.Component{{Name: "e", Plugin: "environment", Params: params}},
				Agents:       []plan.Component{{Name: "a", Plugin: "agent", Params: json.RawMessage(`{"lane": -1}`)}},
			}))(t)
			launches, dir := 0, t.TempDir()
			open := func(ctx context.Context, c plan.Component) (vector.Plugin, func() error, error) {
				if c.Plugin == "agent" {
					return faultyAgent(), func() error { return nil }, nil
				}
				launches++
				p, err := plugin.Launch(ctx, plugin.LaunchConfig{Name: "faulty", Command: os.Args[0], Args: []string{"serve-environment"},
					CallTimeout: 300 * time.Millisecond, Env: []string{"GORACE=atexit_sleep_ms=0"}})
				if err != nil {
					return nil, nil, err
				}
				return p, p.Close, nil
			}
			remote := func(c plan.Component) bool { return c.Plugin == "environment" }
			runExperiment(t, p, dir, catalogue{open, remote})
			statuses := map[result.Status]int{}
			for r, err := range result.ReadRecords(dir) {
				if err != nil {
					t.Fatal(err)
				}
				if statuses[r.Status]++; !strings.Contains(r.Error, tt.want) {
					t.Errorf("run %d: %q, want %q in it", r.Run, r.Error, tt.want)
				}
			}
			if statuses[result.Failed] != 5 || statuses[result.GivenUp] != runs-5 || launches > 25 {
				t.Errorf("statuses %v after %d launches, want 5 failed and all others given up after at most 25", statuses, launches)
			}
		})
	}
}
