package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/stat"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

func comparing(c Compare) Config {
	return Config{
		Name: "x", Runs: 40, Steps: 10, Compare: &c,
		Environments: []Component{{Name: "e", Plugin: "p"}},
		Agents:       []Component{{Name: "a", Plugin: "q"}, {Name: "b", Plugin: "q"}, {Name: "c", Plugin: "q"}},
	}
}

func TestCompareDefaults(t *testing.T) {
	p := must.Get(Compile(comparing(Compare{Until: "decided"})))(t)
	s := p.Sequential()
	if s == nil || s.Metric != result.Reward || s.Pairs != "first" || s.Alpha != compare.DefaultAlpha || s.Block != 20 || s.Runs != 40 {
		t.Errorf("%+v", s)
	}
	if p, err := Compile(comparing(Compare{})); err != nil || p.Sequential() != nil {
		t.Errorf("without until: %v", err)
	}
	again := must.Get(Compile(p.Config))(t)
	got := again.Sequential()
	got.Skips, s.Skips = nil, nil // functions are never equal
	if !reflect.DeepEqual(got, s) {
		t.Errorf("compiled again: %+v, want %+v", got, s)
	}
	if _, ok := p.Config.essence()["compare"]; ok {
		t.Error("records are said to depend on how they are compared")
	}
}

func TestCompareRefusals(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Config)
		where  string
		says   string
	}{
		"metric without direction": {func(c *Config) { c.Compare.Metric = result.MixingTime }, "compare.metric", "neither better nor worse"},
		"metric not recorded": {func(c *Config) {
			c.Compare.Metric, c.Record.Metrics = result.Regret, []result.Metric{result.Reward}
		}, "compare.metric", "add regret to record.metrics"},
		"unknown environment": {func(c *Config) { c.Compare.Scores = map[string]compare.Range{"f": {High: 1}} }, "compare.scores", `"f"`},
		"empty scale":         {func(c *Config) { c.Compare.Scores = map[string]compare.Range{"e": {Low: 1, High: 1}} }, "compare.scores.e", "differ"},
		"too few runs":        {func(c *Config) { c.Runs, c.Compare.Until = 6, "decided" }, "compare", "at least 7 runs, not 6"},
		"one agent":           {func(c *Config) { c.Agents, c.Compare.Until = c.Agents[:1], "decided" }, "compare", "two agents"},
	} {
		c := comparing(Compare{})
		tt.change(&c)
		_, err := Compile(c)
		var field *FieldError
		if !errors.As(err, &field) || field.Path.String() != tt.where || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "too few runs" && !errors.Is(err, stat.ErrTooFewRuns) {
			t.Errorf("%s is %v", name, err)
		}
	}
	// Made from the reward, which is recorded.
	c := comparing(Compare{Metric: result.FinalReward})
	c.Record.Metrics = []result.Metric{result.Reward}
	if _, err := Compile(c); err != nil {
		t.Error(err)
	}
}

// Runs are made by the same test as the report's, which knows the bounds of rewards: sums
// that cancel differ by rounding only.
func TestDecideKnowsTheTasks(t *testing.T) {
	p := must.Get(Compile(comparing(Compare{Until: "decided"})))(t)
	dir := t.TempDir()
	low, high := -0.3, 0.3
	must.Do(t, Dir{Path: dir}.writeJSON(tasksFile, map[string]result.Task{"e": {RewardLow: &low, RewardHigh: &high}}))
	for agent, x := range map[string]float64{"a": 0, "b": 1e-17, "c": 1e-9} {
		curve := make([]float64, len(p.Grid))
		curve[0] = x
		for run := range p.Config.Runs {
			rec := result.Record{Environment: "e", Agent: agent, Run: run, Status: result.OK, Steps: 10,
				Curves: map[result.Metric][]float64{result.Reward: curve, result.DiscountedReturn: curve}}
			rec.Experiment = p.Meta().Experiments[result.Key{Environment: "e", Agent: agent}]
			must.Do(t, result.WriteRecords(dir, agent, []result.Record{rec}))
		}
	}
	decision := must.Get(Dir{Path: dir}.Decide(p))(t)
	for _, c := range decision.Progress {
		if want := map[string]string{"c": "c"}[c.A]; c.Better != want {
			t.Errorf("%s, want %q", c.String(), want)
		}
	}
}

// always takes action 1, which pays one more than action 0.
type always struct{}

func (always) SelectAction(context.Context, space.Value) (space.Value, error) {
	return space.Value{Int: 1}, nil
}

func (always) Update(context.Context, framework.Transition) error { return nil }

func withAlways(open Opener) Opener {
	return func(ctx context.Context, c Component) (vector.Plugin, func() error, error) {
		if c.Plugin != "always" {
			return open(ctx, c)
		}
		return &vector.AgentPlugin{Open: func(_ json.RawMessage, spec framework.Spec, lanes int) (vector.Agent, error) {
			return vector.VectorizeAgent(func(uint64) (framework.Agent, error) { return always{}, nil }, spec, lanes)
		}}, func() error { return nil }, nil
	}
}

// until is an experiment whose agent "better" is decided soon, and "same" never.
func until(c *Config) {
	c.Runs, c.Steps = 33, 20
	c.Agents = []Component{{Name: "base", Plugin: "alternate"}, {Name: "better", Plugin: "always"}, {Name: "same", Plugin: "alternate"}}
	c.Compare = &Compare{Until: "decided", Block: 8}
}

func TestRunsUntilDecided(t *testing.T) {
	dir := t.TempDir()
	p := compiled(t, until)
	want := do(t, p, dir, false, withAlways(opener(nil)))
	made := map[string]int{}
	for key := range want {
		made[key.Agent]++
	}
	if made["base"] != 33 || made["same"] != 33 || made["better"] >= 33 || made["better"]%8 != 0 {
		t.Errorf("runs made: %v", made)
	}
	decision, err := Dir{Path: dir}.Decide(p)
	if err != nil || decision.Progress[0].Better != "better" || decision.Progress[0].Runs() != made["better"] || decision.Progress[1].Decision != stat.Undecided {
		t.Errorf("%v, %v", decision, err)
	}
	// Neither workers nor lanes nor interruptions change what is made.
	for range 2 {
		if got := do(t, compiled(t, func(c *Config) { until(c); c.Workers, c.Lanes = 3, 2 }), t.TempDir(), false, withAlways(opener(nil))); !maps.Equal(got, want) {
			t.Error("with other workers and lanes other runs are made")
		}
	}
	dir = t.TempDir()
	for stopped := range 40 {
		ctx, cancel := context.WithCancelCause(t.Context())
		p := compiled(t, func(c *Config) { until(c); c.Workers, c.Lanes = 1, 1 })
		done := must.Get(prepare(t, p, dir, stopped > 0, Session{}))(t)
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
	p := compiled(t, func(c *Config) { until(c); c.Limits.Retries = new(int); c.Lanes = 1 })
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
	decision, err := Dir{Path: dir}.Decide(p)
	if err != nil || failed == 0 || decision.Progress[1].Dropped == 0 || decision.Progress[1].Runs()+decision.Progress[1].Dropped != 33 {
		t.Fatalf("%d failed; %v, %v", failed, decision.Progress, err)
	}
	if got := do(t, p, dir, true, withAlways(opener(nil))); !maps.Equal(got, want) {
		t.Error("failed runs were tried again")
	}
}

func TestResumeKeepsTheComparison(t *testing.T) {
	dir := t.TempDir()
	do(t, compiled(t, until), dir, false, withAlways(opener(nil)))
	for name, change := range map[string]func(*Config){
		"runs":   func(c *Config) { c.Runs = 60 },
		"alpha":  func(c *Config) { c.Compare.Alpha = 0.1 },
		"block":  func(c *Config) { c.Compare.Block = 4 },
		"metric": func(c *Config) { c.Compare.Metric = result.FinalReward },
		"until":  func(c *Config) { c.Compare.Until = "" },
	} {
		p := compiled(t, func(c *Config) { until(c); change(c) })
		if _, err := prepare(t, p, dir, true, Session{}); !errors.Is(err, ErrOtherExperiment) || !strings.Contains(err.Error(), "the level of the test") {
			t.Errorf("%s changed: %v", name, err)
		}
	}
	if _, err := prepare(t, compiled(t, until), dir, true, Session{}); err != nil {
		t.Errorf("unchanged: %v", err)
	}
	// Results that already existed were also looked at.
	plain := t.TempDir()
	do(t, compiled(t, func(c *Config) { until(c); c.Compare = nil }), plain, false, withAlways(opener(nil)))
	if _, err := prepare(t, compiled(t, until), plain, true, Session{}); !errors.Is(err, ErrOtherExperiment) {
		t.Errorf("until added afterwards: %v", err)
	}
	// Without a stopping rule, more runs are only more runs.
	if _, err := prepare(t, compiled(t, func(c *Config) { until(c); c.Compare = &Compare{Alpha: 0.1}; c.Runs = 60 }), plain, true, Session{}); err != nil {
		t.Errorf("more runs: %v", err)
	}
}

// A config that names a metric of a plugin which no plugin declares is refused before
// anything runs, and so is a name that is no metric at all.
func TestUndeclaredMetric(t *testing.T) {
	c := comparing(Compare{})
	c.Report.Metrics = []result.Metric{"reward", "rewards"}
	var field *FieldError
	if _, err := Compile(c); !errors.As(err, &field) || !strings.HasPrefix(field.Error(), "report.metrics[1]") {
		t.Errorf("%v", err)
	}
	for _, change := range []func(*Config){
		func(c *Config) { c.Report.Metrics = []result.Metric{"environment.fuel"} },
		func(c *Config) { c.Compare = &Compare{Metric: "agent.loss"} },
	} {
		x := New(compiled(t, change), opening(opener(nil)))
		if err := x.Check(t.Context(), nil); !errors.As(err, &field) || !strings.Contains(err.Error(), "declares") {
			t.Errorf("%v", err)
		}
		x.Close()
	}
}
