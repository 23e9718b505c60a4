package modelagents

import (
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// Agents that explore all the time still know the best policy, and follow it in
// evaluations. In the Chain (5 states, slip 0.2) it goes forward everywhere.
func TestGreedyActionsAreOptimal(t *testing.T) {
	for agent, params := range map[string]string{
		"psrl": `{"tau":0.01}`, "boss": `{"alpha":1,"visits":100}`, "gaussian-psrl": `{"scaling":50,"horizon":50}`, "ucbvi": `{"scaling":50,"horizon":50}`,
		"rlsvi": `{"sigma":50,"horizon":50}`, "ucrl2": ``, "kl-ucrl": ``, "mbie-eb": `{"beta":50}`, "beb": `{"beta":50}`, "optimistic-model": `{"beta":50}`,
		"r-max": `{"m":5000}`, "e3": `{"m":5000}`, "bootstrap-model": `{"rewards":"optimistic"}`,
	} {
		t.Run(agent, func(t *testing.T) {
			x, m := plugins.Trained(t, "chain", `{"limit":0}`, agent, params, 20_000)
			best := must.Get(mdp.SolveDiscounted(m, 0.99, mdp.SolverConfig{}))(t)
			for s, want := range best.Policy {
				if got := x.(lanes.Greedy[int]).GreedyAction(s); got != want {
					t.Errorf("state %d: action %d, the best is %d", s, got, want)
				}
			}
		})
	}
}

// An action that was never tried is taken only where nothing better is known. By hand, in
// two states, for the criteria of all agents.
func TestGreedyActionsAreOfWhatWasSeen(t *testing.T) {
	for agent, params := range map[string]string{
		"psrl": `{"horizon":3}`, "boss": ``, "ucbvi": ``, "ucrl2": ``, "mbie-eb": `{"gamma":0.5}`, "r-max": `{"m":1}`, "e3": `{"gamma":1,"horizon":3,"m":1}`,
	} {
		x := newAgent(t, agent, params, agenttest.Finite)
		if a := x.GreedyAction(1); a != 0 && a != 1 {
			t.Errorf("%s: before any step action %d", agent, a)
		}
		x.Begin(0)
		for range 3 { // action 1 in state 0 leads to state 1 and pays 0.5, action 0 there leads back and pays nothing
			x.State, x.Action = 0, 1
			x.Learn(0.5, 1)
			x.State, x.Action = 1, 0
			x.Learn(0, 0)
		}
		x.Begin(0)
		if a, b := x.GreedyAction(0), x.GreedyAction(1); a != 1 || b != 0 {
			t.Errorf("%s: actions %d and %d, want 1 and 0", agent, a, b)
		}
	}
}
