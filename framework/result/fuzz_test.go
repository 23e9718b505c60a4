package result

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

// Every record file is read or refused, whatever it holds. Records that were read can be
// written and read again.
func FuzzRecordFile(f *testing.F) {
	a, b := okRecord("e", "a", 0, 1, 0.5), okRecord("e", "a", 1, 2, 3)
	b.Decisions = []Decision{{Step: 0, Option: "uniform", Explore: true, Hold: 3}}
	failed := Record{Environment: "e", Agent: "a", Run: 2, Status: Failed, Error: "x\u001b"}
	line := append(b.appendLine(append(a.appendLine(nil), '\n')), '\n')
	f.Add(line)
	a.Experiment = "0123456789"
	f.Add(append(a.appendLine(nil), '\n'))
	f.Add(line[:len(line)-9])
	f.Add(failed.AppendJSON(nil))
	f.Add([]byte("\x00\x00\n{}"))
	meta := Meta{Name: "x", Steps: 2, Grid: []int{1, 2}, Environments: []string{"e"}, Agents: []string{"a"}, Runs: 3}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		must.Do(t, os.Mkdir(filepath.Join(dir, runsDir), 0o700))
		must.Do(t, os.WriteFile(filepath.Join(dir, runsDir, "x.jsonl"), data, 0o600))
		recs, err := readAll(dir)
		if err != nil {
			return
		}
		entries, err := ReadKeys(dir)
		must.Do(t, err)
		for i := range recs {
			if entries[i].Experiment != recs[i].Experiment {
				t.Fatalf("the entry has experiment %q, the record %q", entries[i].Experiment, recs[i].Experiment)
			}
		}
		_, _ = Aggregate(meta, ReadRecords(dir)) // an error, but no panic
		again := t.TempDir()
		must.Do(t, WriteRecords(again, "y", recs))
		got, err := readAll(again)
		if err != nil || len(got) != len(recs) {
			t.Fatalf("%d records, then %d, %v", len(recs), len(got), err)
		}
		for i := range got {
			if !sameRecord(&got[i], &recs[i]) {
				t.Fatalf("%+v became %+v", recs[i], got[i])
			}
		}
	})
}
