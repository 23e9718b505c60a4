package vector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
)

// Call asks a lane something. Question and answer have a form of their own for each
// ability (docs/protocol.md, "Asking"). It does not keep the slice question. The error
// wraps framework.ErrUnsupported where the lane has no answer.
type Call func(ctx context.Context, lane int, question []byte) (answer []byte, err error)

// Calls are the abilities of an Environment or Agent that ask a single lane, by name. As
// they are bytes in both directions, whatever wraps lanes (the client and the
// server of a process) passes all of them on and knows none of them.
type Calls map[string]Call

// call asks a lane of something, which is named in the error.
func (c Calls) call(ctx context.Context, of, name string, lane int, question []byte) ([]byte, error) {
	f := c[name]
	if f == nil {
		return nil, fmt.Errorf("%s does not have the ability %q: %w", of, name, framework.ErrUnsupported)
	}
	return f(ctx, lane, question)
}

// The abilities of environments that ask a lane which has been started. A new one is an
// Ability here, and the interface of package framework that copies have, in copyAbilities.
var (
	// Render is framework.Renderer.Render.
	Render = &Ability[string, string]{"render", toText, fromText, isText}
	// RenderFrame is framework.FrameRenderer.RenderFrame. The picture that Ask returns is
	// opaque (what is transparent becomes white), begins at (0, 0) and is the caller's.
	RenderFrame = &Ability[image.Image, *image.RGBA]{"frames", toFrame, fromFrame, nil}
	// ActionNames is framework.ActionNamer.ActionNames.
	ActionNames = &Ability[[]string, []string]{"action_names", toJSON[[]string], fromJSON[[]string], nameActions}
	// ModelNotes are what a user must know of the models of a finite task, of several if it
	// changes within a run: sentences without full stops (mdp.Tabular.Notes).
	ModelNotes = &Ability[[]string, []string]{"model_notes", toJSON[[]string], fromJSON[[]string], nil}
)

// Changes says whether the task of an environment changes within a run: its plugin has models, and it has
// none with these parameters, but measures its regret itself or has notes on several models.
func Changes(d Description, env Environment) bool {
	return env.Abilities().Models == nil && slices.Contains(d.Abilities, "model") && (Measured(env, "regret") || ModelNotes.Has(env))
}

// Measured says whether an environment measures a metric itself.
func Measured(env Environment, name string) bool {
	measures := env.Abilities().Measures
	return measures != nil && slices.ContainsFunc(measures.Metrics, func(m framework.Metric) bool { return m.Name == name })
}

// copyAbilities are the abilities of single copies of environments.
var copyAbilities = []copyAbility{
	ofCopy(Render, framework.Renderer.Render),
	ofCopy(RenderFrame, framework.FrameRenderer.RenderFrame),
	ofCopy(ActionNames, framework.ActionNamer.ActionNames),
}

// Ability is an ability of environments to answer for one lane. It gives a G, which
// arrives as an A.
type Ability[G, A any] struct {
	name string // among Calls, and among the abilities of a plugin
	to   func(G) ([]byte, error)
	from func([]byte) (A, error)
	// check reports an answer that environments with a spec must not give; nil: none.
	check func(spec framework.Spec, answer A) error
}

// Ask asks a lane of env. The error wraps framework.ErrUnsupported if env cannot answer,
// and framework.ErrInvalidAnswer if the answer is none.
func (a *Ability[G, A]) Ask(ctx context.Context, env Environment, lane int) (answer A, err error) {
	spec := env.Spec()
	data, err := env.Abilities().Calls.call(ctx, spec.ID, a.name, lane, nil)
	if err != nil {
		return answer, err
	}
	answer, err = a.from(data)
	if err == nil && a.check != nil {
		err = a.check(spec, answer)
	}
	if err != nil {
		err = fmt.Errorf("%s: %s: %w: %w", spec.ID, a.name, framework.ErrInvalidAnswer, err)
	}
	return answer, err
}

// Has says whether env has the ability.
func (a *Ability[G, A]) Has(env Environment) bool { return env.Abilities().Calls[a.name] != nil }

// By returns calls that f answers. Batches with several abilities join them with JoinCalls.
func (a *Ability[G, A]) By(f func(ctx context.Context, lane int) (G, error)) Calls {
	return Calls{a.name: func(ctx context.Context, lane int, _ []byte) ([]byte, error) {
		answer, err := f(ctx, lane)
		if err != nil {
			return nil, err
		}
		data, err := a.to(answer)
		if err != nil {
			err = fmt.Errorf("%w: %w", framework.ErrInvalidAnswer, err)
		}
		return data, err
	}}
}

// JoinCalls returns all of the calls.
func JoinCalls(of ...Calls) Calls {
	all := Calls{}
	for _, c := range of {
		maps.Copy(all, c)
	}
	return all
}

// copyAbility is an ability of a single copy.
type copyAbility struct {
	name string
	has  func(env framework.Environment) bool
	by   func(of func(lane int) framework.Environment) Calls
	ask  func(ctx context.Context, env Environment, lane int) error
}

// ofCopy makes an ability of copies that are a C.
func ofCopy[C, G, A any](a *Ability[G, A], method func(C, context.Context) (G, error)) copyAbility {
	return copyAbility{
		name: a.name,
		has:  func(env framework.Environment) bool { _, ok := env.(C); return ok },
		by: func(of func(lane int) framework.Environment) Calls {
			return a.By(func(ctx context.Context, lane int) (answer G, err error) {
				c, ok := of(lane).(C)
				if !ok {
					return answer, fmt.Errorf("the copy has no ability %q, other than the first: %w", a.name, framework.ErrUnsupported)
				}
				return method(c, ctx)
			})
		},
		ask: func(ctx context.Context, env Environment, lane int) error {
			_, err := a.Ask(ctx, env, lane)
			return err
		},
	}
}

// CopyAbilities returns the names of the abilities that a single copy has.
func CopyAbilities(env framework.Environment) (names []string) {
	for _, a := range copyAbilities {
		if a.has(env) {
			names = append(names, a.name)
		}
	}
	return names
}

// AskAll asks a lane of env, which has been started, for each of its abilities, and returns
// the errors by name. They are those of Ability.Ask. Of an ability that this program does
// not know, it is only an error that wraps framework.ErrUnsupported.
func AskAll(ctx context.Context, env Environment, lane int) map[string]error {
	errs := map[string]error{}
	for name, call := range env.Abilities().Calls {
		ask := func(ctx context.Context, _ Environment, lane int) error {
			if _, err := call(ctx, lane, nil); errors.Is(err, framework.ErrUnsupported) {
				return err
			}
			return nil
		}
		if k := slices.IndexFunc(copyAbilities, func(a copyAbility) bool { return a.name == name }); k >= 0 {
			ask = copyAbilities[k].ask
		}
		errs[name] = Guard(func() error { return ask(ctx, env, lane) })
	}
	return errs
}

// calls are those of all copies.
func (v *vectorEnvironment) calls() Calls {
	all := Calls{}
	for _, a := range copyAbilities {
		if a.has(v.envs[0]) {
			maps.Copy(all, a.by(func(lane int) framework.Environment { return v.envs[lane] }))
		}
	}
	for name, f := range all {
		all[name] = func(ctx context.Context, lane int, question []byte) (answer []byte, err error) {
			if lane < 0 || lane >= len(v.envs) {
				return nil, fmt.Errorf("no lane %d of %d", lane, len(v.envs))
			}
			err = Guard(func() (err error) { answer, err = f(ctx, lane, question); return err })
			return answer, err
		}
	}
	return all
}

// The names of the abilities of agents that can be stored.
const (
	saveCall = "save"
	loadCall = "load"
	// recommendCall asks an agent for the action that it would stay with.
	recommendCall = "recommend"
)

// Recommendation returns the call of an agent that says in tasks of one state which action it would stay with from now
// on. Its answer is a number of the Discrete action space, in decimal. It changes nothing.
func Recommendation(f func(ctx context.Context, lane int) (action int64, err error)) Calls {
	return Calls{recommendCall: func(ctx context.Context, lane int, _ []byte) ([]byte, error) {
		action, err := f(ctx, lane)
		return strconv.AppendInt(nil, action, 10), err
	}}
}

// Recommend asks a lane of an agent for its Recommendation. The error wraps framework.ErrUnsupported if it has none.
func Recommend(ctx context.Context, agent Agent, lane int) (action int64, err error) {
	answer, err := agent.Abilities().Calls.call(ctx, "the agent", recommendCall, lane, nil)
	if err != nil {
		return 0, err
	}
	if action, err = strconv.ParseInt(string(answer), 10, 64); err != nil {
		err = fmt.Errorf("recommend: %w: %w", framework.ErrInvalidAnswer, err)
	}
	return action, err
}

// Recommends says whether an agent may have a Recommendation.
func Recommends(agent Agent) bool { return agent.Abilities().Calls[recommendCall] != nil }

// Checkpoint returns the calls of an Agent that can be stored. save returns everything that
// the behavior of a lane depends on, as framework.Saver.Save does; the lane's run has
// begun. load makes a lane go on from a saved state, as framework.Loader.Load does; the
// lane need not have begun a run.
func Checkpoint(save func(ctx context.Context, lane int) ([]byte, error), load func(ctx context.Context, lane int, state []byte) error) Calls {
	return Calls{
		saveCall: func(ctx context.Context, lane int, _ []byte) ([]byte, error) { return save(ctx, lane) },
		loadCall: func(ctx context.Context, lane int, state []byte) ([]byte, error) { return nil, load(ctx, lane, state) },
	}
}

// Storable says whether agent may have Save and Load.
func Storable(agent Agent) bool {
	calls := agent.Abilities().Calls
	return calls[saveCall] != nil && calls[loadCall] != nil
}

// ListAbilities returns the abilities of an agent whose lane 0 has begun a run, as a
// Description lists them.
func ListAbilities(ctx context.Context, agent Agent) (names []string) {
	able := agent.Abilities()
	if able.Options != nil {
		names = append(names, "options")
	}
	if able.Greedy {
		names = append(names, "greedy")
	}
	if able.Masks {
		names = append(names, "masks")
	}
	unsupported := func(f func() error) bool { return errors.Is(Guard(f), framework.ErrUnsupported) }
	for _, name := range slices.Sorted(maps.Keys(able.Calls)) {
		if name != saveCall && name != loadCall && name != recommendCall && !unsupported(func() error { _, err := able.Calls[name](ctx, 0, nil); return err }) {
			names = append(names, name)
		}
	}
	var state []byte
	save := func() (err error) { state, err = Save(ctx, agent, 0); return err }
	load := func() error { return Load(ctx, agent, 0, state) }
	if !unsupported(save) && !unsupported(load) {
		names = append(names, "checkpoint")
	}
	return names
}

// Save stores a lane of agent. The error wraps framework.ErrUnsupported if agent cannot.
func Save(ctx context.Context, agent Agent, lane int) ([]byte, error) {
	return agent.Abilities().Calls.call(ctx, "the agent", saveCall, lane, nil)
}

// Load restores a lane of agent. The error wraps framework.ErrUnsupported if agent cannot.
func Load(ctx context.Context, agent Agent, lane int, state []byte) error {
	_, err := agent.Abilities().Calls.call(ctx, "the agent", loadCall, lane, state)
	return err
}

func toText(text string) ([]byte, error)   { return []byte(text), nil }
func fromText(text []byte) (string, error) { return string(text), nil }

// isText reports a picture that is not text.
func isText(_ framework.Spec, text string) error {
	if text == "" || !utf8.ValidString(text) {
		return fmt.Errorf("the picture is %q, want text", text)
	}
	return nil
}

// nameActions reports names that are not one for every action.
func nameActions(spec framework.Spec, names []string) error {
	if actions, ok := spec.Action.(space.Discrete); !ok || int64(len(names)) != actions.N {
		return fmt.Errorf("%d names of actions for %v", len(names), spec.Action)
	}
	return nil
}

func toJSON[A any](answer A) ([]byte, error) { return json.Marshal(answer) }

func fromJSON[A any](data []byte) (answer A, err error) {
	err = json.Unmarshal(data, &answer)
	return answer, err
}
