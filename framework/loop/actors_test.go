package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/internal/actortest"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// watched notes the reward of every step of a lane, and where its episodes end.
type watched struct {
	vector.Environment
	steps [][]string
}

func (w *watched) Step(ctx context.Context, in *vector.Actions, out *vector.TimeSteps) error {
	err := w.Environment.Step(ctx, in, out)
	for lane, s := range in.Signals {
		if s == vector.Continue {
			w.steps[lane] = append(w.steps[lane], fmt.Sprint(in.Actions.Int64[lane], out.Rewards[lane], out.Terminated[lane], out.Truncated[lane]))
		}
	}
	return err
}

// acting is a batch of runs with actors, in walks; the agent is the mixer of actortest, or one that newAgent makes.
func acting(t rapid.TB, runs []int, actors, steps int, newAgent func(uint64) (framework.Agent, error)) (Batch, *watched) {
	n := len(runs) * max(actors, 1)
	env := must.Get(vector.Vectorize(func() (framework.Environment, error) { return &walk{}, nil }, n))(t)
	spec := env.Spec()
	spec.Actors = actors
	var agent vector.Agent
	if newAgent != nil {
		agent = must.Get(vector.VectorizeAgent(newAgent, env.Spec(), n))(t)
	} else {
		agent = must.Get(actortest.Plugin().OpenAgent(context.Background(), nil, spec, n))(t)
	}
	w := &watched{env, make([][]string, n)}
	return Batch{
		Environment: w, Agent: agent, Runs: runs, Actors: actors, Seeds: seed.NewSource(7, spec.ID), Steps: steps, Grid: LogGrid(20, steps), Discount: 0.9,
		Metrics: []result.Metric{result.Reward, result.CumulativeReward, result.EpisodeReturn, result.DiscountedReturn, result.StepsMade, "agent.*"},
	}, w
}

// Results of a run with actors do not depend on the runs beside it, and one actor is a run as without actors.
func TestActorsOfARunKeepToIt(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		runs := rapid.SliceOfNDistinct(rapid.IntRange(0, 99), 1, 5, rapid.ID).Draw(rt, "runs")
		actors, steps := rapid.IntRange(1, actortest.Most).Draw(rt, "actors"), rapid.IntRange(1, 300).Draw(rt, "steps")
		episodes := rapid.SampledFrom([]int{0, 0, 3, 10}).Draw(rt, "episodes")
		play := func(runs []int, actors int) []Outcome {
			b, _ := acting(rt, runs, actors, steps, nil)
			if episodes > 0 && episodes <= steps {
				b.Episodes, b.Grid = episodes, EveryGrid(1, episodes)
			}
			return must.Get(Run(t.Context(), b))(rt)
		}
		together := play(runs, actors)
		for i, run := range runs {
			if alone := play([]int{run}, actors); fmt.Sprint(alone[0]) != fmt.Sprint(together[i]) {
				rt.Fatalf("run %d alone: %v\ntogether: %v", run, alone[0], together[i])
			}
		}
		if one, none := play(runs, 1), play(runs, 0); fmt.Sprint(one) != fmt.Sprint(none) {
			rt.Fatalf("one actor: %v\nnone: %v", one, none)
		}
	})
}

// constant takes action 1.
type constant struct{}

func (constant) SelectAction(context.Context, space.Value) (space.Value, error) {
	return space.Value{Int: 1}, nil
}
func (constant) Update(context.Context, framework.Transition) error { return nil }

func newConstant(uint64) (framework.Agent, error) { return constant{}, nil }

// The environment of an actor depends on the seeds of the actor alone. Steps of a run count call by call, and within a
// call actor by actor.
func TestActorsAreRunsWithSeedsOfTheirOwn(t *testing.T) {
	const actors, steps, run = 3, 100, 4
	b, all := acting(t, []int{run}, actors, steps, newConstant)
	b.Grid = EveryGrid(1, steps)
	out := must.Get(Run(t.Context(), b))(t)[0]
	var counted []float64
	for k := range actors {
		b, alone := acting(t, []int{run}, 1, steps, newConstant)
		b.Seeds = b.Seeds.Actor(k)
		must.Get(Run(t.Context(), b))(t)
		if n := len(all.steps[k]); n < steps/actors-20 || !slices.Equal(all.steps[k], alone.steps[0][:n]) {
			t.Errorf("actor %d: %v\nalone: %v", k, all.steps[k], alone.steps[0])
		}
	}
	// The same by hand: a lane whose episode has ended makes no step in the next call.
	at, resets := [actors]int{}, [actors]bool{}
	for len(counted) < steps {
		for k := range actors {
			if resets[k] {
				resets[k] = false
				continue
			}
			var action int
			var reward float64
			var ends [2]bool
			must.Get(fmt.Sscan(all.steps[k][at[k]], &action, &reward, &ends[0], &ends[1]))(t)
			at[k]++
			resets[k] = ends[0] || ends[1]
			counted = append(counted, reward)
		}
	}
	if got := out.Curves[result.Reward]; !slices.Equal(got, counted[:steps]) || out.Steps != steps {
		t.Errorf("%d steps with rewards\n%v\nwant\n%v", out.Steps, got, counted[:steps])
	}
}

// The metrics of an agent are read once where a call reaches several points of the grid, and count every step once.
func TestMetricsOfAnAgentWithActors(t *testing.T) {
	b, _ := acting(t, []int{0, 1}, 4, 60, nil)
	b.Grid = EveryGrid(1, 60)
	for _, o := range must.Get(Run(t.Context(), b))(t) {
		sum := 0.0
		for _, x := range o.Curves["agent.learned"] {
			if !math.IsNaN(x) {
				sum += x
			}
		}
		if n := len(o.Curves["agent.learned"]); n != 60 || sum < 56 || sum > 60 {
			t.Errorf("run %d: %d points, it has learned from %v steps: %v", o.Run, n, sum, o.Curves["agent.learned"])
		}
	}
}

// Evaluations, by one actor each, and kept agents leave a run with actors as it is, and do not depend on the runs beside it.
func TestEvaluationWithActors(t *testing.T) {
	runs := []int{3, 1, 2}
	play := func(runs []int, watch bool) ([]Outcome, map[string]*Snapshot) {
		b, _ := acting(t, runs, 4, 101, nil)
		kept := map[string]*Snapshot{}
		if watch {
			one, _ := acting(t, runs, 1, 1, nil)
			b.Evaluation = &Evaluation{Environment: one.Environment, Agent: one.Agent, Every: 25, Episodes: 3, Limit: 9}
			b.KeepEvery, b.Keep = 50, func(run, _ int, s *Snapshot) error { kept[fmt.Sprint(run, " ", s.Step)] = s; return nil }
		}
		return must.Get(Run(t.Context(), b))(t), kept
	}
	unseen, _ := play(runs, false)
	seen, kept := play(runs, true)
	for i, run := range runs {
		alone, _ := play([]int{run}, true)
		if fmt.Sprint(alone[0]) != fmt.Sprint(seen[i]) {
			t.Errorf("run %d alone: %v\ntogether: %v", run, alone[0], seen[i])
		}
		if curve := seen[i].Curves[result.EvaluationReturn]; len(curve) != len(LogGrid(20, 101)) || math.IsNaN(curve[len(curve)-1]) {
			t.Errorf("evaluations: %v", curve)
		}
		delete(seen[i].Curves, result.EvaluationReturn)
	}
	if fmt.Sprint(unseen) != fmt.Sprint(seen) {
		t.Errorf("watched: %v\nalone: %v", seen, unseen)
	}
	if len(kept) != 9 || kept["1 101"] == nil || !kept["1 101"].Last || kept["1 50"].Actors != 4 {
		t.Errorf("kept %v", kept)
	}
	b, _ := acting(t, runs, 2, 10, nil) // with another number of actors
	b.Start = func(run int) (*Snapshot, error) { return kept[fmt.Sprint(run, " 101")], nil }
	before := must.Get(Run(t.Context(), b))(t)
	fresh, _ := acting(t, runs, 2, 10, nil)
	if after := must.Get(Run(t.Context(), fresh))(t); fmt.Sprint(before) == fmt.Sprint(after) {
		t.Error("a saved agent acts as a fresh one")
	}
}

// An error that names a lane names that of an actor, and the steps of each run.
func TestErrorOfAnActor(t *testing.T) {
	b, _ := acting(t, []int{0, 1}, 3, 50, nil)
	broken := &failing{b.Environment, 4}
	b.Environment = broken
	_, err := Run(t.Context(), b)
	var lane *vector.LaneError
	var of *Error
	if !errors.As(err, &lane) || lane.Lane != 4 || !errors.As(err, &of) || len(of.Steps) != 2 {
		t.Errorf("%v", err)
	}
}

// failing blames a lane in its fifth call.
type failing struct {
	vector.Environment
	left int
}

func (f *failing) Step(ctx context.Context, in *vector.Actions, out *vector.TimeSteps) error {
	if f.left--; f.left < 0 {
		return &vector.LaneError{Lane: 4, Err: errors.New("out of order")}
	}
	return f.Environment.Step(ctx, in, out)
}

// clocked measures the mean number of its calls since it was last read.
type clocked struct {
	vector.Agent
	calls, sum, read float64
}

func (c *clocked) Step(ctx context.Context, in *vector.Feedback, actions *space.Column) error {
	c.calls++
	c.sum += c.calls
	return c.Agent.Step(ctx, in, actions)
}

func (c *clocked) Abilities() vector.AgentAbilities {
	return vector.AgentAbilities{Measures: &vector.Measures{
		Metrics: []framework.Metric{{Name: "call", Doc: "Mean number of a call."}},
		Read: func(_ context.Context, _ []int, dst []float64) error {
			dst[0] = c.sum / (c.calls - c.read)
			c.sum, c.read = 0, c.calls
			return nil
		},
	}}
}

// The mean of a metric over a run is about the same on every grid, though calls reach several points of some.
func TestMeansOfAnAgentWithActors(t *testing.T) {
	const steps = 4000
	var means []float64
	for _, grid := range [][]int{{steps}, EveryGrid(1, steps), EveryGrid(50, steps), LogGrid(1000, steps)} {
		b, _ := acting(t, []int{0}, 64, steps, nil)
		b.Agent, b.Grid = &clocked{Agent: b.Agent}, grid
		out := must.Get(Run(t.Context(), b))(t)[0]
		sum, weight, before := 0.0, 0.0, 0
		for k, x := range out.Curves["agent.call"] {
			if !math.IsNaN(x) {
				sum += x * float64(grid[k]-before)
				weight += float64(grid[k] - before)
			}
			before = grid[k]
		}
		means = append(means, sum/weight)
	}
	if slices.Max(means)-slices.Min(means) > 1 {
		t.Errorf("means of four grids: %.1f", means)
	}
}
