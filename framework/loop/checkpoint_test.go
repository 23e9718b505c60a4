package loop

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// push is walk with actions of two numbers, and a metric that counts steps since it was last read.
type push struct {
	walk
	since int
	drift float64 // added to rewards
}

func (p *push) Spec() framework.Spec {
	s := p.walk.Spec()
	s.Action = space.Box{Type: space.Float64, Shape: []int{2}, Low: []float64{0}, High: []float64{3}}
	return s
}

func (p *push) Step(ctx context.Context, a space.Value) (framework.TimeStep, error) {
	p.since++
	x, err := p.walk.Step(ctx, space.Value{Int: int64(a.Float64[0])})
	x.Reward += a.Float64[1] + p.drift
	return x, err
}

func (*push) Metrics() []framework.Metric { return []framework.Metric{{Name: "since"}} }

func (p *push) Measure(_ context.Context, dst []float64) error {
	dst[0], p.since = float64(p.since), 0
	return nil
}

// pusher is a sailor whose second number is −0.
type pusher struct{ sailor }

func newPusher(s uint64) (framework.Agent, error) {
	a := &pusher{}
	a.pcg.Seed(s, 0)
	a.rng = rand.New(&a.pcg)
	return a, nil
}

func (p *pusher) SelectAction(ctx context.Context, o space.Value) (space.Value, error) {
	a, err := p.sailor.SelectAction(ctx, o)
	return space.Value{Float64: []float64{float64(a.Int), math.Copysign(0, -1)}}, err
}

func (p *pusher) SelectGreedyAction(context.Context, space.Value) (space.Value, error) {
	return space.Value{Float64: []float64{2, 0}}, nil
}

func pushing(t testing.TB, runs []int, steps int, drift float64) Batch {
	t.Helper()
	env := must.Get(vector.Vectorize(func() (framework.Environment, error) { return &push{drift: drift}, nil }, len(runs)))(t)
	agent := must.Get(vector.VectorizeAgent(newPusher, env.Spec(), len(runs)))(t)
	other := must.Get(vector.Vectorize(func() (framework.Environment, error) { return &push{}, nil }, len(runs)))(t)
	evaluated := must.Get(vector.VectorizeAgent(newPusher, env.Spec(), len(runs)))(t)
	return Batch{
		Environment: env, Agent: agent, Runs: runs, Seeds: seed.NewSource(7, env.Spec().ID), Steps: steps, Grid: EveryGrid(7, steps), Discount: 0.9,
		Metrics:    append([]result.Metric{"environment.since", result.EvaluationReturn}, everything...),
		Evaluation: &Evaluation{Environment: other, Agent: evaluated, Every: 30, Episodes: 2, Limit: 20},
	}
}

// saved are checkpoints as a file holds them.
type saved map[int][][]byte

func (s saved) keep(t testing.TB) func(run int, c *Checkpoint) {
	return func(run int, c *Checkpoint) {
		var b bytes.Buffer
		must.Do(t, gob.NewEncoder(&b).Encode(c))
		s[run] = append(s[run], b.Bytes())
	}
}

func decoded(t testing.TB, data []byte) *Checkpoint {
	var c Checkpoint
	must.Do(t, gob.NewDecoder(bytes.NewReader(data)).Decode(&c))
	return &c
}

// Runs that go on from any of their checkpoints, in any company, end as if nothing had happened, whether lanes are
// stepped together or alone.
func TestRunsGoOnFromCheckpoints(t *testing.T) {
	const runs, steps = 6, 200
	all := []int{0, 1, 2, 3, 4, 5}
	for name, open := range map[string]func(runs []int) Batch{
		"together": func(runs []int) Batch { return pushing(t, runs, steps, 0) },
		"alone": func(runs []int) Batch {
			b := sailing(t, runs, steps, EveryGrid(9, steps))
			b.Evaluation.Every = 30
			return b
		},
		"together, in episodes": func(runs []int) Batch {
			b := pushing(t, runs, steps, 0)
			b.Episodes, b.Grid = 12, EveryGrid(5, 12)
			return b
		},
		"alone, in episodes": func(runs []int) Batch {
			b := sailing(t, runs, steps, EveryGrid(4, 15))
			b.Episodes, b.Evaluation.Every = 15, 4
			return b
		},
		"actors": func(runs []int) Batch {
			b, _ := acting(t, runs, 3, steps, nil)
			return b
		},
		"actors, in episodes": func(runs []int) Batch {
			b, _ := acting(t, runs, 4, steps, nil)
			b.Episodes, b.Grid = 12, EveryGrid(5, 12)
			return b
		},
	} {
		want, kept := map[int]string{}, saved{}
		for _, o := range must.Get(Run(t.Context(), open(all)))(t) {
			want[o.Run] = fmt.Sprint(o) // NaN = NaN, and −0 is not 0
		}
		whole := open(all)
		units := 13
		if whole.Episodes > 0 {
			units = 2
		}
		whole.Checkpoints = &Checkpoints{Units: units, Keep: kept.keep(t), From: func(int) *Checkpoint { return nil }}
		for _, o := range must.Get(Run(t.Context(), whole))(t) {
			if fmt.Sprint(o) != want[o.Run] {
				t.Fatalf("%s: with checkpoints run %d is %v, want %v", name, o.Run, o, want[o.Run])
			}
		}
		rapid.Check(t, func(rt *rapid.T) {
			group := rapid.SliceOfNDistinct(rapid.SampledFrom(all), 1, runs, rapid.ID).Draw(rt, "runs")
			from, again := map[int]*Checkpoint{}, saved{}
			for _, run := range group {
				if n := len(kept[run]); n < 2 {
					rt.Fatalf("%s: run %d has %d checkpoints", name, run, n)
				}
				if k := rapid.IntRange(-1, len(kept[run])-1).Draw(rt, "checkpoint"); k >= 0 {
					from[run] = decoded(t, kept[run][k])
				}
			}
			b := open(group)
			b.Checkpoints = &Checkpoints{Units: units + 1, Keep: again.keep(t), From: func(run int) *Checkpoint { return from[run] }}
			for _, o := range must.Get(Run(t.Context(), b))(t) {
				if fmt.Sprint(o) != want[o.Run] {
					rt.Fatalf("%s: run %d of %v went on from %v: got %v, want %v", name, o.Run, group, from[o.Run], o, want[o.Run])
				}
			}
			for run, list := range again { // and from what it keeps then it goes on as well
				b := open([]int{run})
				last := decoded(t, list[len(list)-1])
				b.Checkpoints = &Checkpoints{Units: 500, Keep: again.keep(t), From: func(int) *Checkpoint { return last }}
				if o := must.Get(Run(t.Context(), b))(t)[0]; fmt.Sprint(o) != want[run] {
					rt.Fatalf("%s: run %d went on twice: got %v, want %v", name, run, o, want[run])
				}
			}
		})
	}
}

// With a budget in episodes, checkpoints are made as episodes end.
func TestCheckpointsCountEpisodes(t *testing.T) {
	for name, b := range map[string]Batch{"together": pushing(t, []int{0, 1}, 1000, 0), "alone": sailing(t, []int{0}, 1000, EveryGrid(4, 15))} {
		kept := saved{}
		b.Episodes, b.Grid, b.Evaluation = 15, EveryGrid(5, 15), nil
		b.Checkpoints = &Checkpoints{Units: 4, Keep: kept.keep(t), From: func(int) *Checkpoint { return nil }}
		must.Get(Run(t.Context(), b))(t)
		most := make([]int, 3)
		for _, list := range kept {
			for k, data := range list {
				most[k] = max(most[k], decoded(t, data).Counts[3])
			}
		}
		if want := []int{4, 8, 12}; !slices.Equal(most, want) {
			t.Errorf("%s: after %v episodes, want %v", name, most, want)
		}
	}
}

// A run whose environment answers otherwise, and one whose checkpoint is of something else, do not go on. A checkpoint of
// somebody else may hold anything.
func TestRunsRefuseCheckpoints(t *testing.T) {
	kept := saved{}
	b := pushing(t, []int{0, 1}, 100, 0)
	b.Checkpoints = &Checkpoints{Units: 40, Keep: kept.keep(t), From: func(int) *Checkpoint { return nil }}
	must.Get(Run(t.Context(), b))(t)
	for name, x := range map[string]struct {
		drift float64
		spoil func(*Checkpoint)
	}{
		"another course": {0.5, func(*Checkpoint) {}},
		"an action less": {0, func(c *Checkpoint) { c.Actions[0] = c.Actions[0][:len(c.Actions[0])-1] }},
		"no actor":       {0, func(c *Checkpoint) { c.Actions, c.Sums = nil, nil }},
		"two actors":     {0, func(c *Checkpoint) { c.Actions = append(c.Actions, c.Actions[0]) }},
		"a step less":    {0, func(c *Checkpoint) { c.Calls-- }},
		"a step more":    {0, func(c *Checkpoint) { c.Calls++ }},
		"no agent":       {0, func(c *Checkpoint) { c.Agent = nil }},
		"fewer curves":   {0, func(c *Checkpoint) { c.Curves = c.Curves[1:] }},
		"fewer numbers":  {0, func(c *Checkpoint) { c.Numbers = nil }},
		"other actions":  {0, func(c *Checkpoint) { c.Actions[0][7] ^= 0x7f }},
		"no action":      {0, func(c *Checkpoint) { copy(c.Actions[0], bytes.Repeat([]byte{0xff}, 8)) }},
		"other steps":    {0, func(c *Checkpoint) { c.Step = math.MinInt }},
		"many calls":     {0, func(c *Checkpoint) { c.Calls = math.MaxInt }},
		"no calls":       {0, func(c *Checkpoint) { c.Calls = math.MinInt }},
		"negative steps": {0, func(c *Checkpoint) { c.Counts[0] = -1 }},
		"many points":    {0, func(c *Checkpoint) { c.Counts[2] = math.MaxInt }},
		"no point":       {0, func(c *Checkpoint) { c.Counts[2] = -1 }},
		"no episodes":    {0, func(c *Checkpoint) { c.Counts[3] = math.MinInt }},
		"long curves":    {0, func(c *Checkpoint) { c.Curves[0] = make([]float64, 1000) }},
		"many returns":   {0, func(c *Checkpoint) { c.Recent = make([]float64, 1000) }},
	} {
		b := pushing(t, []int{0, 1}, 100, x.drift)
		b.Checkpoints = &Checkpoints{Units: 40, Keep: func(int, *Checkpoint) {}, From: func(run int) *Checkpoint {
			if run == 0 {
				return nil
			}
			c := decoded(t, kept[1][0])
			x.spoil(c)
			return c
		}}
		_, err := Run(t.Context(), b)
		var lane *vector.LaneError
		if !errors.Is(err, ErrCheckpoint) || !errors.As(err, &lane) || lane.Lane != 1 {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// FuzzCheckpoint: whatever a file of a run holds, with a checksum that fits, the run goes on from it or it is
// refused. Bytes that are no checkpoint change one: value is put where at says.
func FuzzCheckpoint(f *testing.F) {
	kept := saved{}
	b := pushing(f, []int{0}, 60, 0)
	b.Checkpoints = &Checkpoints{Units: 20, Keep: kept.keep(f), From: func(int) *Checkpoint { return nil }}
	must.Get(Run(f.Context(), b))(f)
	for _, data := range kept[0] {
		f.Add(data, 0, 0)
	}
	for at := range 40 {
		f.Add([]byte("actions"), at, -1)
	}
	f.Fuzz(func(t *testing.T, data []byte, at, value int) {
		var c Checkpoint
		if gob.NewDecoder(bytes.NewReader(data)).Decode(&c) != nil {
			c = *decoded(t, kept[0][1])
			ints := []*int{&c.Step, &c.Calls}
			for i := range c.Counts {
				ints = append(ints, &c.Counts[i])
			}
			for i := range c.EvaluatedAt {
				ints = append(ints, &c.EvaluatedAt[i])
			}
			switch k := int(uint(at) % uint(len(ints)+5)); k - len(ints) {
			case 0:
				copy(c.Actions[0][int(uint(value)%uint(len(c.Actions[0]))):], data)
			case 1:
				copy(c.Agent[int(uint(value)%uint(len(c.Agent))):], data)
			case 2:
				c.Numbers[int(uint(value)%uint(len(c.Numbers)))] = math.Float64frombits(uint64(at) << 32)
			case 3:
				c.Curves = c.Curves[:int(uint(value)%uint(len(c.Curves)))]
			case 4:
				c.Recent = append(c.Recent, float64(value))
			default:
				*ints[k] = value
			}
		}
		b := pushing(t, []int{0, 1}, 60, 0)
		b.Checkpoints = &Checkpoints{Units: 20, Keep: func(int, *Checkpoint) {}, From: func(run int) *Checkpoint {
			if run == 0 {
				return nil
			}
			return &c
		}}
		if _, err := Run(t.Context(), b); err != nil && !errors.Is(err, ErrCheckpoint) {
			t.Errorf("%v: it is not the checkpoint that is refused", err)
		}
	})
}

// forgetful followed an option that it does not know any more.
type forgetful struct{ vector.Agent }

func (forgetful) Step(context.Context, *vector.Feedback, *space.Column) error {
	return &vector.LaneError{Lane: 0, Err: framework.ErrNeedsReset}
}

// An agent that was saved within an option of its own program does not go on, and the run can begin again.
func TestOptionsOfTheAgentsProgram(t *testing.T) {
	kept := saved{}
	b := pushing(t, []int{0}, 100, 0)
	b.Checkpoints = &Checkpoints{Units: 40, Keep: kept.keep(t), From: func(int) *Checkpoint { return nil }}
	must.Get(Run(t.Context(), b))(t)
	b = pushing(t, []int{0}, 100, 0)
	b.Agent = forgetful{b.Agent}
	b.Checkpoints = &Checkpoints{Units: 40, Keep: kept.keep(t), From: func(int) *Checkpoint { return decoded(t, kept[0][0]) }}
	if _, err := Run(t.Context(), b); !errors.Is(err, ErrCheckpoint) {
		t.Errorf("got %v", err)
	}
	b.Checkpoints.From = func(int) *Checkpoint { return nil }
	if _, err := Run(t.Context(), b); errors.Is(err, ErrCheckpoint) || !errors.Is(err, framework.ErrNeedsReset) {
		t.Errorf("a run that begins: %v", err)
	}
}
