package vector

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/internal/must"
)

// noter notes what a note says while its code runs.
type noter struct {
	scripted
	at   *uint32
	seen *[]uint32
	fail func() error
}

func (n *noter) look() error {
	*n.seen = append(*n.seen, *n.at)
	return n.fail()
}

func (n *noter) Reset(context.Context, uint64) (space.Value, error) {
	return space.Value{Float64: []float64{0.5}}, n.look()
}

func (n *noter) SelectAction(context.Context, space.Value) (space.Value, error) {
	return space.Value{}, n.look()
}

// Whatever a lane's code does, the note says which lane's it is meanwhile, and none's
// afterwards.
func TestNoteLanes(t *testing.T) {
	for _, tt := range []struct {
		name string
		fail func() error
		want []uint32
	}{
		{"nothing", func() error { return nil }, []uint32{1, 2, 3}},
		{"an error", func() error { return errors.New("broken") }, []uint32{1}},
		{"a panic", func() error { panic("oh") }, []uint32{1}},
	} {
		var at uint32
		var seen []uint32
		lane := func() *noter { return &noter{at: &at, seen: &seen, fail: tt.fail} }
		ctx := NoteLanes(t.Context(), &at)
		check := func(what string) {
			if !slices.Equal(seen, tt.want) || at != 0 {
				t.Errorf("%s, %s: noted %v, then %d; want %v, then 0", what, tt.name, seen, at, tt.want)
			}
			seen = nil
		}
		env := must.Get(Vectorize(func() (framework.Environment, error) { return lane(), nil }, 3))(t)
		in, out := NewActions(env.Spec(), 3), NewTimeSteps(env.Spec(), 3)
		feedback := NewFeedback(env.Spec(), 3)
		for i := range 3 {
			in.Signals[i], feedback.Signals[i] = NewRun, NewRun
		}
		_ = env.Step(ctx, in, &out)
		check("environment")
		agent := must.Get(VectorizeAgent(func(uint64) (framework.Agent, error) { return lane(), nil }, env.Spec(), 3))(t)
		actions := space.NewColumn(env.Spec().Action, 3)
		_ = agent.Step(ctx, feedback, &actions)
		check("agent")
		if _ = env.Step(NoteLanes(t.Context(), nil), in, &out); !slices.Equal(seen, make([]uint32, len(tt.want))) {
			t.Errorf("%s: noted %v for nobody", tt.name, seen)
		}
	}
}

// Neither noting lanes nor not noting them allocates.
func TestNotingDoesNotAllocate(t *testing.T) {
	var at uint32
	f := func(lane int) error { return nil }
	for _, ctx := range []context.Context{t.Context(), NoteLanes(t.Context(), &at)} {
		if n := testing.AllocsPerRun(100, func() { _ = eachLane(ctx, 10, f) }); n > 0 {
			t.Errorf("%v allocations per call", n)
		}
	}
}
