package vector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rlrun/rlrun/framework"
)

// Kind is the kind of a plugin.
type Kind string

// The kinds of plugin.
const (
	KindEnvironment Kind = "environment"
	KindAgent       Kind = "agent"
	KindRule        Kind = "rule"    // decides between options of agents
	KindOptions     Kind = "options" // makes options
)

// PluginKinds are all kinds.
var PluginKinds = []Kind{KindEnvironment, KindAgent, KindRule, KindOptions}

// PickleAbility marks agents in Python whose saved states are pickled: to load one runs
// code that is in it. docs/protocol.md has more.
const PickleAbility = "pickle"

// Description is what a plugin says of itself before anything is opened.
type Description struct {
	ID   string `json:"id"`   // namespace/name@version
	Kind Kind   `json:"kind"` // environment or agent
	Doc  string `json:"doc"`  // a sentence for people
	// Params is the JSON schema of the parameters, with defaults and documentation.
	Params json.RawMessage `json:"params"`
	// Abilities lists optional abilities: of environments "model" (EnvironmentAbilities.Models)
	// and the names of Calls, of agents "checkpoint" (Save and Load), "greedy"
	// (AgentAbilities.Greedy), "masks" (AgentAbilities.Masks), "options" (AgentAbilities.Options)
	// and PickleAbility.
	Abilities []string `json:"abilities,omitempty"`
	// Breaks names the laws of agents (framework/rltest) that the agent breaks by
	// design, each with the reason.
	Breaks map[string]string `json:"breaks,omitempty"`
	// Requires is the oldest rlrun that the plugin works with, "rlrun >= 0.2.0"; any if
	// empty.
	Requires string `json:"requires,omitempty"`
	// PreferredLanes is the number of lanes that suits the plugin best, at most: a host
	// that chooses the number opens no more. 0: any.
	PreferredLanes int `json:"preferred_lanes,omitempty"`
	// FramesPerSecond is the pace at which frames of successive steps look natural. 0: unknown.
	FramesPerSecond float64 `json:"frames_per_second,omitempty"`
	// MaxActors is, of agents, the largest framework.Spec.Actors that they take. 0: 1.
	MaxActors int `json:"max_actors,omitempty"`
}

// Plugin provides environments or agents. Local plugins (EnvironmentPlugin,
// AgentPlugin) and the clients of plugin processes both satisfy it.
type Plugin interface {
	// Describe says what the plugin is, and which parameters it takes.
	Describe(ctx context.Context) (Description, error)
	// OpenEnvironment returns a batch of lanes. params is JSON that fits the
	// description's schema; empty means all defaults.
	OpenEnvironment(ctx context.Context, params json.RawMessage, lanes int) (Environment, error)
	// OpenAgent returns a batch of lanes of an agent for environments as spec
	// describes them. lanes is a multiple of spec.Actors.
	OpenAgent(ctx context.Context, params json.RawMessage, spec framework.Spec, lanes int) (Agent, error)
}

// EnvironmentPlugin is a Plugin in this process that provides environments.
type EnvironmentPlugin struct {
	Description Description // with the kind environment
	// Open returns an environment with the given lanes. params is JSON; empty: defaults.
	Open func(params json.RawMessage, lanes int) (Environment, error)
}

// Describe implements Plugin.
func (p *EnvironmentPlugin) Describe(context.Context) (Description, error) { return p.Description, nil }

// OpenEnvironment implements Plugin.
func (p *EnvironmentPlugin) OpenEnvironment(_ context.Context, params json.RawMessage, lanes int) (Environment, error) {
	env, err := p.Open(params, lanes)
	if err != nil {
		return nil, err
	}
	if spec := env.Spec(); spec.RewardLow == 0 && spec.RewardHigh == 0 {
		return unbounded{env}, nil
	}
	return env, nil
}

// unbounded is an environment that declares no bounds on rewards.
type unbounded struct{ Environment }

func (u unbounded) Spec() framework.Spec { return u.Environment.Spec().Normalized() }

// OpenAgent implements Plugin: it is an error.
func (p *EnvironmentPlugin) OpenAgent(context.Context, json.RawMessage, framework.Spec, int) (Agent, error) {
	return nil, fmt.Errorf("%s is an environment, not an agent: %w", p.Description.ID, framework.ErrUnsupported)
}

// AgentPlugin is a Plugin in this process that provides agents.
type AgentPlugin struct {
	Description Description // with the kind agent
	// Open returns an agent with the given lanes for environments with this spec. params is JSON;
	// empty: defaults.
	Open func(params json.RawMessage, spec framework.Spec, lanes int) (Agent, error)
}

// Describe implements Plugin.
func (p *AgentPlugin) Describe(context.Context) (Description, error) { return p.Description, nil }

// OpenAgent implements Plugin.
func (p *AgentPlugin) OpenAgent(_ context.Context, params json.RawMessage, spec framework.Spec, lanes int) (Agent, error) {
	agent, err := p.Open(params, spec.Normalized(), lanes)
	switch v := agent.(type) {
	case *vectorAgent:
		v.id = p.Description.ID
	case *laneVectorAgent:
		v.id = p.Description.ID
	}
	if err != nil {
		return nil, err
	}
	return Admit(agent, spec)
}

// Admit returns an agent that was opened for environments of a spec. It closes and refuses one
// that does not read masks where they have them, with an error wrapping framework.ErrUnsupported.
// Plugins call it whose agents are opened elsewhere.
func Admit(agent Agent, spec framework.Spec) (Agent, error) {
	if !spec.Masks || agent.Abilities().Masks {
		return agent, nil
	}
	err := fmt.Errorf("%s masks actions, and this agent does not read masks: choose one with the ability masks, such as random, linear-bandit for bandits, q-learning, bootstrap-q, psrl or most others for tables: %w", spec.ID, framework.ErrUnsupported)
	return nil, errors.Join(err, agent.Close())
}

// OpenEnvironment implements Plugin: it is an error.
func (p *AgentPlugin) OpenEnvironment(context.Context, json.RawMessage, int) (Environment, error) {
	return nil, fmt.Errorf("%s is an agent, not an environment: %w", p.Description.ID, framework.ErrUnsupported)
}
