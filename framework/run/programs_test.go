package run

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rlrun/rlrun/framework/internal/plantest"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/internal/inputfile"
	"github.com/rlrun/rlrun/internal/must"
)

// session is one of a program that is named, with a plugin whose file has a digest.
func session(program, digest string, sources map[string]string) store.Session {
	s := store.Session{Rlrun: program, Go: "go1.26", Architecture: "amd64 v1", Program: plan.ShortDigest(program), Started: time.Unix(1, 0), Seed: 1}
	s.AddPlugin(store.PluginProvenance{Plugin: "coin", Files: map[string]string{"coin": digest}, Sources: sources})
	s.AddPlugin(store.PluginProvenance{Plugin: "alternate"}) // bundled
	return s
}

func doAs(t *testing.T, p *plan.Plan, dir string, resume bool, s store.Session) error {
	t.Helper()
	done, err := prepare(t, p, dir, resume, s)
	if err != nil {
		return err
	}
	return runPlan(t.Context(), p, runOptions{Dir: dir, Open: opener(nil), Done: done, Session: s})
}

// A file that parameters name is bound for the whole experiment: once it has changed, no
// lanes are opened with it, and the runs that ended before are kept.
func TestFilesOfParametersAreBound(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m.json")
	write := func(text string) {
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
	}
	write("before")
	digest := must.Get(inputfile.SHA256(file))(t)
	params := must.Get(json.Marshal(map[string]any{"models": []string{file}}))(t)
	var s store.Session
	s.AddPlugin(store.PluginProvenance{Plugin: "coin"})
	s.Components = []store.ComponentProvenance{{Kind: plan.EnvironmentsKey, Name: "coin", Files: map[string]string{file: "sha256:" + digest}}}
	p := plantest.Compile(t, func(c *plan.Config) { c.Environments[0].Params, c.Workers, c.Lanes = params, 1, 23 })
	run := func(dir string, then string) error {
		done := must.Get(prepare(t, p, dir, false, s))(t)
		return runPlan(t.Context(), p, runOptions{Dir: dir, Open: opener(nil), Done: done, Session: s, Event: func(e Event) {
			if e.Runs > 0 { // the first agent has its lanes, the second not yet
				write(then)
			}
		}})
	}
	if err := run(t.TempDir(), "before"); err != nil {
		t.Errorf("written again as it was: %v", err)
	}
	dir := t.TempDir()
	if err := run(dir, "after"); err == nil || !strings.Contains(err.Error(), file+", which the parameters of \"coin\" name, changed") {
		t.Errorf("changed: %v", err)
	}
	if kept := records(t, dir); len(kept) != 23 {
		t.Errorf("%d runs are kept, want those of the first agent", len(kept))
	}
}

// Runs of other programs do not join those that are kept, unless they may; then
// every summary says so.
func TestOtherProgramsAreRefused(t *testing.T) {
	first := session("v1", "sha256:aaaaaaaaaaaaaaaa", map[string]string{"module helper": "sha256:1111111111111", "package numpy": "1.26.4"})
	with := func(change func(s *store.Session, coin *store.PluginProvenance)) store.Session {
		s := first
		s.Plugins = nil
		coin := first.Plugins[0]
		change(&s, &coin)
		s.AddPlugin(coin)
		s.AddPlugin(store.PluginProvenance{Plugin: "alternate"})
		return s
	}
	for name, tt := range map[string]struct {
		now  store.Session
		want []string // nil: accepted
	}{
		"the same": {now: first},
		"moved":    {now: with(func(_ *store.Session, coin *store.PluginProvenance) { coin.Path = "/elsewhere" })},
		"rebuilt plugin": {
			with(func(_ *store.Session, coin *store.PluginProvenance) {
				coin.Files = map[string]string{"coin": "sha256:bbbbbbbbbbbbbb"}
			}),
			[]string{"plugin coin: coin was sha256:aaaaaaaaaa and is sha256:bbbbbbbbbb"},
		},
		"changed module": {
			with(func(_ *store.Session, coin *store.PluginProvenance) {
				coin.Sources = map[string]string{"module helper": "sha256:2222222222222", "package numpy": "1.26.4"}
			}),
			[]string{"plugin coin: module helper was sha256:1111111111 and is sha256:2222222222"},
		},
		"another package": {
			with(func(_ *store.Session, coin *store.PluginProvenance) {
				coin.Sources = map[string]string{"module helper": "sha256:1111111111111", "package numpy": "2.1.0"}
			}),
			[]string{"plugin coin: package numpy was 1.26.4 and is 2.1.0"},
		},
		"further module": {
			with(func(_ *store.Session, coin *store.PluginProvenance) {
				coin.Sources = map[string]string{"module helper": "sha256:1111111111111", "module more": "sha256:3333333333333", "package numpy": "1.26.4"}
			}),
			[]string{"plugin coin: module more was absent and is sha256:3333333333"},
		},
		"rebuilt rlrun": {
			with(func(s *store.Session, _ *store.PluginProvenance) { s.Rlrun, s.Program = "v2", plan.ShortDigest("v2") }),
			[]string{"rlrun v1 (go1.26, amd64 v1), now rlrun v2 (go1.26, amd64 v1)"},
		},
		"other instruction set": {
			with(func(s *store.Session, _ *store.PluginProvenance) {
				s.Architecture, s.Program = "amd64 v3", plan.ShortDigest("v1", "v3")
			}),
			[]string{"rlrun v1 (go1.26, amd64 v1), now rlrun v1 (go1.26, amd64 v3)"},
		},
		"other architecture": {
			with(func(s *store.Session, _ *store.PluginProvenance) {
				s.Platform, s.Architecture, s.Program = "linux/arm64", "arm64", plan.ShortDigest("v1", "arm64")
			}),
			[]string{"rlrun v1 (go1.26, amd64 v1), now rlrun v1 (go1.26, arm64)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			few, more := plantest.Compile(t, func(c *plan.Config) { c.Runs = 3 }), plantest.Compile(t, func(c *plan.Config) { c.Runs = 5 })
			must.Do(t, doAs(t, few, dir, false, first))
			before, err := os.ReadFile(filepath.Join(dir, store.ProvenanceFile))
			if err != nil {
				t.Fatal(err)
			}
			err = doAs(t, more, dir, true, tt.now)
			if tt.want == nil {
				if err != nil {
					t.Fatal(err)
				}
				if s := summary(t, more, dir); s.Mixed != "" {
					t.Errorf("mixed: %s", s.Mixed)
				}
				return
			}
			if !errors.Is(err, store.ErrOtherPrograms) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("got %v", err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\ndoes not say %q", err, want)
				}
			}
			if after, _ := os.ReadFile(filepath.Join(dir, store.ProvenanceFile)); string(after) != string(before) {
				t.Error("a refused session changed provenance.json")
			}

			mixed := tt.now
			mixed.Mixed = true
			must.Do(t, doAs(t, more, dir, true, mixed))
			if s := summary(t, more, dir); s.Mixed == "" || s.Counts[0].OK != 5 {
				t.Errorf("summary of %d runs says mixed: %q", s.Counts[0].OK, s.Mixed)
			}
			var p store.Provenance
			data, err := os.ReadFile(filepath.Join(dir, store.ProvenanceFile))
			if err == nil {
				err = json.Unmarshal(data, &p)
			}
			if err != nil || p.Plugins[0].Files["coin"] != "sha256:aaaaaaaaaaaaaaaa" || len(p.Resumed) != 1 || p.Resumed[0].Program != tt.now.Program {
				t.Errorf("provenance %s, %v", data, err)
			}
		})
	}
}

func summary(t *testing.T, p *plan.Plan, dir string) *result.Summary {
	t.Helper()
	return must.Get(result.Aggregate(p.Meta(), result.ReadRecords(dir)))(t)
}

// Runs that failed are done again in any case, so a plugin that was mended may go
// on where none of its runs is kept.
func TestProgramsOfKeptRunsCount(t *testing.T) {
	p, dir := plantest.Compile(t, func(c *plan.Config) { c.Runs = 2 }), t.TempDir()
	failed := []result.Record{{Environment: "coin", Agent: "one", Run: 0, Status: result.Failed, Error: "x"}}
	failed[0].Experiment = p.Meta().Experiments[failed[0].Key()]
	must.Do(t, result.WriteRecords(dir, "old", failed))
	must.Do(t, os.WriteFile(filepath.Join(dir, store.ConfigFile), must.Get(p.Config.YAML())(t), 0o666))
	must.Do(t, doAs(t, p, dir, true, session("v1", "sha256:aa", nil)))

	dir = t.TempDir()
	do(t, p, dir, false, opener(nil)) // names no programs
	err := doAs(t, p, dir, true, session("v1", "sha256:aa", nil))
	if !errors.Is(err, store.ErrOtherPrograms) || !strings.Contains(err.Error(), "did not record which programs") {
		t.Errorf("got %v", err)
	}
}

// A file of records of another seed, with the same labels and programs, is refused by a report, by
// --resume, by status and by compact, whatever its name and also if its runs are recorded as well.
func TestRecordsOfAnotherExperiment(t *testing.T) {
	s := store.Session{Started: time.Unix(1, 0), Seed: 1}
	for name, tt := range map[string]struct {
		change func(*plan.Config)
		same   bool
	}{
		"seed":          {change: func(c *plan.Config) { c.Seed = new(uint64(2)) }},
		"large seed":    {change: func(c *plan.Config) { c.Seed = new(uint64(1<<53 + 1)) }},
		"parameter":     {change: func(c *plan.Config) { c.Agents[0].Params = json.RawMessage(`{"a": 1}`) }},
		"workers, runs": {change: func(c *plan.Config) { c.Workers, c.Lanes, c.Name, c.Description = 3, 1, "other", "x" }, same: true},
		"another agent": {change: func(c *plan.Config) { c.Agents[1].Params = json.RawMessage(`{"a": 1}`) }, same: true},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			ours, theirs := filepath.Join(top, "ours"), filepath.Join(top, "theirs")
			small := func(c *plan.Config) {
				c.Runs, c.Lanes, c.Workers = 3, 3, 1
				if name == "large seed" {
					c.Seed = new(uint64(1 << 53))
				}
			}
			p := plantest.Compile(t, small)
			do(t, p, ours, false, opener(nil))
			do(t, plantest.Compile(t, func(c *plan.Config) { small(c); tt.change(c) }), theirs, false, opener(nil))
			from := must.Get(result.RecordFiles(theirs))(t)
			to, err := result.RecordFiles(ours)
			if err != nil || len(to) < 2 {
				t.Fatal(to, err)
			}
			data := must.Get(os.ReadFile(from[0]))(t)
			check := func(file string) {
				t.Helper()
				_, reportErr := result.Aggregate(p.Meta(), result.ReadRecords(ours))
				_, resumeErr := prepare(t, p, ours, true, s)
				runs, openErr := result.OpenRuns(ours)
				checkErr := openErr
				if openErr == nil {
					checkErr = runs.Check(p.Meta())
				}
				_, _, compactErr := result.Compact(t.Context(), p.Meta(), ours)
				for what, err := range map[string]error{"report": reportErr, "resume": resumeErr, "status": checkErr, "compact": compactErr} {
					if tt.same && err != nil {
						t.Error(what, err)
					}
					if !tt.same && (!errors.Is(err, result.ErrDamaged) || !strings.Contains(err.Error(), "another experiment") || !strings.Contains(err.Error(), file+":1") || !strings.HasSuffix(err.Error(), "and resume")) {
						t.Errorf("%s: got %v", what, err)
					}
				}
			}
			for _, name := range []string{"0.jsonl", "zz.jsonl"} { // beside ours: runs that are recorded twice
				beside := filepath.Join(ours, "runs", name)
				must.Do(t, os.WriteFile(beside, data, 0o666))
				if !tt.same { // packing removes equal records
					check(beside)
				}
				must.Do(t, os.Remove(beside))
			}
			must.Do(t, os.WriteFile(to[0], data, 0o666))
			check(to[0])
		})
	}
}
