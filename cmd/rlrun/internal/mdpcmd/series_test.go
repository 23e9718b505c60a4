package mdpcmd

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// drawing is a task with two contexts that may be drawn anew: each episode of ten steps, or of one run.
type drawing struct {
	draws            string
	rng              *rand.Rand
	at, end          int64
	rare             float64
	chances, rewards [2]float64
}

func (d *drawing) Spec() framework.Spec {
	return framework.Spec{ID: "test/drawing@1", Observation: space.Discrete{N: 2}, Action: space.Discrete{N: 2}, Continuing: d.draws != "episode"}
}

func (d *drawing) Reset(_ context.Context, seed uint64) (space.Value, error) {
	d.rng = rand.New(rand.NewPCG(seed, 1))
	d.chances, d.rewards = [2]float64{0.2, 0.6}, [2]float64{0, 1}
	switch d.draws {
	case "episode", "run":
		d.chances = [2]float64{d.rng.Float64(), d.rng.Float64()}
	case "rewards":
		d.rewards = [2]float64{d.rng.NormFloat64(), d.rng.NormFloat64()}
	}
	d.at, d.end = 0, 10
	return space.Value{}, nil
}

func (d *drawing) Step(_ context.Context, a space.Value) (framework.TimeStep, error) {
	d.at = 0
	if d.rng.Float64() < d.chances[a.Int] {
		d.at = 1
	}
	d.end--
	reward := d.rewards[a.Int] + d.rng.NormFloat64()
	if d.rare > 0 {
		reward = 0
		if d.rng.Float64() < d.rare {
			reward = 1
		}
	}
	return framework.TimeStep{Observation: space.Value{Int: d.at}, Reward: reward, Terminated: d.draws == "episode" && d.end == 0}, nil
}

// A model that is estimated of many tasks is told from that of one. In 60 seeds of tasks that are one, also where
// rewards are rare, there is no false alarm: at six standard deviations there is one in 10^9.
func TestTasksThatAreDrawnAnew(t *testing.T) {
	differs := func(open func() (framework.Environment, error), root uint64) bool {
		env := must.Get(vector.Vectorize(open, 16))(t)
		return must.Get(collect(t.Context(), env, 16, mdp.Uniform{}, root, 600))(t).differs()
	}
	for _, draws := range []string{"episode", "run", "rewards"} {
		if !differs(func() (framework.Environment, error) { return &drawing{draws: draws}, nil }, 1) {
			t.Errorf("drawn by %s: not noticed", draws)
		}
	}
	for root := range uint64(20) {
		for i, open := range []func() (framework.Environment, error){
			func() (framework.Environment, error) { return &drawing{}, nil },
			func() (framework.Environment, error) { return &drawing{rare: 0.003}, nil },
			func() (framework.Environment, error) { return &places{}, nil },
		} {
			if differs(open, root) {
				t.Errorf("task %d, seed %d: it is one task", i, root)
			}
		}
	}
}
