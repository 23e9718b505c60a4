package tabularagents

import "github.com/rlrun/rlrun/plugins/internal/lanes"

// breaks are the laws of agents that the agents break by design.
var breaks = map[string]map[string]string{
	"rlrun/q-learning@1":  {"duplicated-actions": lanes.Copies, "shifted-rewards": lanes.FromZero, "continuing-form": lanes.Ends},
	"rlrun/sarsa@1":       {"duplicated-actions": lanes.Copies, "shifted-rewards": lanes.FromZero, "continuing-form": lanes.Ends},
	"rlrun/dyna-q@1":      {"duplicated-actions": lanes.Copies, "shifted-rewards": lanes.FromZero, "continuing-form": lanes.Ends},
	"rlrun/bootstrap-q@1": {"duplicated-actions": lanes.Copies},
	"rlrun/ucb-q@1": {
		"unreachable-states": "its bonus grows with the number of declared states",
		"duplicated-actions": lanes.Copies,
		"continuing-form":    "its values are of the steps of an episode",
	},
	"rlrun/bayesian-q@1": {"duplicated-actions": lanes.Copies, "continuing-form": lanes.Ends},
}
