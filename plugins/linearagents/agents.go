// Package linearagents has the agents for observations that are numbers. Values
// are linear in the features of tile coding (plugins/internal/tiles), and are
// learned by semi-gradient methods (Sutton & Barto 2018, ch. 10 and 12).
//
// All need a framework/space.Box of observations and Discrete actions. They refuse other
// environments with an error wrapping framework.ErrUnsupported. All bootstrap
// from the last observation of a truncated episode, and with zero where it
// terminated. After the start of a run nothing is allocated.
package linearagents

import (
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// Plugins returns every agent of the package.
func Plugins() []vector.Plugin {
	return lanes.GreedyPlugins(SARSA(), Bootstrap())
}

// learner is one lane's agent.
type learner = lanes.Learner[[]float64]

// task is what agents need to know of an environment.
type task struct {
	spec    framework.Spec
	box     space.Box
	actions int
}

// maxActions bounds the number of actions.
const maxActions = 1 << 12

// kind returns what lanes.Plugin needs, given what makes a lane for a task.
func kind[P any](build func(P, task) (func() learner, error)) func(P, framework.Spec, int64) (lanes.Kind[[]float64], error) {
	return func(p P, spec framework.Spec, actions int64) (k lanes.Kind[[]float64], err error) {
		box, ok := spec.Observation.(space.Box)
		if !ok {
			return k, lanes.Unsupported("it is for observations that are numbers; those of %s are not a box", spec.ID)
		}
		if actions > maxActions {
			return k, lanes.Unsupported("%s has %d actions, more than %d", spec.ID, actions, maxActions)
		}
		k.New, err = build(p, task{spec, box, int(actions)})
		k.Read = lanes.Numbers(box.Width())
		return k, err
	}
}
