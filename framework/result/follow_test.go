package result

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

// At every moment a follower returns the same as a new reading of the
// directory, after any changes: new runs, an agent's first run, packed files,
// and removed files.
func TestFollowerAgreesWithFreshReading(t *testing.T) {
	dir := t.TempDir()
	meta := Meta{Name: "n", Steps: 4, Grid: []int{2, 4}, Environments: []string{"e", "f"}, Agents: []string{"a", "b"}, Runs: 40, Seed: 3, Discount: 0.9}
	f := Follow(dir)
	check := func(when string) {
		t.Helper()
		got, runs, err := f.Read(meta)
		if err != nil {
			t.Fatal(when, err)
		}
		fresh := must.Get(OpenRuns(dir))(t)
		want := must.Get(fresh.Aggregate(meta))(t)
		text := must.Get(json.Marshal(got))(t)
		wanted := must.Get(json.Marshal(want))(t)
		if string(text) != string(wanted) || !reflect.DeepEqual(runs.Entries, fresh.Entries) {
			t.Errorf("%s:\n%s\nnot\n%s", when, text, wanted)
		}
	}
	write := func(name, env, agent string, from, to int) {
		t.Helper()
		var recs []Record
		for run := from; run < to; run++ {
			x := float64(run*run%7) + 0.1*float64(len(agent)+run)
			recs = append(recs, Record{Environment: env, Agent: agent, Run: run, Status: OK, Steps: 4,
				Curves: map[Metric][]float64{Reward: {x, x / 3}}})
		}
		must.Do(t, WriteRecords(dir, name, recs))
	}
	check("empty")
	write("z", "e", "a", 5, 9)
	check("first runs")
	check("nothing new")
	write("b", "e", "a", 0, 5) // its name and its runs come before what was read
	write("c", "f", "b", 0, 3)
	check("earlier runs of a cell that was read")
	write("d", "e", "b", 0, 12)
	check("an agent's first runs")
	if _, _, err := Compact(t.Context(), Meta{Environments: []string{"e", "f"}, Agents: []string{"a", "b"}}, dir); err != nil {
		t.Fatal(err)
	}
	check("packed")
	names := must.Get(RecordFiles(dir))(t)
	must.Do(t, os.Remove(names[0]))
	check("a file is gone")
	must.Do(t, os.WriteFile(filepath.Join(dir, runsDir, "x.jsonl"), []byte("no record\n"), 0o666))
	if _, _, err := f.Read(meta); err == nil {
		t.Error("a damaged file was read")
	}
	must.Do(t, os.Remove(filepath.Join(dir, runsDir, "x.jsonl")))
	check("the damaged file is gone")
}
