package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/params"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// The words of the contract, so that an author needs one import.
type (
	// Environment is one copy of a task.
	Environment = framework.Environment
	// Agent is one copy of an agent.
	Agent = framework.Agent
	// Spec describes an environment.
	Spec = framework.Spec
	// TimeStep is what one step of an Environment yields.
	TimeStep = framework.TimeStep
	// Transition is one step as a learner sees it.
	Transition = framework.Transition
	// Candidates are the options of an agent that is a framework.Optioner.
	Candidates = framework.Candidates
	// Policy is how an option is followed.
	Policy = framework.Policy
	// Metric is one of the metrics of a framework.Measurer.
	Metric = framework.Metric
	// Value is an observation or an action.
	Value = space.Value
	// Discrete is a range of whole numbers.
	Discrete = space.Discrete
	// MultiDiscrete is a vector of whole numbers, each with a range of its own.
	MultiDiscrete = space.MultiDiscrete
	// Box is an array of numbers between bounds.
	Box = space.Box
)

// Errors that authors wrap: parameters that do not fit each other, and something
// that the plugin cannot do, such as an agent for discrete actions with others.
var (
	ErrInvalidParams = framework.ErrInvalidParams
	ErrUnsupported   = framework.ErrUnsupported
)

// ServeEnvironment serves an environment. The main function of its program only calls it:
//
//	func main() {
//		plugin.ServeEnvironment("me/corridor@1", "A corridor with a goal at its end.", params{Length: 8}, newCorridor)
//	}
//
// See NewEnvironment for the arguments and Serve for what happens.
func ServeEnvironment[P any, E Environment](id, doc string, defaults P, newEnv func(P) (E, error)) {
	Serve(NewEnvironment(id, doc, defaults, newEnv))
}

// ServeAgent is all that the main of an agent's program has to call. See NewAgent
// for the arguments and Serve for what happens.
func ServeAgent[P any, A Agent](id, doc string, defaults P, newAgent func(p P, spec Spec, seed uint64) (A, error)) {
	Serve(NewAgent(id, doc, defaults, newAgent))
}

// NewEnvironment makes a plugin of an environment.
//
// id is namespace/name@version, doc a sentence for people. P is a struct whose
// fields are the parameters, as package framework/params describes, and defaults
// holds their default values. newEnv makes a copy of the environment. Its error
// wraps ErrInvalidParams if parameters do not fit each other. A spec that leaves
// its ID empty gets id.
//
// An environment may also be a vector.Batcher, KnownModel, Renderer or FrameRenderer, and
// an io.Closer; its batch may have all abilities of a vector.Environment. It is made once
// with the defaults to see what it can do; if they do not suffice, its abilities are
// those of the type E.
func NewEnvironment[P any, E Environment](id, doc string, defaults P, newEnv func(P) (E, error)) vector.Plugin {
	open := func(p P, lanes int) (vector.Environment, error) {
		env, err := vector.Vectorize(func() (Environment, error) { return newEnv(p) }, lanes)
		if err != nil {
			return nil, err
		}
		return identify(env, id), nil
	}
	var zero E
	_, models := any(zero).(framework.KnownModel)
	abilities := vector.CopyAbilities(zero)
	if env, err := open(defaults, 1); err == nil {
		models, abilities = env.Abilities().Models != nil, answers(env)
		closeCopy(env)
	}
	d := vector.Description{ID: id, Kind: vector.KindEnvironment, Doc: doc, Params: params.Schema(&defaults)}
	if models {
		d.Abilities = append(d.Abilities, "model")
	}
	d.Abilities = append(d.Abilities, abilities...)
	return &vector.EnvironmentPlugin{
		Description: d,
		Open: func(raw json.RawMessage, lanes int) (vector.Environment, error) {
			p, err := decode(&defaults, raw)
			if err != nil {
				return nil, err
			}
			return open(p, lanes)
		},
	}
}

// decode reads parameters over a copy of the defaults that shares no memory with
// them.
func decode[P any](defaults *P, raw json.RawMessage) (P, error) {
	var p P
	data, err := json.Marshal(defaults)
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil {
		return p, err
	}
	return p, params.Decode(raw, &p)
}

// answers starts a lane to see which abilities of env have an answer.
func answers(env vector.Environment) (abilities []string) {
	spec := env.Spec()
	if spec.Validate() != nil {
		return nil
	}
	in, out := vector.NewActions(spec, 1), vector.NewTimeSteps(spec, 1)
	in.Signals[0] = vector.NewRun
	ctx := context.Background()
	begun := vector.Guard(func() error { return env.Step(ctx, in, &out) })
	for name, err := range vector.AskAll(ctx, env, 0) {
		if !errors.Is(errors.Join(begun, err), framework.ErrUnsupported) {
			abilities = append(abilities, name)
		}
	}
	slices.Sort(abilities)
	return abilities
}

// NewAgent makes a plugin of an agent. The arguments are NewEnvironment's, but
// that newAgent makes a fresh agent for every run, with the seed of its random
// streams, for environments as spec describes them. Its error wraps ErrUnsupported
// where the agent is not for such environments; it is also called once for each
// batch to find that out.
//
// An agent may also be a vector.AgentBatcher, an Optioner, a GreedyAgent, a Saver and
// Loader, or an io.Closer. Further abilities of a batch are in its vector.AgentAbilities.
// One is made with the defaults for a few kinds of environments to see what it can do.
func NewAgent[P any, A Agent](id, doc string, defaults P, newAgent func(p P, spec Spec, seed uint64) (A, error)) vector.Plugin {
	open := func(p P, spec Spec, lanes int) (vector.Agent, error) {
		return vector.VectorizeAgent(func(seed uint64) (Agent, error) { return newAgent(p, spec, seed) }, spec, lanes)
	}
	d := vector.Description{ID: id, Kind: vector.KindAgent, Doc: doc, Params: params.Schema(&defaults)}
	for _, spec := range usual() {
		if agent, err := open(defaults, spec, 1); err == nil {
			d.Abilities = abilities(agent, spec)
			break
		}
	}
	return &vector.AgentPlugin{
		Description: d,
		Open: func(raw json.RawMessage, spec Spec, lanes int) (vector.Agent, error) {
			p, err := decode(&defaults, raw)
			if err != nil {
				return nil, err
			}
			return open(p, spec, lanes)
		},
	}
}

// usual returns a few environments. Most agents accept at least one of them.
// Zero is an observation of all of them.
func usual() []Spec {
	box := Box{Shape: []int{2}, Low: []float64{-1}, High: []float64{1}}
	return []Spec{
		{ID: "rlrun/bandit@1", Observation: Discrete{N: 1}, Action: Discrete{N: 2}, RewardHigh: 1, Continuing: true},
		{ID: "rlrun/finite@1", Observation: Discrete{N: 2}, Action: Discrete{N: 2}, RewardHigh: 1},
		{ID: "rlrun/features@1", Observation: box, Action: Discrete{N: 2}, RewardHigh: 1},
		{ID: "rlrun/control@1", Observation: box, Action: box, RewardHigh: 1},
		{ID: "rlrun/factored@1", Observation: MultiDiscrete{NVec: []int64{2, 2}}, Action: MultiDiscrete{NVec: []int64{2, 2}}, RewardHigh: 1},
	}
}

// abilities starts a lane to see what an agent can do, and closes it. What goes wrong here
// shows where it matters.
func abilities(agent vector.Agent, spec Spec) []string {
	ctx, in, actions := context.Background(), vector.NewFeedback(spec, 1), space.NewColumn(spec.Action, 1)
	in.Signals[0] = vector.NewRun
	_ = vector.Guard(func() error { return agent.Step(ctx, in, &actions) })
	list := vector.ListAbilities(ctx, agent)
	closeCopy(agent)
	return list
}

// closeCopy closes what was made to see what it can do. No result depends on it. The host
// waits for the plugin meanwhile, and shows what it has written if it takes too long.
func closeCopy(c io.Closer) {
	defer time.AfterFunc(time.Second, func() {
		fmt.Fprintln(os.Stderr, "Close has not returned after 1s. It was called when the plugin started, to see what it can do.")
	}).Stop()
	_ = vector.Guard(c.Close)
}

// identify gives an environment without an id of its own the plugin's.
func identify(env vector.Environment, id string) vector.Environment {
	spec := env.Spec()
	if spec.ID != "" {
		return env
	}
	spec.ID = id
	return &identified{env, spec}
}

type identified struct {
	vector.Environment
	spec Spec
}

// Spec implements vector.Environment.
func (n *identified) Spec() Spec { return n.spec }
