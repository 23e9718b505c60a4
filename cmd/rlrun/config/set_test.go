package config

import "testing"

func TestSet(t *testing.T) {
	tests := []struct {
		name      string
		sets      []string
		envParams string // of the environment
		params    string // of the second agent, which has none
	}{
		{"change", []string{"environments.0.params={a: 1, b: [x, 2.50]}"}, `{"a":1,"b":["x",2.50]}`, ""},
		{"create", []string{"agents.1.params.x.y=.5"}, "", `{"x":{"y":0.5}}`},
		{"brackets and quotes", []string{`agents[1].params."a.b=c"=1e6`}, "", `{"a.b=c":1e6}`},
		{"list", []string{"agents.1.params.l=[1,2]", "agents.1.params.l.0=9", "agents.1.params.l[2]=3"}, "", `{"l":[9,2,3]}`},
		{"later wins", []string{"agents.1.params.x=1", "agents.1.params.x=2"}, "", `{"x":2}`},
		{"text with equals", []string{"agents.1.params.x=a=b"}, "", `{"x":"a=b"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var args []string
			for _, s := range tt.sets {
				args = append(args, "--set", s)
			}
			f, problem := load(t, good, args...)
			if problem != "" {
				t.Fatal(problem)
			}
			if got := string(f.Environments[0].Params); tt.envParams != "" && got != tt.envParams {
				t.Errorf("environment got %s, want %s", got, tt.envParams)
			}
			if got := string(f.Agents[1].Params); got != tt.params {
				t.Errorf("agent got %s, want %s", got, tt.params)
			}
		})
	}
}

func TestSetAppendsComponent(t *testing.T) {
	f, problem := load(t, good, "--set", "agents.2={plugin: other, params: {k: 1}}")
	if problem != "" || len(f.Agents) != 3 || f.Agents[2].Plugin != "other" {
		t.Errorf("%+v, %q", f, problem)
	}
}

func TestSetProblems(t *testing.T) {
	tests := []struct{ set, want string }{
		{"foo", "--set foo: must be path=value, such as agents.0.params.gamma=0.9"},
		{"=3", "--set =3: must be path=value, such as agents.0.params.gamma=0.9"},
		{"a..b=3", "--set a..b=3: must be path=value, such as agents.0.params.gamma=0.9"},
		{`"a=3`, `--set "a=3: a quoted key does not end`},
		{"steps=[1", "--set steps=[1: the value is not valid YAML: line 1: did not find expected ',' or ']'"},
		{"steps={a: 1} {b: 2}", "--set steps={a: 1} {b: 2}: the value is not valid YAML: did not find expected <document start>"},
		{"steps=30\n---\n40", "--set steps=30\n---\n40: the value is followed by another, on line 2"},
		{"steps=", "--set steps=: steps: has no value; give it one or remove the key"},
		{"steps='3'", `--set steps='3': steps: must be a whole number, not the text "3"; remove the quotes`},
		{"stepz=3", "--set stepz=3: stepz: unknown key; did you mean steps?"},
		{"x-foo=1", "--set x-foo=1: keys that begin with x- hold what anchors name in a file, and mean nothing here"},
		{"agents.5.plugin=x", `--set agents.5.plugin=x: agents is a list of 2; "5" must be an index from 0 to 2 (2 appends)`},
		{"agents.first.plugin=x", `--set agents.first.plugin=x: agents is a list of 2; "first" must be an index from 0 to 2 (2 appends)`},
		{"name.x=3", `--set name.x=3: name is the text "demo" and has nothing inside it to set`},
		{"agents.+1={plugin: x}", `--set agents.+1={plugin: x}: agents is a list of 2; "+1" must be an index from 0 to 2 (2 appends)`},
		{"agents.01={plugin: x}", `--set agents.01={plugin: x}: agents is a list of 2; "01" must be an index from 0 to 2 (2 appends)`},
		{"agents.1.plugn=x", "--set agents.1.plugn=x: agents[1].plugn: unknown key; did you mean plugin?"},
		{"record.a={b: 1, b: 2}", `--set record.a={b: 1, b: 2}: the key "b" is here a second time (first on line 1); remove one`},
	}
	for _, tt := range tests {
		if _, got := load(t, good, "--set", tt.set); got != tt.want {
			t.Errorf("--set %s: got\n%s\nwant\n%s", tt.set, got, tt.want)
		}
	}
}
