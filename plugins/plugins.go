// Package plugins lists the environments and agents that ship with rlrun. They
// are plugins like any other: they run in rlrun's process, where they are
// fastest, or in one of their own.
package plugins

import (
	"slices"
	"sync"

	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/banditagent"
	"github.com/rlrun/rlrun/plugins/bernoullibandit"
	"github.com/rlrun/rlrun/plugins/classiccontrol"
	"github.com/rlrun/rlrun/plugins/contextual"
	"github.com/rlrun/rlrun/plugins/families"
	"github.com/rlrun/rlrun/plugins/gaussianbandit"
	"github.com/rlrun/rlrun/plugins/linearagents"
	"github.com/rlrun/rlrun/plugins/modelagents"
	"github.com/rlrun/rlrun/plugins/modelfile"
	"github.com/rlrun/rlrun/plugins/randomagent"
	"github.com/rlrun/rlrun/plugins/tabular"
	"github.com/rlrun/rlrun/plugins/tabularagents"
	"github.com/rlrun/rlrun/plugins/thresholdmodel"
)

// All returns every bundled plugin, the same ones at every call.
func All() []vector.Plugin { return slices.Clone(all()) }

// all makes the plugins once: their schemas take ten milliseconds.
var all = sync.OnceValue(func() []vector.Plugin {
	return slices.Concat([]vector.Plugin{
		bernoullibandit.Plugin(),
		gaussianbandit.Plugin(),
		banditagent.Plugin(),
		families.Plugin(),
		modelfile.Plugin(),
		thresholdmodel.Plugin(),
		randomagent.Plugin(),
	}, tabular.Plugins(), classiccontrol.Plugins(), tabularagents.Plugins(), modelagents.Plugins(), linearagents.Plugins(), contextual.Plugins())
})
