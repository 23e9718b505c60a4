// Package modelagents has the agents for finite tasks that learn a model and plan
// with it, each a plugin. It also has those that hold several models, by which a
// host explores. They assume that an observation is a Markov state.
//
// All refuse, with an error wrapping framework.ErrUnsupported, environments whose
// observations or actions are not framework/space.Discrete, and those with more
// than 2^24 pairs of them. A truncated episode is no end to them; a state in which
// one terminated is worth nothing, if not said otherwise.
package modelagents

import (
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// Plugins returns every agent of the package.
func Plugins() []vector.Plugin {
	return lanes.Breaks([]vector.Plugin{PSRL(), BOSS(), GaussianPSRL(), RLSVI(), UCBVI(), BootstrapModel(), UCRL2(), KLUCRL(), MBIE(), MBIEEB(), BEB(), OptimisticModel(), RMAX(), E3(), BAMCP()}, breaks)
}
