package result

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

// sealed gives every line the checksum of what it holds, so that readers go on to the rest.
func sealed(data []byte) (out []byte) {
	for line := range bytes.Lines(data) {
		body := bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("}"))
		if _, err := splitChecksum(append(slices.Clone(body), '}')); err == nil || errors.Is(err, errChecksum) {
			body = body[:len(body)+1-checksumLength]
		}
		sum := checksum(body)
		out = append(append(append(append(out, body...), checksumKey...), sum[:]...), "\"}\n"...)
	}
	return out
}

// Every record file is read or refused, whatever it holds. Records that were read can be
// written and read again.
func FuzzRecordFile(f *testing.F) {
	a, b := okRecord("e", "a", 0, 1, 0.5), okRecord("e", "a", 1, 2, 3)
	b.Decisions = []Decision{{Step: 0, Option: "uniform", Explore: true, Hold: 3}}
	failed := Record{Environment: "e", Agent: "a", Run: 2, Status: Failed, Error: "x\u001b"}
	line := append(b.appendLine(append(a.appendLine(nil), '\n')), '\n')
	f.Add(line, true)
	a.Experiment = "0123456789"
	f.Add(append(a.appendLine(nil), '\n'), true)
	f.Add(line[:len(line)-9], false)
	f.Add(failed.AppendJSON(nil), true)
	f.Add([]byte("\x00\x00\n{}"), false)
	meta := Meta{Name: "x", Steps: 2, Grid: []int{1, 2}, Environments: []string{"e"}, Agents: []string{"a"}, Runs: 3}
	f.Fuzz(func(t *testing.T, data []byte, seal bool) {
		if seal {
			data = sealed(data)
		}
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
