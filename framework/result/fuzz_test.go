package result

import (
	"bufio"
	"bytes"
	"errors"
	"slices"
	"testing"
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
		recs, err := parseLines(t, data)
		if err != nil {
			return
		}
		var written []byte
		for i := range recs {
			written = append(recs[i].appendLine(written), '\n')
		}
		got, err := parseLines(t, written)
		if err != nil || len(got) != len(recs) {
			t.Fatalf("%d records, then %d, %v", len(recs), len(got), err)
		}
		for i := range got {
			if !sameRecord(&got[i], &recs[i]) {
				t.Fatalf("%+v became %+v", recs[i], got[i])
			}
		}
		_, _ = Aggregate(meta, Sorted(recs)) // an error, but no panic
	})
}

// parseLines reads the lines of a file as OpenRuns and All do, without the file: the writes of
// an execution took nearly all of its time.
func parseLines(t *testing.T, data []byte) (recs []Record, err error) {
	r := Runs{}
	if err := r.addLines("x.jsonl", bufio.NewReader(bytes.NewReader(data)), map[string]string{}); err != nil {
		return nil, err
	}
	for _, e := range r.Entries {
		var rec Record
		if rec.UnmarshalJSON(bytes.TrimSpace(data[e.offset:e.offset+int64(e.length)])) != nil {
			return nil, errNotOurs
		}
		rec.Status = e.Status
		if e.Key != rec.Key() || e.Experiment != rec.Experiment {
			t.Fatalf("the entry is %+v, the record %+v", e, rec)
		}
		recs = append(recs, rec)
	}
	return recs, nil
}
