package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/inputfile"
	"github.com/rlrun/rlrun/internal/must"
)

// session is one of a program that is named, with a plugin whose file has a digest.
func session(program, digest string, sources map[string]string) Session {
	s := Session{Rlrun: program, Go: "go1.26", Architecture: "amd64 v1", Program: ShortDigest(program), Started: time.Unix(1, 0), Seed: 1}
	s.AddPlugin(PluginProvenance{Plugin: "coin", Files: map[string]string{"coin": digest}, Sources: sources})
	s.AddPlugin(PluginProvenance{Plugin: "alternate"}) // bundled
	return s
}

func doAs(t *testing.T, p *Plan, dir string, resume bool, s Session) error {
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
	var s Session
	s.AddPlugin(PluginProvenance{Plugin: "coin", Files: map[string]string{file: "sha256:" + digest}})
	p := compiled(t, func(c *Config) { c.Environments[0].Params, c.Workers, c.Lanes = params, 1, 23 })
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
	with := func(change func(s *Session, coin *PluginProvenance)) Session {
		s := first
		s.Plugins = nil
		coin := first.Plugins[0]
		change(&s, &coin)
		s.AddPlugin(coin)
		s.AddPlugin(PluginProvenance{Plugin: "alternate"})
		return s
	}
	for name, tt := range map[string]struct {
		now  Session
		want []string // nil: accepted
	}{
		"the same": {now: first},
		"moved":    {now: with(func(_ *Session, coin *PluginProvenance) { coin.Path = "/elsewhere" })},
		"rebuilt plugin": {
			with(func(_ *Session, coin *PluginProvenance) {
				coin.Files = map[string]string{"coin": "sha256:bbbbbbbbbbbbbb"}
			}),
			[]string{"plugin coin: coin was sha256:aaaaaaaaaa and is sha256:bbbbbbbbbb"},
		},
		"changed module": {
			with(func(_ *Session, coin *PluginProvenance) {
				coin.Sources = map[string]string{"module helper": "sha256:2222222222222", "package numpy": "1.26.4"}
			}),
			[]string{"plugin coin: module helper was sha256:1111111111 and is sha256:2222222222"},
		},
		"another package": {
			with(func(_ *Session, coin *PluginProvenance) {
				coin.Sources = map[string]string{"module helper": "sha256:1111111111111", "package numpy": "2.1.0"}
			}),
			[]string{"plugin coin: package numpy was 1.26.4 and is 2.1.0"},
		},
		"further module": {
			with(func(_ *Session, coin *PluginProvenance) {
				coin.Sources = map[string]string{"module helper": "sha256:1111111111111", "module more": "sha256:3333333333333", "package numpy": "1.26.4"}
			}),
			[]string{"plugin coin: module more was absent and is sha256:3333333333"},
		},
		"rebuilt rlrun": {
			with(func(s *Session, _ *PluginProvenance) { s.Rlrun, s.Program = "v2", ShortDigest("v2") }),
			[]string{"rlrun v1 (go1.26, amd64 v1), now rlrun v2 (go1.26, amd64 v1)"},
		},
		"other instruction set": {
			with(func(s *Session, _ *PluginProvenance) { s.Architecture, s.Program = "amd64 v3", ShortDigest("v1", "v3") }),
			[]string{"rlrun v1 (go1.26, amd64 v1), now rlrun v1 (go1.26, amd64 v3)"},
		},
		"other architecture": {
			with(func(s *Session, _ *PluginProvenance) {
				s.Platform, s.Architecture, s.Program = "linux/arm64", "arm64", ShortDigest("v1", "arm64")
			}),
			[]string{"rlrun v1 (go1.26, amd64 v1), now rlrun v1 (go1.26, arm64)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			few, more := compiled(t, func(c *Config) { c.Runs = 3 }), compiled(t, func(c *Config) { c.Runs = 5 })
			must.Do(t, doAs(t, few, dir, false, first))
			before, err := os.ReadFile(filepath.Join(dir, ProvenanceFile))
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
			if !errors.Is(err, ErrOtherPrograms) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("got %v", err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\ndoes not say %q", err, want)
				}
			}
			if after, _ := os.ReadFile(filepath.Join(dir, ProvenanceFile)); string(after) != string(before) {
				t.Error("a refused session changed provenance.json")
			}

			mixed := tt.now
			mixed.Mixed = true
			must.Do(t, doAs(t, more, dir, true, mixed))
			if s := summary(t, more, dir); s.Mixed == "" || s.Counts[0].OK != 5 {
				t.Errorf("summary of %d runs says mixed: %q", s.Counts[0].OK, s.Mixed)
			}
			var p Provenance
			data, err := os.ReadFile(filepath.Join(dir, ProvenanceFile))
			if err == nil {
				err = json.Unmarshal(data, &p)
			}
			if err != nil || p.Plugins[0].Files["coin"] != "sha256:aaaaaaaaaaaaaaaa" || len(p.Resumed) != 1 || p.Resumed[0].Program != tt.now.Program {
				t.Errorf("provenance %s, %v", data, err)
			}
		})
	}
}

func summary(t *testing.T, p *Plan, dir string) *result.Summary {
	t.Helper()
	return must.Get(result.Aggregate(p.Meta(), result.ReadRecords(dir)))(t)
}

// Runs that failed are done again in any case, so a plugin that was mended may go
// on where none of its runs is kept.
func TestProgramsOfKeptRunsCount(t *testing.T) {
	p, dir := compiled(t, func(c *Config) { c.Runs = 2 }), t.TempDir()
	failed := []result.Record{{Environment: "coin", Agent: "one", Run: 0, Status: result.Failed, Error: "x"}}
	failed[0].Experiment = p.Meta().Experiments[failed[0].Key()]
	must.Do(t, result.WriteRecords(dir, "old", failed))
	must.Do(t, Dir{Path: dir}.write(ConfigFile, must.Get(p.Config.YAML())(t)))
	must.Do(t, doAs(t, p, dir, true, session("v1", "sha256:aa", nil)))

	dir = t.TempDir()
	do(t, p, dir, false, opener(nil)) // names no programs
	err := doAs(t, p, dir, true, session("v1", "sha256:aa", nil))
	if !errors.Is(err, ErrOtherPrograms) || !strings.Contains(err.Error(), "did not record which programs") {
		t.Errorf("got %v", err)
	}
}

// Which builds count as one program.
func TestReleased(t *testing.T) {
	build := func(version, modified string, deps ...*debug.Module) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Deps: deps,
			Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: modified}}}
	}
	for name, tt := range map[string]struct {
		info *debug.BuildInfo
		want bool
	}{
		"release":       {build("v1.2.3", "false"), true},
		"development":   {build("(devel)", "false"), false},
		"modified":      {build("v1.2.3", "true"), false},
		"dirty version": {build("v1.2.4-0.20260101000000-abcdef+dirty", "false"), false},
		"replaced":      {build("v1.2.3", "false", &debug.Module{Path: "x", Replace: &debug.Module{Path: "../x"}}), false},
	} {
		if got := released(tt.info); got != tt.want {
			t.Errorf("%s: %t, want %t", name, got, tt.want)
		}
	}
	v := func(level string) string {
		return architecture(&debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "GOARCH", Value: "x"}, {Key: "GOAMD64", Value: level}}})
	}
	if v("v1") == v("v3") || !strings.HasSuffix(v("v3"), " v3") {
		t.Errorf("architectures %s and %s", v("v1"), v("v3"))
	}
}

// The build ID of an executable tells builds of different sources apart, and is empty where
// the linker wrote none.
func TestBuildID(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("it builds programs that are ELF files")
	}
	build := func(constant string, flags ...string) string {
		dir := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() { println("+constant+") }\n"), 0o600))
		args := append(append([]string{"build", "-trimpath", "-o", "program"}, flags...), "main.go")
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return buildID(filepath.Join(dir, "program"))
	}
	one := build("1")
	if again := build("1"); one == "" || again != one {
		t.Errorf("builds of one source are %q and %q", one, again)
	}
	for what, other := range map[string]string{"another source": build("2"), "another linking": build("1", "-ldflags=-s")} {
		if other == "" || other == one {
			t.Errorf("%s: %q, and %q before", what, other, one)
		}
	}
	for _, id := range []string{"", "redacted"} {
		if got := build("1", "-ldflags=-buildid="+id); got != "" {
			t.Errorf("the linker was told %q: build ID %q", id, got)
		}
	}
	if got := buildID("identity.go"); got != "" {
		t.Errorf("a file that is no executable has build ID %q", got)
	}
}

// One executable computes other last bits on a processor without fused
// multiply-add, and is another program there.
func TestProcessorCounts(t *testing.T) {
	if os.Getenv("PRINT_IDENTITY") != "" {
		program := must.Get(thisProgram())(t)
		os.Stdout.WriteString("<" + program.Program + ">")
		return
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("the processor's features can be hidden on amd64 only")
	}
	identity := func(godebug string) string {
		cmd := exec.Command(os.Args[0], "-test.run=^TestProcessorCounts$")
		cmd.Env = append(os.Environ(), "PRINT_IDENTITY=1", "GODEBUG="+godebug)
		out := must.Get(cmd.Output())(t)
		_, rest, _ := strings.Cut(string(out), "<")
		print, _, ok := strings.Cut(rest, ">")
		if !ok {
			t.Fatalf("no identity in %s", out)
		}
		return print
	}
	fused, plain := identity(""), identity("cpu.fma=off")
	if here, err := thisProgram(); err != nil || fused != here.Program {
		t.Errorf("identities %s and %s of one program on one machine (%v)", fused, here.Program, err)
	}
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil && strings.Contains(string(info), " fma ") && fused == plain {
		t.Errorf("the program is %s with and without fused multiply-add", fused)
	}
}

// An error about two unequal records names the plugin that is not rlrun's own.
func TestBlame(t *testing.T) {
	p := &Plan{
		Environments: []Component{{Name: "walk", Plugin: "./walk", Args: []string{"-x"}}},
		Agents:       []Component{{Name: "a", Plugin: "bandit"}, {Name: "b", Plugin: "./learner"}},
	}
	for _, c := range []struct {
		agent, want string
		programs    [2]result.Programs
	}{
		{"a", "; plugin ./walk -x is not deterministic; ", [2]result.Programs{{Host: "h", Environment: "e", Agent: "h"}}},
		{"b", "; plugin ./learner is not deterministic; ", [2]result.Programs{{Host: "h", Environment: "h", Agent: "l"}}},
		{"b", "; plugin ./walk -x or plugin ./learner is not deterministic (rlrun run --verify says which); ", [2]result.Programs{{Host: "h", Environment: "e", Agent: "l"}}},
		{"a", "; the run is not deterministic; ", [2]result.Programs{{Host: "h", Environment: "h", Agent: "h"}}},
		{"a", "; the run is not deterministic; ", [2]result.Programs{{Host: "h", Environment: "e", Agent: "h"}, {Host: "h", Environment: "f", Agent: "h"}}},
	} {
		if c.programs[1] == (result.Programs{}) {
			c.programs[1] = c.programs[0]
		}
		err := Blame(p, fmt.Errorf("reading: %w", &result.DoubleError{Key: result.Key{Environment: "walk", Agent: c.agent}, Programs: c.programs}))
		if !errors.Is(err, result.ErrNotDeterministic) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v, want %q", c.agent, c.programs, err, c.want)
		}
	}
	if other := errors.New("other"); Blame(p, other) != other || Blame(p, nil) != nil {
		t.Error("other errors are changed")
	}
}

// A file of records of another seed, with the same labels and programs, is refused by a report, by
// --resume, by status and by compact, whatever its name and also if its runs are recorded as well.
func TestRecordsOfAnotherExperiment(t *testing.T) {
	s := Session{Started: time.Unix(1, 0), Seed: 1}
	for name, tt := range map[string]struct {
		change func(*Config)
		same   bool
	}{
		"seed":          {change: func(c *Config) { c.Seed = new(uint64(2)) }},
		"large seed":    {change: func(c *Config) { c.Seed = new(uint64(1<<53 + 1)) }},
		"parameter":     {change: func(c *Config) { c.Agents[0].Params = json.RawMessage(`{"a": 1}`) }},
		"workers, runs": {change: func(c *Config) { c.Workers, c.Lanes, c.Name, c.Description = 3, 1, "other", "x" }, same: true},
		"another agent": {change: func(c *Config) { c.Agents[1].Params = json.RawMessage(`{"a": 1}`) }, same: true},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			ours, theirs := filepath.Join(top, "ours"), filepath.Join(top, "theirs")
			small := func(c *Config) {
				c.Runs, c.Lanes, c.Workers = 3, 3, 1
				if name == "large seed" {
					c.Seed = new(uint64(1 << 53))
				}
			}
			p := compiled(t, small)
			do(t, p, ours, false, opener(nil))
			do(t, compiled(t, func(c *Config) { small(c); tt.change(c) }), theirs, false, opener(nil))
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

// The identity of an experiment never changes: with another one, all records of
// versions before would be refused.
func TestIdentitiesStay(t *testing.T) {
	p := compiled(t, func(c *Config) {
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
	path := filepath.Join(t.TempDir(), ConfigFile)
	must.Do(t, os.WriteFile(path, text, 0o666))
	c := must.Get(ReadConfig(path))(t)
	again := must.Get(Compile(c))(t)
	if got := again.Meta().Experiments; !maps.Equal(got, want) {
		t.Errorf("from %s: %v, want %v", ConfigFile, got, want)
	}
}
