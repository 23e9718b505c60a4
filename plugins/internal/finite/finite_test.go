package finite_test

import (
	"slices"

	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/modelagents"
	"github.com/rlrun/rlrun/plugins/tabular"
	"github.com/rlrun/rlrun/plugins/tabularagents"
)

// agents returns all agents for finite tasks, and plugins also their environments.
func agents() agenttest.Plugins {
	return slices.Concat(tabularagents.Plugins(), modelagents.Plugins())
}

func plugins() agenttest.Plugins { return append(agents(), tabular.Plugins()...) }
