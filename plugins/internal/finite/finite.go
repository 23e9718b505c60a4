// Package finite makes plugins of agents for finite tasks, which hold tables over
// states and actions. Spaces of several integers are enumerated (space.Enumerate). They
// refuse, with an error wrapping framework.ErrUnsupported, environments whose observations
// or actions are real numbers, and those with more than MaxPairs pairs of them.
package finite

import (
	"fmt"
	"math"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// Learner is one lane's agent. States are numbered from 0.
type Learner = lanes.Learner[int]

// Task is what agents need to know of an environment.
type Task struct {
	States, Actions int            // how many there are, at least 1 each
	Spec            framework.Spec // of the environment, whose spaces are finite
}

// LargestReturn returns the largest discounted return that there can be with
// rewards up to high: in tasks that end the best of losses is to end at once.
func (t Task) LargestReturn(high, gamma float64) float64 {
	if high < 0 && !t.Spec.Continuing {
		return high
	}
	return high / (1 - gamma)
}

// MaxPairs bounds the size of a table.
const MaxPairs = 1 << 24

// Plugin is lanes.Plugin, given what makes a lane for a task.
func Plugin[P any](id, doc string, defaults P, build func(P, Task) (func() Learner, error)) vector.Plugin {
	return lanes.Plugin(id, doc, defaults, kind(build))
}

// OptionPlugin is lanes.OptionPlugin, given what makes a lane for a task.
func OptionPlugin[P any](id, doc string, defaults P, build func(P, Task) (func() Learner, error)) vector.Plugin {
	return lanes.OptionPlugin(id, doc, defaults, kind(build))
}

func kind[P any](build func(P, Task) (func() Learner, error)) func(P, framework.Spec, int64) (lanes.Kind[int], error) {
	return func(p P, spec framework.Spec, actions int64) (k lanes.Kind[int], err error) {
		states, ok := space.Enumerate(spec.Observation, math.MaxInt64)
		if !ok {
			return k, lanes.Unsupported("it is for finite tasks; the observations of %s are %s", spec.ID, lanes.Countless(spec.Observation, "not discrete"))
		}
		if states.N > MaxPairs || actions > MaxPairs/states.N {
			return k, lanes.Unsupported("%s has %d states and %d actions, too many for a table", spec.ID, states.N, actions)
		}
		k.New, err = build(p, Task{int(states.N), int(actions), spec})
		k.State, k.States = func(s int) int { return s }, int(states.N)
		if d, ok := spec.Observation.(space.Discrete); ok {
			k.Number = numbers(d.Start, uint64(d.N))
			k.Read = reader(k.Number)
		} else {
			k.Read = enumerated(states)
		}
		return k, err
	}
}

// numbers returns a function that returns the numbers of n states from start on.
func numbers(start int64, n uint64) func(int, int64) (int, error) {
	return func(lane int, observation int64) (int, error) {
		s := uint64(observation) - uint64(start)
		if s >= n {
			return 0, &vector.LaneError{Lane: lane, Err: fmt.Errorf("observation %d is none of %d: %w", observation, n, framework.ErrInvalidAnswer)}
		}
		return int(s), nil
	}
}

// enumerated returns a function that reads states that are several integers.
func enumerated(states space.Enumeration) func([]int, *vector.Feedback) error {
	return func(dst []int, in *vector.Feedback) error {
		for i, s := range in.Signals[:len(dst)] {
			if s == vector.Idle {
				continue
			}
			number, err := states.Get(&in.Observations, i)
			if err != nil {
				return &vector.LaneError{Lane: i, Err: fmt.Errorf("observation: %w: %w", err, framework.ErrInvalidAnswer)}
			}
			dst[i] = int(number)
		}
		return nil
	}
}

// reader returns a function that reads the numbers of states.
func reader(number func(int, int64) (int, error)) func([]int, *vector.Feedback) error {
	return func(dst []int, in *vector.Feedback) (err error) {
		observations := in.Observations.Int64[:len(dst)]
		for i, s := range in.Signals[:len(dst)] {
			if s == vector.Idle {
				continue
			}
			if dst[i], err = number(i, observations[i]); err != nil {
				return err
			}
		}
		return nil
	}
}
