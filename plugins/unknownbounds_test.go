package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/plugins/plugintest"
)

// bounded is an environment that declares other bounds on rewards.
type bounded struct {
	vector.Environment
	low, high float64
}

func (b bounded) Spec() framework.Spec {
	s := b.Environment.Spec()
	s.RewardLow, s.RewardHigh = b.low, b.high
	return s
}

// Bounds that an agent is given are used or refused: equal ones leave nothing to learn, and values
// of huge ones would overflow. An environment's may not be huge either.
func TestBoundsThatCannotBeUsedAreRefused(t *testing.T) {
	e := must.Get(bundled("riverswim").OpenEnvironment(t.Context(), nil, 1))(t)
	defer e.Close()
	for _, agent := range []string{"threshold-model", "mbie", "mbie-eb", "beb", "optimistic-model"} {
		for _, params := range []string{`{"reward_low":0,"reward_high":0}`, `{"reward_low":3,"reward_high":3}`, `{"reward_low":-1e307}`, `{"reward_high":1e307}`} {
			if _, err := bundled(agent).OpenAgent(t.Context(), json.RawMessage(params), e.Spec(), 1); err == nil {
				t.Errorf("%s takes %s", agent, params)
			}
		}
	}
	spec := e.Spec()
	if spec.RewardHigh = 1e301; spec.Validate() == nil {
		t.Error("a spec has the bound 1e301")
	}
	if spec.RewardHigh = math.Inf(1); spec.Validate() != nil {
		t.Error("a spec has no infinite bound")
	}
}

// An environment that leaves out the bounds on its rewards declares none. Agents do as if they
// were infinite, and those that need bounds refuse it, called directly and through the seam.
func TestBoundsLeftOutAreUnknown(t *testing.T) {
	declaring := func(low, high float64) vector.Plugin {
		inner := bundled("chain").(*vector.EnvironmentPlugin)
		return &vector.EnvironmentPlugin{Description: inner.Description, Open: func(params json.RawMessage, lanes int) (vector.Environment, error) {
			env, err := inner.Open(params, lanes)
			return bounded{env, low, high}, err
		}}
	}
	play := func(env vector.Plugin, agent string) ([][]float64, error) {
		const lanes, steps = 4, 400
		e := must.Get(env.OpenEnvironment(t.Context(), nil, lanes))(t)
		defer e.Close()
		a, err := bundled(agent).OpenAgent(t.Context(), nil, e.Spec(), lanes)
		if err != nil {
			return nil, err
		}
		defer a.Close()
		outcomes := must.Get(loop.Run(context.Background(), loop.Batch{
			Environment: e, Agent: a, Runs: []int{0, 1, 2, 3}, Seeds: seed.NewSource(1, e.Spec().ID),
			Steps: steps, Grid: []int{100, 200, steps}, Discount: 1, Metrics: []result.Metric{result.Reward},
		}))(t)
		var curves [][]float64
		for _, o := range outcomes {
			curves = append(curves, o.Curves[result.Reward])
		}
		return curves, nil
	}
	unknown := must.Get(play(declaring(math.Inf(-1), math.Inf(1)), "threshold-model"))(t)
	for name, env := range map[string]vector.Plugin{"directly": declaring(0, 0), "through the seam": plugintest.Loopback(t, declaring(0, 0))} {
		if got := must.Get(play(env, "threshold-model"))(t); !slices.EqualFunc(got, unknown, slices.Equal) {
			t.Errorf("%s: threshold-model earns %v, and %v with infinite bounds", name, got, unknown)
		}
		for _, agent := range []string{"ucb-q", "ucrl2", "kl-ucrl", "mbie", "mbie-eb", "beb", "optimistic-model", "r-max", "e3", "bamcp"} {
			if _, err := play(env, agent); !errors.Is(err, framework.ErrUnsupported) {
				t.Errorf("%s: %s: %v, want a refusal", name, agent, err)
			}
		}
	}
	// What is missing is named, and nothing else.
	low, high := "needs a lower bound on rewards, and rlrun/chain@1 declares none: declare it in the environment, or set reward_low in", "needs an upper bound on rewards, and rlrun/chain@1 declares none: declare it in the environment, or set reward_high in"
	for _, c := range []struct {
		low, high     float64
		agent, params string
		want          string
	}{
		{0, 0, "ucrl2", `{"reward_low":0}`, high}, {0, 0, "ucrl2", `{"reward_high":1}`, low}, {0, math.Inf(1), "ucrl2", `{}`, high}, {math.Inf(-1), 0, "ucrl2", `{}`, low},
		{0, 0, "ucrl2", `{}`, "needs bounds on rewards, and rlrun/chain@1 declares none: declare it in the environment, or set reward_low and reward_high in"},
		{0, math.Inf(1), "ucrl2", `{"reward_high":1}`, ""}, {0, 0, "ucrl2", `{"reward_low":0,"reward_high":1}`, ""}, {0, 0, "ucrl2", `{"reward_low":0,"reward_high":1e301}`, "reward_high: 1e+301 is too large"},
		{0, math.Inf(1), "q-learning", `{"optimistic":true}`, "optimistic needs an upper bound on rewards"}, {0, math.Inf(1), "bootstrap-model", `{"rewards":"optimistic"}`, "optimistic rewards need an upper bound"},
		{math.Inf(-1), 0, "bootstrap-model", `{"rewards":"pessimistic"}`, "pessimistic rewards need a lower bound"},
	} {
		spec := must.Get(declaring(c.low, c.high).OpenEnvironment(t.Context(), nil, 1))(t).Spec()
		_, err := bundled(c.agent).OpenAgent(t.Context(), json.RawMessage(c.params), spec, 1)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s, bounds %v and %v: %v, want %q", c.agent, c.params, c.low, c.high, err, c.want)
		}
	}
	zero := must.Get(declaring(0, 0).OpenEnvironment(t.Context(), nil, 1))(t).Spec()
	zero.RewardLow, zero.RewardHigh = 0, 0
	if _, err := bundled("ucrl2").OpenAgent(t.Context(), nil, zero, 1); !errors.Is(err, framework.ErrUnsupported) {
		t.Errorf("ucrl2, opened with bounds left out: %v", err)
	}
}
