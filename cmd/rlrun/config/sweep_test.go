package config

import (
	"encoding/json"
	"strings"
	"testing"
)

const pluginSchema = `{
  "$defs": {
    "Belief": {"oneOf": [
      {"type": "object", "properties": {"kind": {"const": "population"}, "members": {"type": "integer", "minimum": 1}}, "required": ["kind"], "additionalProperties": false},
      {"type": "object", "properties": {"kind": {"const": "beta"}, "a": {"type": "number", "exclusiveMinimum": 0}}, "required": ["kind"], "additionalProperties": false}
    ]}
  },
  "type": "object",
  "properties": {
    "policy": {"type": "string", "enum": ["greedy", "thompson", "optimistic-stochastic"]},
    "gamma": {"type": "number", "minimum": 0, "exclusiveMaximum": 1, "description": "The discount factor."},
    "Step": {"oneOf": [{"type": "number"}, {"type": "string"}]},
    "belief": {"$ref": "#/$defs/Belief"}
  },
  "required": ["gamma"],
  "additionalProperties": false
}`

func TestCheckParams(t *testing.T) {
	const head = `runs: 1
steps: 1
environments: [{plugin: e}]
agents:
  - plugin: a
`
	tests := []struct{ name, params, want string }{
		{"good", "    params: {gamma: 0.9, policy: greedy, Step: 1/n, belief: {kind: beta, a: 1}}\n", ""},
		{"missing", "    params:\n      policy: greedy\n", "exp.yaml:6: agents[0].params.gamma: is missing: The discount factor"},
		{"no params at all", "", "exp.yaml:5: agents[0].params.gamma: is missing: The discount factor"},
		{"unknown key", "    params:\n      gamma: 0.5\n      polcy: greedy\n", "exp.yaml:8: agents[0].params.polcy: unknown key; did you mean policy?"},
		{"case of a key", "    params:\n      gamma: 0.5\n      step: 3\n", "exp.yaml:8: agents[0].params.step: unknown key; did you mean Step?"},
		{"far from any key", "    params:\n      gamma: 0.5\n      xyzzy: 3\n", "exp.yaml:8: agents[0].params.xyzzy: unknown key; allowed are Step, belief, gamma, policy"},
		{"range", "    params:\n      gamma: 1\n", "exp.yaml:7: agents[0].params.gamma: must be less than 1, not 1"},
		{"choice", "    params: {gamma: 0, policy: tompson}\n", `exp.yaml:6: agents[0].params.policy: must be greedy, thompson or optimistic-stochastic, not the text "tompson"; did you mean thompson?`},
		{"no alternative", "    params: {gamma: 0, Step: [1]}\n", "exp.yaml:6: agents[0].params.Step: must be a number or text, not a list"},
		{"inside the alternative meant", "    params: {gamma: 0, belief: {kind: population, members: 0}}\n", "exp.yaml:6: agents[0].params.belief.members: must be at least 1, not 0"},
		{"sweep", "    sweep:\n      gamma: [0.1, 0.5, 1.5]\n", "exp.yaml:7: agents[0].sweep.gamma[2]: must be less than 1, not 1.5"},
		{"sweep of an inner key", "    params: {gamma: 0, belief: {kind: population}}\n    sweep:\n      belief.members:\n        - 1\n        - x\n", "exp.yaml:10: agents[0].sweep.\"belief.members\"[1]: must be a whole number, not the text \"x\""},
		{"sweep into a number", "    params: {gamma: 0}\n    sweep: {gamma.x: [1]}\n", "exp.yaml:7: agents[0].sweep: gamma.x: \"x\" is not inside a mapping"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, problem := load(t, head+tt.params)
			if problem != "" {
				t.Fatal(problem)
			}
			got := ""
			if err := f.CheckParams("agents", 0, json.RawMessage(pluginSchema)); err != nil {
				got = err.Error()
				got = got[strings.Index(got, "exp.yaml"):]
			}
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestSchemaThatIsNone(t *testing.T) {
	f, problem := load(t, good)
	if problem != "" {
		t.Fatal(problem)
	}
	for _, schema := range []string{`{"type": 3}`, `{"$ref": "file:///etc/passwd"}`, `{`} {
		err := f.CheckParams("environments", 0, json.RawMessage(schema))
		if err == nil || !strings.Contains(err.Error(), "plugin bernoulli-bandit describes its parameters with a schema that is not valid") {
			t.Errorf("%s: %v", schema, err)
		}
	}
	if err := f.CheckParams("environments", 0, nil); err != nil {
		t.Errorf("no schema: %v", err)
	}
}
