package lanes

import "github.com/rlrun/rlrun/framework/vector"

// Reasons for which agents break laws of framework/rltest.
const (
	Copies    = "every copy of an action is learned separately"
	Ends      = "an end has the value 0: it maximises the return of an episode, not the reward per step"
	FromZero  = "values begin at 0, whatever the bounds of rewards"
	UnitPrior = "the prior expects rewards of about 1"
)

// GreedyPlugins declares that the learners of plugins are Greedy and select allowed actions alone,
// and returns the plugins.
func GreedyPlugins(plugins ...vector.Plugin) []vector.Plugin {
	for _, p := range plugins {
		d := &p.(*vector.AgentPlugin).Description
		d.Abilities = append(d.Abilities, "greedy", "masks")
	}
	return plugins
}

// Breaks declares which laws of agents the plugins break by design, by their ids,
// and returns the plugins. Agents without an entry break none.
func Breaks(plugins []vector.Plugin, laws map[string]map[string]string) []vector.Plugin {
	for _, p := range plugins {
		d := &p.(*vector.AgentPlugin).Description
		d.Breaks = laws[d.ID]
	}
	return plugins
}
