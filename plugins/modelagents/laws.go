package modelagents

import "github.com/rlrun/rlrun/plugins/internal/lanes"

// everyState is a reason for which agents break the law of unreachable states.
const everyState = "the prior of a row has weight on every declared state"

// breaks are the laws of agents that the agents break by design.
var breaks = map[string]map[string]string{
	"rlrun/psrl@1":            {"unreachable-states": everyState, "duplicated-actions": lanes.Copies, "scaled-rewards": lanes.UnitPrior, "shifted-rewards": lanes.UnitPrior, "continuing-form": lanes.Ends},
	"rlrun/boss@1":            {"unreachable-states": everyState, "duplicated-actions": lanes.Copies, "scaled-rewards": lanes.UnitPrior, "shifted-rewards": lanes.UnitPrior, "continuing-form": lanes.Ends},
	"rlrun/bootstrap-model@1": {"unreachable-states": everyState, "duplicated-actions": lanes.Copies, "scaled-rewards": lanes.UnitPrior, "shifted-rewards": lanes.UnitPrior, "continuing-form": lanes.Ends},
	"rlrun/gaussian-psrl@1":   {"unreachable-states": everyState, "duplicated-actions": lanes.Copies, "scaled-rewards": lanes.UnitPrior, "shifted-rewards": lanes.UnitPrior, "continuing-form": lanes.Ends},
	"rlrun/rlsvi@1":           {"duplicated-actions": lanes.Copies, "scaled-rewards": lanes.UnitPrior, "shifted-rewards": lanes.UnitPrior, "continuing-form": lanes.Ends},
	"rlrun/ucbvi@1": {
		"unreachable-states": "the widths of its intervals grow with the number of declared states",
		"duplicated-actions": lanes.Copies,
		"scaled-rewards":     "its widths are for rewards in [0,1]", "shifted-rewards": "its widths are for rewards in [0,1]",
		"continuing-form": lanes.Ends,
	},
	"rlrun/ucrl2@1": {
		"unreachable-states": "its confidence sets grow with the number of declared states",
		"duplicated-actions": lanes.Copies,
	},
	"rlrun/kl-ucrl@1": {
		"unreachable-states": "its confidence sets grow with the number of declared states",
		"duplicated-actions": lanes.Copies,
	},
	"rlrun/mbie@1": {
		"unreachable-states": "its widths grow with the number of declared states",
		"duplicated-actions": lanes.Copies,
		"continuing-form":    lanes.Ends,
	},
	"rlrun/beb@1":     {"duplicated-actions": lanes.Copies, "continuing-form": lanes.Ends},
	"rlrun/mbie-eb@1": {"duplicated-actions": lanes.Copies, "continuing-form": lanes.Ends},
	"rlrun/optimistic-model@1": {
		"unreachable-states": "the cost of searching depends on the number of declared pairs",
		"duplicated-actions": lanes.Copies,
		"continuing-form":    lanes.Ends,
	},
	"rlrun/r-max@1": {"duplicated-actions": lanes.Copies, "continuing-form": lanes.Ends},
	"rlrun/bamcp@1": {"unreachable-states": everyState, "duplicated-actions": lanes.Copies, "continuing-form": lanes.Ends},
	"rlrun/e3@1": {
		"duplicated-actions": lanes.Copies,
		"relabelled-actions": "among actions that reach an unknown state with the same probability it takes the first",
		"continuing-form":    lanes.Ends,
	},
}
