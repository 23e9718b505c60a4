package plugins

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

const bestArmRuns = 200

// bestArm returns the curves of runs of an agent on arms with the means 0.5, 0.6 and 0.8.
func bestArm(t *testing.T, p vector.Plugin, params string, steps int) []loop.Outcome {
	env := must.Get(bundled("bernoulli-bandit").OpenEnvironment(t.Context(), json.RawMessage(`{"arms": 3, "means": [0.5, 0.6, 0.8]}`), bestArmRuns))(t)
	agent := must.Get(p.OpenAgent(t.Context(), json.RawMessage(params), env.Spec(), bestArmRuns))(t)
	runs := make([]int, bestArmRuns)
	for i := range runs {
		runs[i] = i
	}
	return must.Get(loop.Run(t.Context(), loop.Batch{Environment: env, Agent: agent, Runs: runs, Seeds: seed.NewSource(1, "arms"), Steps: steps,
		Grid: []int{1, steps / 4, steps}, Metrics: []result.Metric{"simple_regret", "recommendation_error", "agent.stopping_time"}}))(t)
}

// Successive elimination stops with the best arm in at least 1 − δ of the runs (Even-Dar, Mannor &
// Mansour 2006), and its stopping time has a value from then on. Simple regret is a gap of the arms,
// and its error is 1 where it is above 0. The bound of the share is five standard errors above δ.
func TestBestArm(t *testing.T) {
	out := bestArm(t, bundled("bandit"), `{"policy": {"kind": "successive-elimination", "failure": 0.1}}`, 12000)
	wrong, began := 0.0, 0.0
	for _, o := range out {
		regret, errs, stopped := o.Curves["simple_regret"], o.Curves["recommendation_error"], o.Curves["agent.stopping_time"]
		for k := range regret {
			if gap := regret[k]; math.Min(math.Abs(gap), math.Min(math.Abs(gap-0.2), math.Abs(gap-0.3))) > 1e-12 || (gap > 0) != (errs[k] == 1) {
				t.Fatalf("simple regret %v, error %v", regret, errs)
			}
		}
		began += errs[0] / bestArmRuns
		wrong += errs[2] / bestArmRuns
		if len(stopped) < 3 || stopped[2] > 12000 || stopped[2] < 3 || !math.IsNaN(stopped[0]) {
			t.Errorf("stopping times %v", stopped)
		}
	}
	if wrong > 0.1+5*math.Sqrt(0.1*0.9/bestArmRuns) || began < 0.3 {
		t.Errorf("the share of errors is %v at first and %v at the end", began, wrong)
	}
}

// Agents of every kind that recommend an action do so in a process of their own, too. To ask them
// changes nothing.
func TestRecommendations(t *testing.T) {
	for name, params := range map[string]string{
		"bandit":      `{"policy": {"kind": "ucb1"}}`,
		"bootstrap-q": `{}`,
		"psrl":        `{}`,
	} {
		direct := bestArm(t, bundled(name), params, 200)
		apart := must.Get(plugin.Loopback(bundled(name)))(t)
		if there := bestArm(t, apart, params, 200); !reflect.DeepEqual(direct, there) {
			t.Errorf("%s: another outcome in a process of its own", name)
		}
		apart.Close()
		if _, has := direct[0].Curves["simple_regret"]; has != (name != "psrl") {
			t.Errorf("%s: simple regret: %v", name, has)
		}
	}
}
