package plan

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

// A key that changes nothing beside the others is refused: the error names it, says why, and what
// works. The same key is accepted where it has an effect.
func TestKeysWithoutEffectAreRefused(t *testing.T) {
	base := map[string]string{
		"runs": `2`, "steps": `100`, "environments": `[{"plugin":"chain"}]`, "agents": `[{"plugin":"q-learning"},{"plugin":"bootstrap-q","exploration":{"rule":"optimistic"}}]`,
	}
	const one, plain, warm = `[{"plugin":"a"}]`, `[{"plugin":"a"},{"plugin":"b"}]`, `[{"plugin":"a","warm_start":"d"},{"plugin":"b","warm_start":"d"}]`
	explorer := func(x string) string { return `[{"plugin":"a"},{"plugin":"b","exploration":` + x + `}]` }
	type keys map[string]string
	for _, c := range []struct {
		idle keys
		want string
		good keys // "" leaves a key out
	}{
		{keys{"record": `{"decisions":50}`, "agents": plain}, "record.decisions: has no effect where no agent has exploration: leave it out, or give an agent exploration", keys{"record": `{"decisions":50}`}},
		{keys{"discount": `0.5`, "record": `{"metrics":["reward"]}`, "agents": plain}, "discount: has no effect on metrics that are not discounted", keys{"discount": `0.5`, "record": `{"metrics":["discounted_return"]}`, "agents": plain}},
		{keys{"discount": `0.5`, "record": `{"metrics":["reward"]}`, "agents": explorer(`{"rule":"optimistic","horizon":{"gamma":0.9}}`)}, "discount: has no effect", keys{"discount": `0.5`, "record": `{"metrics":["reward"]}`}},
		{keys{"steps": `0`, "evaluate": `{"episodes":2}`, "agents": warm, "record": `{"metrics":["reward","evaluation_return"]}`}, "record.metrics[0]: no agent learns with steps: 0", keys{"steps": `0`, "evaluate": `{"episodes":2}`, "agents": warm, "record": `{"metrics":["evaluation_return"]}`}},
		{keys{"steps": `0`, "evaluate": `{"episodes":2}`, "agents": warm, "record": `{"points":9}`}, "record.points: has no effect with steps: 0", keys{"record": `{"points":9}`}},
		{keys{"steps": `0`, "evaluate": `{"episodes":2}`, "agents": warm, "record": `{"grid":"all"}`}, "record.grid: has no effect with steps: 0", keys{"record": `{"grid":"all"}`}},
		{keys{"steps": `0`, "evaluate": `{"episodes":2,"every":5}`, "agents": warm}, "evaluate.every: has no effect with steps: 0", keys{"evaluate": `{"episodes":2,"every":5}`}},
		{keys{"steps": `0`, "evaluate": `{"episodes":2}`, "agents": warm, "record": `{"grid":"every","every":2}`}, "record.grid: has no effect", keys{"record": `{"grid":"every","every":2}`}},
		{keys{"steps": `0`, "evaluate": `{"episodes":2}`, "agents": warm, "save": `true`}, "save: has no effect with steps: 0", keys{"save": `true`}},
		{keys{"evaluate": `{"steps":2,"limit":7}`}, "evaluate.limit: has no effect on evaluations that count steps", keys{"evaluate": `{"episodes":2,"limit":7}`}},
		{keys{"outputs": `["csv","csv"]`}, "outputs[1]: csv is there twice", keys{"outputs": `["csv"]`}},
		{keys{"record": `{"metrics":["reward","regret","reward"]}`}, "record.metrics[2]: reward is there twice", keys{"record": `{"metrics":["reward","regret"]}`}},
		{keys{"report": `{"metrics":["reward","reward"]}`}, "report.metrics[1]: reward is there twice", nil},
		{keys{"outputs": `["csv","report"]`, "report": `{"axis":"log"}`}, "report.axis: has no effect on outputs without plots", keys{"report": `{"axis":"log"}`}},
		{keys{"outputs": `["csv"]`, "report": `{"axis":"log"}`}, "report.axis: has no effect", keys{"outputs": `["csv"]`, "report": `{"smooth":3,"metrics":["reward"]}`}}, // which rlrun serve shows
		{keys{"outputs": `["csv","comparisons"]`}, "outputs: comparisons is made if compare says how", keys{"outputs": `["comparisons"]`, "compare": `{}`}},
		{keys{"agents": one, "compare": `{"alpha":0.1}`}, "compare: has no effect with one agent: leave it out, or name a second agent", keys{"compare": `{"alpha":0.1}`}},
		{keys{"compare": `{"block":5}`}, "compare.block: has no effect without until", keys{"runs": `50`, "compare": `{"block":5,"until":"decided"}`}},
		{keys{"transport": `"process"`, "environments": `[{"plugin":"e","transport":"inprocess"}]`, "agents": `[{"plugin":"a","transport":"inprocess"}]`}, "transport: has no effect beside those of all components", keys{"transport": `"process"`, "environments": `[{"plugin":"e","transport":"inprocess"}]`}},
		{keys{"agents": explorer(`{"rule":"vpi","bound":"V"}`)}, "agents[1].exploration.bound: has no effect with the rule vpi: leave it out, or choose a rule with bounds", keys{"agents": explorer(`{"rule":"index","bound":"V"}`)}},
		{keys{"agents": explorer(`{"rule":"gain","lower_bound":0}`)}, "lower_bound: has no effect with the rule gain", keys{"agents": explorer(`{"rule":"optimistic","lower_bound":0}`)}},
		{keys{"agents": explorer(`{"rule":"optimistic","lower_bound":0,"options":["uniform","greedy"]}`)}, "lower_bound: has no effect where all options to explore with are uninformed", keys{"agents": explorer(`{"rule":"index","lower_bound":0,"options":["uniform"]}`)}},
		{keys{"agents": explorer(`{"rule":"optimistic","bound":"V","lower_bound":0}`)}, "lower_bound: has no effect with the bound V: leave it out, or choose the bound U", nil},
		{keys{"agents": explorer(`{"rule":"optimistic","commitment":{"estimator":"autocorrelation","quantile":1}}`)}, "commitment: quantile has no effect with the estimator autocorrelation", keys{"agents": explorer(`{"rule":"optimistic","commitment":{"quantile":1}}`)}},
		{keys{"agents": explorer(`{"rule":"vpi","horizon":{"gamma":0.5}}`)}, "horizon: has no effect with the rule vpi, which uses no horizon: leave it out, or choose a rule that does, such as optimistic", keys{"agents": explorer(`{"rule":"index","horizon":{"gamma":0.5}}`)}},
		{keys{"agents": explorer(`{"horizon":{"gamma":0.5,"steps":1}}`)}, "horizon.gamma: has no effect with steps: 1", keys{"agents": explorer(`{"horizon":{"gamma":0.5,"steps":2}}`)}},
		{keys{"agents": explorer(`{"horizon":{"gamma":0,"steps":9}}`)}, "horizon.steps: has no effect with gamma: 0", keys{"agents": explorer(`{"horizon":{"gamma":0},"bound":"U","lower_bound":0}`)}}, // U depends on the lower bound also where no later reward counts
		{keys{"agents": explorer(`{"horizon":{"steps":1,"gamma":0}}`)}, "horizon.gamma: has no effect with steps: 1", keys{"agents": explorer(`{"rule":"./r.py","horizon":{"gamma":0.5,"steps":1}}`)}},
		{keys{"agents": explorer(`{"options":["pair"],"horizon":{"gamma":0.5}}`)}, "horizon: has no effect with the rule gain", keys{"agents": explorer(`{"horizon":{"gamma":0.5}}`)}},
		{keys{"agents": explorer(`{"rule":"posterior-sampling","commitment":{"return":true}}`)}, "commitment.return: has no effect with the rule posterior-sampling", keys{"agents": explorer(`{"rule":"./r.py","horizon":{"gamma":0.5},"commitment":{"return":true}}`)}},
		{keys{"discount": `0.5`, "record": `{"metrics":["reward"]}`, "agents": explorer(`{"rule":"vpi"}`)}, "discount: has no effect", nil},
		{keys{"agents": explorer(`{"rule":"never","options":["constants"]}`)}, "options: have no effect with the rule never", keys{"agents": explorer(`{"rule":"never","options":["pair"]}`)}},
		{keys{"agents": explorer(`{"rule":"never","options":["./o.yaml"]}`)}, "options: have no effect with the rule never", keys{"agents": explorer(`{"rule":"never","options":["greedy"]}`)}},
		{keys{"agents": explorer(`{"rule":"index","options":["greedy"]}`)}, "options: greedy alone leaves the rule nothing to decide", keys{"agents": explorer(`{"rule":"index","options":["greedy","members"]}`)}},
		{keys{"agents": explorer(`{"rule":"./r.py","options":["greedy"]}`)}, "options: greedy alone leaves the rule nothing to decide", nil},
		{keys{"agents": explorer(`{"commitment":{"floor":5,"cap":5,"tv":0.1}}`)}, "commitment.tv: has no effect where floor and cap are both 5: leave it out, or set them apart", keys{"agents": explorer(`{"commitment":{"floor":5,"cap":6,"tv":0.1}}`)}},
		{keys{"agents": explorer(`{"commitment":{"floor":2000,"scale":2}}`)}, "commitment.scale: has no effect where floor and cap are both 2000", keys{"agents": explorer(`{"commitment":{"floor":2000,"cap":4000,"scale":2}}`)}},
		{keys{"agents": explorer(`{"commitment":{"cap":1,"statistic":"mean"}}`)}, "commitment.statistic: has no effect where floor and cap are both 1", nil},
	} {
		for _, try := range []struct {
			keys keys
			want string
		}{{c.idle, c.want}, {c.good, ""}} {
			raw := map[string]json.RawMessage{}
			all := maps.Clone(base)
			maps.Copy(all, try.keys)
			for k, v := range all {
				raw[k] = json.RawMessage(v)
			}
			var cfg Config
			must.Do(t, json.Unmarshal(must.Get(json.Marshal(raw))(t), &cfg))
			p, err := Compile(cfg)
			if (err == nil) != (try.want == "") || err != nil && !strings.HasPrefix(err.Error(), try.want) && !strings.Contains(err.Error(), "."+try.want) {
				t.Errorf("%v: %v, want %q", try.keys, err, try.want)
			}
			if err == nil { // a resolved config is one
				if _, err := Compile(p.Config); err != nil {
					t.Errorf("%v resolved: %v", try.keys, err)
				}
			}
		}
	}
}
