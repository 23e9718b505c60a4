package vector

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/internal/must"
)

// compass goes nowhere: the observation is the last action, the reward its square.
type compass struct{ spec framework.Spec }

func (c *compass) Spec() framework.Spec { return c.spec }
func (c *compass) Reset(context.Context, uint64) (space.Value, error) {
	return space.Value{Int: 5}, nil
}
func (c *compass) Step(_ context.Context, a space.Value) (framework.TimeStep, error) {
	return framework.TimeStep{Observation: space.Value{Int: 5 + a.Int}, Reward: float64(a.Int * a.Int)}, nil
}

func compassSpec() framework.Spec {
	return framework.Spec{ID: "test/compass@1", Observation: space.Discrete{N: 3, Start: 5}, Action: space.Discrete{N: 3}, RewardHigh: 4}
}

func compassRollout(steps int) *Rollout {
	return &Rollout{
		Steps: steps, Episodes: 1, Signals: []Signal{NewRun, Idle, NewEpisode}, Seeds: make([]uint64, 3), Draws: []uint64{1, 2, 3},
		Observations: space.NewColumn(compassSpec().Observation, 3),
		Policy:       []float64{0.2, 0, 0.8, 0, 1, 0, 0.5, 0.5, 0},
	}
}

// Actions are drawn with the probabilities of the row of the observation before:
// frequencies of 200,000 draws within 4.5 standard errors, a false alarm in 50,000
// seeds. Idle lanes stay idle.
func TestRollOutFollowsThePolicy(t *testing.T) {
	const n = 200_000
	spec := compassSpec()
	open := func() Environment {
		return must.Get(Vectorize(func() (framework.Environment, error) { return &compass{spec}, nil }, 3))(t)
	}
	in, out := compassRollout(n), NewTrajectories(spec, 3, n)
	must.Do(t, RollOut(t.Context(), open(), in, out))
	must.Do(t, out.Check(&spec, in))
	var counts [3][3]float64
	for k := 1; k < n; k++ {
		counts[out.Observations.Int64[k-1]-5][out.Actions.Int64[k]]++
	}
	for s, row := range counts {
		total := row[0] + row[1] + row[2]
		for a, got := range row {
			p := in.Policy[3*s+a]
			if math.Abs(got-total*p) > 4.5*math.Sqrt(total*p*(1-p)) {
				t.Errorf("observation %d, action %d: %v of %v, probability %v", s, a, got, total, p)
			}
		}
	}
	for k := n; k < 2*n; k++ {
		if out.Signals[k] != Idle {
			t.Fatalf("the idle lane's step %d is %d", k-n, out.Signals[k])
		}
	}
}

func TestRolloutCheck(t *testing.T) {
	spec := compassSpec()
	for _, tt := range []struct {
		text  string
		wrong func(*Rollout, *framework.Spec)
	}{
		{"of 0 steps", func(in *Rollout, _ *framework.Spec) { in.Steps = 0 }},
		{"seeds for 9 episodes", func(in *Rollout, _ *framework.Spec) { in.Episodes = 9 }},
		{"2 seeds", func(in *Rollout, _ *framework.Spec) { in.Seeds = in.Seeds[:2] }},
		{"2 streams of draws", func(in *Rollout, _ *framework.Spec) { in.Draws = in.Draws[:2] }},
		{"policy of 8 entries", func(in *Rollout, _ *framework.Spec) { in.Policy = in.Policy[:8] }},
		{"probability NaN in observation 1", func(in *Rollout, _ *framework.Spec) { in.Policy[3] = math.NaN() }},
		{"in observation 2 sum to 1.5", func(in *Rollout, _ *framework.Spec) { in.Policy[8] = 0.5 }},
		{"signal 4", func(in *Rollout, _ *framework.Spec) { in.Signals[1] = Evaluate }},
		{"no seed", func(in *Rollout, _ *framework.Spec) { in.Episodes, in.Seeds = 0, nil }},
		{"lane 2: observation 0 is not in ", func(in *Rollout, _ *framework.Spec) { in.Signals[2] = Continue }},
		{"needs discrete observations", func(_ *Rollout, s *framework.Spec) {
			s.Observation = space.Box{Shape: []int{1}, Low: []float64{0}, High: []float64{1}}
		}},
	} {
		t.Run(tt.text, func(t *testing.T) {
			in, s := compassRollout(4), spec
			tt.wrong(in, &s)
			err := in.Check(&s)
			if err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %v", err)
			}
			if errors.Is(err, framework.ErrUnsupported) != (tt.text == "needs discrete observations") {
				t.Errorf("unsupported: %v", err)
			}
		})
	}
}

// Answers that a rollout cannot have are found.
func TestTrajectoriesCheck(t *testing.T) {
	spec := compassSpec()
	for _, tt := range []struct {
		text  string
		wrong func(*Trajectories)
	}{
		{"lane 0: invalid answer: step 0 of the rollout has signal 2, must have 3", func(tr *Trajectories) { tr.Signals[0] = NewEpisode }},
		{"lane 1: invalid answer: step 2 of the rollout has signal 1, must have 0", func(tr *Trajectories) { tr.Signals[6], tr.Observations.Int64[6] = Continue, 5 }},
		{"lane 2: invalid answer: step 1 of the rollout takes action", func(tr *Trajectories) { tr.Actions.Int64[9] ^= 1 }},
		{"lane 2: step 3 of the rollout: invalid answer: reward is +Inf", func(tr *Trajectories) { tr.Rewards[11] = math.Inf(1) }},
		{"lane 0: step 3 of the rollout: invalid answer: observation: ", func(tr *Trajectories) { tr.Observations.Int64[3] = 8 }},
		{"lane 0: invalid answer: step 2 of the rollout has signal 1, must have 0", func(tr *Trajectories) { tr.Terminated[1] = true }},
	} {
		t.Run(tt.text, func(t *testing.T) {
			env := must.Get(Vectorize(func() (framework.Environment, error) { return &compass{spec}, nil }, 3))(t)
			in, out := compassRollout(4), NewTrajectories(spec, 3, 4)
			must.Do(t, RollOut(t.Context(), env, in, out))
			tt.wrong(out)
			if err := out.Check(&spec, in); err == nil || !strings.HasPrefix(err.Error(), tt.text) || !errors.Is(err, framework.ErrInvalidAnswer) {
				t.Errorf("got %v", err)
			}
		})
	}
}
