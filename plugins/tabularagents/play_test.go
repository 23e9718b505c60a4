package tabularagents

import (
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/tabular"
)

// What tests know by name, and how they play it.
var (
	plugins    = agenttest.Plugins(append(tabular.Plugins(), Plugins()...))
	find       = plugins.Find
	play       = plugins.Play
	playHosted = plugins.PlayHosted
	trained    = plugins.Trained
)
