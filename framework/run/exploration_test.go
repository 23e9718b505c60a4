package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/internal/optiontest"
	"github.com/rlrun/rlrun/framework/internal/plantest"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// exploring opens the plugins of opener and, besides, an option agent.
func exploring(ctx context.Context, c plan.Component) (vector.Plugin, func() error, error) {
	if c.Plugin == "tables" {
		return optiontest.Plugin(), func() error { return nil }, nil
	}
	return opener(nil)(ctx, c)
}

// sweep is a list of values.
func sweep(list ...string) (out []json.RawMessage) {
	for _, s := range list {
		out = append(out, json.RawMessage(s))
	}
	return out
}

func explorations(t *testing.T, change func(*plan.Config)) *plan.Plan {
	return plantest.Compile(t, func(c *plan.Config) {
		c.Agents = []plan.Component{
			{Plugin: "tables"},
			{Plugin: "tables", Exploration: &plan.Exploration{Rule: "optimistic-stochastic", Commitment: &plan.Commitment{Scale: 2, Floor: 3}}},
			{Plugin: "tables", Exploration: &plan.Exploration{Bound: "V", Options: []plan.OptionKind{{Name: "uniform"}, {Name: "members"}}},
				Sweep: map[string][]json.RawMessage{"exploration.horizon.gamma": sweep("0.5", "0.9"), "exploration.rule": sweep(`"common-model"`, `"index"`)}},
			{Name: "γ={exploration.horizon.gamma}", Plugin: "tables", Sweep: map[string][]json.RawMessage{"exploration.horizon.gamma": sweep("0.99")}},
		}
		if change != nil {
			change(c)
		}
	})
}

func TestExplorationsExpand(t *testing.T) {
	p := explorations(t, nil)
	if got, want := plan.Labels(p.Agents), []string{
		"tables", "tables optimistic-stochastic",
		"tables common-model V exploration.horizon.gamma=0.5 exploration.rule=common-model", "tables common-model V exploration.horizon.gamma=0.5 exploration.rule=index",
		"tables common-model V exploration.horizon.gamma=0.9 exploration.rule=common-model", "tables common-model V exploration.horizon.gamma=0.9 exploration.rule=index",
		"γ=0.99",
	}; !slices.Equal(got, want) {
		t.Errorf("labels\n%q, want\n%q", got, want)
	}
	if x := p.Agents[5].Exploration; x.Rule != "index" || *x.Horizon.Gamma != 0.9 || x.Bound != "V" || len(x.Options) != 2 {
		t.Errorf("swept to %+v", x)
	}
	if x := p.Config.Agents[2].Exploration; x.Horizon != nil || x.Rule != "" {
		t.Errorf("the config was changed to %+v", x)
	}
	if p.Agents[0].Exploration != nil || len(p.Agents[2].Params) != 0 {
		t.Errorf("agents %+v", p.Agents)
	}
}

// An experiment whose host decides gives the same records whatever the lanes and
// workers, and its log of decisions with them.
func TestExplorationRecords(t *testing.T) {
	var want []string
	for _, lanes := range []int{1, 3} {
		p := explorations(t, func(c *plan.Config) { c.Lanes, c.Workers = lanes, 3-lanes/2 })
		got := recordsOf(t, p, exploring)
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d lanes: other records", lanes)
		}
	}
	// A batch that fails once is replayed and leaves no trace.
	p := explorations(t, func(c *plan.Config) { c.Lanes, c.Workers = 2, 1 })
	failures := 0
	got := recordsOf(t, p, func(ctx context.Context, c plan.Component) (vector.Plugin, func() error, error) {
		if c.Plugin == "tables" {
			return exploring(ctx, c)
		}
		return opener(func(call int, seeds []uint64) error {
			if call == 5 && failures < 3 {
				failures++
				return &vector.LaneError{Lane: 0, Err: errors.New("out of order")}
			}
			return nil
		})(ctx, c)
	})
	if failures != 3 {
		t.Errorf("%d batches failed, want 3", failures)
	}
	if failed := slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, `"failed"`) }); !failed {
		t.Error("a batch that failed twice has no failed record")
	}
	for i, line := range got {
		if line != want[i] && !strings.Contains(line, `"failed"`) {
			t.Errorf("after a replay, the record is\n%.200s, without\n%.200s", line, want[i])
		}
	}
	explored := 0
	for _, line := range want {
		var r result.Record
		must.Do(t, json.Unmarshal([]byte(line), &r))
		if r.Status != result.OK {
			t.Fatalf("%s run %d: %s", r.Agent, r.Run, r.Error)
		}
		if has := r.Curves[result.ExplorationShare] != nil && r.Curves[result.MixingTime] != nil && len(r.Decisions) > 0; has != (r.Agent != "tables") {
			t.Errorf("%s run %d: curves and decisions of exploration: %v", r.Agent, r.Run, has)
		}
		for _, d := range r.Decisions {
			if d.Explore {
				explored++
			}
		}
	}
	if explored == 0 {
		t.Error("nothing was ever explored")
	}
}

func TestExplorationRefused(t *testing.T) {
	for _, tt := range []struct {
		want   string
		change func(*plan.Config)
	}{
		{"alternate offers no options to choose from", func(c *plan.Config) {
			c.Agents[0] = plan.Component{Plugin: "alternate", Exploration: &plan.Exploration{}}
		}},
		{"tables make no options of kind count-bonus", func(c *plan.Config) { c.Agents[1].Exploration.Options = []plan.OptionKind{{Name: "count-bonus"}} }},
		{"environments[0].exploration: environments do not explore", func(c *plan.Config) { c.Environments[0].Exploration = &plan.Exploration{} }},
		{"agents[1].exploration.horizon: weights say all; remove gamma and steps", func(c *plan.Config) {
			c.Agents[1].Exploration.Horizon = &plan.Horizon{Steps: 3, Weights: []float64{1}}
		}},
		{"agents[1].exploration.horizon.weights: number 1 is -1: weights must be at least 0, with a finite sum", func(c *plan.Config) {
			c.Agents[1].Exploration.Horizon = &plan.Horizon{Weights: []float64{1, -1}}
		}},
		{"agents[1].exploration.horizon.weights: must have a positive sum", func(c *plan.Config) {
			c.Agents[1].Exploration.Horizon = &plan.Horizon{Weights: []float64{0}}
		}},
		{"agents[1].exploration.commitment: tv and epsilon are one distance in two scales; remove one of them", func(c *plan.Config) {
			c.Agents[1].Exploration.Commitment = &plan.Commitment{TV: 0.1, Epsilon: 0.1}
		}},
		{"agents[1].exploration.commitment: the statistic is the mean; remove quantile", func(c *plan.Config) {
			c.Agents[1].Exploration.Commitment = &plan.Commitment{Statistic: "mean", Quantile: 0.5}
		}},
		{"agents[1].exploration.horizon: needs gamma, steps, episodes or weights", func(c *plan.Config) { c.Agents[1].Exploration.Horizon = &plan.Horizon{} }},
		{`agents[1].exploration.options[0]: unknown kind of option "x"`, func(c *plan.Config) { c.Agents[1].Exploration.Options = []plan.OptionKind{{Name: "x"}} }},
		{"sweep.exploration.windw.cap: unknown field", func(c *plan.Config) {
			c.Agents[1].Sweep = map[string][]json.RawMessage{"exploration.windw.cap": sweep("1")}
		}},
	} {
		cfg := explorations(t, nil).Config
		tt.change(&cfg)
		p, err := plan.Compile(cfg)
		if err == nil {
			x := New(p, opening(exploring))
			err = x.Check(t.Context(), nil)
			if fields, _ := plan.FieldErrors(err); len(fields) == 0 || !slices.Contains(fields[0].Path, any("exploration")) {
				t.Errorf("%v does not say that it is about exploration", err)
			}
			if err := x.Close(); err != nil {
				t.Error(err)
			}
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}

// recordsOf runs a plan and returns its records as lines, in order.
func recordsOf(t *testing.T, p *plan.Plan, open Opener) (lines []string) {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, runPlan(t.Context(), p, runOptions{Dir: dir, Open: open}))
	for r, err := range result.ReadRecords(dir) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(r.AppendJSON(nil)))
	}
	if len(lines) == 0 {
		t.Fatal(fmt.Errorf("no records in %s", dir))
	}
	return lines
}

// Playing a run again shows all options of a decision, also of one that was not kept, and finds out a run that takes
// another course.
func TestExplain(t *testing.T) {
	p := explorations(t, func(c *plan.Config) { c.Record.Decisions = new(3) })
	plugins := opening(exploring)
	dir := t.TempDir()
	must.Do(t, runPlan(t.Context(), p, runOptions{Dir: dir, Open: exploring}))
	explained := 0
	for r, err := range result.ReadRecords(dir) {
		key, kept := r.Key(), r.Decisions
		if err != nil || key.Run != 1 || len(kept) < 2 {
			continue
		}
		explained++
		d, offered, err := Explain(t.Context(), p, plugins, false, key, p.Config.Steps, kept)
		if err != nil {
			t.Fatal(err)
		}
		if d.Step < kept[len(kept)-1].Step || len(offered) < 2 {
			t.Errorf("%s: the last decision is after step %d, and has options %+v", key.Agent, d.Step, offered)
		}
		d, offered, err = Explain(t.Context(), p, plugins, false, key, kept[1].Step, kept)
		if err != nil || !d.Same(&kept[1]) {
			t.Fatalf("%s: %+v and %v, want %+v", key.Agent, d, err, kept[1])
		}
		for _, o := range offered {
			if o.Name == d.Other && (o.Gain != d.Gain || o.Cost != d.Cost) || o.Name == d.Option && !o.Greedy && (o.Hold != d.Hold || o.Share != d.Share) {
				t.Errorf("%s: option %+v of %+v", key.Agent, o, d)
			}
			if mean := mean(o.Values); o.Greedy && math.Abs(mean-d.Greedy) > 1e-12 {
				t.Errorf("%s: the mean of the greedy option is %v, was %v", key.Agent, mean, d.Greedy)
			}
		}
		kept[0].Delta++
		if _, _, err = Explain(t.Context(), p, plugins, false, key, kept[1].Step, kept); err == nil || !strings.Contains(err.Error(), "its decision after 0 steps is another one than was recorded") {
			t.Errorf("another record: %v", err)
		}
	}
	if explained < 6 {
		t.Errorf("%d agents were explained", explained)
	}
}

func mean(values []float64) (m float64) {
	for _, v := range values {
		m += v / float64(len(values))
	}
	return m
}
