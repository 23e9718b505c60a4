package run

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/internal/plantest"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/stat"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// always takes action 1, which pays one more than action 0.
type always struct{}

func (always) SelectAction(context.Context, space.Value) (space.Value, error) {
	return space.Value{Int: 1}, nil
}

func (always) Update(context.Context, framework.Transition) error { return nil }

func withAlways(open Opener) Opener {
	return func(ctx context.Context, c plan.Component) (vector.Plugin, func() error, error) {
		if c.Plugin != "always" {
			return open(ctx, c)
		}
		return &vector.AgentPlugin{Open: func(_ json.RawMessage, spec framework.Spec, lanes int) (vector.Agent, error) {
			return vector.VectorizeAgent(func(uint64) (framework.Agent, error) { return always{}, nil }, spec, lanes)
		}}, func() error { return nil }, nil
	}
}

// until is an experiment whose agent "better" is decided soon, and "same" never.
func until(c *plan.Config) {
	c.Runs, c.Steps = 33, 20
	c.Agents = []plan.Component{{Name: "base", Plugin: "alternate"}, {Name: "better", Plugin: "always"}, {Name: "same", Plugin: "alternate"}}
	c.Compare = &plan.Compare{Until: "decided", Block: 8}
}

func TestRunsUntilDecided(t *testing.T) {
	dir := t.TempDir()
	p := plantest.Compile(t, until)
	want := do(t, p, dir, false, withAlways(opener(nil)))
	made := map[string]int{}
	for key := range want {
		made[key.Agent]++
	}
	if made["base"] != 33 || made["same"] != 33 || made["better"] >= 33 || made["better"]%8 != 0 {
		t.Errorf("runs made: %v", made)
	}
	decision, err := store.Dir{Path: dir}.Decide(p)
	if err != nil || decision.Progress[0].Better != "better" || decision.Progress[0].Runs() != made["better"] || decision.Progress[1].Decision != stat.Undecided {
		t.Errorf("%v, %v", decision, err)
	}
	// Neither workers nor lanes nor interruptions change what is made.
	for range 2 {
		if got := do(t, plantest.Compile(t, func(c *plan.Config) { until(c); c.Workers, c.Lanes = 3, 2 }), t.TempDir(), false, withAlways(opener(nil))); !maps.Equal(got, want) {
			t.Error("with other workers and lanes other runs are made")
		}
	}
	dir = t.TempDir()
	for stopped := range 40 {
		ctx, cancel := context.WithCancelCause(t.Context())
		p := plantest.Compile(t, func(c *plan.Config) { until(c); c.Workers, c.Lanes = 1, 1 })
		done := must.Get(prepare(t, p, dir, stopped > 0, store.Session{}))(t)
		runs := 0
		err = runPlan(ctx, p, runOptions{Dir: dir, Open: withAlways(opener(nil)), Done: done, Event: func(e Event) {
			if runs += e.Runs; runs >= 9 {
				cancel(errors.New("stopped"))
			}
		}})
		cancel(nil)
		if err == nil {
			break
		}
	}
	if got := records(t, dir); !maps.Equal(got, want) {
		t.Errorf("with interruptions %d records, without %d", len(got), len(want))
	}
}

// A failed run takes its pair with it, and is not tried again: it was looked at.
func TestUntilDecidedWithFailures(t *testing.T) {
	dir := t.TempDir()
	p := plantest.Compile(t, func(c *plan.Config) { until(c); c.Limits.Retries = new(int); c.Lanes = 1 })
	bad := opener(func(call int, seeds []uint64) error {
		if seeds[0]%5 == 0 && call == 7 {
			return &vector.LaneError{Lane: 0, Err: errors.New("broke")}
		}
		return nil
	})
	want := do(t, p, dir, false, withAlways(bad))
	failed := 0
	for _, line := range want {
		if strings.Contains(line, `"failed"`) {
			failed++
		}
	}
	decision, err := store.Dir{Path: dir}.Decide(p)
	if err != nil || failed == 0 || decision.Progress[1].Dropped == 0 || decision.Progress[1].Runs()+decision.Progress[1].Dropped != 33 {
		t.Fatalf("%d failed; %v, %v", failed, decision.Progress, err)
	}
	if got := do(t, p, dir, true, withAlways(opener(nil))); !maps.Equal(got, want) {
		t.Error("failed runs were tried again")
	}
}

func TestResumeKeepsTheComparison(t *testing.T) {
	dir := t.TempDir()
	do(t, plantest.Compile(t, until), dir, false, withAlways(opener(nil)))
	for name, change := range map[string]func(*plan.Config){
		"runs":   func(c *plan.Config) { c.Runs = 60 },
		"alpha":  func(c *plan.Config) { c.Compare.Alpha = 0.1 },
		"block":  func(c *plan.Config) { c.Compare.Block = 4 },
		"metric": func(c *plan.Config) { c.Compare.Metric = result.FinalReward },
		"until":  func(c *plan.Config) { c.Compare.Until, c.Compare.Block = "", 0 },
	} {
		p := plantest.Compile(t, func(c *plan.Config) { until(c); change(c) })
		if _, err := prepare(t, p, dir, true, store.Session{}); !errors.Is(err, store.ErrOtherExperiment) || !strings.Contains(err.Error(), "the level of the test") {
			t.Errorf("%s changed: %v", name, err)
		}
	}
	if _, err := prepare(t, plantest.Compile(t, until), dir, true, store.Session{}); err != nil {
		t.Errorf("unchanged: %v", err)
	}
	// Results that already existed were also looked at.
	plain := t.TempDir()
	do(t, plantest.Compile(t, func(c *plan.Config) { until(c); c.Compare = nil }), plain, false, withAlways(opener(nil)))
	if _, err := prepare(t, plantest.Compile(t, until), plain, true, store.Session{}); !errors.Is(err, store.ErrOtherExperiment) {
		t.Errorf("until added afterwards: %v", err)
	}
	// Without a stopping rule, more runs are only more runs.
	if _, err := prepare(t, plantest.Compile(t, func(c *plan.Config) { until(c); c.Compare = &plan.Compare{Alpha: 0.1}; c.Runs = 60 }), plain, true, store.Session{}); err != nil {
		t.Errorf("more runs: %v", err)
	}
}

// A config that names a metric of a plugin which no plugin declares is refused before
// anything runs.
func TestUndeclaredMetric(t *testing.T) {
	var field *plan.FieldError
	for _, change := range []func(*plan.Config){
		func(c *plan.Config) { c.Report.Metrics = []result.Metric{"environment.fuel"} },
		func(c *plan.Config) { c.Compare = &plan.Compare{Metric: "agent.loss"} },
	} {
		x := New(plantest.Compile(t, change), opening(opener(nil)))
		if err := x.Check(t.Context(), nil); !errors.As(err, &field) || !strings.Contains(err.Error(), "declares") {
			t.Errorf("%v", err)
		}
		x.Close()
	}
}
