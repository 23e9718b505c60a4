package plan

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/must"
)

// The identity of an experiment never changes: with another one, all records of
// versions before would be refused.
func TestIdentitiesStay(t *testing.T) {
	p := variant(t, func(c *Config) {
		c.Seed = new(uint64(1<<64 - 1))
		c.Record.Metrics = []result.Metric{"reward", "regret"}
		c.Agents = []Component{{Plugin: "alternate", Name: "{a}", Params: json.RawMessage(`{"b": 1.0, "c": "<é"}`), Sweep: map[string][]json.RawMessage{"a": {json.RawMessage("0.10"), json.RawMessage("2")}}}}
	})
	want := map[result.Key]string{
		{Environment: "coin", Agent: "0.10"}: "dca19f18dc",
		{Environment: "coin", Agent: "2"}:    "580033be51",
	}
	if got := p.Meta().Experiments; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	text := must.Get(p.Config.YAML())(t)
	c := must.Get(ParseConfig(text))(t)
	again := must.Get(Compile(c))(t)
	if got := again.Meta().Experiments; !maps.Equal(got, want) {
		t.Errorf("from its YAML: %v, want %v", got, want)
	}
}

// A refused change is told by the first value that differs, also within long ones. Other
// agents and environments, and their order, change nothing.
func TestDifference(t *testing.T) {
	long := strings.Repeat("x", 100)
	agents := func(list ...Component) func(c *Config) { return func(c *Config) { c.Agents = list } }
	a, b := Component{Plugin: "alternate", Name: "a"}, Component{Plugin: "repeat", Name: "b"}
	with := func(c Component, params string) Component { c.Params = json.RawMessage(params); return c }
	for _, tt := range []struct {
		old, new       []Component
		where, was, is string
	}{
		{[]Component{a, b}, []Component{b, a}, "", "", ""},
		{[]Component{a}, []Component{b, a}, "", "", ""},
		{[]Component{a, b}, []Component{b}, "", "", ""},
		{[]Component{a, b}, []Component{with(b, `{"p": {"q": 1}}`)}, "agents[1].params", "absent", `{"p":{"q":1}}`},
		{[]Component{with(b, `{"p": {"q": 1}}`)}, []Component{a, with(b, `{"p": {"q": 2}}`)}, "agents[0].params.p.q", "1", "2"},
		{[]Component{with(b, `{"p": [1, 2]}`)}, []Component{with(b, `{"p": [1, 2, 3]}`)}, "agents[0].params.p[2]", "absent", "3"},
		{[]Component{with(b, `{"p": "`+long+`1é"}`)}, []Component{with(b, `{"p": "`+long+`2"}`)}, "agents[0].params.p", "…" + long[:20] + `1é"`, "…" + long[:20] + `2"`},
		{[]Component{b}, []Component{with(b, `{"p": "`+long+`"}`)}, "agents[0].params", "absent", `{"p":"` + long[:54] + "…"},
	} {
		where, was, is := variant(t, agents(tt.new...)).Difference(variant(t, agents(tt.old...)))
		if where != tt.where || was != tt.was || is != tt.is {
			t.Errorf("%v, then %v: %s was %s and is %s; want %s, %s, %s", tt.old, tt.new, where, was, is, tt.where, tt.was, tt.is)
		}
	}
}
