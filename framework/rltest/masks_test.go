package rltest

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
)

// stairs has steps 0 to 3, whose ends lack the action that would leave them. A bug breaks one
// rule.
type stairs struct {
	bug     string
	at      int64
	left    int
	running bool
}

func (x *stairs) Spec() framework.Spec {
	return framework.Spec{ID: "test/stairs@1", Observation: space.Discrete{N: 4}, Action: space.Discrete{N: 2}, RewardHigh: 1}
}

func (x *stairs) Reset(_ context.Context, seed uint64) (space.Value, error) {
	x.at, x.left, x.running = int64(seed%4), 12, true
	return space.Value{Int: x.at}, nil
}

func (x *stairs) ActionMask(_ context.Context, allowed []bool) error {
	allowed[0], allowed[1] = x.at > 0 || x.bug == "allows all", x.at < 3 || x.bug == "allows all"
	if x.bug == "allows nothing" && x.left == 9 {
		clear(allowed)
	}
	return nil
}

func (x *stairs) Step(_ context.Context, a space.Value) (framework.TimeStep, error) {
	x.at += 2*a.Int - 1
	x.left--
	if (x.at < 0 || x.at > 3) && x.bug == "allows all" {
		panic("it fell")
	}
	x.at = min(max(x.at, 0), 3)
	return framework.TimeStep{Observation: space.Value{Int: x.at}, Reward: float64(x.at / 3), Truncated: x.left == 0}, nil
}

var brokenMasks = map[string][]Rule{
	"":               nil,
	"allows nothing": {MaskAllows},
	"allows all":     {Works}, // and falls
	"ignores masks":  {ActionAllowed},
}

func TestCheckMasks(t *testing.T) {
	for bug, want := range brokenMasks {
		t.Run(bug, func(t *testing.T) {
			var err error
			if bug == "ignores masks" {
				specs := Specs()
				spec := specs[len(specs)-1]
				err = checkAgentCopies(t, func(seed uint64) (framework.Agent, error) {
					return &learner{bug: bug, spec: spec, rng: rand.NewPCG(seed, 0)}, nil
				}, spec)
			} else {
				err = checkCopies(t, func() (framework.Environment, error) { return &stairs{bug: bug}, nil })
			}
			got := found(err)
			if bug == "allows all" { // nothing else can be tried then
				got = got[:1]
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %v, want %v:\n%v", got, want, err)
			}
		})
	}
}
