package lanes

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/internal/snapshot"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/options"
)

// Describe says what states are of: the agent of a plugin with parameters, for tasks like spec.
func Describe(id string, params any, spec framework.Spec) (snapshot.Of, error) {
	p, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	observations, err := space.Marshal(spec.Observation)
	if err != nil {
		return nil, err
	}
	actions, err := space.Marshal(spec.Action)
	if err != nil {
		return nil, err
	}
	task := fmt.Sprintf("observations %s, actions %s, rewards in [%v, %v]", observations, actions, spec.RewardLow, spec.RewardHigh)
	if spec.Continuing {
		task += ", without an end"
	}
	return snapshot.Of{{Name: "agent", Value: id}, {Name: "agent's parameters", Value: string(p)}, {Name: "task", Value: task}}, nil
}

// held are types that interfaces of a learner may hold where a fresh one holds nothing.
func held() []reflect.Type {
	types := []reflect.Type{
		reflect.TypeFor[mdp.Deterministic](), reflect.TypeFor[mdp.Uniform](),
		reflect.TypeFor[options.Markov](), reflect.TypeFor[options.Deviation](), reflect.TypeFor[*options.Repeat](),
	}
	for _, kind := range append(options.Kinds, options.Declared) {
		types = append(types, reflect.TypeOf(kind))
	}
	return types
}

// Lanes can be stored at any time, between StepOptions and Choose as well. A state
// fits lanes of the same agent with the same parameters, for tasks alike, and with
// the same options.

func (l *lanes[O]) saveLane(_ context.Context, i int) ([]byte, error) {
	x, err := l.fresh(i)
	if err != nil {
		return nil, err
	}
	if !l.lanes[i].started {
		return nil, laneError(i, framework.ErrNeedsReset, "no run has begun")
	}
	return l.of.Save(&l.lanes[i], x, held()...)
}

// loadLane restores what saveLane returned. After an error the lane is as it
// was.
func (l *lanes[O]) loadLane(_ context.Context, i int, state []byte) error {
	x, err := l.fresh(i)
	if err != nil {
		return err
	}
	if err := l.of.Load(x, state, held()...); err != nil {
		return err
	}
	l.lanes[i] = *x
	return nil
}

// fresh returns what lane i is when it has just been started.
func (l *lanes[O]) fresh(i int) (*lane[O], error) {
	if err := snapshot.Lane(i, len(l.lanes)); err != nil {
		return nil, err
	}
	x := l.kind.New()
	if l.offer != nil {
		if err := l.offer(x); err != nil {
			return nil, err
		}
	}
	x.Start(0)
	fresh := l.newLane(x)
	return &fresh, nil
}

func (l *optionLanes[O]) loadLane(ctx context.Context, i int, state []byte) error {
	if err := l.lanes.loadLane(ctx, i, state); err != nil {
		return err
	}
	l.learners[i] = l.lanes.lanes[i].learner.(OptionLearner[O])
	return nil
}
