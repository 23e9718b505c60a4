package plugin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/internal/actortest"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/rltest"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// mixed makes 5 runs of actortest's agent with 3 actors, and returns their records. The parts in remote are programs;
// the agent is this test binary, or a script of Python.
func mixed(t *testing.T, lanes, workers int, f faults, script string, remote ...string) map[result.Key]result.Record {
	t.Helper()
	f.ID, f.Lane = faultyID, -1
	p := must.Get(plan.Compile(plan.Config{
		Name: "actors", Runs: 5, Steps: 50, Lanes: lanes, Workers: workers,
		Record:       plan.Recording{Metrics: []result.Metric{result.Reward, result.EpisodeReturn, result.CumulativeReward}},
		Environments: []plan.Component{{Name: "e", Plugin: "environment", Params: must.Get(json.Marshal(f))(t)}},
		Agents:       []plan.Component{{Name: "a", Plugin: "agent", Actors: 3}},
	}))(t)
	isRemote := func(c plan.Component) bool { return slices.Contains(remote, c.Plugin) }
	open := func(ctx context.Context, c plan.Component) (vector.Plugin, func() error, error) {
		if !isRemote(c) {
			return map[string]vector.Plugin{"environment": faultyEnvironment(), "agent": actortest.Plugin()}[c.Plugin], func() error { return nil }, nil
		}
		o := plugin.LaunchConfig{Name: c.Plugin, Command: os.Args[0], Args: []string{"serve-" + c.Plugin}, Env: []string{"GORACE=atexit_sleep_ms=0"}}
		if c.Plugin == "agent" {
			o.Args = []string{"serve-mixer"}
			if script != "" {
				o.Command, o.Args = pythonCommand(t), []string{script}
			}
		}
		p, err := plugin.Launch(ctx, o)
		if err != nil {
			return nil, nil, err
		}
		return p, p.Close, nil
	}
	dir, records := t.TempDir(), map[result.Key]result.Record{}
	runExperiment(t, p, dir, catalogue{open, isRemote})
	for r, err := range result.ReadRecords(dir) {
		must.Do(t, err)
		records[r.Key()] = r
	}
	return records
}

// Records of runs with actors are the same for any lanes, workers and transports, and in Go and Python. If an actor's
// environment fails, its run does, and the others are the same.
func TestActorsInAnExperiment(t *testing.T) {
	want := lines(mixed(t, 1, 1, faults{}, ""))
	if len(slices.Compact(slices.Sorted(maps.Values(want)))) != 5 {
		t.Fatalf("five different records are needed: %v", want)
	}
	for _, x := range []struct {
		lanes, workers int
		script         string
		remote         []string
	}{
		{lanes: 3, workers: 2},
		{lanes: 16, workers: 1},
		{lanes: 0, workers: 0, remote: []string{"environment"}},
		{lanes: 2, workers: 1, remote: []string{"agent"}},
		{lanes: 0, workers: 2, remote: []string{"environment", "agent"}},
		{lanes: 1, workers: 1, remote: []string{"agent"}, script: "testdata/mixer.py"},
		{lanes: 16, workers: 1, remote: []string{"agent"}, script: "testdata/mixer.py"},
	} {
		t.Run(fmt.Sprintf("%d lanes, %d workers, %v %s", x.lanes, x.workers, x.remote, x.script), func(t *testing.T) {
			if x.script != "" {
				pythonCommand(t) // it skips where there is none
			}
			if got := lines(mixed(t, x.lanes, x.workers, faults{}, x.script, x.remote...)); !maps.Equal(got, want) {
				t.Errorf("got %v\nwant %v", got, want)
			}
		})
	}
	of := seed.NewSource(1, faultyID).Actor(2) // the last actor of the run
	for _, fault := range []string{"error", "exit", "nan"} {
		t.Run(fault, func(t *testing.T) {
			got := mixed(t, 3, 1, faults{Fault: fault, Seeds: []uint64{of.Seed(2, seed.Environment, 0)}, Step: 3}, "", "environment")
			text, bad := lines(got), result.Key{Environment: "e", Agent: "a", Run: 2}
			if got[bad].Status != result.Failed || fault != "exit" && !strings.Contains(got[bad].Error, "lane 8") {
				t.Errorf("%v: %s", got[bad].Status, got[bad].Error)
			}
			for key, line := range want {
				if key != bad && text[key] != line {
					t.Errorf("run %d: got %s, want %s", key.Run, text[key], line)
				}
			}
		})
	}
}

// The conformance suite checks agents with actors through a process, in Go and in Python.
func TestAgentsWithActorsConform(t *testing.T) {
	for name, p := range map[string]*plugin.Process{
		"Go":     launch(t, plugin.LaunchConfig{}, "serve-mixer"),
		"Python": launchPython(t, plugin.LaunchConfig{}, "testdata/mixer.py"),
	} {
		t.Run(name, func(t *testing.T) {
			if d := must.Get(p.Describe(t.Context()))(t); d.MaxActors != actortest.Most {
				t.Errorf("takes %d actors", d.MaxActors)
			}
			if err := rltest.CheckPlugin(t.Context(), p, nil); err != nil {
				t.Error(err)
			}
			spec := rltest.Specs()[2]
			spec.Actors = 3
			if _, err := p.OpenAgent(t.Context(), nil, spec, 4); err == nil || !strings.Contains(err.Error(), "4 lanes") {
				t.Errorf("4 lanes of 3 actors: %v", err)
			}
		})
	}
}
