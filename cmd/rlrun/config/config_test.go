package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/internal/must"
)

const good = `name: demo
runs: 10
steps: 1e3
environments:
  - plugin: bernoulli-bandit
    params: {Arms: 16, a.b: 010x, Big: 123456789012345678901234567890, f: 1.50, g: 1e-7, h: .5}
agents:
  - plugin: bandit-agent
    params:
      policy: thompson
  - plugin: bandit-agent
    name: second
`

// load writes a config to exp.yaml and loads it with the given flags. The
// directory is cut from the error.
func load(t *testing.T, text string, args ...string) (*File, string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "exp.yaml")
	must.Do(t, os.WriteFile(name, []byte(text), 0o644))
	f, err := Load(name, strings.NewReader(""), parseFlags(t, args))
	if err != nil {
		return nil, strings.ReplaceAll(err.Error(), filepath.Dir(name)+"/", "")
	}
	return f, ""
}

func parseFlags(t testing.TB, args []string) *pflag.FlagSet {
	t.Helper()
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	Flags(fs)
	must.Do(t, fs.Parse(args))
	return fs
}

func TestLoad(t *testing.T) {
	f, problem := load(t, good)
	if problem != "" {
		t.Fatal(problem)
	}
	if f.Name != "demo" || f.Runs != 10 || f.Steps != 1000 || len(f.Agents) != 2 || f.Agents[1].Params != nil {
		t.Errorf("got %+v", f.Config)
	}
	want := `{"Arms":16,"a.b":"010x","Big":123456789012345678901234567890,"f":1.50,"g":1e-7,"h":0.5}`
	if got := string(f.Environments[0].Params); got != want {
		t.Errorf("params are\n%s, want\n%s", got, want)
	}
}

func TestNameIsTheFiles(t *testing.T) {
	f, problem := load(t, strings.TrimPrefix(good, "name: demo\n"))
	if problem != "" || f.Name != "exp" {
		t.Errorf("name %v, problem %q", f, problem)
	}
}

func TestStdin(t *testing.T) {
	if f, err := Load("-", strings.NewReader(good), parseFlags(t, nil)); err != nil || f.Runs != 10 {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := Load("-", strings.NewReader("runs: x\n"+good), parseFlags(t, nil)); err == nil || !strings.HasPrefix(err.Error(), "stdin:") {
		t.Errorf("error %v does not name stdin", err)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]string{
		dir:              dir + ": is a directory; name the YAML file in it",
		dir + "/no.yaml": dir + "/no.yaml: no such file",
	} {
		if _, err := Load(name, nil, parseFlags(t, nil)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// Every file is refused with exactly these lines.
func TestContent(t *testing.T) {
	const rest = "environments: [{plugin: e}]\nagents: [{plugin: a}]\n"
	const empty = "exp.yaml: is empty; an experiment needs at least runs, steps, environments and agents (see rlrun schema)"
	tests := []struct{ name, text, want string }{
		{"empty", "", empty},
		{"comment", "# nothing yet\n", empty},
		{"binary", "\x7fELF\x00\x01", "exp.yaml: is not a text file; a config is YAML in UTF-8"},
		{"latin 1", "name: caf\xe9\n", "exp.yaml: is not a text file; a config is YAML in UTF-8"},
		{"huge", strings.Repeat("#\n", maxBytes/2+1), "exp.yaml: is larger than 8 MiB; an experiment's config is a few lines of YAML"},
		{"list", "- 1\n- 2\n", `exp.yaml:1: must hold keys and values such as "runs: 100", not a list`},
		{"text", "hello", `exp.yaml:1: must hold keys and values such as "runs: 100", not the text "hello"`},
		{"two documents", "---\nruns: 1\n---\nruns: 2\n", "exp.yaml:3: a second document starts here; put one experiment in a file"},
		{"tab", "agents:\n\t- plugin: a\n", "exp.yaml:2: not valid YAML: indented with a tab; use spaces"},
		{"open list", "runs: 1\nsteps: 2\nagents: [1\n", "exp.yaml:3: not valid YAML: did not find expected ',' or ']'"},
		{"syntax on the first line", "runs: : 3", "exp.yaml:1: not valid YAML: mapping values are not allowed in this context"},
		{"unknown anchor", "runs: 1\nsteps: *n\n", "exp.yaml:2: not valid YAML: unknown anchor 'n' referenced"},
		{"alias loop", "runs: 1\nagents: &a [*a]\n", "exp.yaml:2: alias *a stands inside what it stands for"},
		{"bomb", bomb(), "exp.yaml:1: more than 500000 values, with those that aliases stand for; a sweep makes many components of one entry"},
		{"tag", "runs: !!binary AA==\n", "exp.yaml:1: tag !!binary is not supported; write the plain value"},
		{"key twice", "runs: 1\nsteps: 2\nruns: 3\n", `exp.yaml:3: the key "runs" is here a second time (first on line 1); remove one`},
		{"key a number", "1: 2\n", "exp.yaml:1: the key is the number 1; keys must be text (put it in quotes)"},
		{"merge twice", "<<: {runs: 1}\n<<: {runs: 2}\n", "exp.yaml:2: << is here a second time; write one << with a list, [*a, *b]"},
		{"merge of a number", "<<: 3\n", "exp.yaml:1: << needs a mapping, such as *anchor"},
		{"octal", "runs: 010\nsteps: 1\n" + rest, "exp.yaml:1: runs: 010 may be read as octal; write 10, or 0o10 for octal"},
		{"infinite", "runs: .inf\nsteps: 1\n" + rest, "exp.yaml:1: runs: must be a finite number, not .inf"},
		{"rounds to 0", "discount: 1e-400\nruns: 1\nsteps: 1\n" + rest, "exp.yaml:1: discount: 1e-400 has more digits than a number of 64 bits, and would be 0; write 0 if that is meant"},
		{"rounds to 1", "discount: 0.99999999999999999\nruns: 1\nsteps: 1\n" + rest, "exp.yaml:1: discount: 0.99999999999999999 has more digits than a number of 64 bits, and would be 1; write 1 if that is meant"},
		{"1e400", "runs: 1e400\nsteps: 1\n" + rest, "exp.yaml:1: runs: 1e400 is beyond the range of numbers (about 1e-308 to 1e308)"},
		{"negative runs", "runs: -3\nsteps: 1\n" + rest, "exp.yaml:1: runs: must be at least 1, not -3"},
		{"quoted number", "runs: 1\nsteps: '12'\n" + rest, `exp.yaml:2: steps: must be a whole number, not the text "12"; remove the quotes`},
		{"ratio", "runs: 1\nsteps: 12/3\n" + rest, `exp.yaml:2: steps: must be a whole number, not the text "12/3"; write it as a plain number`},
		{"fraction", "runs: 1\nsteps: 1.5\n" + rest, "exp.yaml:2: steps: must be a whole number, not the number 1.5"},
		{"no value", "runs: 1\nsteps:\n" + rest, "exp.yaml:2: steps: has no value; give it one or remove the key"},
		{"negative seed", "seed: -1\nruns: 1\nsteps: 1\n" + rest, "exp.yaml:1: seed: must be at least 0, not -1"},
		{"no metrics", "runs: 1\nsteps: 1\nagents: [{plugin: a}]\nenvironments: [{plugin: e}]\nrecord: {metrics: []}\n", "exp.yaml:5: record.metrics: needs at least 1 entry, has 0"},
		{"nothing drawn", "runs: 1\nsteps: 1\nagents: [{plugin: a}]\nenvironments: [{plugin: e}]\nreport: {metrics: []}\n", "exp.yaml:5: report.metrics: needs at least 1 entry, has 0"},
		{"no agents", "runs: 1\nsteps: 1\nagents: []\nenvironments: [{plugin: e}]\n", "exp.yaml:3: agents: needs at least 1 entry, has 0"},
		{"empty plugin", "runs: 1\nsteps: 1\nagents: [{plugin: ''}]\nenvironments: [{plugin: e}]\n", "exp.yaml:3: agents[0].plugin: must not be empty"},
		{"params a list", "runs: 1\nsteps: 1\nagents: [{plugin: a, params: [1]}]\nenvironments: [{plugin: e}]\n", "exp.yaml:3: agents[0].params: must be a mapping (key: value), not a list"},
		{"all at once", "Runs: 3\nruns: -3\nsteps: 5\ndiscount: 1.5\ntransport: proces\nrecord:\n  grid: lin\n  points: 0\nagents:\n- plugn: x\n" + "environments: [{plugin: e}]\n", `exp.yaml:1: Runs: unknown key; did you mean runs?
exp.yaml:2: runs: must be at least 1, not -3
exp.yaml:4: discount: must be at most 1, not 1.5
exp.yaml:5: transport: must be inprocess or process, not the text "proces"; did you mean process?
exp.yaml:7: record.grid: must be log, every or all, not the text "lin"; did you mean log?
exp.yaml:8: record.points: must be at least 1, not 0
exp.yaml:10: agents[0].plugin: is missing: The name of a bundled plugin, of an executable rlrun-plugin-<name> on the plugin path, a path to an executable, or gymnasium:<id> for an environment of Gymnasium (docs/python.md)
exp.yaml:10: agents[0].plugn: unknown key; did you mean plugin?`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, got := load(t, tt.text); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// bomb returns a few lines whose aliases stand for 10^8 values.
func bomb() string {
	s := "a: &a [1,1,1,1,1,1,1,1,1,1]\n"
	for c := 'b'; c <= 'h'; c++ {
		s += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 10) + "]\n"
	}
	return s
}

func TestAnchorsAndMerges(t *testing.T) {
	f, problem := load(t, `x-common: &p {a: 1, b: 2}
runs: 1
steps: 1
environments: [{plugin: e, params: *p}]
agents:
  - {plugin: a, params: *p}
  - {plugin: a, params: {<<: *p, b: 3}}
`, "--set", "agents.0.params.a=7")
	if problem != "" {
		t.Fatal(problem)
	}
	for i, want := range []string{`{"a":1,"b":2}`, `{"a":7,"b":2}`, `{"b":3,"a":1}`} {
		c := append(f.Environments, f.Agents...)[i]
		if string(c.Params) != want {
			t.Errorf("params %d are %s, want %s", i, c.Params, want)
		}
	}
}

// JSON is YAML: parameters written as compact JSON arrive byte for byte.
func TestParamsByteForByte(t *testing.T) {
	text := rapid.StringMatching(`[A-Za-z0-9 .:#&*!|>'"%@{}\[\],?~é漢-]{0,12}`)
	number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,9})?([eE][-+]?[0-9]{1,2})?`)
	var value func(depth int) *rapid.Generator[string]
	value = func(depth int) *rapid.Generator[string] {
		leaf := rapid.OneOf(
			rapid.Map(text, func(s string) string { return string(quoteJSON(s)) }),
			number, rapid.SampledFrom([]string{"true", "false", "null"}))
		if depth == 0 {
			return leaf
		}
		return rapid.OneOf(leaf,
			rapid.Map(rapid.SliceOfN(value(depth-1), 0, 3), func(v []string) string { return "[" + strings.Join(v, ",") + "]" }),
			rapid.Custom(func(t *rapid.T) string { return object(t, text, value(depth-1)) }))
	}
	rapid.Check(t, func(rt *rapid.T) {
		params := object(rt, text, value(2))
		if !json.Valid([]byte(params)) {
			rt.Fatalf("the test wrote %s", params)
		}
		stdin := strings.NewReader("runs: 1\nsteps: 1\nenvironments: [{plugin: e}]\nagents: [{plugin: a, params: " + params + "}]\n")
		f := must.Get(Load("-", stdin, parseFlags(t, nil)))(rt)
		if !bytes.Equal(f.Agents[0].Params, []byte(params)) {
			rt.Errorf("got  %s\nwant %s", f.Agents[0].Params, params)
		}
	})
}

func object(t *rapid.T, key, value *rapid.Generator[string]) string {
	keys := rapid.SliceOfNDistinct(key, 0, 3, rapid.ID).Draw(t, "keys")
	members := make([]string, len(keys))
	for i, k := range keys {
		members[i] = string(quoteJSON(k)) + ":" + value.Draw(t, "value")
	}
	return "{" + strings.Join(members, ",") + "}"
}

func TestLocate(t *testing.T) {
	f, problem := load(t, good, "--seed=3")
	if problem != "" {
		t.Fatal(problem)
	}
	bad := errors.New("is odd")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{plan.At(bad, "agents", 1), "exp.yaml:11: agents[1]: is odd"},
		{plan.At(plan.At(bad, "params"), "environments", 0), "exp.yaml:6: environments[0].params: is odd"},
		{plan.At(plan.At(fmt.Errorf("plugin gymnasium:X: Arms is odd: %w", framework.ErrInvalidParams), "params"), "environments", 0), "exp.yaml:6: environments[0].params.Arms: is odd"},
		{plan.At(plan.At(fmt.Errorf("plugin gymnasium:X: it is odd: %w", framework.ErrInvalidParams), "params"), "environments", 0), "exp.yaml:6: environments[0].params: plugin gymnasium:X: it is odd"},
		{plan.At(bad, "seed"), "--seed: is odd"},
		{errors.Join(plan.At(bad, "agents"), plan.At(bad, "runs")), "exp.yaml:2: runs: is odd\nexp.yaml:7: agents: is odd"},
		{errors.Join(plan.At(bad, "runs"), errors.New("a bug")), "a bug"},
		{fmt.Errorf("it %w: %w", bad, errors.New("a bug")), "it is odd: a bug"},
		{errors.New("agents[1] is missing"), "agents[1] is missing"},
	} {
		got := strings.ReplaceAll(f.Locate(tt.err).Error(), filepath.Dir(f.doc.name)+"/", "")
		if got != tt.want {
			t.Errorf("%v became %q, want %q", tt.err, got, tt.want)
		}
	}
}

// A flag that is a word stays one, even where it looks like a number.
func TestWordsOfFlags(t *testing.T) {
	if f, problem := load(t, good, "--out=1"); problem != "" || f.Output != "1" {
		t.Errorf("output %v, problem %q", f, problem)
	}
}

// Records stay bound to their experiment when its config is read from the output
// directory: every config that ships has the same identities then.
func TestIdentitiesOfConfigs(t *testing.T) {
	files, err := filepath.Glob("../../../configs/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		f := must.Get(Load(file, nil, parseFlags(t, nil)))(t)
		first := must.Get(plan.Compile(f.Config))(t)
		text, err := first.Config.YAML()
		path := filepath.Join(t.TempDir(), "experiment.yaml")
		if err == nil {
			err = os.WriteFile(path, text, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		c := must.Get(store.ReadConfig(path))(t)
		again := must.Get(plan.Compile(c))(t)
		if want := first.Meta().Experiments; len(want) == 0 || !maps.Equal(again.Meta().Experiments, want) {
			t.Errorf("%s: %v, want %v", file, again.Meta().Experiments, want)
		}
	}
}

// A config may be JSON as Python's json writes it: a character of more than 16 bits is two escapes.
func TestSurrogatePairs(t *testing.T) {
	f, problem := load(t, `{"runs": 1, "steps": 1, "environments": [{"plugin": "e"}],
"agents": [{"plugin": "a", "name": "\ud835\udf00-greedy"}, {"plugin": "a", "name": "\\ud835\\udf00"}]}`,
		"--set", `agents.0.params.a="\uD83D\uDCA5"`)
	if problem != "" {
		t.Fatal(problem)
	}
	if a := f.Agents; a[0].Name != "𝜀-greedy" || a[1].Name != `\ud835\udf00` || string(a[0].Params) != `{"a":"💥"}` {
		t.Errorf("got %q and %q, %s", a[0].Name, a[1].Name, a[0].Params)
	}
	if _, problem := load(t, `{"name": "\ud835"}`); !strings.Contains(problem, "invalid Unicode character escape code") {
		t.Errorf("half a pair: %s", problem)
	}
}
