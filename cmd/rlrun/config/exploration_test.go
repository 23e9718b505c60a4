package config

import (
	"strings"
	"testing"

	"github.com/rlrun/rlrun/options"

	"github.com/rlrun/rlrun/framework/plan"
)

// The exploration of an agent is validated with the rest of the config, whether a
// key is written, swept or set by a flag, and by the same rules.
func TestExploration(t *testing.T) {
	const head = `runs: 1
steps: 1
environments: [{plugin: e}]
agents:
  - plugin: a
`
	oneOf := func(names []string, word string) string {
		return strings.Join(names, ", ") + " or a file named with a slash, such as ./" + word + ".py"
	}
	for _, tt := range []struct{ name, text, set, want string }{
		{"good", "    exploration: {rule: index, bound: U+, horizon: {steps: 1e3}, options: [members, uniform], commitment: {fixed: 8}}\n", "", ""},
		{"defaults", "    exploration: {}\n", "", ""},
		{"unknown rule", "    exploration:\n      rule: optimistik\n", "",
			`exp.yaml:7: agents[0].exploration.rule: must be ` + oneOf(options.RuleNames(), "optimistik") + `, not the text "optimistik"; did you mean optimistic?`},
		{"unknown key", "    exploration:\n      commitment: {flor: 2}\n", "", "exp.yaml:7: agents[0].exploration.commitment.flor: unknown key; did you mean floor?"},
		{"option", "    exploration: {options: [members, bonus]}\n", "",
			`exp.yaml:6: agents[0].exploration.options[1]: must be ` + oneOf(append(options.KindNames(), options.SourceNames()...), "bonus") + `, not the text "bonus"`},
		{"no horizon", "    exploration:\n      horizon: {}\n", "", "exp.yaml:7: agents[0].exploration.horizon: needs gamma, steps, episodes or weights"},
		{"endless horizon", "    exploration:\n      horizon:\n        gamma: 1\n", "", "exp.yaml:7: agents[0].exploration.horizon: gamma 1 needs steps"},
		{"fixed and more", "    exploration:\n      commitment: {fixed: 3, cap: 9}\n", "",
			"exp.yaml:7: agents[0].exploration.commitment: fixed leaves nothing to estimate; remove it, or the other keys of commitment"},
		{"floor above cap", "    exploration:\n      commitment: {floor: 10, cap: 9}\n", "", "exp.yaml:7: agents[0].exploration.commitment: floor 10 is above cap 9"},
		{"no such index", "    exploration: {rule: optimistic-stochastic, bound: V}\n", "", "exp.yaml:6: agents[0].exploration.rule: the rule optimistic-stochastic has no bound V"},
		{"set", "", "agents.0.exploration.horizon.gamma=2", "--set agents.0.exploration.horizon.gamma=2: agents[0].exploration.horizon.gamma: must be at most 1, not 2"},
		{"sweep", "    sweep:\n      exploration.horizon.gamma: [0.9, 1.5]\n", "",
			`exp.yaml:7: agents[0].sweep."exploration.horizon.gamma"[1]: must be at most 1, not 1.5`},
		{"sweep of a number in another notation", "    sweep: {exploration.horizon.steps: [1e2, 1e3]}\n", "", ""},
		{"sweep of an unknown key", "    sweep: {exploration.horizn: [1, 2]}\n", "", `exp.yaml:6: agents[0].sweep."exploration.horizn": unknown key; did you mean horizon?`},
		{"sweep beside what is written", "    exploration: {rule: optimistic}\n    sweep: {exploration.commitment.fixed: [1, x]}\n", "",
			`exp.yaml:7: agents[0].sweep."exploration.commitment.fixed"[1]: must be a whole number, not the text "x"`},
		{"sweep of what is written", "    exploration: {commitment: {fixed: 3}}\n    sweep: {exploration.commitment.fixed: [1, 2]}\n", "",
			`exp.yaml:7: agents[0].sweep."exploration.commitment.fixed": replaces what exploration sets: leave it out there`},
		{"sweep that does not go with another", "    exploration: {rule: optimistic-stochastic}\n    sweep: {exploration.bound: [U, V]}\n", "",
			"exp.yaml:6: agents[0].exploration.rule: the rule optimistic-stochastic has no bound V"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var args []string
			if tt.set != "" {
				args = []string{"--set", tt.set}
			}
			f, got := load(t, head+tt.text, args...)
			if got == "" {
				if _, err := plan.Compile(f.Config); err != nil {
					got = f.Locate(err).Error()
					got = got[strings.Index(got, "exp.yaml"):]
				}
			}
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}
