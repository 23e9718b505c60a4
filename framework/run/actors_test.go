package run

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/internal/actortest"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// lottery is coin whose first reset draws what a step pays.
type lottery struct {
	coin
	pays float64
}

func (l *lottery) Reset(ctx context.Context, s uint64) (space.Value, error) {
	l.pays = float64(s % 100)
	return l.coin.Reset(ctx, s)
}

func (l *lottery) Model(context.Context) (*mdp.Tabular, error) {
	return mdp.NewModel(mdp.Definition{States: 1, Actions: 2, Transitions: []mdp.Transition{{P: 1}, {A: 1, P: 1}}, Rewards: []mdp.Reward{{R: l.pays}}})
}

// judge is a coin that measures its regret itself.
type judge struct{ coin }

func (*judge) Metrics() []framework.Metric {
	return []framework.Metric{{Name: "regret", Better: framework.Lower, Total: framework.Last}}
}

func (*judge) Measure(_ context.Context, dst []float64) error { dst[0] = 0; return nil }

// withActors opens coin, lottery, judge, alternate and mixer.
func withActors(ctx context.Context, c plan.Component) (vector.Plugin, func() error, error) {
	none := func() error { return nil }
	switch c.Plugin {
	case "mixer":
		return actortest.Plugin(), none, nil
	case "lottery":
		return &vector.EnvironmentPlugin{Description: vector.Description{Kind: vector.KindEnvironment}, Open: func(_ json.RawMessage, lanes int) (vector.Environment, error) {
			return vector.Vectorize(func() (framework.Environment, error) { return &lottery{}, nil }, lanes)
		}}, none, nil
	case "judge":
		return &vector.EnvironmentPlugin{Description: vector.Description{Kind: vector.KindEnvironment}, Open: func(_ json.RawMessage, lanes int) (vector.Environment, error) {
			return vector.Vectorize(func() (framework.Environment, error) { return &judge{}, nil }, lanes)
		}}, none, nil
	}
	return opener(nil)(ctx, c)
}

func actorConfig(environment, agent string, actors int) plan.Config {
	return plan.Config{Runs: 2, Steps: 30, Environments: []plan.Component{{Name: "e", Plugin: environment}}, Agents: []plan.Component{{Name: "a", Plugin: agent, Actors: actors}}}
}

// What several actors do not go with is refused before anything runs.
func TestActorsAreRefused(t *testing.T) {
	of := func(change func(*plan.Config)) plan.Config {
		c := actorConfig("coin", "mixer", 3)
		change(&c)
		return c
	}
	for want, c := range map[string]plan.Config{
		"is 9, and mixer takes at most 8":            actorConfig("coin", "mixer", 9),
		"is 2, and alternate takes at most 1":        actorConfig("coin", "alternate", 2),
		"must be at least 1, not -1":                 actorConfig("coin", "mixer", -1),
		"actors of a run would meet different tasks": actorConfig("lottery", "mixer", 2),
		"measures its regret itself":                 actorConfig("judge", "mixer", 2),
		"environments do not act":                    of(func(c *plan.Config) { c.Environments[0].Actors = 2 }),
		"explores in its own way":                    of(func(c *plan.Config) { c.Agents[0].Exploration = &plan.Exploration{} }),
	} {
		p, err := plan.Compile(c)
		if err == nil {
			err = New(p, opening(withActors)).Check(t.Context(), nil)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if fields, all := plan.FieldErrors(err); !all || len(fields) != 1 || fields[0].Path[len(fields[0].Path)-1] != "actors" {
			t.Errorf("%v is not about actors", err)
		}
	}
}

// A checked experiment with actors evaluates and saves its agents, goes on with them, and can be verified.
func TestActorsAreEvaluatedAndSaved(t *testing.T) {
	play := func(c plan.Config, dir string) (records []string) {
		x := New(must.Get(plan.Compile(c))(t), opening(withActors))
		x.Dir.Path = dir
		must.Do(t, x.Check(t.Context(), nil))
		if found := must.Get(x.Verify(t.Context(), 2))(t); len(found) > 0 {
			t.Error(found)
		}
		must.Do(t, x.Run(t.Context(), store.Refuse, Settings{}))
		must.Do(t, x.Close())
		for r, err := range result.ReadRecords(dir) {
			must.Do(t, err)
			if len(r.Curves[result.EvaluationReward]) == 0 || r.Status != result.OK || r.Steps != 30 {
				t.Errorf("%v %s: %v", r.Status, r.Error, r.Curves)
			}
			r.Experiment = ""
			records = append(records, string(r.AppendJSON(nil)))
		}
		return records
	}
	c := actorConfig("coin", "mixer", 4)
	c.Evaluate, c.Save = &plan.Evaluation{Every: 10, Steps: 5}, &plan.Save{Every: 7}
	dir := t.TempDir()
	first := play(c, dir)
	c.Agents[0].WarmStart, c.Save = &plan.WarmStart{From: dir}, nil
	if on := play(c, t.TempDir()); len(on) != 2 || fmt.Sprint(on) == fmt.Sprint(first) {
		t.Errorf("the agents that go on: %v\nbefore: %v", on, first)
	}
}

// One actor is what an agent has without the key.
func TestOneActorIsTheDefault(t *testing.T) {
	one, none := must.Get(plan.Compile(actorConfig("coin", "mixer", 1)))(t), must.Get(plan.Compile(actorConfig("coin", "mixer", 0)))(t)
	if a, b := one.Identities(), none.Identities(); fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("%v, %v", a, b)
	}
}
