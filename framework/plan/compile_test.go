package plan

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

// variant compiles a small config with a change.
func variant(t *testing.T, change func(*Config)) *Plan {
	t.Helper()
	cfg := Config{
		Name: "test", Runs: 23, Steps: 50,
		Environments: []Component{{Name: "coin", Plugin: "coin"}},
		Agents:       []Component{{Name: "one", Plugin: "alternate"}, {Name: "two", Plugin: "alternate"}},
	}
	change(&cfg)
	return must.Get(Compile(cfg))(t)
}

func raw(list ...string) (out []json.RawMessage) {
	for _, s := range list {
		out = append(out, json.RawMessage(s))
	}
	return out
}

func TestSweepExpands(t *testing.T) {
	p := variant(t, func(c *Config) {
		c.Agents = []Component{
			{Name: "opt γ={gamma}", Plugin: "bandit", Params: json.RawMessage(`{"policy":"x","Big":12345678901234567890,"belief":{"k":1}}`),
				Sweep: map[string][]json.RawMessage{"gamma": raw("0.5", "0.90")}},
			{Plugin: "bandit", Sweep: map[string][]json.RawMessage{"belief.k": raw("2", "3"), "a": raw(`"u"`, `"v"`)}},
			{Plugin: "bandit"},
		}
	})
	if got, want := Labels(p.Agents), []string{
		"opt γ=0.5", "opt γ=0.90",
		"bandit a=u belief.k=2", "bandit a=u belief.k=3", "bandit a=v belief.k=2", "bandit a=v belief.k=3",
		"bandit",
	}; !slices.Equal(got, want) {
		t.Errorf("labels %q, want %q", got, want)
	}
	if got, want := string(p.Agents[1].Params), `{"Big":12345678901234567890,"belief":{"k":1},"gamma":0.90,"policy":"x"}`; got != want {
		t.Errorf("params %s, want %s", got, want)
	}
	if got, want := string(p.Agents[3].Params), `{"a":"u","belief":{"k":3}}`; got != want {
		t.Errorf("params %s, want %s", got, want)
	}
}

func TestCompileRefuses(t *testing.T) {
	discount := 1.5
	sweep := func(text string) (of map[string][]json.RawMessage) {
		must.Do(t, json.Unmarshal([]byte(text), &of))
		return of
	}
	for _, tt := range []struct {
		want   string
		change func(*Config)
	}{
		{"runs: must be at least 1, not 0", func(c *Config) { c.Runs = 0 }},
		{"runs: must be at least 1, not -3", func(c *Config) { c.Runs = -3 }},
		{"steps: must be at least 1, not 0", func(c *Config) { c.Steps = 0 }},
		{"discount: must be in [0,1], not 1.5", func(c *Config) { c.Discount = &discount }},
		{`output: is "~/out", and no shell has replaced ~`, func(c *Config) { c.Output = "~/out" }},
		{"agents: is empty", func(c *Config) { c.Agents = nil }},
		{"environments: is empty", func(c *Config) { c.Environments = nil }},
		{`agents[1]: the name "a\nb" has a line break`, func(c *Config) { c.Agents[1].Name = "a\nb" }},
		{"agents[1]: the name \"one\" is taken by agents[0]", func(c *Config) { c.Agents[1].Name = "one" }},
		{"agents[1]: the name \"one \" is taken by agents[0], or looks like it", func(c *Config) { c.Agents[1].Name = "one " }},
		{"agents[0].plugin: is missing", func(c *Config) { c.Agents[0].Plugin = "" }},
		{"agents[0].sweep.gamma: has no values", func(c *Config) { c.Agents[0].Sweep = map[string][]json.RawMessage{"gamma": nil} }},
		{"agents[0].sweep..: is no path to a parameter: write it as step, policy.kind or means[0]", func(c *Config) { c.Agents[0].Sweep = map[string][]json.RawMessage{".": {[]byte("1")}} }},
		{"agents[0].sweep.policy..kind: is no path to a parameter", func(c *Config) { c.Agents[0].Sweep = map[string][]json.RawMessage{"policy..kind": {[]byte("1")}} }},
		{"agents[0].sweep.gamma[2]: 1e-1 equals 0.1, the value at [0]: leave one out", func(c *Config) { c.Agents[0].Sweep = sweep(`{"gamma":[0.1,"0.1",1e-1]}`) }},
		{"agents[0].sweep.n[1]: 100000000000000000 equals 1e17", func(c *Config) { c.Agents[0].Sweep = sweep(`{"n":[1e17,100000000000000000]}`) }},
		{"agents[0].sweep.n[2]: 9007199254740993.0 equals 9007199254740993", func(c *Config) {
			c.Agents[0].Sweep = sweep(`{"n":[9007199254740992,9007199254740993,9007199254740993.0]}`)
		}},
		{"agents[0].sweep.n[1]: -0.0 equals 0", func(c *Config) { c.Agents[0].Sweep = sweep(`{"n":[0,-0.0]}`) }},
		{`agents[0].sweep.p[2]: {"b":0.1,"a":[1e0,true]} equals {"a":[1,true],"b":1e-1}, the value at [1]`, func(c *Config) {
			c.Agents[0].Sweep = sweep(`{"p":[null,{"a":[1,true],"b":1e-1},{"b":0.1,"a":[1e0,true]},{}]}`)
		}},
		{"agents[0].sweep.exploration.rule[1]: \"vpi\" equals \"vpi\"", func(c *Config) { c.Agents[0].Sweep = sweep(`{"exploration.rule":["vpi","vpi"]}`) }},
		{"agents[0].sweep.policy.kind: sets what policy sets as well", func(c *Config) {
			c.Agents[0].Sweep = sweep(`{"policy.kind":["a"],"policy":[{"kind":"b"},{"kind":"c"}]}`)
		}},
		{"environments[0].sweep.means[0]: sets what means.0 sets as well", func(c *Config) { c.Environments[0].Sweep = sweep(`{"means[0]":[1],"means.0":[2]}`) }},
		{"agents[0].sweep.exploration.commitment.scale: sets what exploration.commitment sets as well", func(c *Config) {
			c.Agents[0].Sweep = sweep(`{"exploration.commitment":[{}],"exploration.commitment.scale":[1]}`)
		}},
		{"agents[0].sweep.policy.epsilon: replaces what params sets: leave it out there", func(c *Config) {
			c.Agents[0].Params = json.RawMessage(`{"policy":{"kind":"epsilon-greedy","epsilon":0.3}}`)
			c.Agents[0].Sweep = sweep(`{"policy.epsilon":[0.1]}`)
		}},
		{"record.grid: must be log, every or all, not \"often\"", func(c *Config) { c.Record.Grid = "often" }},
		{"record.every: needs grid: every", func(c *Config) { c.Record.Every = 5 }},
		{"at most 1000000 can be kept: record every 1000000 steps", func(c *Config) { c.Steps, c.Record.Grid = 1e12, "all" }},
		{"at most 1000000 can be kept: record every 30 steps", func(c *Config) { c.Steps, c.Record.Grid = 3e7, "every" }},
		{"make fewer runs, or record at fewer points", func(c *Config) { c.Runs, c.Steps, c.Record.Grid = 1e6, 1e6, "all" }},
		{"\"b\" is not inside a mapping", func(c *Config) {
			c.Agents[0].Params = json.RawMessage(`{"a":1}`)
			c.Agents[0].Sweep = map[string][]json.RawMessage{"a.b": raw("1")}
		}},
		{"\"c\" is not inside a mapping", func(c *Config) {
			c.Agents[0].Params = json.RawMessage(`{"a":{"b":null}}`)
			c.Agents[0].Sweep = map[string][]json.RawMessage{"a.b.c": raw("1")}
		}},
	} {
		cfg := Config{Runs: 1, Steps: 1, Environments: []Component{{Plugin: "coin"}}, Agents: []Component{{Name: "one", Plugin: "alternate"}, {Name: "two", Plugin: "alternate"}}}
		tt.change(&cfg)
		if _, err := Compile(cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}

// The written config, read again, is the same experiment, whatever its labels
// and parameters hold.
func TestConfigSurvivesItsFile(t *testing.T) {
	p := variant(t, func(c *Config) {
		c.Description = "a: b # c\n'd' \"e\""
		c.Seed = new(uint64(1<<64 - 1))
		c.Agents[0] = Component{Name: "yes", Plugin: "alternate",
			Params: json.RawMessage(`{"Case":{"a.b":[1,2.5,"3","null",null,true,"1e3"]},"big":9007199254740993}`)}
	})
	text := must.Get(p.Config.YAML())(t)
	got, err := ParseConfig(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if !reflect.DeepEqual(got.essence(), p.Config.essence()) || *got.Seed != *p.Config.Seed || got.Description != p.Config.Description {
		t.Errorf("got %v from\n%s", got, text)
	}
	if again, err := got.YAML(); err != nil || string(again) != string(text) {
		t.Errorf("written twice (%v):\n%s\nthen\n%s", err, text, again)
	}
}

// Names of a sweep are the same once the config was written and read, however its
// numbers are written: records have these names.
func TestSweptNamesSurviveTheFile(t *testing.T) {
	p := variant(t, func(c *Config) {
		c.Agents = []Component{{Name: "a {x}", Plugin: "alternate", Sweep: map[string][]json.RawMessage{
			"x": {json.RawMessage("0.0"), json.RawMessage("0.10"), json.RawMessage("1e-3"), json.RawMessage("1E2"), json.RawMessage("100000000000000000000001"), json.RawMessage(`"0.20"`), json.RawMessage("true")}}}}
	})
	text := must.Get(p.Config.YAML())(t)
	c := must.Get(ParseConfig(text))(t)
	again := must.Get(Compile(c))(t)
	if got, want := again.Meta().Agents, p.Meta().Agents; !slices.Equal(got, want) {
		t.Errorf("agents %q, they were %q", got, want)
	}
}

// A sweep reaches into lists: an entry, or a parameter of a source of options that is named alone.
func TestSweepsReachIntoLists(t *testing.T) {
	for _, c := range []struct{ params, key, want string }{
		{`{"means":[1,2]}`, "means[1]", `{"means":[1,5]}`},
		{`{"options":["greedy","./a.py"]}`, "options[1].params.k", `{"options":["greedy",{"params":{"k":5},"plugin":"./a.py"}]}`},
		{`{"options":[{"plugin":"./a.py","params":{"j":1}}]}`, "options[0].params.k", `{"options":[{"params":{"j":1,"k":5},"plugin":"./a.py"}]}`},
	} {
		if got, err := SetParam(json.RawMessage(c.params), SweptPath(c.key), json.RawMessage("5")); err != nil || string(got) != c.want {
			t.Errorf("%s of %s: %s, %v", c.key, c.params, got, err)
		}
	}
	for _, key := range []string{"means[2]", "means[-1]", "means.x"} {
		if got, err := SetParam(json.RawMessage(`{"means":[1,2]}`), SweptPath(key), nil); err == nil {
			t.Errorf("%s: %s", key, got)
		}
	}
}

// Programs that read YAML 1.1 get names that look like truth values and numbers as text.
func TestYAMLQuotesOldScalars(t *testing.T) {
	for name, want := range map[string]string{"no": `"no"`, "On": `"On"`, "1_000": `"1_000"`, "12:30": `"12:30"`, "16": `"16"`, "q-learning": "q-learning", "north": "north"} {
		text := string(must.Get(Config{Agents: []Component{{Name: name, Plugin: "random"}}}.YAML())(t))
		if !strings.Contains(text, "name: "+want+"\n") {
			t.Errorf("%s, want %s", text, want)
		}
	}
}
