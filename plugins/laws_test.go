package plugins

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/rltest"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/plugins/plugintest"
)

// Every bundled agent follows the laws of agents, or says that it breaks them by
// design, and why.
func TestAgentsFollowTheLaws(t *testing.T) {
	params := map[string]json.RawMessage{"rlrun/bandit@1": json.RawMessage(`{"policy":{"kind":"optimistic-stochastic"}}`), "rlrun/bamcp@1": json.RawMessage(`{"simulations":5,"depth":8}`)}
	slow := map[string]bool{ // seconds each
		"rlrun/bayesian-q@1": true, "rlrun/psrl@1": true, "rlrun/boss@1": true, "rlrun/bootstrap-model@1": true,
		"rlrun/mbie@1": true, "rlrun/mbie-eb@1": true, "rlrun/beb@1": true, "rlrun/optimistic-model@1": true, "rlrun/threshold-model@1": true,
		"rlrun/bootstrap-q@1": true, "rlrun/bamcp@1": true, "rlrun/dyna-q@1": true, "rlrun/linear-bandit@1": true,
		"rlrun/rlsvi@1": true, "rlrun/r-max@1": true, "rlrun/e3@1": true, "rlrun/ucbvi@1": true, "rlrun/kl-ucrl@1": true,
	}
	linear := map[string]bool{"rlrun/sarsa-linear@1": true, "rlrun/bootstrap-linear@1": true}
	for _, p := range All() {
		d := must.Get(p.Describe(t.Context()))(t)
		if d.Kind != vector.KindAgent {
			continue
		}
		t.Run(d.ID, func(t *testing.T) {
			if testing.Short() && slow[d.ID] {
				t.Skip("-short: this agent takes seconds")
			}
			err := rltest.CheckLaws(t.Context(), p, params[d.ID])
			if linear[d.ID] { // the laws are for agents of finite tasks
				if !errors.Is(err, framework.ErrUnsupported) {
					t.Errorf("got %v", err)
				}
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// What an agent declares crosses the seam.
func TestDeclaredLawsCrossTheSeam(t *testing.T) {
	want := must.Get(bundled("psrl").Describe(t.Context()))(t)
	got, err := plugintest.Loopback(t, bundled("psrl")).Describe(t.Context())
	if err != nil || len(want.Breaks) == 0 || !maps.Equal(got.Breaks, want.Breaks) {
		t.Errorf("%v, %v, want %v", got.Breaks, err, want.Breaks)
	}
}

// Weak faults are found. They are a prior that depends a little on the number of declared
// states, a constant in units of reward, and laws that a bundled agent breaks without
// declaring it.
func TestWeakFaultsBreakLaws(t *testing.T) {
	states := func(s framework.Spec) float64 { return float64(s.Observation.(space.Discrete).N) }
	number := func(format string, x float64) json.RawMessage { return fmt.Appendf(nil, format, x) }
	for _, tt := range []struct {
		name, agent string
		law         rltest.Rule
		params      func(framework.Spec) json.RawMessage
		slow        bool
	}{
		{"values begin with a thousandth by state", "q-learning", rltest.UnreachableStates, func(s framework.Spec) json.RawMessage {
			return number(`{"initial":%g}`, states(s)/1000)
		}, false},
		{"values begin at a hundredth", "sarsa", rltest.ScaledRewards, func(framework.Spec) json.RawMessage {
			return json.RawMessage(`{"initial":0.01}`)
		}, false},
		{"the largest reward is 1.01", "r-max", rltest.ScaledRewards, func(s framework.Spec) json.RawMessage {
			return number(`{"reward_high":%g}`, s.RewardHigh+0.01)
		}, false},
		{"the largest reward grows with states", "threshold-model", rltest.UnreachableStates, func(s framework.Spec) json.RawMessage {
			return number(`{"reward_high":%g}`, s.RewardHigh*(1+states(s)/1000))
		}, true},
		{"random tables with a prior that grows with states", "bootstrap-q", rltest.UnreachableStates, func(s framework.Spec) json.RawMessage {
			return number(`{"replays":5,"prior_weight":%g}`, 0.0025*(1+states(s)/20))
		}, true},
		{"looking is dearer with more states", "optimistic-model", rltest.UnreachableStates, nil, true},
		{"of ties the first action", "e3", rltest.RelabelledActions, nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if testing.Short() && tt.slow {
				t.Skip("-short: this agent takes seconds")
			}
			inner := bundled(tt.agent)
			d, err := inner.Describe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			d.Breaks = map[string]string{} // all others
			for _, law := range rltest.Laws() {
				if law != tt.law {
					d.Breaks[string(law)] = "not tried here"
				}
			}
			faulty := &vector.AgentPlugin{Description: d, Open: func(params json.RawMessage, spec framework.Spec, lanes int) (vector.Agent, error) {
				if tt.params != nil {
					params = tt.params(spec)
				}
				return inner.OpenAgent(t.Context(), params, spec, lanes)
			}}
			err = rltest.CheckLaws(t.Context(), faulty, nil)
			if got := rltest.Broken(err); !slices.Equal(got, []rltest.Rule{tt.law}) {
				t.Errorf("broken: %v, want %s", got, tt.law)
			}
			t.Log(err)
		})
	}
}
