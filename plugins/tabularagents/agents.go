// Package tabularagents is the classical agents for finite tasks, each a plugin, and
// those that hold several opinions for a host to explore by. They hold tables over
// states and actions, and take an observation for a Markov state.
//
// All refuse, with an error wrapping framework.ErrUnsupported, environments whose
// observations or actions are not framework/space.Discrete, and those with more
// than 2^24 pairs of them. All bootstrap from the last observation of a truncated
// episode, and with zero where it terminated.
package tabularagents

import (
	"fmt"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// Plugins returns every agent of the package.
func Plugins() []framework.Plugin {
	return []framework.Plugin{QLearning(), SARSA(), DynaQ(), PSRL(), BOSS(), GaussianPSRL(), UCBVI(), BootstrapQ(), BootstrapModel(), BayesianQ(), UCRL2(), MBIEEB(), OptimisticModel(), RMAX(), E3()}
}

// learner is one lane's agent. States are numbered from 0.
type learner = lanes.Learner[int]

// task is what agents need to know of an environment.
type task struct {
	states, actions int
	spec            framework.Spec
}

// maxPairs bounds the size of a table.
const maxPairs = 1 << 24

// plugin is lanes.Plugin, given what makes a lane for a task.
func plugin[P any](id, doc string, defaults P, build func(P, task) (func() learner, error)) framework.Plugin {
	return lanes.Plugin(id, doc, defaults, kind(build))
}

func kind[P any](build func(P, task) (func() learner, error)) func(P, framework.Spec, int64) (lanes.Kind[int], error) {
	return func(p P, spec framework.Spec, actions int64) (k lanes.Kind[int], err error) {
		states, ok := spec.Observation.(space.Discrete)
		if !ok {
			return k, lanes.Unsupported("it is for finite tasks; the observations of %s are not discrete", spec.ID)
		}
		if states.N > maxPairs || actions > maxPairs/states.N {
			return k, lanes.Unsupported("%s has %d states and %d actions, too many for a table", spec.ID, states.N, actions)
		}
		k.New, err = build(p, task{int(states.N), int(actions), spec})
		k.Read = reader(states.Start, uint64(states.N))
		return k, err
	}
}

// reader returns a function that reads the numbers of n states from start on.
func reader(start int64, n uint64) func([]int, *framework.Feedback) error {
	return func(dst []int, in *framework.Feedback) error {
		observations := in.Observations.Int64[:len(dst)]
		for i, o := range observations {
			s := uint64(o) - uint64(start)
			if s >= n && in.Signals[i] != framework.Idle {
				return &framework.LaneError{Lane: i, Err: fmt.Errorf("observation %d is none of %d: %w", o, n, framework.ErrInvalidAnswer)}
			}
			dst[i] = int(s)
		}
		return nil
	}
}
