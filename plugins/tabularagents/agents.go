// Package tabularagents has the classical agents for finite tasks that learn tables
// of values, each a plugin, and agents with an ensemble of such tables, with which a
// host explores. They treat an observation as a Markov state.
//
// All refuse, with an error wrapping framework.ErrUnsupported, environments whose
// observations or actions are not framework/space.Discrete, and those with more
// than 2^24 pairs of them. All bootstrap from the last observation of a truncated
// episode, and with zero where it terminated.
package tabularagents

import (
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// Plugins returns every agent of the package.
func Plugins() []vector.Plugin {
	return lanes.Breaks(lanes.GreedyPlugins(QLearning(), SARSA(), DynaQ(), BootstrapQ(), BayesianQ(), UCBQ()), breaks)
}
