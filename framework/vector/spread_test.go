package vector

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"context"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// A plugin says itself what is wrong with a number of lanes; a spread has none of its own
// opinion.
func TestSpreadOfNoLanes(t *testing.T) {
	refused := errors.New("no lanes")
	agent := &AgentPlugin{Open: func(_ json.RawMessage, _ framework.Spec, lanes int) (Agent, error) {
		if lanes != 0 {
			t.Errorf("%d lanes were asked for", lanes)
		}
		return nil, refused
	}}
	if _, err := Spread(agent, agent).OpenAgent(t.Context(), nil, testSpec(), 0); !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
	env := &EnvironmentPlugin{Open: func(_ json.RawMessage, lanes int) (Environment, error) { return nil, refused }}
	if _, err := Spread(env, env).OpenEnvironment(t.Context(), nil, 0); !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
}

// A part that has fewer models than lanes is refused, before lanes of it have none.
func TestSpreadWithoutSomeModels(t *testing.T) {
	p := &EnvironmentPlugin{Open: func(_ json.RawMessage, lanes int) (Environment, error) {
		env, err := Vectorize(func() (framework.Environment, error) { return &scripted{}, nil }, lanes)
		able := EnvironmentAbilities{Models: func(context.Context) ([]*mdp.Tabular, error) { return make([]*mdp.Tabular, lanes-1), nil }}
		return WithAbilities(env, able), err
	}}
	env := must.Get(Spread(p, p).OpenEnvironment(t.Context(), nil, 4))(t)
	if _, err := Models(t.Context(), env); !errors.Is(err, framework.ErrInvalidAnswer) || !strings.Contains(err.Error(), "1 models for 2 lanes") {
		t.Errorf("got %v", err)
	}
}
