package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// walks are lanes of walk that can be stepped by themselves, and drifters lanes of
// drifter.
type walks struct {
	vector.Environment
	walks []*walk
	model *mdp.Tabular
	alone int // steps of single lanes
}

type drifters struct {
	vector.Agent
	drifters []*drifter
	failAt   int // fail at this step of a single lane, if positive
}

func (w *walks) Step(ctx context.Context, in *vector.Actions, out *vector.TimeSteps) error {
	for i, s := range in.Signals {
		var err error
		switch s {
		case vector.Continue:
			var x vector.LaneStep
			x, err = w.step(i, in.Actions.Int64[i])
			out.Observations.Int64[i], out.Rewards[i], out.Terminated[i], out.Truncated[i] = x.Observation, x.Reward, x.Terminated, x.Truncated
		case vector.NewEpisode, vector.NewRun:
			_, err = w.walks[i].Reset(ctx, in.Seeds[i])
			out.Observations.Int64[i], out.Rewards[i], out.Terminated[i], out.Truncated[i] = 0, 0, false, false
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walks) step(lane int, action int64) (vector.LaneStep, error) {
	s, err := w.walks[lane].Step(context.Background(), space.Value{Int: action})
	if err != nil {
		err = &vector.LaneError{Lane: lane, Err: err}
	}
	return vector.LaneStep{Observation: s.Observation.Int, Reward: s.Reward, Terminated: s.Terminated, Truncated: s.Truncated}, err
}

func (w *walks) Abilities() vector.EnvironmentAbilities {
	return vector.EnvironmentAbilities{Models: w.models, PlayLane: w.play}
}

func (w *walks) play(lane int, agent vector.LaneAgent, last vector.LaneStep, actions []int64, rewards []float64) (made int, _ vector.LaneStep, err error) {
	for made < len(actions) && !last.Terminated && !last.Truncated {
		if actions[made], err = agent.StepLane(lane, last.Observation, last.Reward); err != nil {
			return made, last, &vector.AgentError{Err: err}
		}
		if last, err = w.step(lane, actions[made]); err != nil {
			return made, last, err
		}
		rewards[made] = last.Reward
		made++
	}
	w.alone += made
	return made, last, nil
}

func (w *walks) models(context.Context) ([]*mdp.Tabular, error) {
	models := make([]*mdp.Tabular, len(w.walks))
	for i := range models {
		models[i] = w.model
	}
	return models, nil
}

func (d *drifters) Step(ctx context.Context, in *vector.Feedback, actions *space.Column) error {
	for i, s := range in.Signals {
		over := in.Terminated[i] || in.Truncated[i]
		switch {
		case s == vector.Idle:
			continue
		case s == vector.NewRun:
			*d.drifters[i] = drifter{rng: seed.Stream(in.Seeds[i], seed.Exploration)}
		case s == vector.Continue && over:
			if err := d.drifters[i].Update(ctx, framework.Transition{Reward: in.Rewards[i], Terminated: in.Terminated[i]}); err != nil {
				return err
			}
			continue
		case s == vector.Continue:
			var err error
			if actions.Int64[i], err = d.StepLane(i, in.Observations.Int64[i], in.Rewards[i]); err != nil {
				return err
			}
			continue
		}
		a, err := d.drifters[i].SelectAction(ctx, space.Value{Int: in.Observations.Int64[i]})
		if err != nil {
			return err
		}
		actions.Int64[i] = a.Int
	}
	return nil
}

func (d *drifters) Abilities() vector.AgentAbilities { return vector.AgentAbilities{Lane: d} }

func (d *drifters) StepLane(lane int, observation int64, reward float64) (int64, error) {
	if d.failAt--; d.failAt == 0 {
		return 0, &vector.LaneError{Lane: lane, Err: errors.New("at a loss")}
	}
	x := d.drifters[lane]
	if err := x.Update(context.Background(), framework.Transition{Reward: reward}); err != nil {
		return 0, err
	}
	a, err := x.SelectAction(context.Background(), space.Value{Int: observation})
	return a.Int, err
}

// laneBatch is batch with lanes that can be stepped by themselves.
func laneBatch(t *testing.T, runs []int, steps int, grid []int) (Batch, *walks, *drifters) {
	b := batch(t, runs, steps, grid)
	model := must.Get(mdp.NewModel(mdp.Definition{
		States: 1, Actions: 3,
		Transitions: []mdp.Transition{{P: 1}, {A: 1, P: 1}, {A: 2, P: 1}},
		Rewards:     []mdp.Reward{{R: 0.5}, {A: 1, R: 1.5}, {A: 2, R: 2.5}},
	}))(t)
	w, d := &walks{Environment: b.Environment, model: model}, &drifters{Agent: b.Agent}
	for range runs {
		w.walks, d.drifters = append(w.walks, &walk{}), append(d.drifters, &drifter{})
	}
	b.Environment, b.Agent = w, d
	return b, w, d
}

// together hides that lanes can be stepped by themselves.
func together(b Batch) Batch {
	b.Environment = vector.WithAbilities(b.Environment, vector.EnvironmentAbilities{Models: b.Environment.Abilities().Models})
	b.Agent = struct{ vector.Agent }{b.Agent}
	return b
}

// Lanes stepped by themselves yield what they yield together, whatever the grid.
func TestSingleLanes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.IntRange(1, 2000).Draw(rt, "steps")
		grid := LogGrid(rapid.IntRange(1, 100).Draw(rt, "points"), steps)
		runs := rapid.SliceOfNDistinct(rapid.IntRange(0, 99), 1, 6, rapid.ID).Draw(rt, "runs")
		b, w, _ := laneBatch(t, runs, steps, grid)
		got := must.Get(Run(t.Context(), b))(rt)
		if steps > 100 && w.alone == 0 {
			rt.Fatal("no lane was stepped by itself")
		}
		b, w, _ = laneBatch(t, runs, steps, grid)
		want := must.Get(Run(t.Context(), together(b)))(rt)
		if w.alone != 0 {
			rt.Fatal("a lane was stepped by itself, which it cannot")
		}
		if fmt.Sprint(got) != fmt.Sprint(want) { // NaN = NaN
			rt.Fatalf("got %v, want %v", got, want)
		}
	})
}

// An error of a single lane says who failed, after how many of the lane's steps, and
// in which lane.
func TestSingleLaneFails(t *testing.T) {
	for _, tt := range []struct {
		spoil func(*walks, *drifters)
		want  string
	}{
		// The first step of an episode is made together.
		{func(w *walks, _ *drifters) { w.walks[1].failAt = 2 }, "environment, call 3: lane 1: out of order"},
		{func(_ *walks, d *drifters) { d.failAt = 1 }, "agent, call 3: lane 0: at a loss"},
	} {
		b, w, d := laneBatch(t, []int{4, 5}, 100, nil)
		tt.spoil(w, d)
		var lane *vector.LaneError
		if _, err := Run(t.Context(), b); !errors.As(err, &lane) || err.Error() != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		} else if failed := (*Error)(nil); !errors.As(err, &failed) || failed.Steps[lane.Lane] != 1 {
			t.Errorf("%v: want 1 step of the lane that failed", err)
		}
	}
}

// Progress counts every interaction of single lanes, and they stop when cancelled.
func TestSingleLanesTellProgress(t *testing.T) {
	b, _, _ := laneBatch(t, []int{0, 1, 2}, 5000, nil)
	total := 0
	b.Progress = func(made Work, _ func() []Outcome) { total += made.Units }
	if _, err := Run(t.Context(), b); err != nil || total != 3*5000 {
		t.Errorf("%d interactions, %v, want %d", total, err, 3*5000)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	b, _, _ = laneBatch(t, []int{0}, math.MaxInt, nil)
	b.Progress = func(Work, func() []Outcome) { cancel(why) }
	if out, err := Run(ctx, b); !errors.Is(err, why) || out != nil {
		t.Errorf("got %v, %v, want no outcome and the cause", out, err)
	}
}
