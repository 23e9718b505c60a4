package result

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

func okRecord(env, agent string, run int, reward ...float64) Record {
	return Record{Environment: env, Agent: agent, Run: run, Status: OK, Steps: len(reward), Curves: map[Metric][]float64{Reward: reward}}
}

func TestWriteRecordsIsDeterministic(t *testing.T) {
	recs := []Record{okRecord("e", "a", 0, 1, 0.5), okRecord("e", "b", 0, 0.25, 2)}
	recs[0].Curves[Regret] = []float64{0, 1}
	recs[0].Curves[OptimalAction] = []float64{1, 1}
	var files []string
	for range 2 {
		dir := t.TempDir()
		must.Do(t, WriteRecords(dir, "chunk", recs))
		data := must.Get(os.ReadFile(filepath.Join(dir, "runs", "chunk.jsonl")))(t)
		files = append(files, string(data))
	}
	const want = `{"environment":"e","agent":"a","run":0,"status":"ok","steps":2,"episodes":0,"curves":{"optimal_action":[1,1],"regret":[0,1],"reward":[1,0.5]},"crc32c":"a8475278"}
{"environment":"e","agent":"b","run":0,"status":"ok","steps":2,"episodes":0,"curves":{"reward":[0.25,2]},"crc32c":"d8b0b6b8"}
`
	if files[0] != want || files[1] != want {
		t.Errorf("got %s and %s, want %s", files[0], files[1], want)
	}
}

// A write that fails in the middle, as on a full disk, leaves what was there
// before, no other file, and one line of error.
func TestWriteFileIsAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.csv")
	must.Do(t, WriteFile(path, func(w io.Writer) error { _, err := io.WriteString(w, "old"); return err }))
	err := WriteFile(path, func(w io.Writer) error {
		if _, err := w.Write(make([]byte, 1<<20)); err != nil {
			return err
		}
		return syscall.ENOSPC
	})
	if !errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path) {
		t.Errorf("error is %q", err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "old" {
		t.Errorf("file holds %.20q, %v", data, err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("directory holds %v", entries)
	}
}

// /dev/full answers every write with "no space left on device".
func TestFullDevice(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	path := filepath.Join(t.TempDir(), "x.csv")
	err = WriteFile(path, func(io.Writer) error { _, err := f.WriteString("x"); return err })
	if want := "writing " + path + ": no space left on device"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestWriteRecordsReportsBadPlaces(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	if err := WriteRecords(file, "chunk", nil); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("below a file: %v", err)
	}
	for _, name := range []string{"", ".hidden", "a/b", ".."} {
		if err := WriteRecords(dir, name, nil); err == nil {
			t.Errorf("name %q was accepted", name)
		}
	}
}
