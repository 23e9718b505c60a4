package rltest

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// walk is a random walk on five places, counted from 2, that ends in the last.
type walk struct {
	rng   *rand.Rand
	place int64
	on    bool
}

func (w *walk) Spec() framework.Spec {
	return framework.Spec{ID: "test/walk@1", Observation: space.Discrete{N: 5, Start: 2}, Action: space.Discrete{N: 2, Start: 1}, RewardHigh: 1}
}

func (w *walk) Reset(_ context.Context, seed uint64) (space.Value, error) {
	w.rng, w.place, w.on = rand.New(rand.NewPCG(seed, 0)), 2, true
	return space.Value{Int: w.place}, nil
}

func (w *walk) Step(_ context.Context, action space.Value) (framework.TimeStep, error) {
	if !w.on {
		return framework.TimeStep{}, framework.ErrNeedsReset
	}
	if action.Int == 1 && w.rng.Float64() < 0.7 {
		w.place++
	} else {
		w.place = max(2, w.place-1)
	}
	w.on = w.place < 6
	return framework.TimeStep{Observation: space.Value{Int: w.place}, Reward: w.rng.Float64(), Terminated: !w.on}, nil
}

// rolling is a batch of walks with rollouts of its own, which a bug breaks.
type rolling struct {
	vector.Environment
	bug string
}

func (r *rolling) Abilities() vector.EnvironmentAbilities {
	return vector.EnvironmentAbilities{RollOut: r.rollOut}
}

func (r *rolling) rollOut(ctx context.Context, in *vector.Rollout, out *vector.Trajectories) error {
	if r.bug == "cannot" {
		return framework.ErrUnsupported
	}
	if r.bug == "fails" {
		return errors.New("lost")
	}
	some := *in
	switch r.bug {
	case "draws other actions":
		some.Draws = slices.Clone(in.Draws)
		some.Draws[1]++
	case "starts from other seeds":
		some.Seeds = slices.Clone(in.Seeds)
		some.Seeds[1]++
	case "stops early":
		some.Episodes = 0
		if slices.Max(in.Signals) == vector.Continue {
			break
		}
		some.Episodes = 1
		some.Seeds = nil
		for i := range in.Signals {
			some.Seeds = append(some.Seeds, in.Seeds[i*in.Episodes])
		}
	}
	if err := vector.RollOut(ctx, r.Environment, &some, out); err != nil {
		return err
	}
	switch r.bug {
	case "pays less":
		out.Rewards[7] /= 2
	case "leaves a lane behind": // by a step that is not in the answer
		actions, steps := vector.NewActions(r.Spec(), lanes), vector.NewTimeSteps(r.Spec(), lanes)
		actions.Signals[0], actions.Seeds[0] = vector.NewEpisode, 1
		return r.Step(ctx, actions, &steps)
	case "pays NaN":
		out.Rewards[7] = math.NaN()
	}
	return nil
}

var brokenRollouts = map[string][]Rule{
	"":                        nil,
	"cannot":                  nil,
	"fails":                   {RolloutIsSteps},
	"draws other actions":     {RolloutIsSteps},
	"starts from other seeds": {RolloutIsSteps},
	"stops early":             {RolloutIsSteps},
	"pays less":               {RolloutIsSteps},
	"pays NaN":                {RolloutIsSteps},
	"leaves a lane behind":    {RolloutIsSteps},
}

func TestRollouts(t *testing.T) {
	for bug, want := range brokenRollouts {
		t.Run(bug, func(t *testing.T) {
			err := CheckVectorEnvironment(t.Context(), func(lanes int) (vector.Environment, error) {
				v, err := vector.Vectorize(func() (framework.Environment, error) { return &walk{}, nil }, lanes)
				return &rolling{v, bug}, err
			}, nil)
			if got := found(err); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v:\n%v", got, want, err)
			}
		})
	}
}
