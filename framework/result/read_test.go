package result

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
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
	must.Do(t, os.MkdirAll(filepath.Join(dir, "runs"), 0o777))
	must.Do(t, os.WriteFile(filepath.Join(dir, "runs", name), []byte(text), 0o666))
}

func TestReadRecordsInOrderOfKeys(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "odd [name]*") // special characters of file patterns
	for i, recs := range [][]Record{
		{okRecord("f", "a", 10, 1), okRecord("e", "b", 2, 2)},
		{okRecord("e", "a", 9, 3)},
		{okRecord("e", "a", 10, 4), okRecord("e", "a", 2, 5)},
	} {
		must.Do(t, WriteRecords(dir, fmt.Sprint(i), recs))
	}
	recs := must.Get(readAll(dir))(t)
	var got []string
	for _, r := range recs {
		got = append(got, fmt.Sprint(r.Environment, r.Agent, r.Run, r.Curves[Reward]))
	}
	want := []string{"ea2 [5]", "ea9 [3]", "ea10 [4]", "eb2 [2]", "fa10 [1]"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestReadRecordsWithoutDir(t *testing.T) {
	if recs, err := readAll(t.TempDir()); err != nil || len(recs) != 0 {
		t.Errorf("got %v, %v", recs, err)
	}
}

// Whatever a crash leaves of a file that was being written is not read. Records
// that cannot be read are not missing: tables without them must not be made.
func TestRecordsOutOfReach(t *testing.T) {
	for name, make := range map[string]func(runs string) error{
		"a file":                  func(runs string) error { return os.WriteFile(runs, nil, 0o666) },
		"a link to what is gone":  func(runs string) error { return os.Symlink("gone", runs) },
		"a directory of somebody": func(runs string) error { return os.Mkdir(runs, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			runs := filepath.Join(t.TempDir(), "runs")
			if err := make(runs); err != nil {
				t.Skip(err)
			}
			if f, err := os.ReadDir(runs); err == nil {
				t.Skipf("this user reads it: %v", f)
			}
			if r, err := OpenRuns(filepath.Dir(runs)); err == nil || !strings.Contains(err.Error(), runs) {
				t.Errorf("%v, error %v", r, err)
			}
			if _, _, err := Follow(filepath.Dir(runs)).Read(Meta{Steps: 1, Grid: []int{1}}); err == nil {
				t.Error("a follower reads it")
			}
		})
	}
}

func TestTemporaryFilesAreIgnored(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, WriteRecords(dir, "a", []Record{okRecord("e", "a", 0, 1)}))
	write(t, dir, ".b.jsonl.123.tmp", `{"environment":"e","age`)
	write(t, dir, ".c.jsonl", "half a li")
	write(t, dir, "notes.txt", "not records")
	if recs, err := readAll(dir); err != nil || len(recs) != 1 {
		t.Errorf("got %v, %v", recs, err)
	}
}

func TestDamagedLines(t *testing.T) {
	record := okRecord("e", "a", 0, 1)
	good := string(record.appendLine(nil)) + "\n"
	for name, line := range map[string]string{
		"cut off":     good[:len(good)/2],
		"not JSON":    "hello",
		"binary":      "\x00\x01\xff\xfe",
		"no status":   `{"environment":"e","agent":"a","run":1}`,
		"bad status":  `{"environment":"e","agent":"a","run":1,"status":"fine"}`,
		"bad curve":   `{"environment":"e","agent":"a","run":1,"status":"ok","curves":{"reward":["x"]}}`,
		"wrong shape": `[1,2]`,
		"no checksum": string(record.AppendJSON(nil)),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			sum := checksum([]byte(strings.TrimSuffix(line, "}")))
			summed := strings.TrimSuffix(line, "}") + checksumKey + string(sum[:]) + `"}`
			for _, line := range []string{line, summed} {
				if line == strings.TrimSpace(good) {
					continue
				}
				write(t, dir, "x.jsonl", good+"\n"+line+"\n")
				_, err := readAll(dir)
				if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "runs", "x.jsonl")+":3 ") {
					t.Errorf("%s: error is %v", line, err)
				}
			}
		})
	}
}

// Equal records of a run count as one; unequal ones name both places.
func TestSameRunTwice(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"x", "y", "x"} { // the second x becomes x.2
		must.Do(t, WriteRecords(dir, name, []Record{okRecord("e", "a "+name, 0, 1)}))
	}
	recs, err := readAll(dir)
	if err != nil || len(recs) != 2 {
		t.Fatalf("%d records, %v", len(recs), err)
	}
	must.Do(t, WriteRecords(dir, "z", []Record{okRecord("e", "b", 0, 1), okRecord("e", "a x", 0, 2)}))
	_, err = readAll(dir)
	if !errors.Is(err, ErrNotDeterministic) || !strings.Contains(err.Error(), "x.2.jsonl:1") || !strings.Contains(err.Error(), "z.jsonl:2") {
		t.Errorf("error is %v", err)
	}
}

// A last line that is cut off anywhere is left out with a notice; the lines before
// it count.
func TestCutOffLastLine(t *testing.T) {
	record, last := okRecord("e", "a", 0, 1), okRecord("e", "a", 1, 0.5, 2)
	first, line := string(record.appendLine(nil))+"\n", string(last.appendLine(nil))
	for n := range line {
		for _, tail := range []string{"", "\x00\x00\x00"} {
			dir := t.TempDir()
			write(t, dir, "x.jsonl", first+line[:n]+tail)
			r, err := OpenRuns(dir)
			if err != nil || len(r.Entries) != 1 {
				t.Fatalf("%q: %v, %v", line[:n], r, err)
			}
			if want := n > 0 || tail != ""; (len(r.Notices) == 1) != want || want && !strings.Contains(r.Notices[0], "x.jsonl:2 is cut off") {
				t.Fatalf("%q: notices %q", line[:n], r.Notices)
			}
		}
	}
	dir := t.TempDir()
	write(t, dir, "x.jsonl", first+line) // only the line feed is lost
	if r, err := OpenRuns(dir); err != nil || len(r.Entries) != 2 || len(r.Notices) != 0 {
		t.Errorf("%v, %v", r, err)
	}
}

// Every change of one bit of a line is found, or changes nothing.
func TestChecksumFindsFlippedBits(t *testing.T) {
	record := okRecord("e", "a", 3, 0.25, 1)
	line := append(record.appendLine(nil), '\n')
	want := string(record.AppendJSON(nil))
	for bit := range 8 * (len(line) - 1) {
		flipped := slices.Clone(line)
		flipped[bit/8] ^= 1 << (bit % 8)
		var e Entry
		var got Record
		if e.parse(flipped) != nil { // as OpenRuns, the only one to look at the checksum
			continue
		}
		if read := got.UnmarshalJSON(flipped[:len(flipped)-1]) == nil; read && string(got.AppendJSON(nil)) != want {
			t.Fatalf("%q was read as %+v", flipped, got)
		}
	}
}

// Records that an experiment cannot have are refused by file and line.
func TestImpossibleRecords(t *testing.T) {
	meta := Meta{Name: "x", Steps: 2, Grid: []int{1, 2}, Environments: []string{"e"}, Agents: []string{"a"}, Runs: 3, Recorded: []Metric{Reward, Regret}}
	good := func(run int) Record { return okRecord("e", "a", run, 1, 2) }
	for name, change := range map[string]func(r *Record){
		"run 7":                      func(r *Record) { r.Run = 7 },
		"run 3":                      func(r *Record) { r.Run, r.Status, r.Curves = 3, Failed, nil },
		"has 9 steps":                func(r *Record) { r.Steps = 9 },
		"has -1 episodes":            func(r *Record) { r.Episodes = -1 },
		"has 3 episodes":             func(r *Record) { r.Episodes = 3 },
		"curve reward has 1 values":  func(r *Record) { r.Curves[Reward] = []float64{1} },
		"curve volume: the experime": func(r *Record) { r.Curves["volume"] = []float64{1, 2} },
		"curve reward is missing":    func(r *Record) { r.Curves = nil },
		"decision 0 is at step 2":    func(r *Record) { r.Decisions = []Decision{{Step: 2}} },
		"no such agent":              func(r *Record) { r.Agent = "b" },
	} {
		t.Run(name, func(t *testing.T) {
			dir, bad := t.TempDir(), good(1)
			change(&bad)
			must.Do(t, WriteRecords(dir, "x", []Record{good(0), bad}))
			_, err := Aggregate(meta, ReadRecords(dir))
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "x.jsonl:2 ") || !strings.Contains(err.Error(), name) {
				t.Errorf("got %v", err)
			}
		})
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
		must.Do(t, WriteRecords(dir, name, recs))
	}
	recs := must.Get(readAll(dir))(t)
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
		write(t, dir, fmt.Sprintf("%04d.jsonl", n-i), string(r.appendLine(nil)))
	}
	recs, err := readAll(dir)
	if err != nil || len(recs) != n || recs[n-1].Curves[Reward][0] != n-1 {
		t.Errorf("%d records, %v", len(recs), err)
	}
}

// An entry has the experiment of its record, whatever else the line holds.
func TestEntriesNameTheirExperiment(t *testing.T) {
	odd := `x","experiment":"y`
	for name, rec := range map[string]Record{
		"ok":        {Experiment: "0123456789", Status: OK, Curves: map[Metric][]float64{Reward: {1}}},
		"none":      {Status: OK, Curves: map[Metric][]float64{Reward: {1}}},
		"failed":    {Experiment: "0123456789", Status: Failed, Error: odd},
		"no words":  {Status: Failed, Error: odd},
		"odd":       {Experiment: odd, Status: OK},
		"odd label": {Environment: odd, Agent: odd, Status: OK, Decisions: []Decision{{Option: odd}}},
	} {
		line := append(rec.appendLine(nil), '\n')
		var e Entry
		if err := e.parse(line); err != nil || e.Experiment != rec.Experiment || e.Status != rec.Status || e.Agent != rec.Agent {
			t.Errorf("%s: %+v, %v, of %s", name, e, err, line)
		}
	}
}

// A power cut leaves holes in a file, and a sparse file has them. A hole is read without keeping it. At
// the end of a file its record is cut off. A hole that is too long is refused.
func TestHoles(t *testing.T) {
	var r Runs
	must.Do(t, r.addLines("x.jsonl", bufio.NewReader(io.LimitReader(zeros{}, 1<<20)), nil))
	if len(r.Notices) != 1 || !strings.Contains(r.Notices[0], "x.jsonl:1 is cut off") {
		t.Errorf("notices %q", r.Notices)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := r.addLines("x.jsonl", bufio.NewReader(zeros{}), nil); !errors.Is(err, errLongLine) {
		t.Errorf("a line without an end: %v", err)
	}
	runtime.ReadMemStats(&after)
	if kept := after.TotalAlloc - before.TotalAlloc; kept > 1<<20 {
		t.Errorf("%d bytes are kept of it", kept)
	}
}

// zeros is a file of zeros without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
