package store

import (
	"testing"

	"github.com/rlrun/rlrun/framework/internal/plantest"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/must"
)

// A scratch directory's records are moved into one file for each environment and agent, since
// clusters count files.
func TestScratchMovesIntoFewFiles(t *testing.T) {
	c := &Scratch{plan: plantest.Compile(t, nil), Dir: Dir{Path: t.TempDir()}, target: Dir{Path: t.TempDir()}}
	programs := result.Programs{Host: "aa", Environment: "aa", Agent: "bb"}
	for run := range 6 {
		agent := []string{"one", "two"}[run%2]
		name := result.RecordsName(result.RecordsFile{Environment: "coin", Agent: agent, First: run, Last: run, Shard: 1, Shards: 3, Programs: programs})
		rec := result.Record{Environment: "coin", Agent: agent, Run: run, Status: result.OK}
		must.Do(t, result.WriteRecords(c.Path, name, []result.Record{rec}))
	}
	for range 2 { // the second time there is nothing to move
		must.Do(t, c.move())
	}
	files, err := result.RecordFiles(c.target.Path)
	if err != nil || len(files) != 2 {
		t.Errorf("%d files: %v, %v", len(files), files, err)
	}
	if left, err := result.RecordFiles(c.Path); err != nil || len(left) > 0 {
		t.Errorf("%v are left, %v", left, err)
	}
	runs, err := result.OpenRuns(c.target.Path)
	if err != nil || len(runs.Entries) != 6 {
		t.Fatalf("%d runs, %v", len(runs.Entries), err)
	}
	for _, e := range runs.Entries {
		if e.Programs != programs {
			t.Errorf("run %d was made by %v", e.Run, e.Programs)
		}
	}
	if o, ok := result.ParseRecordsName(files[0]); !ok || o.First != 0 || o.Last != 4 || o.Shards != 3 {
		t.Errorf("%s: %+v", files[0], o)
	}
}
