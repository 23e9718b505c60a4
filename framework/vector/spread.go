package vector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/options"
)

// Spread makes one plugin of several that are the same: each holds some of the
// lanes that are opened, and they are stepped at the same time. Because lanes
// never interact, what a lane does is the same as with one plugin; an error names
// the lane by its number among all. It panics without plugins.
func Spread(plugins ...Plugin) Plugin {
	if len(plugins) == 0 {
		panic("framework: no plugins to spread lanes over")
	}
	if len(plugins) == 1 {
		return plugins[0]
	}
	return spread(plugins)
}

type spread []Plugin

// Describe implements Plugin.
func (s spread) Describe(ctx context.Context) (Description, error) { return s[0].Describe(ctx) }

// OpenEnvironment implements Plugin. If there are fewer lanes than plugins,
// some plugins hold none.
func (s spread) OpenEnvironment(ctx context.Context, params json.RawMessage, lanes int) (Environment, error) {
	if lanes < 1 {
		return s[0].OpenEnvironment(ctx, params, lanes) // which says what is wrong
	}
	e := &spreadEnvironment{division: split(len(s), lanes)}
	e.parts = make([]Environment, len(e.from)-1)
	err := e.each(func(k, from, to int) (err error) {
		e.parts[k], err = s[k].OpenEnvironment(ctx, params, to-from)
		return err
	})
	if err == nil {
		e.spec = e.parts[0].Spec()
		for _, part := range e.parts[1:] {
			if spec := part.Spec(); !reflect.DeepEqual(spec, e.spec) {
				err = fmt.Errorf("%w: two processes of one plugin describe different environments, %s and %s: %+v and %+v", framework.ErrInvalidAnswer, e.spec.ID, spec.ID, e.spec, spec)
			}
		}
	}
	if err != nil {
		return nil, errors.Join(err, closeAll(e.parts))
	}
	return e, nil
}

// OpenAgent implements Plugin, like OpenEnvironment.
func (s spread) OpenAgent(ctx context.Context, params json.RawMessage, spec framework.Spec, lanes int) (Agent, error) {
	if lanes < 1 {
		return s[0].OpenAgent(ctx, params, spec, lanes)
	}
	a := &spreadAgent{division: split(len(s), lanes)}
	a.parts = make([]Agent, len(a.from)-1)
	err := a.each(func(k, from, to int) (err error) {
		a.parts[k], err = s[k].OpenAgent(ctx, params, spec, to-from)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, closeAll(a.parts))
	}
	for _, part := range a.parts {
		if able := part.Abilities().Options; able != nil {
			a.options = append(a.options, able)
		}
	}
	return a, nil
}

// division says which lanes are whose: part k has from[k] to from[k+1]−1.
type division struct {
	from   []int
	failed error // a lane's; a part tells of it again at every call
}

// split divides lanes among at most n parts, none empty.
func split(n, lanes int) division {
	n = min(n, lanes)
	from := make([]int, n+1)
	for k := range from {
		from[k] = k * lanes / n
	}
	return division{from: from}
}

// each calls f for every part at the same time. Of the errors, the one of the
// first part counts; its lane becomes the lane among all.
func (s *division) each(f func(k, from, to int) error) error {
	if s.failed != nil {
		return s.failed
	}
	errs := make([]error, len(s.from)-1)
	one := func(k int) {
		errs[k] = Guard(func() error { return f(k, s.from[k], s.from[k+1]) })
	}
	var wg sync.WaitGroup
	for k := 1; k < len(errs); k++ {
		wg.Go(func() { one(k) })
	}
	one(0)
	wg.Wait()
	for k, err := range errs {
		if err == nil {
			continue
		}
		var lane *LaneError
		var lanes *LanesError
		switch {
		case errors.As(err, &lane):
			lane.Lane += s.from[k]
			s.failed = err
		case errors.As(err, &lanes):
			lanes.From += s.from[k]
			lanes.To += s.from[k]
			s.failed = err
		}
		return err
	}
	return nil
}

// owner returns the part that a lane belongs to, and its number there.
func (s *division) owner(lane int) (k, local int, err error) {
	if lanes := s.from[len(s.from)-1]; lane < 0 || lane >= lanes {
		return 0, 0, fmt.Errorf("there is no lane %d of %d", lane, lanes)
	}
	for lane >= s.from[k+1] {
		k++
	}
	return k, lane - s.from[k], nil
}

func closeAll[T interface{ Close() error }](parts []T) error {
	var errs []error
	for _, part := range parts {
		if any(part) != nil {
			errs = append(errs, part.Close())
		}
	}
	return errors.Join(errs...)
}

// slice returns the time steps of some lanes, in the same memory.
func (t *TimeSteps) slice(from, to int) TimeSteps {
	return TimeSteps{
		Observations: t.Observations.Slice(from, to), Rewards: t.Rewards[from:to:to],
		Terminated: t.Terminated[from:to:to], Truncated: t.Truncated[from:to:to],
	}
}

type spreadEnvironment struct {
	division
	spec  framework.Spec
	parts []Environment
}

// Spec implements Environment.
func (e *spreadEnvironment) Spec() framework.Spec { return e.spec }

// Step implements Environment.
func (e *spreadEnvironment) Step(ctx context.Context, in *Actions, out *TimeSteps) error {
	return e.each(func(k, from, to int) error {
		some := Actions{Signals: in.Signals[from:to:to], Seeds: in.Seeds[from:to:to], Actions: in.Actions.Slice(from, to)}
		answer := out.slice(from, to)
		return e.parts[k].Step(ctx, &some, &answer)
	})
}

// Abilities implements Environment: those that all parts have.
func (e *spreadEnvironment) Abilities() EnvironmentAbilities {
	all := EnvironmentAbilities{Models: e.models}
	all.Measures = e.measures(func(part int) *Measures { return e.parts[part].Abilities().Measures })
	all.Calls = e.calls(func(part int) Calls { return e.parts[part].Abilities().Calls })
	for _, part := range e.parts {
		if part.Abilities().Models == nil {
			all.Models = nil
		}
	}
	return all
}

// Close implements Environment.
func (e *spreadEnvironment) Close() error { return closeAll(e.parts) }

func (e *spreadEnvironment) models(ctx context.Context) ([]*mdp.Tabular, error) {
	models := make([]*mdp.Tabular, e.from[len(e.parts)])
	err := e.each(func(k, from, to int) error {
		some, err := Models(ctx, e.parts[k])
		if err == nil && len(some) != to-from {
			err = fmt.Errorf("%w: %d models for %d lanes", framework.ErrInvalidAnswer, len(some), to-from)
		}
		copy(models[from:to], some)
		return err
	})
	return models, err
}

type spreadAgent struct {
	division
	parts   []Agent
	options []OptionAgent // of the parts that are able to
}

// Abilities implements Agent: those that all parts have.
func (a *spreadAgent) Abilities() AgentAbilities {
	all := AgentAbilities{Greedy: true}
	if len(a.options) == len(a.parts) {
		all.Options = a
	}
	all.Measures = a.measures(func(part int) *Measures { return a.parts[part].Abilities().Measures })
	all.Calls = a.calls(func(part int) Calls { return a.parts[part].Abilities().Calls })
	for _, part := range a.parts {
		all.Greedy = all.Greedy && part.Abilities().Greedy
	}
	return all
}

// slice returns what some lanes receive, in the same memory.
func (f *Feedback) slice(from, to int) Feedback {
	return Feedback{Signals: f.Signals[from:to:to], Seeds: f.Seeds[from:to:to], TimeSteps: f.TimeSteps.slice(from, to)}
}

// Step implements Agent.
func (a *spreadAgent) Step(ctx context.Context, in *Feedback, actions *space.Column) error {
	return a.each(func(k, from, to int) error {
		some, selected := in.slice(from, to), actions.Slice(from, to)
		return a.parts[k].Step(ctx, &some, &selected)
	})
}

// Close implements Agent.
func (a *spreadAgent) Close() error { return closeAll(a.parts) }

// SetOptionKinds implements OptionAgent.
func (a *spreadAgent) SetOptionKinds(ctx context.Context, kinds []options.Kind) error {
	return a.each(func(k, _, _ int) error { return a.options[k].SetOptionKinds(ctx, kinds) })
}

// StepOptions implements OptionAgent.
func (a *spreadAgent) StepOptions(ctx context.Context, in *Feedback, epochs []bool, actions *space.Column, problems []options.Problem) error {
	return a.each(func(k, from, to int) error {
		some, selected := in.slice(from, to), actions.Slice(from, to)
		return a.options[k].StepOptions(ctx, &some, epochs[from:to:to], &selected, problems[from:to:to])
	})
}

// Choose implements OptionAgent.
func (a *spreadAgent) Choose(ctx context.Context, choices []int, actions *space.Column) error {
	return a.each(func(k, from, to int) error {
		selected := actions.Slice(from, to)
		return a.options[k].Choose(ctx, choices[from:to:to], &selected)
	})
}

// GreedyPolicy implements OptionAgent.
func (a *spreadAgent) GreedyPolicy(ctx context.Context, lane int, dst []int) ([]int, error) {
	k, local, err := a.owner(lane)
	if err != nil {
		return dst, err
	}
	return a.options[k].GreedyPolicy(ctx, local, dst)
}
