package result

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

// Packing keeps every record that counts, byte for byte, also if a packing before was
// interrupted after it had written its files and had removed only some of the others.
func TestCompact(t *testing.T) {
	dir := t.TempDir()
	programs := Programs{"aa", "aa", "aa"}
	for run := range 6 {
		for _, agent := range []string{"a", "b"} {
			rec := Record{Environment: "e", Agent: agent, Run: run, Status: OK, Steps: 3, Curves: map[Metric][]float64{Reward: {float64(run)}}}
			if run == 0 { // failed first
				failed := Record{Environment: "e", Agent: agent, Run: run, Status: Failed, Error: "x"}
				must.Do(t, WriteRecords(dir, RecordsName(RecordsFile{Environment: "e", Agent: agent, First: run, Last: run, Programs: programs}), []Record{failed}))
			}
			must.Do(t, WriteRecords(dir, RecordsName(RecordsFile{Environment: "e", Agent: agent, First: run, Last: run, Programs: programs}), []Record{rec}))
		}
	}
	read := func() (lines []string) {
		for r, err := range ReadRecords(dir) {
			if err != nil {
				t.Fatal(err)
			}
			if r.Programs != programs {
				t.Errorf("programs are %v", r.Programs)
			}
			lines = append(lines, string(r.appendLine(nil)))
		}
		return lines
	}
	before, files := read(), 0
	half, err := RecordFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string][]byte{} // what an interrupted packing would have left
	for _, path := range half[:3] {
		kept[path] = must.Get(os.ReadFile(path))(t)
	}
	for range 2 {
		if _, files, err = Compact(t.Context(), Meta{Environments: []string{"e", "f"}, Agents: []string{"a", "b"}}, dir); err != nil || files != 1 {
			t.Fatal(files, err)
		}
		if !slices.Equal(read(), before) {
			t.Fatal("records differ")
		}
		for path, data := range kept {
			must.Do(t, os.WriteFile(filepath.Join(dir, "runs", "left-"+filepath.Base(path)), data, 0o644))
		}
		if !slices.Equal(read(), before) {
			t.Fatal("records differ with files that are left")
		}
	}
}

// endsAt is a context that is done when it is asked for the n-th time.
type endsAt struct {
	context.Context
	n int
}

func (c *endsAt) Err() error {
	if c.n--; c.n < 0 {
		return context.Canceled
	}
	return nil
}

// Packing ends wherever it is interrupted, and every record that counts is in a file then.
func TestCompactIsInterrupted(t *testing.T) {
	read := func(dir string) (lines []string) {
		for r, err := range ReadRecords(dir) {
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, string(r.appendLine(nil)))
		}
		return lines
	}
	const files = 4
	for n := range 2*files + 3 {
		dir := t.TempDir()
		for run := range files {
			rec := Record{Environment: "e", Agent: string(rune('a' + run/2)), Run: run, Status: OK, Steps: 3, Curves: map[Metric][]float64{Reward: {float64(run)}}}
			must.Do(t, WriteRecords(dir, RecordsName(RecordsFile{Environment: "e", Agent: rec.Agent, First: run, Last: run}), []Record{rec}))
		}
		before := read(dir)
		_, after, err := Compact(&endsAt{t.Context(), n}, Meta{Environments: []string{"e"}, Agents: []string{"a", "b"}}, dir)
		done := n == 2*files+2 // files are read and removed, entries sorted, a file written
		if (err == nil) != done || done && after != 1 {
			t.Errorf("asked %d times: %d files, %v", n, after, err)
		}
		if !slices.Equal(read(dir), before) {
			t.Errorf("asked %d times: records differ", n)
		}
	}
}
