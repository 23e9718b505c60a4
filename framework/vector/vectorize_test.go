package vector

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/internal/must"
)

// scripted is an environment and an agent that does as it is told.
type scripted struct {
	step   func() (framework.TimeStep, error)
	action func() (space.Value, error)
	closed error
	closes int
	resets []uint64
	learnt []framework.Transition
}

func (s *scripted) Spec() framework.Spec { return testSpec() }

func (s *scripted) Reset(_ context.Context, seed uint64) (space.Value, error) {
	s.resets = append(s.resets, seed)
	return space.Value{Float64: []float64{0.5}}, nil
}

func (s *scripted) Step(context.Context, space.Value) (framework.TimeStep, error) { return s.step() }

func (s *scripted) SelectAction(context.Context, space.Value) (space.Value, error) {
	return s.action()
}

func (s *scripted) Update(_ context.Context, t framework.Transition) error {
	s.learnt = append(s.learnt, t)
	return nil
}

func (s *scripted) Close() error {
	s.closes++
	return s.closed
}

func TestVectorizeBlamesALane(t *testing.T) {
	failure := errors.New("broken")
	for _, tt := range []struct {
		name string
		step func() (framework.TimeStep, error)
		is   error
		want string
	}{
		{"error", func() (framework.TimeStep, error) { return framework.TimeStep{}, failure }, failure, "lane 1: broken"},
		{"panic", func() (framework.TimeStep, error) { panic("oh") }, nil, "lane 1: panic: oh"},
		{"no observation", func() (framework.TimeStep, error) { return framework.TimeStep{}, nil }, framework.ErrInvalidAnswer, "lane 1: invalid answer: observation: 0 elements"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fine := &scripted{step: func() (framework.TimeStep, error) {
				return framework.TimeStep{Observation: space.Value{Float64: []float64{0.25}}, Reward: 2, Truncated: true}, nil
			}}
			copies := []framework.Environment{fine, &scripted{step: tt.step}}
			env, err := Vectorize(func() (framework.Environment, error) {
				e := copies[0]
				copies = copies[1:]
				return e, nil
			}, 2)
			if err != nil {
				t.Fatal(err)
			}
			in, out := NewActions(env.Spec(), 2), NewTimeSteps(env.Spec(), 2)
			in.Signals[0], in.Signals[1], in.Seeds[0] = NewRun, NewRun, 7
			must.Do(t, env.Step(t.Context(), in, &out))
			if out.Observations.Float64[0] != 0.5 || len(fine.resets) != 1 || fine.resets[0] != 7 {
				t.Errorf("observation %v after resets with %v", out.Observations.Float64[0], fine.resets)
			}
			in.Signals[0], in.Signals[1] = Continue, Continue
			in.Actions.Int64[0], in.Actions.Int64[1] = 1, 1
			err = env.Step(t.Context(), in, &out)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if out.Rewards[0] != 2 || !out.Truncated[0] || out.Observations.Float64[0] != 0.25 {
				t.Errorf("lane 0: %v %v %v", out.Rewards[0], out.Truncated[0], out.Observations.Float64[0])
			}
		})
	}
}

func TestVectorizeRefuses(t *testing.T) {
	if _, err := Vectorize(func() (framework.Environment, error) { return &scripted{}, nil }, 0); err == nil {
		t.Error("no lanes were accepted")
	}
	if _, err := Vectorize(func() (framework.Environment, error) { return nil, framework.ErrUnsupported }, 2); !errors.Is(err, framework.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

// Every copy is closed, whatever comes of the others.
func TestVectorizeCloses(t *testing.T) {
	stuck, locked := errors.New("stuck"), errors.New("locked")
	copies := []*scripted{{closed: stuck}, {}, {closed: locked}}
	made := 0
	env, err := Vectorize(func() (framework.Environment, error) {
		made++
		return copies[made-1], nil
	}, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := env.Close(); !errors.Is(err, stuck) || !errors.Is(err, locked) {
		t.Errorf("got %v, want both errors", err)
	}
	_, err = Vectorize(func() (framework.Environment, error) {
		if made--; made == 0 {
			return nil, framework.ErrUnsupported
		}
		return copies[made], nil
	}, 3)
	if !errors.Is(err, framework.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	if copies[0].closes != 1 || copies[1].closes != 2 || copies[2].closes != 2 {
		t.Errorf("closed %d, %d and %d times; the last two belonged to lanes that came to nothing, too", copies[0].closes, copies[1].closes, copies[2].closes)
	}
}

func TestVectorizeAgent(t *testing.T) {
	spec := testSpec()
	action := int64(2)
	one := &scripted{action: func() (space.Value, error) { return space.Value{Int: action}, nil }}
	var seeds []uint64
	agent := must.Get(VectorizeAgent(func(seed uint64) (framework.Agent, error) {
		seeds = append(seeds, seed)
		return one, nil
	}, spec, 1))(t)
	in, actions := NewFeedback(spec, 1), space.NewColumn(spec.Action, 1)
	step := func(signal Signal, observation, reward float64, terminated bool) {
		t.Helper()
		in.Signals[0], in.Seeds[0], in.Observations.Float64[0], in.Rewards[0], in.Terminated[0] = signal, 9, observation, reward, terminated
		must.Do(t, agent.Step(t.Context(), in, &actions))
	}
	step(NewRun, 0.1, 5, true)
	if len(one.learnt) > 0 || actions.Int64[0] != 2 {
		t.Errorf("first: learnt %v, action %d", one.learnt, actions.Int64[0])
	}
	action = 3
	step(Continue, 0.2, 1, false)
	step(Continue, 0.3, -1, true)
	if len(one.learnt) != 2 || actions.Int64[0] != 3 {
		t.Fatalf("learnt %v, action %d", one.learnt, actions.Int64[0])
	}
	last := one.learnt[1]
	if last.Observation.Float64[0] != 0.2 || last.NextObservation.Float64[0] != 0.3 || last.Action.Int != 3 || last.Reward != -1 || !last.Terminated || last.Truncated {
		t.Errorf("learnt %+v", last)
	}
	step(NewEpisode, 0.4, 8, false)
	step(Evaluate, 0.5, 8, false)
	step(Evaluate, 0.5, 8, true)
	step(NewRun, 0.4, 8, false)
	if len(one.learnt) != 2 || len(seeds) != 3 || seeds[2] != 9 { // the first was a look at what it can do
		t.Errorf("learnt %v, seeds %v", one.learnt, seeds)
	}
}

// An agent is closed when its run is over: when the next begins in its lane, or with
// the lanes. The one that was looked at is also closed.
func TestVectorizeAgentCloses(t *testing.T) {
	stuck, locked := errors.New("stuck"), errors.New("locked")
	var made []*scripted
	agent := must.Get(VectorizeAgent(func(uint64) (framework.Agent, error) {
		a := &scripted{action: func() (space.Value, error) { return space.Value{Int: 2}, nil }}
		made = append(made, a)
		return a, nil
	}, testSpec(), 2))(t)
	in, actions := NewFeedback(testSpec(), 2), space.NewColumn(testSpec().Action, 2)
	step := func(first, second Signal) error {
		in.Signals[0], in.Signals[1] = first, second
		return agent.Step(t.Context(), in, &actions)
	}
	closes := func(when string, want ...int) {
		t.Helper()
		for i, a := range made {
			if a.closes != want[i] {
				t.Errorf("%s: agent %d was closed %d times, want %d", when, i, a.closes, want[i])
			}
		}
	}
	must.Do(t, step(NewRun, NewRun))
	closes("two runs", 1, 0, 0)
	must.Do(t, step(NewRun, NewEpisode))
	closes("another in the first lane", 1, 1, 0, 0)
	made[2].closed = locked
	var lane *LaneError
	if err := step(Continue, NewRun); !errors.Is(err, locked) || !errors.As(err, &lane) || lane.Lane != 1 {
		t.Errorf("got %v, want lane 1 to blame", err)
	}
	made[3].closed = stuck
	if err := agent.Close(); !errors.Is(err, stuck) {
		t.Errorf("got %v", err)
	}
	if err := agent.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	closes("at the end", 1, 1, 1, 1)
}

func TestVectorizeAgentRefuses(t *testing.T) {
	if _, err := VectorizeAgent(func(uint64) (framework.Agent, error) { return &scripted{}, nil }, testSpec(), 0); err == nil {
		t.Error("no lanes were accepted")
	}
	if _, err := VectorizeAgent(func(uint64) (framework.Agent, error) { return nil, framework.ErrUnsupported }, testSpec(), 2); !errors.Is(err, framework.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

func TestVectorizeAgentBlamesALane(t *testing.T) {
	spec := testSpec()
	for _, tt := range []struct {
		name   string
		signal Signal
		want   string
	}{
		{"before a run", Continue, "lane 0: a step before the lane's first run"},
		{"episode before a run", NewEpisode, "lane 0: a step before the lane's first run"},
		{"panic", NewRun, "lane 0: panic: oh"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			agent := must.Get(VectorizeAgent(func(uint64) (framework.Agent, error) {
				return &scripted{action: func() (space.Value, error) { panic("oh") }}, nil
			}, spec, 1))(t)
			in, actions := NewFeedback(spec, 1), space.NewColumn(spec.Action, 1)
			in.Signals[0] = tt.signal
			if err := agent.Step(t.Context(), in, &actions); err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
