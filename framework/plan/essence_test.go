package plan

import (
	"encoding/json"
	"maps"
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
