package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/internal/plantest"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/internal/must"
)

func savedAgent(t testing.TB) (*SavedAgent, *loop.Snapshot, []byte) {
	t.Helper()
	a := &SavedAgent{
		Environment: "lake", Agent: "ε: 0.1", Run: 3, Step: 50, Plugin: "q-learning", ID: "rlrun/q-learning@1", Program: "0123456789",
		Params: json.RawMessage(`{"epsilon":0.1}`), Discount: new(0.9),
	}
	s := &loop.Snapshot{Step: 50, State: []byte("a state"), Outcome: framework.TimeStep{Observation: space.Value{Float64: []float64{1, 2}}, Reward: 0.5, Truncated: true}}
	data := must.Get(encodeAgent(a, s))(t)
	return a, s, data
}

// A written agent is read again. Whatever else is read is refused with one error that names
// the file, also behind a checksum that holds.
func TestAgentFiles(t *testing.T) {
	a, s, data := savedAgent(t)
	b, r := must.Get2(decodeAgent(data))(t)
	if b.Agent != a.Agent || b.Run != 3 || string(b.Params) != string(a.Params) || !bytes.Equal(r.State, s.State) ||
		r.Outcome.Reward != 0.5 || !r.Outcome.Truncated || r.Outcome.Observation.Float64[1] != 2 {
		t.Errorf("%+v, %+v", b, r)
	}
	header := strings.SplitAfter(string(data), "\n")[1]
	for name, data := range map[string][]byte{
		"empty":                  nil,
		"cut":                    data[:len(data)-1],
		"longer":                 append(bytes.Clone(data), 0),
		"another header":         bytes.Replace(data, []byte("0.1"), []byte("0.2"), 1),
		"another state":          bytes.Replace(data, []byte("a state"), []byte("b state"), 1),
		"something else":         []byte("a text\nof two lines\n"),
		"another version":        bytes.Replace(data, []byte("agent 1"), []byte("agent 0"), 1),
		"no header":              []byte(agentMagic + "{"),
		"a long header":          []byte(agentMagic + strings.Repeat("x", 2*mostHeader)),
		"a bad header":           []byte(agentMagic + "[]\n"),
		"a run before the first": bytes.ReplaceAll(data, []byte(`"run":3`), []byte(`"run":-3`)),
		"no state":               []byte(agentMagic + header),
	} {
		path := filepath.Join(t.TempDir(), "x.agent")
		must.Do(t, os.WriteFile(path, data, 0o600))
		if _, _, err := readAgent(path, ""); !errors.Is(err, errAgentFile) || err.Error() != path+" "+errAgentFile.Error() {
			t.Errorf("%s: %v", name, err)
		}
	}
	path := filepath.Join(t.TempDir(), "x.agent")
	must.Do(t, os.WriteFile(path, data, 0o600))
	sum := sha256.Sum256(data)
	if _, _, err := readAgent(path, hex.EncodeToString(sum[:])); err != nil {
		t.Error(err)
	}
	if _, _, err := readAgent(path, strings.Repeat("0", 64)); err == nil || !strings.Contains(err.Error(), path+" changed while the experiment ran") {
		t.Errorf("another digest: %v", err)
	}
	huge := filepath.Join(t.TempDir(), "huge.agent")
	must.Do(t, os.WriteFile(huge, nil, 0o600))
	if err := os.Truncate(huge, 2*mostState); err != nil { // it takes no room
		t.Skip(err)
	}
	if _, _, err := readAgent(huge, ""); !errors.Is(err, errAgentFile) {
		t.Errorf("a file of 2 GiB: %v", err)
	}
}

// FuzzAgentFile: reading never panics, and what is read can be written.
func FuzzAgentFile(f *testing.F) {
	_, _, data := savedAgent(f)
	f.Add(data)
	f.Add([]byte(agentMagic + "{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, s, err := decodeAgent(data)
		if err != nil {
			return
		}
		if _, err := encodeAgent(a, s); err != nil {
			t.Error(err)
		}
	})
}

// An agent's name may have colons, and so may a directory's.
// A run that learns goes on with its own agent, if it was saved. An agent that is evaluated plays the
// task of its own run, whatever agents are missing.
func TestAgentsOfRuns(t *testing.T) {
	saved := func(run int) (f agentFile) {
		f.Run, f.Seed, f.Spec.ID = run, new(uint64(7)), "x/bandit@1"
		return f
	}
	o := SavedAgents{saved(1), saved(2), saved(4)}
	for run, want := range []struct{ learns, evaluated int }{{1, 1}, {1, 2}, {2, 4}, {1, 1}, {4, 2}, {4, 4}} {
		if learns, evaluated := o.of(run, true).Run, o.of(run, false).Run; learns != want.learns || evaluated != want.evaluated {
			t.Errorf("run %d goes on with the agent of run %d and evaluates that of run %d, want %v", run, learns, evaluated, want)
		}
		if own := seed.NewSource(7, "x/bandit@1").Seed(want.evaluated, seed.Environment, 0); o.Task(run) != own {
			t.Errorf("run %d is evaluated in the task of seed %d, want %d", run, o.Task(run), own)
		}
	}
	if whole := (SavedAgents{saved(0), saved(1)}); whole.Elsewhere(2, 7) || !whole.Elsewhere(3, 7) || !whole.Elsewhere(2, 8) || !o.Elsewhere(3, 7) {
		t.Error("runs that begin with agents of other tasks are not known")
	}
	if o[1].Seed = nil; o.CheckTasks(3) == nil {
		t.Error("an agent without a seed has a task")
	}
}

func TestSplitAgent(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "a:b")
	must.Do(t, os.Mkdir(dir, 0o777))
	for _, agent := range []string{"q", "ε: 0.1", ""} {
		text := dir + ":" + agent
		if agent == "" {
			text = dir
		}
		if d, a, err := SplitAgent(text); err != nil || d != dir || a != agent {
			t.Errorf("%s: %q, %q, %v", text, d, a, err)
		}
	}
	file := filepath.Join(root, "a", "agents", "x.agent")
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o777))
	must.Do(t, os.WriteFile(file, nil, 0o666))
	if _, _, err := SplitAgent(file); err == nil || !strings.Contains(err.Error(), "as in "+filepath.Join(root, "a")+":AGENT, and by its run; if it is a pickle") {
		t.Errorf("a file: %v", err)
	}
	if _, _, err := SplitAgent(filepath.Join(root, "c:q")); err == nil {
		t.Error("a directory that does not exist")
	}
}

// Saved agents that the experiment of their directory cannot have are refused, and so are
// agents of different experiments where there is no config. A file that
// is no saved agent is refused.
func TestAgentsOfAnotherExperiment(t *testing.T) {
	p := plantest.Compile(t, func(c *plan.Config) { c.Runs, c.Steps = 3, 50 })
	ours := SavedAgent{Environment: "coin", Agent: "one", Run: 1, Step: 50, Program: "aaaaaaaaaa",
		Experiment: p.Identities()[result.Key{Environment: "coin", Agent: "one"}]}
	theirs := plantest.Compile(t, func(c *plan.Config) { c.Runs, c.Steps, c.Seed = 3, 50, new(uint64(2)) }).Identities()[result.Key{Environment: "coin", Agent: "one"}]
	const refused = "is not of the experiment in"
	for name, tt := range map[string]struct {
		change      func(*SavedAgent)
		both        bool   // change the other agent, too
		want, alone string // with the config and without; "": accepted
	}{
		"ours":                 {change: func(*SavedAgent) {}},
		"another run":          {change: func(a *SavedAgent) { a.Run = 2 }},
		"an earlier step":      {change: func(a *SavedAgent) { a.Step = 20 }},
		"a shard's program":    {change: func(a *SavedAgent) { a.Program = "cccccccccc" }},
		"another seed":         {change: func(a *SavedAgent) { a.Experiment = theirs }, want: "different experiments", alone: "different experiments"},
		"both of another seed": {change: func(a *SavedAgent) { a.Experiment = theirs }, both: true, want: refused},
		"another agent":        {change: func(a *SavedAgent) { a.Agent = "three" }, want: refused},
		"another environment":  {change: func(a *SavedAgent) { a.Environment = "dice" }, want: refused},
		"a run too many":       {change: func(a *SavedAgent) { a.Run = 3 }, want: refused},
		"a step too many":      {change: func(a *SavedAgent) { a.Step = 51 }, want: refused},
		"another program":      {change: func(a *SavedAgent) { a.Program = "bbbbbbbbbb" }, want: refused},
	} {
		t.Run(name, func(t *testing.T) {
			for _, alone := range []bool{false, true} {
				dir := filepath.Join(t.TempDir(), "a[b")
				must.Do(t, os.MkdirAll(filepath.Join(dir, agentsDir), 0o777))
				write := func(name string, data []byte) {
					t.Helper()
					path := filepath.Join(dir, name)
					must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, data, 0o666)))
				}
				save := func(a SavedAgent) {
					t.Helper()
					data := must.Get(encodeAgent(&a, &loop.Snapshot{}))(t)
					write(agentsDir+"/"+fmt.Sprintf("coin.one.%d.%d%s", a.Run, a.Step, agentExt), data)
				}
				first, second := ours, ours
				first.Run = 0
				tt.change(&second)
				if tt.both {
					tt.change(&first)
				}
				save(first)
				save(second)
				if !alone {
					text := must.Get(p.Config.YAML())(t)
					write(ConfigFile, text)
					write(ProvenanceFile, []byte(`{"seed": 1, "plugins": [{"plugin": "alternate", "program": "aaaaaaaaaa"}]}`))
					write(provenanceDir+"/shard-0-of-1.json", []byte(`{"seed": 1, "plugins": [{"plugin": "alternate", "program": "cccccccccc"}]}`))
				}
				files, err := Dir{Path: dir}.agents()
				if err != nil || len(files) != 2 {
					t.Fatal(len(files), err)
				}
				want := tt.want
				if alone {
					want = tt.alone
				}
				err = SavedAgents(files).belongs()
				if (err == nil) != (want == "") || err != nil && !(strings.Contains(err.Error(), want) && strings.Contains(err.Error(), dir)) {
					t.Errorf("without a config: %v: %v, want %q", alone, err, want)
				}
				write(agentsDir+"/coin.one.9.50.agent", []byte("damaged"))
				if _, err := (Dir{Path: dir}).agents(); !errors.Is(err, errAgentFile) {
					t.Errorf("a damaged file: %v", err)
				}
				if mixed := SavedAgents(files).Mixed(); mixed != (second.Program != first.Program) {
					t.Errorf("of different programs: %v", mixed)
				}
			}
		})
	}
}

// A saved agent that is a pickle reaches no plugin without trust. The error names its file.
func TestPickledAgents(t *testing.T) {
	a, _, _ := savedAgent(t)
	spec := framework.Spec{Observation: space.Discrete{N: 1}, Action: space.Discrete{N: 2}}
	a.Spec = must.Get(newSavedSpec(spec))(t)
	dir := filepath.Join(t.TempDir(), agentsDir)
	must.Do(t, os.Mkdir(dir, 0o755))
	for state, want := range map[string]bool{"RLPICKLE and code": false, "RLARRAY1 and arrays": true} {
		path := filepath.Join(dir, fmt.Sprintf("e.a.%d.%d.agent", a.Run, a.Step))
		must.Do(t, os.WriteFile(path, must.Get(encodeAgent(a, &loop.Snapshot{Step: a.Step, State: []byte(state)}))(t), 0o600))
		for _, trust := range []bool{false, true} {
			loaded := false
			err := SavedAgents{{SavedAgent: *a, path: path}}.Check(a.ID, plan.Component{Params: a.Params, Exploration: a.Exploration}, spec, trust,
				func(got []byte) error { loaded = string(got) == state; return nil })
			if loaded != (want || trust) || (err == nil) != loaded || err != nil && !strings.Contains(err.Error(), path+" is a pickle") {
				t.Errorf("%q, trust %v: loaded is %v: %v", state, trust, loaded, err)
			}
		}
	}
}
