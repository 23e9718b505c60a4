package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/framework/internal/plantest"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// coin pays a random reward that depends on the seed and the action.
type coin struct{ x uint64 }

func (c *coin) Spec() framework.Spec {
	return framework.Spec{ID: "test/coin@1", Observation: space.Discrete{N: 1}, Action: space.Discrete{N: 2}, RewardHigh: 100}
}

func (c *coin) Reset(_ context.Context, s uint64) (space.Value, error) {
	c.x = s
	return space.Value{}, nil
}

func (c *coin) Step(_ context.Context, a space.Value) (framework.TimeStep, error) {
	c.x = c.x*6364136223846793005 + 1442695040888963407
	return framework.TimeStep{Reward: float64((c.x>>33)%100) + float64(a.Int)}, nil
}

// alternate takes action 0, 1, 0, …, beginning where its seed says.
type alternate struct{ next int64 }

func (a *alternate) SelectAction(context.Context, space.Value) (space.Value, error) {
	a.next = 1 - a.next
	return space.Value{Int: a.next}, nil
}

func (a *alternate) Update(context.Context, framework.Transition) error { return nil }

func (a *alternate) Save(context.Context) ([]byte, error) { return []byte{byte(a.next)}, nil }

func (a *alternate) Load(_ context.Context, state []byte) error {
	a.next = int64(state[0])
	return nil
}

// faulty wraps the lanes of an environment. fail is asked at every call, with
// the seeds the lanes were started from.
type faulty struct {
	vector.Environment
	seeds []uint64
	calls int
	fail  func(call int, seeds []uint64) error
}

func (f *faulty) Step(ctx context.Context, in *vector.Actions, out *vector.TimeSteps) error {
	if in.Signals[0] == vector.NewRun {
		f.seeds, f.calls = slices.Clone(in.Seeds), 0
	}
	f.calls++
	if f.fail != nil {
		if err := f.fail(f.calls, f.seeds); err != nil {
			return err
		}
	}
	return f.Environment.Step(ctx, in, out)
}

func opener(fail func(call int, seeds []uint64) error) Opener {
	return func(_ context.Context, c plan.Component) (vector.Plugin, func() error, error) {
		none := func() error { return nil }
		switch c.Plugin {
		case "coin":
			return &vector.EnvironmentPlugin{Description: vector.Description{Kind: vector.KindEnvironment}, Open: func(_ json.RawMessage, lanes int) (vector.Environment, error) {
				v, err := vector.Vectorize(func() (framework.Environment, error) { return &coin{}, nil }, lanes)
				return &faulty{Environment: v, fail: fail}, err
			}}, none, nil
		case "alternate":
			return &vector.AgentPlugin{Description: vector.Description{Kind: vector.KindAgent}, Open: func(_ json.RawMessage, spec framework.Spec, lanes int) (vector.Agent, error) {
				return vector.VectorizeAgent(func(s uint64) (framework.Agent, error) { return &alternate{int64(s & 1)}, nil }, spec, lanes)
			}}, none, nil
		}
		return nil, nil, fmt.Errorf("no plugin %q", c.Plugin)
	}
}

// opening gives an experiment the plugins that an opener opens.
type opening Opener

func (o opening) Remote(c plan.Component) (bool, error) {
	_, _, err := o(context.Background(), c)
	return false, err
}

func (o opening) Open(ctx context.Context, c plan.Component) (vector.Plugin, func() error, error) {
	return o(ctx, c)
}

func (o opening) Identify(_ context.Context, _ vector.Plugin, c plan.Component) (store.PluginProvenance, error) {
	return store.PluginProvenance{Plugin: c.Plugin}, nil
}

// prepare prepares an output directory.
func prepare(t *testing.T, p *plan.Plan, dir string, resume bool, s store.Session) (store.Done, error) {
	t.Helper()
	return prepareOn(t, nil, p, dir, resume, s)
}

func prepareOn(t *testing.T, fsys disk.FS, p *plan.Plan, dir string, resume bool, s store.Session) (store.Done, error) {
	t.Helper()
	existing := store.Refuse
	if resume {
		existing = store.Resume
	}
	e := &store.Experiment{Dir: store.Dir{Path: dir, Disk: fsys}, Plan: p}
	done, err := e.Begin(t.Context(), &s, existing)
	return done, errors.Join(err, e.Close())
}

// runOptions say how the runs of a plan are made in a directory that was prepared, without
// a check of the plugins.
type runOptions struct {
	Dir     string
	Disk    disk.FS
	Open    Opener
	Done    store.Done
	Session store.Session
	Event   func(Event)
	Remote  func(plan.Component) bool
	live    func(*liveView)
}

func runPlan(ctx context.Context, p *plan.Plan, o runOptions) error {
	x := New(p, opening(o.Open))
	x.Dir = store.Dir{Path: o.Dir, Disk: o.Disk}
	b := x.begin(&o.Session, o.Done, plan.Shard{}, Settings{Event: o.Event})
	b.remote, b.lanes = o.Remote, nil
	if o.live != nil {
		o.live(b.live)
	}
	return b.run(ctx)
}

// do runs a plan in a fresh or given directory and returns its records by key.
func do(t *testing.T, p *plan.Plan, dir string, resume bool, open Opener) map[result.Key]string {
	t.Helper()
	done := must.Get(prepare(t, p, dir, resume, store.Session{}))(t)
	must.Do(t, runPlan(t.Context(), p, runOptions{Dir: dir, Open: open, Done: done}))
	return records(t, dir)
}

func records(t *testing.T, dir string) map[result.Key]string {
	t.Helper()
	m := map[result.Key]string{}
	for r, err := range result.ReadRecords(dir) {
		if err != nil {
			t.Fatal(err)
		}
		m[r.Key()] = string(r.AppendJSON(nil))
	}
	return m
}

func TestRecordsDoNotDependOnLanesOrWorkers(t *testing.T) {
	want := do(t, plantest.Compile(t, func(c *plan.Config) { c.Workers, c.Lanes = 1, 1 }), t.TempDir(), false, opener(nil))
	if len(want) != 2*23 {
		t.Fatalf("%d records, want %d", len(want), 2*23)
	}
	for _, workers := range []int{1, 2, 5} {
		for _, lanes := range []int{0, 3, 23, 100} {
			got := do(t, plantest.Compile(t, func(c *plan.Config) { c.Workers, c.Lanes = workers, lanes }), t.TempDir(), false, opener(nil))
			if !maps.Equal(got, want) {
				t.Errorf("%d workers, %d lanes: records differ", workers, lanes)
			}
		}
	}
}

// An agent is told with how many steps or episodes its run ends.
func TestAgentsKnowTheLengthOfARun(t *testing.T) {
	p := plantest.Compile(t, func(c *plan.Config) { c.Episodes = 7 })
	var told framework.Spec
	agent := &vector.AgentPlugin{Description: vector.Description{Kind: vector.KindAgent}, Open: func(_ json.RawMessage, spec framework.Spec, lanes int) (vector.Agent, error) {
		told = spec
		return vector.VectorizeAgent(func(uint64) (framework.Agent, error) { return &alternate{}, nil }, spec, lanes)
	}}
	spec := (&coin{}).Spec()
	if _, err := openAgent(t.Context(), agent, nil, p, nil, p.Agents[0], spec, 1); err != nil || told.Steps != 50 || told.Episodes != 7 {
		t.Errorf("told of %d steps and %d episodes, want 50 and 7; error %v", told.Steps, told.Episodes, err)
	}
}

// A crash that happens once is replayed: nothing shows in the records.
func TestFailedBatchIsReplayed(t *testing.T) {
	want := do(t, plantest.Compile(t, nil), t.TempDir(), false, opener(nil))
	var crashed atomic.Bool
	interactions, dir := 0, t.TempDir()
	p := plantest.Compile(t, func(c *plan.Config) { c.Lanes = 8 })
	done := must.Get(prepare(t, p, dir, false, store.Session{}))(t)
	must.Do(t, runPlan(t.Context(), p, runOptions{Dir: dir, Done: done, Event: func(e Event) { interactions += e.Interactions },
		Open: opener(func(call int, _ []uint64) error {
			if call == 20 && crashed.CompareAndSwap(false, true) {
				return errors.New("the plugin died")
			}
			return nil
		})}))
	if got := records(t, dir); !crashed.Load() || !maps.Equal(got, want) {
		t.Error("records differ from those of an undisturbed experiment")
	}
	if want := 2 * 23 * 50; interactions != want {
		t.Errorf("progress counted %d interactions, want %d", interactions, want)
	}
}

// Runs that always fail are recorded as failed, named or not; all others are as
// if nothing had happened.
func TestFailingRunsAreIsolated(t *testing.T) {
	want := do(t, plantest.Compile(t, nil), t.TempDir(), false, opener(nil))
	bad := []int{4, 5, 17}
	source := seed.NewSource(1, "test/coin@1")
	for _, tt := range []struct {
		name  string
		blame func(lane int, err error) error
	}{
		{"no lane", func(_ int, err error) error { return err }},
		{"the lane", func(lane int, err error) error { return &vector.LaneError{Lane: lane, Err: err} }},
		{"one that is not there", func(_ int, err error) error { return &vector.LaneError{Lane: 99, Err: err} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fail := func(call int, seeds []uint64) error {
				for lane, s := range seeds {
					if call > 10 && slices.ContainsFunc(bad, func(run int) bool { return source.Seed(run, seed.Environment, 0) == s }) {
						return tt.blame(lane, errors.New("it hurts"))
					}
				}
				return nil
			}
			got := do(t, plantest.Compile(t, func(c *plan.Config) { c.Lanes = 8 }), t.TempDir(), false, opener(fail))
			for key, rec := range want {
				if !slices.Contains(bad, key.Run) {
					if got[key] != rec {
						t.Errorf("%v differs", key)
					}
				} else if !strings.Contains(got[key], `"failed"`) || !strings.Contains(got[key], `"steps":9,`) || !strings.Contains(got[key], "environment, call 11") || !strings.Contains(got[key], "it hurts") {
					t.Errorf("%v: got %s, want a failed record of 9 steps that says where and why", key, got[key])
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d records, want %d", len(got), len(want))
			}
		})
	}
}

// A lane that is named costs two attempts of the batch, and then it is left out.
func TestNamedLaneIsLeftOut(t *testing.T) {
	bad := seed.NewSource(1, "test/coin@1").Seed(5, seed.Environment, 0)
	var sizes []int
	do(t, plantest.Compile(t, func(c *plan.Config) { c.Lanes, c.Workers, c.Runs, c.Agents = 8, 1, 8, c.Agents[:1] }), t.TempDir(), false, opener(func(call int, seeds []uint64) error {
		if call == 1 {
			sizes = append(sizes, len(seeds))
		}
		if lane := slices.Index(seeds, bad); call == 10 && lane >= 0 {
			return &vector.LaneError{Lane: lane, Err: errors.New("it hurts")}
		}
		return nil
	}))
	want := []int{8, 8, 1, 6} // after a failure one run alone, to see whether any ends well
	if !slices.Equal(sizes, want) {
		t.Errorf("batches of %v lanes, want %v", sizes, want)
	}
}

// If the lanes together are too much, no run fails.
func TestTooManyLanes(t *testing.T) {
	want := do(t, plantest.Compile(t, nil), t.TempDir(), false, opener(nil))
	for _, most := range []int{1, 2, 3, 5} {
		got := do(t, plantest.Compile(t, func(c *plan.Config) { c.Lanes = 8 }), t.TempDir(), false, opener(func(call int, seeds []uint64) error {
			if len(seeds) > most {
				return errors.New("out of memory")
			}
			return nil
		}))
		if !maps.Equal(got, want) {
			t.Errorf("at most %d lanes: records differ", most)
		}
	}
}

// A failed batch is tried again as often as the limits say. Limits of a
// component override those of the experiment; of two components the greater
// counts.
func TestRestarts(t *testing.T) {
	count := func(n int) *int { return &n }
	for _, tt := range []struct {
		name             string
		all, environment *int
		agent            *int
		fails            int // in a row, before it works
		want             bool
	}{
		{"by default once", nil, nil, nil, 1, true},
		{"by default no more", nil, nil, nil, 2, false},
		{"never", count(0), nil, nil, 1, false},
		{"more often", count(5), nil, nil, 5, true},
		{"as the environment says", count(0), count(3), nil, 3, true},
		{"as the agent says", nil, nil, count(2), 2, true},
		{"less often for both", count(5), count(1), count(0), 2, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := plantest.Compile(t, func(c *plan.Config) {
				c.Runs, c.Workers, c.Agents = 1, 1, c.Agents[:1]
				c.Limits.Retries = tt.all
				c.Environments[0].Limits, c.Agents[0].Limits = &plan.Limits{Retries: tt.environment}, &plan.Limits{Retries: tt.agent}
			})
			fails := 0
			got := do(t, p, t.TempDir(), false, opener(func(call int, _ []uint64) error {
				if fails++; fails > tt.fails {
					return nil
				}
				return errors.New("not yet")
			}))
			ok := strings.Contains(got[result.Key{Environment: "coin", Agent: "one", Run: 0}], `"status":"ok"`)
			if ok != tt.want {
				t.Errorf("done %t, want %t: %v", ok, tt.want, got)
			}
		})
	}
}

// Interrupt a run, resume it with other workers and lanes: the records are those
// of an uninterrupted one, and no run was done twice.
func TestInterruptAndResume(t *testing.T) {
	want := do(t, plantest.Compile(t, nil), t.TempDir(), false, opener(nil))
	dir := t.TempDir()
	p := plantest.Compile(t, func(c *plan.Config) { c.Lanes, c.Workers = 2, 2 })
	done, err := prepare(t, p, dir, false, store.Session{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancelCause(t.Context())
	why := errors.New("interrupted")
	ended := 0
	err = runPlan(ctx, p, runOptions{Dir: dir, Done: done, Open: opener(nil), Event: func(e Event) {
		if ended += e.Runs; ended >= 10 {
			interrupt(why)
		}
	}})
	if !errors.Is(err, why) {
		t.Fatalf("got %v, want %v", err, why)
	}
	kept := records(t, dir)
	if len(kept) < 10 || len(kept) == len(want) {
		t.Fatalf("%d records after the interruption, want at least 10 and less than all %d", len(kept), len(want))
	}
	p = plantest.Compile(t, func(c *plan.Config) { c.Lanes, c.Workers = 5, 1 })
	done = must.Get(prepare(t, p, dir, true, store.Session{}))(t)
	again := 0
	must.Do(t, runPlan(t.Context(), p, runOptions{Dir: dir, Done: done, Open: opener(nil), Event: func(e Event) { again += e.Runs }}))
	if again != len(want)-len(kept) {
		t.Errorf("%d runs done after resuming, want %d", again, len(want)-len(kept))
	}
	if !maps.Equal(records(t, dir), want) {
		t.Error("records differ from those of an uninterrupted experiment")
	}
}

func TestResumeRetriesFailedRuns(t *testing.T) {
	want := do(t, plantest.Compile(t, nil), t.TempDir(), false, opener(nil))
	dir := t.TempDir()
	do(t, plantest.Compile(t, nil), dir, false, opener(func(int, []uint64) error { return errors.New("not today") }))
	if got := do(t, plantest.Compile(t, nil), dir, true, opener(nil)); !maps.Equal(got, want) {
		t.Error("records differ from those of an undisturbed experiment")
	}
}

func TestPrepareRefuses(t *testing.T) {
	dir := t.TempDir()
	do(t, plantest.Compile(t, nil), dir, false, opener(nil))
	if _, err := prepare(t, plantest.Compile(t, nil), dir, false, store.Session{}); !errors.Is(err, store.ErrOutputExists) {
		t.Errorf("a full directory: got %v", err)
	}
	for want, change := range map[string]func(*plan.Config){
		"seed differs: it was 1 and is now 0":                        func(c *plan.Config) { c.Seed = new(uint64(0)) },
		"seed differs: it was 1 and is now 2":                        func(c *plan.Config) { c.Seed = new(uint64(2)) },
		"steps differs: it was 50 and is now 51":                     func(c *plan.Config) { c.Steps = 51 },
		`agents[1].params differs: it was absent and is now {"a":1}`: func(c *plan.Config) { c.Agents[1].Params = json.RawMessage(`{"a":1}`) },
		"record.points differs: it was absent and is now 3":          func(c *plan.Config) { c.Record.Points = 3 },
	} {
		if _, err := prepare(t, plantest.Compile(t, change), dir, true, store.Session{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := prepare(t, plantest.Compile(t, func(c *plan.Config) {
		c.Runs, c.Workers, c.Transport = 30, 7, plan.Process
		c.Agents[1].Limits = &plan.Limits{Call: "5s"}
	}), dir, true, store.Session{}); err != nil {
		t.Errorf("more runs of the same experiment: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(file, []byte("x"), 0o600))
	if _, err := prepare(t, plantest.Compile(t, nil), file, false, store.Session{}); err == nil {
		t.Error("a file was accepted as output directory")
	}
}

func TestCheckNamesEveryBadComponent(t *testing.T) {
	p := plantest.Compile(t, func(c *plan.Config) {
		c.Agents = append(c.Agents, plan.Component{Plugin: "nobody"}, plan.Component{Plugin: "nothing"})
	})
	err := New(p, opening(opener(nil))).Check(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), `"nobody"`) || !strings.Contains(err.Error(), `"nothing"`) {
		t.Errorf("got %v, want both named", err)
	}
}
