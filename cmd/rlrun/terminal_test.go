package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/internal/printable"
)

// hostile sets the clipboard (OSC 52), the title (ESC]0;), colours in C1, and reverses
// text. In a table it is a formula.
const hostile = "=cmd()\x1b]52;c;aGk=\x07\x1b]0;owned\x07\u009b31m\u202e"

// Texts come from configs, results of others, models, plugins and files. No command lets
// a control character in them reach the terminal, and no cell of a table for spreadsheets
// begins a formula.
func TestNothingCommandsTheTerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every command")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("RLRUN_PLUGIN_PATH", dir)
	quoted := strconv.QuoteToASCII(hostile)
	quoted = strings.NewReplacer(`\a`, `\x07`).Replace(quoted)
	write := func(name, text string) {
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o700))
		must.Do(t, os.WriteFile(name, []byte(text), 0o755))
	}
	call := func(args ...string) string {
		var out, errs bytes.Buffer
		run(t.Context(), args, strings.NewReader(""), &out, &errs)
		return out.String() + errs.String()
	}
	write("exp.yaml", fmt.Sprintf(`{name: %[1]s, description: %[1]s, runs: 3, steps: 20,
  environments: [{plugin: riverswim, name: "e%[2]s}], agents: [{plugin: q-learning, name: %[1]s}, {plugin: q-learning, name: "-1+%[2]s}],
  compare: {metric: reward}}`, quoted, quoted[1:]))
	if out := call("run", "exp.yaml", "--out", "ours"); !strings.Contains(out, "Results: ") {
		t.Fatalf("the experiment was not run: %s", out)
	}
	// A directory of somebody else: other words for everything that files say.
	must.Do(t, os.CopyFS("theirs", os.DirFS("ours")))
	agent, err := strconv.Unquote(quoted)
	if err != nil {
		t.Fatal(err)
	}
	failed := result.Record{Environment: "e" + agent, Agent: agent, Run: 2, Status: result.Failed, Error: agent + "\n\t" + agent}
	for _, e := range must.Get(result.ReadKeys("theirs"))(t) {
		if e.Environment == failed.Environment && e.Agent == agent {
			failed.Experiment = e.Experiment
		}
	}
	must.Do(t, result.WriteRecords("theirs", "x", []result.Record{failed}))
	for _, path := range must.Get(filepath.Glob("theirs/runs/*.0-*.jsonl"))(t) {
		must.Do(t, os.Remove(path))
	}
	write("theirs/metrics.json", fmt.Sprintf(`{"agent": [{"Name": "x", "Unit": %[1]s, "Doc": %[1]s}]}`, jsonQuote(agent)))
	write("theirs/environments.json", fmt.Sprintf(`{%s: {"states": 2, "actions": 2, "structure": %s}}`, jsonQuote("e"+agent), jsonQuote(agent)))
	write("broken/experiment.yaml", hostile)
	write("model.json", fmt.Sprintf(`{"S": 1, "A": 1, "name": %[1]s, "description": %[1]s, "actions": [%[1]s], "transitions": [[0,0,0,1]]}`, jsonQuote(agent)))
	write("bad.json", hostile)
	write("rlrun-plugin-x", "#!/bin/sh\nprintf '\\033]0;owned\\007' >&2; echo '1|1|unix|\x1b]0;x|grpc|'; exit 3\n")
	write("rlrun-plugin-\x1b]0;x", "#!/bin/sh\nexit 3\n")

	for _, args := range [][]string{
		{"run", "exp.yaml", "--out", "again"},
		{"run", "exp.yaml", "--out", "ours"},
		{"run", "exp.yaml", "--out", "ours", "--resume", "--seed", "2"},
		{"run", hostile}, {hostile}, {"run", "--" + hostile}, {"plugin", hostile}, {"run", "exp.yaml", "--set", hostile},
		{"run", "exp.yaml", "--set", "agents.0.plugin=" + quoted, "--out", "n"},
		{"run", "exp.yaml", "--set", "agents.0.params." + hostile + "=1", "--out", "n"},
		{"run", "exp.yaml", "--set", "environments.0.plugin=x", "--out", "n"},
		{"run", "bad.json"},
		{"report", "ours"}, {"report", "theirs"}, {"report", "theirs", "--json"}, {"report", "broken"}, {"report", hostile},
		{"status", "ours"}, {"status", "theirs"}, {"status", "theirs", "--json"}, {"status", "broken"},
		{"compare", "ours"}, {"compare", "ours", "theirs"}, {"compare", "ours", "--json"}, {"compare", "broken"},
		{"export", "ours"}, {"export", "ours", "--format", hostile}, {"export", "theirs", "--format", "csv"}, {"export", "ours", "--format", "latex"}, {"compare", "ours", "--html", "ours/page.html"},
		{"compact", "theirs"},
		{"submit", "exp.yaml", "--to", "slurm", "--print", "--out", "s"},
		{"mdp", "solve", "--model", "model.json"}, {"mdp", "solve", "--model", "model.json", "--json"}, {"mdp", "structure", "--model", "model.json"},
		{"mdp", "solve", "--model", "model.json", "--plot", "solve.svg"}, {"mdp", "mixing", "--model", "model.json", "--plot", "mixing.svg"},
		{"mdp", "solve", "--model", "bad.json"}, {"mdp", "solve", "--model", hostile}, {"mdp", "solve", "--env", hostile},
		{"mdp", "solve", "--env", "riverswim", "--policy", hostile}, {"mdp", "mixing", "--model", "model.json"},
		{"threshold", "--belief", hostile}, {"threshold", "--belief", "population:@bad.json", "--against", "0.5"},
		{"plugin", "list"}, {"plugin", "inspect", "x"}, {"plugin", "inspect", hostile}, {"plugin", "check", "x"}, {"plugin", "play", "x"},
		{"plugin", "lock", "x"}, {"plugin", "new", hostile}, {"completion", hostile}, {"help", hostile}, {"schema", hostile},
		{"__complete", "plugin", "inspect", ""},
	} {
		out := call(args...)
		if out == "" {
			t.Errorf("%q says nothing", args)
		}
		for i, r := range out {
			if printable.Hidden(r) {
				t.Errorf("%q writes %U: %q", args, r, out[max(0, i-40):min(len(out), i+40)])
				break
			}
		}
	}
	tables := 0
	drawn := map[string]bool{}
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		ext := filepath.Ext(path)
		if err != nil || !slices.Contains([]string{".csv", ".html", ".svg", ".tex"}, ext) {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		drawn[ext] = true
		if i := strings.IndexFunc(string(text), printable.Hidden); i >= 0 || bytes.Contains(text, []byte(`\u001b]`)) {
			t.Errorf("%s has hidden characters: %q", path, text[max(0, i-40):min(len(text), max(0, i)+40)])
		}
		if ext != ".csv" {
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		rows, err := csv.NewReader(f).ReadAll()
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		tables++
		for _, row := range rows {
			for _, cell := range row {
				if tables > 0 && t.Failed() {
					return nil // one is enough
				}
				if _, err := strconv.ParseFloat(cell, 64); err != nil && cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
					t.Errorf("%s: the cell %q begins a formula", path, cell)
				}
			}
		}
		return nil
	})
	if err != nil || tables < 3 || len(drawn) != 4 {
		t.Errorf("%d tables, files %v, error %v", tables, drawn, err)
	}
}

func jsonQuote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}
