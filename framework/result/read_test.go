package result

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func readAll(dir string) ([]Record, error) {
	var out []Record
	for r, err := range ReadRecords(dir) {
		if err != nil {
			return out, err
		}
		out = append(out, r)
	}
	return out, nil
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "runs"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "runs", name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestReadRecordsInOrderOfKeys(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "odd [name]*") // special characters of file patterns
	for i, recs := range [][]Record{
		{okRecord("f", "a", 10, 1), okRecord("e", "b", 2, 2)},
		{okRecord("e", "a", 9, 3)},
		{okRecord("e", "a", 10, 4), okRecord("e", "a", 2, 5)},
	} {
		if err := WriteRecords(dir, fmt.Sprint(i), recs); err != nil {
			t.Fatal(err)
		}
	}
	recs, err := readAll(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range recs {
		got = append(got, fmt.Sprint(r.Environment, r.Agent, r.Run, r.Curves[Reward]))
	}
	want := []string{"ea2 [5]", "ea9 [3]", "ea10 [4]", "eb2 [2]", "fa10 [1]"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestReadRecordsWithoutFolder(t *testing.T) {
	if recs, err := readAll(t.TempDir()); err != nil || len(recs) != 0 {
		t.Errorf("got %v, %v", recs, err)
	}
}

// Whatever a crash leaves of a file that was being written is not read.
func TestTemporaryFilesAreIgnored(t *testing.T) {
	dir := t.TempDir()
	if err := WriteRecords(dir, "a", []Record{okRecord("e", "a", 0, 1)}); err != nil {
		t.Fatal(err)
	}
	write(t, dir, ".b.jsonl.123.tmp", `{"environment":"e","age`)
	write(t, dir, ".c.jsonl", "half a li")
	write(t, dir, "notes.txt", "not records")
	if recs, err := readAll(dir); err != nil || len(recs) != 1 {
		t.Errorf("got %v, %v", recs, err)
	}
}

func TestDamagedLines(t *testing.T) {
	record := okRecord("e", "a", 0, 1)
	good := string(record.AppendJSON(nil)) + "\n"
	for name, line := range map[string]string{
		"cut off":     good[:len(good)/2],
		"not JSON":    "hello",
		"binary":      "\x00\x01\xff\xfe",
		"no status":   `{"environment":"e","agent":"a","run":1}`,
		"bad status":  `{"environment":"e","agent":"a","run":1,"status":"fine"}`,
		"bad curve":   `{"environment":"e","agent":"a","run":1,"status":"ok","curves":{"reward":["x"]}}`,
		"wrong shape": `[1,2]`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "x.jsonl", good+"\n"+line+"\n")
			_, err := readAll(dir)
			if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "runs", "x.jsonl")+":3 ") {
				t.Errorf("error is %v", err)
			}
		})
	}
}

func TestSameRunTwice(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"x", "y"} {
		if err := WriteRecords(dir, name, []Record{okRecord("e", "a "+name, 0, 1)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := readAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := WriteRecords(dir, "z", []Record{okRecord("e", "b", 0, 1), okRecord("e", "a x", 0, 1)}); err != nil {
		t.Fatal(err)
	}
	_, err := readAll(dir)
	if err == nil || !strings.Contains(err.Error(), "x.jsonl:1") || !strings.Contains(err.Error(), "z.jsonl:2") {
		t.Errorf("error is %v", err)
	}
}

// A run that failed and was tried again counts once: as ok if it ever was.
func TestFailedRunsTriedAgain(t *testing.T) {
	dir := t.TempDir()
	failed := func(run int, why string) Record {
		return Record{Environment: "e", Agent: "a", Run: run, Status: Failed, Error: why}
	}
	for name, recs := range map[string][]Record{
		"1": {failed(0, "first"), failed(1, "first"), okRecord("e", "a", 2, 1)},
		"2": {okRecord("e", "a", 0, 1), failed(1, "second"), failed(2, "late")},
	} {
		if err := WriteRecords(dir, name, recs); err != nil {
			t.Fatal(err)
		}
	}
	recs, err := readAll(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range recs {
		got = append(got, fmt.Sprint(r.Run, r.Status, r.Error))
	}
	if want := "[0ok 1failedfirst 2ok]"; strings.ReplaceAll(fmt.Sprint(got), " ", "") != strings.ReplaceAll(want, " ", "") {
		t.Errorf("got %v, want %v", got, want)
	}
}

// More files than may be open at once.
func TestManyFiles(t *testing.T) {
	dir := t.TempDir()
	const n = 2*maxOpen + 3
	for i := range n {
		r := okRecord("e", "a", i, float64(i))
		write(t, dir, fmt.Sprintf("%04d.jsonl", n-i), string(r.AppendJSON(nil)))
	}
	recs, err := readAll(dir)
	if err != nil || len(recs) != n || recs[n-1].Curves[Reward][0] != n-1 {
		t.Errorf("%d records, %v", len(recs), err)
	}
}
