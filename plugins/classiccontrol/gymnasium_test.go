package classiccontrol

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// trajectories are what testdata/trajectories.py wrote.
type trajectories struct {
	Trajectories []struct {
		ID       string
		Settings struct {
			GoalVelocity      float64 `json:"goal_velocity"`
			SuttonBartoReward bool    `json:"sutton_barto_reward"`
			BookOrNips        string  `json:"book_or_nips"`
		}
		MaxSteps int `json:"max_steps"`
		Start    []float64
		Steps    []struct {
			Action                int64
			State                 []float64
			Observation           []float32
			Reward                float64
			Terminated, Truncated bool
		}
	}
}

// near reports whether x is y to 1e-12, relative to the larger of |y| and 1. Sine and
// cosine differ in their last bit between libraries, and a state is the difference of
// numbers of the order of 1.
func near(x, y float64) bool { return math.Abs(x-y) <= 1e-12*max(1, math.Abs(y)) }

// In each state that Gymnasium was in, the same action leads to the same state, to 1e-12,
// and to the same reward and flags. The observation is the same float32 except for its
// last bit. Along whole episodes the states stay within 1e-9: Acrobot is chaotic and
// magnifies last bits.
func TestGymnasium(t *testing.T) {
	data := must.Get(os.ReadFile("testdata/trajectories.json"))(t)
	var all trajectories
	must.Do(t, json.Unmarshal(data, &all))
	terminated, truncated := map[string]bool{}, false
	for i, want := range all.Trajectories {
		t.Run(fmt.Sprintf("%s/%d", want.ID, i), func(t *testing.T) {
			p, params := map[string]vector.Plugin{"MountainCar-v0": MountainCar(), "CartPole-v1": CartPole(), "Acrobot-v1": Acrobot()}[want.ID], `{}`
			switch s := want.Settings; {
			case s.GoalVelocity != 0:
				params = fmt.Sprintf(`{"goal_velocity":%v}`, s.GoalVelocity)
			case s.SuttonBartoReward:
				params = `{"sutton_barto_reward":true}`
			case s.BookOrNips != "":
				params = fmt.Sprintf(`{"dynamics":%q}`, s.BookOrNips)
			}
			alone, whole := open(t, p, params), open(t, p, params)
			if alone.limit != want.MaxSteps {
				t.Fatalf("%d steps an episode, Gymnasium has %d", alone.limit, want.MaxSteps)
			}
			actions, out := vector.NewActions(alone.Spec(), 1), vector.NewTimeSteps(alone.Spec(), 1)
			actions.Signals[0] = vector.NewRun
			for _, env := range []*lanes{alone, whole} {
				must.Do(t, env.Step(t.Context(), actions, &out))
			}
			actions.Signals[0] = vector.Continue
			copy(whole.lanes[0].state[:], want.Start)
			before := want.Start
			for k, step := range want.Steps {
				copy(alone.lanes[0].state[:], before)
				before = step.State
				actions.Actions.Int64[0] = step.Action
				for _, env := range []*lanes{whole, alone} {
					if err := env.Step(t.Context(), actions, &out); err != nil {
						t.Fatalf("step %d: %v", k, err)
					}
					if out.Rewards[0] != step.Reward || out.Terminated[0] != step.Terminated || out.Truncated[0] != step.Truncated {
						t.Fatalf("step %d: reward %v, %v, %v; want %v, %v, %v", k, out.Rewards[0], out.Terminated[0], out.Truncated[0], step.Reward, step.Terminated, step.Truncated)
					}
				}
				for j, v := range step.State {
					if got := alone.lanes[0].state[j]; !near(got, v) {
						t.Errorf("step %d, state[%d]: %v, want %v", k, j, got, v)
					}
					if got := whole.lanes[0].state[j]; math.Abs(got-v) > 1e-9 {
						t.Errorf("step %d of the whole, state[%d]: %v, want %v", k, j, got, v)
					}
				}
				for j, v := range step.Observation {
					got := out.Observations.Float32[j]
					if got != v && math.Nextafter32(got, v) != v && math.Abs(float64(got-v)) > 1e-12 {
						t.Errorf("step %d, observation[%d]: %v, want %v", k, j, got, v)
					}
				}
			}
			last := want.Steps[len(want.Steps)-1]
			terminated[want.ID] = terminated[want.ID] || last.Terminated
			truncated = truncated || last.Truncated
		})
	}
	if len(terminated) != 3 || !terminated["MountainCar-v0"] || !terminated["CartPole-v1"] || !terminated["Acrobot-v1"] || !truncated {
		t.Errorf("ends seen: %v, truncation %v; want every one", terminated, truncated)
	}
}
