package vector

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/mdp"
)

// Vectorize lifts single environments to lanes. newEnv is called once a lane; a
// panic in one lane becomes an error that names the lane. A step outside an
// episode and an action outside the action space are refused before they reach a
// copy. Lanes have the optional abilities of the copies: see Batcher, KnownModel
// and CopyAbilities. A copy that is an io.Closer is closed with the lanes.
func Vectorize(newEnv func() (framework.Environment, error), lanes int) (Environment, error) {
	if lanes < 1 {
		return nil, fmt.Errorf("%d lanes; must be at least 1", lanes)
	}
	v := &vectorEnvironment{envs: make([]framework.Environment, lanes), running: make([]bool, lanes)}
	for i := range v.envs {
		env, err := newEnv()
		if err != nil {
			return nil, errors.Join(err, v.Close())
		}
		if b, ok := env.(Batcher); ok && i == 0 {
			return b.Batch(lanes)
		}
		v.envs[i] = env
	}
	v.spec = v.envs[0].Spec().Normalized()
	_, v.spec.Masks = v.envs[0].(framework.ActionMasker)
	if _, discrete := v.spec.Action.(space.Discrete); v.spec.Masks && !discrete { // the rest is validated when it has an id
		return nil, errors.Join(errors.New("masks are for discrete actions"), v.Close())
	}
	return v, nil
}

type vectorEnvironment struct {
	spec    framework.Spec
	envs    []framework.Environment
	running []bool // an episode goes on
}

func (v *vectorEnvironment) Spec() framework.Spec { return v.spec }

func (v *vectorEnvironment) Step(ctx context.Context, in *Actions, out *TimeSteps) error {
	return eachLane(len(v.envs), func(i int) error { return v.step(ctx, i, in, out) })
}

func (v *vectorEnvironment) step(ctx context.Context, i int, in *Actions, out *TimeSteps) error {
	var ts framework.TimeStep
	var err error
	switch in.Signals[i] {
	case Idle:
		return nil
	case NewEpisode, NewRun:
		ts.Observation, err = v.envs[i].Reset(ctx, in.Seeds[i])
	default:
		if !v.running[i] {
			return framework.ErrNeedsReset
		}
		if err := v.spec.Action.Check(&in.Actions, i); err != nil {
			return fmt.Errorf("%w: %w", framework.ErrInvalidAction, err)
		}
		ts, err = v.envs[i].Step(ctx, in.Actions.Get(v.spec.Action, i))
	}
	if err != nil {
		return err
	}
	v.running[i] = !ts.Terminated && !ts.Truncated
	out.Rewards[i], out.Terminated[i], out.Truncated[i] = ts.Reward, ts.Terminated, ts.Truncated
	if err := out.Observations.Set(v.spec.Observation, i, ts.Observation); err != nil {
		return fmt.Errorf("%w: observation: %w", framework.ErrInvalidAnswer, err)
	}
	if !v.spec.Masks {
		return nil
	}
	m, ok := v.envs[i].(framework.ActionMasker)
	if !ok {
		return fmt.Errorf("the copy has no action masks, other than the first: %w", framework.ErrUnsupported)
	}
	mask := out.Mask(i)
	clear(mask)
	return m.ActionMask(ctx, mask)
}

// Abilities implements Environment.
func (v *vectorEnvironment) Abilities() (a EnvironmentAbilities) {
	if _, ok := v.envs[0].(framework.KnownModel); ok {
		a.Models = v.models
	}
	a.Calls = v.calls()
	a.Measures = measuresOf(v.envs[0], func(lane int) any { return v.envs[lane] })
	return a
}

func (v *vectorEnvironment) models(ctx context.Context) ([]*mdp.Tabular, error) {
	models := make([]*mdp.Tabular, len(v.envs))
	err := eachLane(len(v.envs), func(i int) (err error) {
		models[i], err = v.envs[i].(framework.KnownModel).Model(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return models, nil
}

// Close closes those copies that can be closed.
func (v *vectorEnvironment) Close() error {
	errs := each.Of(v.envs, func(env framework.Environment) error { return closeCopy(env) })
	return errors.Join(errs...)
}

// closeCopy closes a copy of an environment or agent, if it can be closed.
func closeCopy(c any) error {
	if c, ok := c.(io.Closer); ok {
		return Guard(c.Close)
	}
	return nil
}
