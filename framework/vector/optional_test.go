package vector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// gifted is scripted with every optional ability.
type gifted struct {
	scripted
	model *mdp.Tabular
	state string
	fails error
}

func (g *gifted) Model(context.Context) (*mdp.Tabular, error) { return g.model, g.fails }
func (g *gifted) Render(context.Context) (string, error)      { return "|x  |\n", g.fails }
func (g *gifted) Save(context.Context) ([]byte, error)        { return []byte(g.state), g.fails }
func (g *gifted) Update(_ context.Context, t framework.Transition) error {
	g.learnt = append(g.learnt, framework.Transition{Observation: space.Value{Float64: slices.Clone(t.Observation.Float64)}, Action: t.Action, Reward: t.Reward})
	return nil
}
func (g *gifted) Load(_ context.Context, state []byte) error {
	g.state = string(state)
	return g.fails
}

func TestOptionalAbilitiesOfEnvironments(t *testing.T) {
	model := must.Get(mdp.NewModel(mdp.Definition{States: 1, Actions: 1, Transitions: []mdp.Transition{{P: 1}}}))(t)
	failure := errors.New("lost")
	var fails error
	env := must.Get(Vectorize(func() (framework.Environment, error) { return &gifted{model: model, fails: fails}, nil }, 2))(t)
	models, err := Models(t.Context(), env)
	if err != nil || len(models) != 2 || models[1] != model {
		t.Errorf("models %v, %v", models, err)
	}
	if text, err := Render.Ask(t.Context(), env, 1); err != nil || text != "|x  |\n" {
		t.Errorf("%q, %v", text, err)
	}
	for _, lane := range []int{-1, 2} {
		if _, err := Render.Ask(t.Context(), env, lane); err == nil || err.Error() != fmt.Sprintf("no lane %d of 2", lane) {
			t.Errorf("lane %d of 2: %v", lane, err)
		}
	}
	fails = failure
	broken := must.Get(Vectorize(func() (framework.Environment, error) { return &gifted{model: model, fails: fails}, nil }, 2))(t)
	var lane *LaneError
	if _, err := Models(t.Context(), broken); !errors.Is(err, failure) || !errors.As(err, &lane) || lane.Lane != 0 {
		t.Errorf("got %v", err)
	}
	if _, err := Render.Ask(t.Context(), broken, 0); !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
	plain := must.Get(Vectorize(func() (framework.Environment, error) { return &scripted{}, nil }, 1))(t)
	if plain.Abilities().Models != nil {
		t.Error("lanes of an environment without a model have models")
	}
	if _, err := Render.Ask(t.Context(), plain, 0); !errors.Is(err, framework.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	if _, err := Render.Ask(t.Context(), WithAbilities(plain, EnvironmentAbilities{}), 0); !errors.Is(err, framework.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

// batching is an environment that knows how to step many.
type batching struct{ scripted }

func (b *batching) Batch(lanes int) (Environment, error) {
	return nil, fmt.Errorf("a batch of %d", lanes)
}

func TestVectorizeAsksForABatch(t *testing.T) {
	_, err := Vectorize(func() (framework.Environment, error) { return &batching{}, nil }, 3)
	if err == nil || err.Error() != "a batch of 3" {
		t.Errorf("got %v", err)
	}
}

// The lanes that Vectorize makes refuse what their copies should never see.
func TestVectorizeRefusesSteps(t *testing.T) {
	env := must.Get(Vectorize(func() (framework.Environment, error) {
		return &scripted{step: func() (framework.TimeStep, error) {
			return framework.TimeStep{Observation: space.Value{Float64: []float64{0}}, Terminated: true}, nil
		}}, nil
	}, 1))(t)
	in, out := NewActions(env.Spec(), 1), NewTimeSteps(env.Spec(), 1)
	step := func(s Signal, action int64, want error) {
		t.Helper()
		in.Signals[0], in.Actions.Int64[0] = s, action
		if err := env.Step(t.Context(), in, &out); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	step(Continue, 1, framework.ErrNeedsReset)
	step(NewRun, 0, nil)
	step(Continue, 0, framework.ErrInvalidAction)
	step(Continue, 3, nil)
	step(Continue, 3, framework.ErrNeedsReset)
}

// crowd is an agent that knows how to step many.
type crowd struct{ scripted }

func (c *crowd) BatchAgent(lanes int) (Agent, error) {
	return nil, fmt.Errorf("a batch of %d", lanes)
}

func TestVectorizeAgentAsksForABatch(t *testing.T) {
	_, err := VectorizeAgent(func(uint64) (framework.Agent, error) { return &crowd{}, nil }, testSpec(), 3)
	if err == nil || err.Error() != "a batch of 3" {
		t.Errorf("got %v", err)
	}
}

func TestSaveAndLoadLanes(t *testing.T) {
	spec := testSpec()
	var made []*gifted
	agent := must.Get(VectorizeAgent(func(uint64) (framework.Agent, error) {
		made = append(made, &gifted{scripted: scripted{action: func() (space.Value, error) { return space.Value{Int: 2}, nil }}})
		return made[len(made)-1], nil
	}, spec, 2))(t)
	made = nil // was a look at what it can do
	if _, err := Save(t.Context(), agent, 0); !errors.Is(err, framework.ErrNeedsReset) {
		t.Errorf("saved before a run: %v", err)
	}
	in, actions := NewFeedback(spec, 2), space.NewColumn(spec.Action, 2)
	in.Signals[0], in.Observations.Float64[0] = NewRun, 0.25
	must.Do(t, agent.Step(t.Context(), in, &actions))
	made[0].state = "learned"
	state := must.Get(Save(t.Context(), agent, 0))(t)
	must.Do(t, Load(t.Context(), agent, 1, state))
	in.Signals[0], in.Signals[1], in.Rewards[1] = Idle, Continue, 3
	must.Do(t, agent.Step(t.Context(), in, &actions))
	if l := made[1].learnt; made[1].state != "learned" || len(l) != 1 || l[0].Observation.Float64[0] != 0.25 || l[0].Action.Int != 2 || l[0].Reward != 3 {
		t.Errorf("state %q, learnt %+v", made[1].state, l)
	}
	for _, lane := range []int{-1, 2} {
		if err := Load(t.Context(), agent, lane, state); err == nil || err.Error() != fmt.Sprintf("no lane %d of 2", lane) {
			t.Errorf("lane %d of 2: %v", lane, err)
		}
	}
	if err := Load(t.Context(), agent, 1, append(slices.Clone(state), 0)); err == nil {
		t.Error("loaded a state with another byte")
	}
	if made[1].state != "learned" {
		t.Errorf("a refused state became %q", made[1].state)
	}
	if err := Load(t.Context(), agent, 0, []byte("nonsense")); err == nil {
		t.Error("loaded nonsense")
	}
	plain := must.Get(VectorizeAgent(func(uint64) (framework.Agent, error) { return &scripted{}, nil }, spec, 1))(t)
	if err := Load(t.Context(), plain, 0, state); !errors.Is(err, framework.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	if _, err := Save(t.Context(), struct{ Agent }{plain}, 0); !errors.Is(err, framework.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}
