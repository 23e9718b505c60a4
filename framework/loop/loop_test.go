package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

var everything = []result.Metric{
	result.Reward, result.CumulativeReward, result.DiscountedReturn, result.Regret, result.OptimalAction, result.EpisodeReturn, metric.EpisodeRate,
}

// walk is an episodic task: the reward is the action plus noise from the
// episode's seed, and an episode ends, by termination or truncation, at random.
type walk struct {
	rng    *rand.Rand
	t      int64
	failAt int64 // fail at this step of an episode, if positive
}

func (w *walk) Spec() framework.Spec {
	return framework.Spec{ID: "test/walk@1", Observation: space.Discrete{N: 1 << 40}, Action: space.Discrete{N: 3}}
}

func (w *walk) Reset(_ context.Context, s uint64) (space.Value, error) {
	w.rng, w.t = seed.Stream(s, seed.Environment), 0
	return space.Value{}, nil
}

func (w *walk) Step(_ context.Context, a space.Value) (framework.TimeStep, error) {
	w.t++
	if w.t == w.failAt {
		return framework.TimeStep{}, errors.New("out of order")
	}
	u := w.rng.Float64()
	return framework.TimeStep{
		Observation: space.Value{Int: w.t}, Reward: float64(a.Int) + u,
		Terminated: u < 0.1, Truncated: u > 0.9,
	}, nil
}

// drifter is an agent whose actions depend on everything it has seen.
type drifter struct {
	rng *rand.Rand
	sum float64
}

func (d *drifter) SelectAction(_ context.Context, o space.Value) (space.Value, error) {
	return space.Value{Int: (int64(d.sum*1000) + o.Int + d.rng.Int64N(3)) % 3}, nil
}

func (d *drifter) Update(_ context.Context, t framework.Transition) error {
	d.sum += t.Reward
	if t.Terminated {
		d.sum++
	}
	return nil
}

func batch(t *testing.T, runs []int, steps int, grid []int) Batch {
	t.Helper()
	env := must.Get(vector.Vectorize(func() (framework.Environment, error) { return &walk{}, nil }, len(runs)))(t)
	newAgent := func(s uint64) (framework.Agent, error) { return &drifter{rng: seed.Stream(s, seed.Exploration)}, nil }
	agent := must.Get(vector.VectorizeAgent(newAgent, env.Spec(), len(runs)))(t)
	return Batch{
		Environment: env, Agent: agent, Runs: runs,
		Seeds: seed.NewSource(7, env.Spec().ID), Steps: steps, Grid: grid, Discount: 0.9, Metrics: everything,
	}
}

// However runs are grouped into batches, each yields the same outcome.
func TestOutcomesDoNotDependOnLanes(t *testing.T) {
	const runs, steps = 24, 300
	grid := LogGrid(20, steps)
	want := map[int]Outcome{}
	for run := range runs {
		out := must.Get(Run(t.Context(), batch(t, []int{run}, steps, grid)))(t)
		want[run] = out[0]
	}
	rapid.Check(t, func(rt *rapid.T) {
		order := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
			for i := range runs {
				if !yield(i) {
					return
				}
			}
		})).Draw(rt, "order")
		lanes := rapid.IntRange(1, runs).Draw(rt, "lanes")
		for group := range slices.Chunk(order, lanes) {
			out := must.Get(Run(t.Context(), batch(t, group, steps, grid)))(rt)
			for _, o := range out {
				if fmt.Sprint(o) != fmt.Sprint(want[o.Run]) { // NaN = NaN
					rt.Fatalf("run %d in batch %v: got %v, want %v", o.Run, group, o, want[o.Run])
				}
			}
		}
	})
}

// The curves on a coarse grid follow from those at every step.
func TestCurvesAgreeAcrossGrids(t *testing.T) {
	const steps = 100
	fine := must.Get(Run(t.Context(), batch(t, []int{3}, steps, EveryGrid(1, steps))))(t)
	grid := []int{1, 7, 50, 100}
	coarse := must.Get(Run(t.Context(), batch(t, []int{3}, steps, grid)))(t)
	rewards := fine[0].Curves[result.Reward]
	ended := fine[0].Curves[metric.EpisodeRate] // 1 at a step that ends an episode, else 0
	prev, sum, disc, weight := 0, 0.0, 0.0, 1.0
	for k, g := range grid {
		window, episodes := 0.0, 0.0
		for _, e := range ended[prev:g] {
			episodes += e
		}
		for _, r := range rewards[prev:g] {
			window += r
			disc += weight * r
			weight *= 0.9
		}
		sum += window
		for m, want := range map[result.Metric]float64{
			result.Reward:           window / float64(g-prev),
			result.CumulativeReward: sum,
			result.DiscountedReturn: disc,
			metric.EpisodeRate:      episodes / float64(g-prev),
		} {
			if got := coarse[0].Curves[m][k]; math.Abs(got-want) > 1e-12*math.Abs(want) {
				t.Errorf("%s at step %d: got %v, want %v", m, g, got, want)
			}
		}
		prev = g
	}
	if _, has := coarse[0].Curves[result.Regret]; has {
		t.Error("a regret curve without a model")
	}
	if coarse[0].Episodes != fine[0].Episodes || fine[0].Episodes < 5 {
		t.Errorf("%d and %d episodes, want the same number, about 20", coarse[0].Episodes, fine[0].Episodes)
	}
}

// The curve of episode returns is the mean of the last 100 that ended, by the rewards and the
// ends of episodes at every step. It is there from the first end on, and does not depend on the
// grid.
func TestEpisodeReturnIsOfTheLastHundred(t *testing.T) {
	const steps = 2500
	fine := must.Get(Run(t.Context(), batch(t, []int{3}, steps, EveryGrid(1, steps))))(t)[0]
	grid := LogGrid(30, steps)
	coarse := must.Get(Run(t.Context(), batch(t, []int{3}, steps, grid)))(t)[0].Curves[result.EpisodeReturn]
	var returns []float64
	sum := 0.0
	for i, reward := range fine.Curves[result.Reward] {
		sum += reward
		if fine.Curves[metric.EpisodeRate][i] == 1 {
			returns, sum = append(returns, sum), 0
		}
		want, got := math.NaN(), fine.Curves[result.EpisodeReturn][i]
		if n := len(returns); n > 0 {
			last := returns[max(0, n-metric.RecentEpisodes):]
			want = 0
			for _, x := range last {
				want += x / float64(len(last))
			}
		}
		if math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > 1e-9 {
			t.Fatalf("step %d, %d episodes: got %v, want %v", i+1, len(returns), got, want)
		}
		if k := slices.Index(grid, i+1); k >= 0 && coarse[k] != got && !math.IsNaN(got) {
			t.Fatalf("step %d: %v on a coarse grid, %v on a fine one", i+1, coarse[k], got)
		}
	}
	if len(returns) < 300 {
		t.Fatalf("only %d episodes", len(returns))
	}
}

func TestRunNamesTheFailingLane(t *testing.T) {
	b := batch(t, []int{0, 1, 2}, 100, nil)
	i := 0
	env, err := vector.Vectorize(func() (framework.Environment, error) {
		w := &walk{}
		if i == 1 {
			w.failAt = 1
		}
		i++
		return w, nil
	}, 3)
	if err != nil {
		t.Fatal(err)
	}
	b.Environment = env
	_, err = Run(t.Context(), b)
	var lane *vector.LaneError
	if !errors.As(err, &lane) || lane.Lane != 1 {
		t.Fatalf("got %v, want an error that names lane 1", err)
	}
	if want := "environment, call 2: lane 1: out of order"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

func TestRunStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	b := batch(t, []int{0}, math.MaxInt, nil)
	b.Progress = func(Work, func() []Outcome) { cancel(why) }
	if out, err := Run(ctx, b); !errors.Is(err, why) || out != nil {
		t.Errorf("got %v, %v, want no outcome and the cause", out, err)
	}
}

// Whatever a call takes, looks are soon a fraction of a second apart, or 1,024 calls
// where these take less.
func TestPace(t *testing.T) {
	for _, perCall := range []time.Duration{100 * time.Nanosecond, 30 * time.Microsecond, 5 * time.Millisecond, 400 * time.Millisecond} {
		now := time.Unix(0, 0)
		p := pace{every: 1, last: now}
		for range 20 {
			from := p.next
			p.looked(from, now)
			calls := p.next - from
			now = now.Add(time.Duration(calls) * perCall)
			if wait := time.Duration(calls) * perCall; wait > max(2*perCall, 100*time.Millisecond) || calls > 1024 {
				t.Errorf("calls of %v: a look after %d, which is %v", perCall, calls, wait)
			}
		}
		if wait := now.Sub(p.last); wait < 10*time.Millisecond && p.every < 1024 {
			t.Errorf("calls of %v: in the end a look after %v", perCall, wait)
		}
	}
	p := pace{every: 1024, next: 1024, last: time.Unix(0, 0)} // calls have become slow
	now := p.last
	for range 12 {
		now = now.Add(time.Duration(p.every) * time.Second)
		p.looked(p.next, now)
	}
	if p.every != 1 {
		t.Errorf("calls of a second: a look after %d", p.every)
	}
}

func TestProgressCountsEveryInteraction(t *testing.T) {
	b := batch(t, []int{0, 1, 2}, 5000, nil)
	total := 0
	b.Progress = func(made Work, _ func() []Outcome) { total += made.Units }
	must.Get(Run(t.Context(), b))(t)
	if total != 3*5000 {
		t.Errorf("got %d interactions, want %d", total, 3*5000)
	}
}

func TestGrids(t *testing.T) {
	if got, want := EveryGrid(10, 35), []int{10, 20, 30, 35}; !reflect.DeepEqual(got, want) {
		t.Errorf("EveryGrid: got %v, want %v", got, want)
	}
	if got, want := EveryGrid(1, 3), []int{1, 2, 3}; !reflect.DeepEqual(got, want) {
		t.Errorf("EveryGrid: got %v, want %v", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		points, steps := rapid.IntRange(1, 300).Draw(t, "points"), rapid.IntRange(1, 1_000_000).Draw(t, "steps")
		g := LogGrid(points, steps)
		if len(g) > points || !slices.IsSorted(g) || g[0] < 1 || g[len(g)-1] != steps {
			t.Errorf("LogGrid(%d, %d) = %v", points, steps, g)
		}
		if len(slices.Compact(slices.Clone(g))) != len(g) {
			t.Errorf("LogGrid(%d, %d) = %v repeats a step", points, steps, g)
		}
	})
}
