package plugins

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/options"
)

// A key of exploration is refused, or it can change what an agent does. Every key is tried with two
// values beside every rule. Decisions or rewards must differ in some task.
func TestEveryKeyOfExplorationHasAnEffectOrIsRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("ten processor seconds; make ci runs it")
	}
	keys := []struct{ key, one, other string }{ // "" leaves the key out
		{"bound", `"U"`, `"V"`},
		{"common", `true`, ``},
		{"horizon", `{"gamma":0.3}`, `{"steps":100000}`},
		{"lower_bound", `-50`, `0`},
		{"options", `["constants"]`, `["members"]`},
		{"options", `["greedy"]`, ``},
		{"commitment", `{"fixed":3}`, `{"fixed":9}`},
		{"commitment", `{"floor":2}`, `{"floor":20}`},
		{"commitment", `{"cap":2}`, `{"cap":100}`},
		{"commitment", `{"scale":0.1}`, `{"scale":10}`},
		{"commitment", `{"tv":0.01}`, `{"tv":0.9}`},
		{"commitment", `{"quantile":0.01,"scale":5}`, `{"quantile":1,"scale":5}`},
		{"commitment", `{"statistic":"mean","scale":5}`, `{"scale":5}`},
		{"commitment", `{"epsilon":0.001}`, `{"epsilon":1}`},
		{"commitment", `{"estimator":"counts","scale":5}`, `{"estimator":"autocorrelation","scale":5}`},
		{"commitment", `{"return":true}`, `{}`},
		{"commitment", `{"floor":5,"cap":5,"tv":0.01}`, `{"floor":5,"cap":5,"tv":0.9}`},
		{"commitment", `{"floor":5,"cap":5,"return":true}`, `{"floor":5,"cap":5}`},
	}
	// compile returns the experiment of one agent, nil if it is refused.
	compile := func(task, rule, key, value string) *plan.Config {
		x := map[string]json.RawMessage{}
		if rule != "" {
			x["rule"] = must.Get(json.Marshal(rule))(t)
		} else { // a drawn member is held for a time of its own, whatever the estimate
			x["options"] = json.RawMessage(`["members","constants"]`)
		}
		if value != "" {
			x[key] = json.RawMessage(value)
		}
		agent := component("agent", "bootstrap-q", `{"replays":0}`)
		if rule == options.RuleGain.Name {
			agent = component("agent", "threshold-model", ``)
		}
		agent.Exploration = new(plan.Exploration)
		must.Do(t, json.Unmarshal(must.Get(json.Marshal(x))(t), agent.Exploration))
		c := plan.Config{Name: "effects", Runs: 1, Steps: 300, Workers: 1, Outputs: []string{"csv"}, Record: plan.Recording{Metrics: []result.Metric{result.Reward}},
			Environments: []plan.Component{component(task, task, ``)}, Agents: []plan.Component{agent}}
		if _, err := plan.Compile(c); err != nil {
			if !strings.Contains(err.Error(), key) && !strings.Contains(err.Error(), "rule") {
				t.Errorf("%s, %s: %s: %v", rule, key, value, err)
			}
			return nil
		}
		return &c
	}
	done := map[string]string{}
	// play returns what the agent did.
	play := func(c *plan.Config) string {
		id := string(must.Get(json.Marshal(c))(t))
		if _, known := done[id]; !known {
			c.Output = t.TempDir()
			var lines []string
			for k, r := range execute(t, *c, inProcess, store.Refuse) {
				line := fmt.Sprint(k, r.Curves)
				for _, d := range r.Decisions {
					line += fmt.Sprint(" ", d.Step, d.Option, d.Explore, d.Hold, d.Action)
				}
				lines = append(lines, line)
			}
			slices.Sort(lines)
			done[id] = strings.Join(lines, "\n")
		}
		return done[id]
	}
	for _, rule := range append(options.RuleNames(), "") {
		tried := 0
		for _, k := range keys {
			if rule == options.RuleNever.Name && k.one == `["greedy"]` {
				continue // the default
			}
			refused, differs := false, false
			for _, task := range []string{"frozenlake", "riverswim"} {
				one, other := compile(task, rule, k.key, k.one), compile(task, rule, k.key, k.other)
				refused = one == nil || other == nil
				if differs = !refused && play(one) != play(other); refused || differs {
					break
				}
			}
			if refused {
				continue
			}
			tried++
			if !differs {
				t.Errorf("with the rule %q nothing changes if %s is %s in place of %q", rule, k.key, k.one, k.other)
			}
		}
		if tried < 8 {
			t.Errorf("with the rule %q only %d of %d pairs of values run", rule, tried, len(keys))
		}
	}
}
