package rltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/internal/actortest"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// tangled has a bug that shows with several actors alone, or is slow.
type tangled struct {
	vector.Agent
	bug    string
	actors int
}

func (a *tangled) Step(ctx context.Context, in *vector.Feedback, actions *space.Column) error {
	if a.bug == "slow" {
		time.Sleep(time.Millisecond)
	}
	err := a.Agent.Step(ctx, in, actions)
	if a.actors > 1 && a.bug == "acts as the run before" {
		copy(actions.Int64[len(actions.Int64)/2:], actions.Int64[:len(actions.Int64)/2])
	}
	return err
}

func (a *tangled) Abilities() vector.AgentAbilities {
	able := a.Agent.Abilities()
	if a.bug == "goes on otherwise" {
		load := able.Calls["load"]
		able.Calls["load"] = func(ctx context.Context, lane int, state []byte) ([]byte, error) {
			state = slices.Clone(state)
			state[0] ^= byte(a.actors - 1) // right for one actor
			return load(ctx, lane, state)
		}
	}
	if a.bug == "needs its number of actors" {
		load := able.Calls["load"]
		able.Calls["load"] = func(ctx context.Context, lane int, state []byte) ([]byte, error) {
			if int(state[0]) != a.actors {
				return nil, fmt.Errorf("a state of %d actors", state[0])
			}
			return load(ctx, lane, state[1:])
		}
		save := able.Calls["save"]
		able.Calls["save"] = func(ctx context.Context, lane int, question []byte) ([]byte, error) {
			state, err := save(ctx, lane, question)
			return append([]byte{byte(a.actors)}, state...), err
		}
	}
	return able
}

// The check of an agent with several actors finds runs that depend on each other, states that fit one number of actors, and runs that go on otherwise.
func TestCheckOfActors(t *testing.T) {
	finite := Specs()[2]
	for bug, rule := range map[string]Rule{"": "", "acts as the run before": LanesIndependent, "needs its number of actors": RoundTrips, "goes on otherwise": RoundTrips, "takes one": Works} {
		p := actortest.Plugin()
		open := p.Open
		p.Open = func(params json.RawMessage, spec framework.Spec, lanes int) (vector.Agent, error) {
			if spec.Actors > 1 && bug == "takes one" {
				return nil, errors.New("one is enough")
			}
			agent, err := open(params, spec, lanes)
			return &tangled{agent, bug, spec.Actors}, err
		}
		broken := Broken(CheckPlugin(t.Context(), p, nil, finite))
		if bug == "" && len(broken) > 0 || bug != "" && !slices.Contains(broken, rule) {
			t.Errorf("with the bug %q: %v", bug, broken)
		}
	}
}

// A check whose time is over tries every rule of actors in the smallest form.
func TestCheckOfActorsWithoutTime(t *testing.T) {
	if err := (Bounds{Time: 1}).CheckPlugin(t.Context(), actortest.Plugin(), nil, Specs()[2]); err != nil {
		t.Error(err)
	}
}
