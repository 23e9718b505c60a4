package lanes

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/options"
)

// clerk writes down what it is told. Its actions are the observations.
type clerk struct{ log []string }

func (c *clerk) note(format string, args ...any) { c.log = append(c.log, fmt.Sprintf(format, args...)) }

func (c *clerk) Start(seed uint64)            { c.log = []string{fmt.Sprint("start ", seed)} }
func (c *clerk) Begin(o int) int              { c.note("begin %d", o); return o }
func (c *clerk) Step(r float64, o int) int    { c.note("step %v %d", r, o); return o }
func (c *clerk) Act(o int) int                { c.note("act %d", o); return o }
func (c *clerk) End(r float64, o int, t bool) { c.note("end %v %d %t", r, o, t) }

func (c *clerk) SetOptionKinds([]options.Kind) error { return nil }
func (c *clerk) SetObservation(o int)                { c.note("look %d", o) }
func (c *clerk) Learn(r float64, o int)              { c.note("take %v %d", r, o) }
func (c *clerk) DescribeDecision(p *options.Problem) error {
	p.Arms = make([]options.Arm, 2)
	return nil
}
func (c *clerk) Choose(option int) int                 { c.note("follow %d", option); return option }
func (c *clerk) GreedyPolicy(dst []int) ([]int, error) { return append(dst, 1, 0), nil }

var spec = framework.Spec{ID: "test/x@1", Observation: space.Discrete{N: 2}, Action: space.Discrete{N: 2, Start: 3}}

// clerks opens an agent of two.
func clerks(t *testing.T) vector.OptionAgent {
	t.Helper()
	p := OptionPlugin("test/clerk@1", "Writes down.", struct{}{}, func(struct{}, framework.Spec, int64) (Kind[int], error) {
		return Kind[int]{
			New: func() Learner[int] { return &clerk{} },
			Read: func(dst []int, in *vector.Feedback) error {
				for i, o := range in.Observations.Int64 {
					dst[i] = int(o)
				}
				return nil
			},
		}, nil
	})
	a := must.Get(p.OpenAgent(t.Context(), nil, spec, 2))(t)
	return a.Abilities().Options
}

// call is what lane 1 of a clerk is sent, and what comes of it.
type call struct {
	signal vector.Signal
	o      int64
	reward float64
	end    bool
	epoch  bool
	choice int
	action int64 // 0 for none
	want   error
}

// Signals become calls of the learner, in order, and the learner's actions the lane's.
func TestSignals(t *testing.T) {
	a := clerks(t)
	in, actions := vector.NewFeedback(spec, 2), space.NewColumn(spec.Action, 2)
	problems := make([]options.Problem, 2)
	for k, c := range []call{
		{signal: vector.Continue, want: framework.ErrNeedsReset},
		{signal: vector.NewEpisode, want: framework.ErrNeedsReset},
		{signal: vector.Evaluate, want: framework.ErrNeedsReset},
		{signal: vector.NewRun, o: 1, action: 4},
		{signal: vector.Continue, reward: math.NaN(), want: framework.ErrInvalidAnswer},
		{signal: vector.Continue, reward: 2, action: 3},
		{signal: vector.Idle},
		{signal: vector.Evaluate, o: 1, reward: 5, action: 4},
		{signal: vector.Continue, reward: 1, epoch: true, choice: 1, action: 4},
		{signal: vector.Evaluate, epoch: true, choice: 0, action: 3},
		{signal: vector.Continue, reward: 3, end: true, epoch: true},
		{signal: vector.Continue, want: framework.ErrNeedsReset},
		{signal: vector.NewEpisode, o: 1, epoch: true, choice: 2, want: framework.ErrInvalidAction},
		{signal: vector.Continue, want: framework.ErrNeedsReset},
		{signal: vector.NewEpisode, o: 1, action: 4},
		{signal: vector.Evaluate, end: true},
		{signal: vector.Evaluate, want: framework.ErrNeedsReset},
	} {
		in.Signals[1], in.Observations.Int64[1], in.Rewards[1], in.Terminated[1], in.Seeds[1] = c.signal, c.o, c.reward, c.end, 9
		actions.Int64[1] = 0
		err := a.StepOptions(t.Context(), in, []bool{false, c.epoch}, &actions, problems)
		if err == nil && c.epoch && !c.end {
			err = a.Choose(t.Context(), []int{-1, c.choice}, &actions)
		}
		var lane *vector.LaneError
		if !errors.Is(err, c.want) || err != nil && (!errors.As(err, &lane) || lane.Lane != 1) || actions.Int64[1] != c.action {
			t.Fatalf("call %d, %+v: action %d, %v", k, c, actions.Int64[1], err)
		}
	}
	got := Learners[int](a)[1].(*clerk).log
	want := []string{"start 9", "begin 1", "step 2 0", "act 1", "take 1 0", "follow 1", "look 0", "follow 0", "end 3 0 true", "look 1", "begin 1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if err := a.SetOptionKinds(t.Context(), nil); !errors.Is(err, framework.ErrUnsupported) {
		t.Errorf("an offer in a run: %v", err)
	}
	if p, err := a.GreedyPolicy(t.Context(), 1, []int{7}); err != nil || !slices.Equal(p, []int{1, 0}) {
		t.Errorf("policy %v, %v", p, err)
	}
}

// A lane is stored whole, and loaded into any other; what does not fit changes
// nothing.
func TestSaveAndLoad(t *testing.T) {
	a, b := clerks(t), clerks(t)
	in, actions := vector.NewFeedback(spec, 2), space.NewColumn(spec.Action, 2)
	if _, err := vector.Save(t.Context(), a, 0); !errors.Is(err, framework.ErrNeedsReset) {
		t.Errorf("before a run: %v", err)
	}
	in.Signals[0] = vector.NewRun
	must.Do(t, a.Step(t.Context(), in, &actions))
	state := must.Get(vector.Save(t.Context(), a, 0))(t)
	if err := vector.Load(t.Context(), b, 1, state[1:]); err == nil || Learners[int](b)[1].(*clerk).log != nil {
		t.Errorf("a damaged state: %v, %q", err, Learners[int](b)[1])
	}
	must.Do(t, vector.Load(t.Context(), b, 1, state))
	in.Signals[0], in.Signals[1] = vector.Idle, vector.Continue
	must.Do(t, b.Step(t.Context(), in, &actions))
	if got := Learners[int](b)[1].(*clerk).log; !slices.Equal(got, []string{"start 0", "begin 0", "step 0 0"}) {
		t.Errorf("loaded and stepped: %q", got)
	}
	for _, lane := range []int{-1, 2} {
		if _, err := vector.Save(t.Context(), a, lane); err == nil {
			t.Errorf("lane %d was saved", lane)
		}
		if err := vector.Load(t.Context(), a, lane, state); err == nil {
			t.Errorf("lane %d was loaded", lane)
		}
	}
}

// Actions that are several integers are enumerated: the learner has numbers, the host has values.
func TestActionsOfSeveralIntegers(t *testing.T) {
	for _, actions := range []space.Space{
		space.MultiDiscrete{NVec: []int64{2, 3}},
		space.Box{Low: []float64{-1, 4}, High: []float64{0, 6}, Shape: []int{2}, Type: space.Int64},
		space.Box{Low: []float64{254, 4}, High: []float64{255, 6}, Shape: []int{2}, Type: space.Uint8},
	} {
		spec := framework.Spec{ID: "test/x@1", Observation: space.Discrete{N: 6}, Action: actions}
		p := Plugin("test/clerk@1", "Writes down.", struct{}{}, func(_ struct{}, _ framework.Spec, n int64) (Kind[int], error) {
			if n != 6 {
				t.Errorf("%d actions", n)
			}
			return Kind[int]{New: func() Learner[int] { return &clerk{} }, Read: func(dst []int, in *vector.Feedback) error {
				dst[0] = int(in.Observations.Int64[0])
				return nil
			}}, nil
		})
		a := must.Get(p.OpenAgent(t.Context(), nil, spec, 1))(t)
		in, column := vector.NewFeedback(spec, 1), space.NewColumn(actions, 1)
		in.Signals[0] = vector.NewRun
		seen := map[string]bool{}
		for in.Observations.Int64[0] = range int64(6) {
			must.Do(t, a.Step(t.Context(), in, &column))
			must.Do(t, actions.Check(&column, 0))
			seen[fmt.Sprint(column.Get(actions, 0))] = true
			in.Signals[0] = vector.Continue
		}
		if len(seen) != 6 {
			t.Errorf("%v: actions %v, want 6", actions, seen)
		}
	}
}
