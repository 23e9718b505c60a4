package rlrun_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"hash"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

var (
	sameAll    = flag.Bool("same.all", false, "TestSame: run every config, not only the quick ones")
	sameUpdate = flag.Bool("same.update", false, "TestSame: write the digests of this code into testdata/same.txt")
)

// sameConfig is a config of the oracle and the size at which it is run.
type sameConfig struct {
	name        string
	runs, steps int
	quick       bool // runs without -same.all, too
	cells       []sameCell
}

// sameCell is the digest of one environment × agent pair. Labels are for readers:
// cells are compared by position, so that a new name changes nothing.
type sameCell struct{ label, digest string }

const samePath = "testdata/same.txt"

// TestSame is the oracle of every change to the structure: curves and decisions of
// the configs that ship, at a small size, have the digests that are kept in
// testdata/same.txt. A change that alters them by intent says so in CHANGELOG.md
// and writes new ones with `make same UPDATE=1`.
//
// Digests hold for amd64: other architectures round products and sums differently.
func TestSame(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skipf("the digests are those of amd64, this is %s", runtime.GOARCH)
	}
	configs := readSame(t)
	files := must.Get(filepath.Glob("configs/*.yaml"))(t)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if !slices.ContainsFunc(configs, func(c sameConfig) bool { return c.name == name }) {
			t.Errorf("%s has no line in %s: add one, then run make same UPDATE=1", file, samePath)
		}
	}
	program := filepath.Join(t.TempDir(), "rlrun")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/rlrun").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for i := range configs {
		c := &configs[i]
		t.Run(c.name, func(t *testing.T) {
			if !c.quick && !*sameAll {
				t.Skip("takes seconds; make same runs it")
			}
			got := c.play(t, program)
			if *sameUpdate {
				c.cells = got
				return
			}
			if len(got) != len(c.cells) {
				t.Errorf("%d cells, want %d", len(got), len(c.cells))
			}
			for i := range min(len(got), len(c.cells)) {
				if got[i].digest != c.cells[i].digest {
					t.Errorf("%s: digest %s, want %s (%s)", got[i].label, got[i].digest, c.cells[i].digest, c.cells[i].label)
				}
			}
		})
	}
	if *sameUpdate && !t.Failed() {
		writeSame(t, configs)
	}
}

// play runs the config and returns the digests of its cells, in the order of the
// results.
func (c *sameConfig) play(t *testing.T, program string) []sameCell {
	dir := filepath.Join(t.TempDir(), "out")
	cmd := exec.Command(program, "run", filepath.Join("configs", c.name+".yaml"), "--quiet", "--out", dir,
		"--runs", fmt.Sprint(c.runs), "--steps", fmt.Sprint(c.steps), "--set", "outputs=[csv]", "--set", "report={}")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	digests := map[string]hash.Hash{}
	var labels []string
	for _, file := range []string{"curves.csv", "decisions.csv"} {
		f, err := os.Open(filepath.Join(dir, file))
		if errors.Is(err, os.ErrNotExist) && file == "decisions.csv" {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		rows := csv.NewReader(f)
		if _, err := rows.Read(); err != nil { // the header
			t.Fatal(err)
		}
		for {
			row, err := rows.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			label := row[0] + " / " + row[1]
			if digests[label] == nil {
				digests[label] = sha256.New()
				labels = append(labels, label)
			}
			// Runs that are all equal have no interval. It counts as one without width.
			if n := len(row); file == "curves.csv" && row[n-1] == "NaN" && row[3] != "0" && row[3] != "1" {
				row[n-2], row[n-1] = row[5], row[5]
			}
			// Columns that are added later, on the right, are no change of what is there.
			fmt.Fprintln(digests[label], strings.Join(row[2:min(len(row), 14)], ","))
		}
		must.Do(t, f.Close())
	}
	var cells []sameCell
	for _, label := range labels {
		cells = append(cells, sameCell{label, fmt.Sprintf("%.8x", digests[label].Sum(nil))})
	}
	return cells
}

// readSame reads the digests: a line "NAME RUNS STEPS [quick]" a config, and below
// it an indented line "DIGEST LABEL" a cell.
func readSame(t *testing.T) (configs []sameConfig) {
	f := must.Get(os.Open(samePath))(t)
	defer func() { _ = f.Close() }()
	in := bufio.NewScanner(f)
	for in.Scan() {
		line := in.Text()
		if cell, indented := strings.CutPrefix(line, "  "); indented {
			digest, label, _ := strings.Cut(cell, " ")
			last := &configs[len(configs)-1]
			last.cells = append(last.cells, sameCell{label, digest})
			continue
		}
		var c sameConfig
		if _, err := fmt.Sscan(line, &c.name, &c.runs, &c.steps); err != nil {
			t.Fatalf("%s: %q: %v", samePath, line, err)
		}
		c.quick = strings.HasSuffix(line, " quick")
		configs = append(configs, c)
	}
	must.Do(t, in.Err())
	return configs
}

func writeSame(t *testing.T, configs []sameConfig) {
	var b strings.Builder
	for _, c := range configs {
		fmt.Fprintf(&b, "%s %d %d", c.name, c.runs, c.steps)
		if c.quick {
			b.WriteString(" quick")
		}
		b.WriteByte('\n')
		for _, cell := range c.cells {
			fmt.Fprintf(&b, "  %s %s\n", cell.digest, cell.label)
		}
	}
	must.Do(t, os.WriteFile(samePath, []byte(b.String()), 0o644))
}
