// Package outputtest makes results for tests of outputs.
package outputtest

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/rlrun/rlrun/framework/output"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/internal/must"
)

// Results returns the results of an output directory with some records, which was begun at
// Unix time 1,700,000,000.
func Results(t testing.TB, meta result.Meta, records ...result.Record) *output.Results {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, store.ProvenanceFile), []byte(`{"started": "2023-11-14T22:13:20Z"}`), 0o666))
	for i := range records {
		must.Do(t, result.WriteRecords(dir, "test", records[i:i+1]))
	}
	runs := must.Get(result.OpenRuns(dir))(t)
	return output.New(&store.Experiment{Dir: store.Dir{Path: dir}, Plan: &plan.Plan{}}, must.Get(runs.Aggregate(meta))(t), runs)
}

// Small returns results of two agents, of which one failed in its only run.
func Small(t testing.TB) *output.Results {
	t.Helper()
	return Results(t, result.Meta{Environments: []string{"two arms"}, Agents: []string{"a_1", "b"}, Grid: []int{1, 4}, Steps: 4, Runs: 2, Seed: 1},
		result.Record{Environment: "two arms", Agent: "a_1", Run: 0, Status: result.OK, Steps: 4, Episodes: 1,
			Curves: map[result.Metric][]float64{result.Reward: {1, 0.5}, result.EpisodeReturn: {math.NaN(), 2}}},
		result.Record{Environment: "two arms", Agent: "a_1", Run: 1, Status: result.OK, Steps: 4,
			Curves:    map[result.Metric][]float64{result.Reward: {0.25, 1. / 3}},
			Decisions: []result.Decision{{Step: 1, State: -1, Option: "greedy, at last", Hold: 2, Delta: 0.5}}},
		result.Record{Environment: "two arms", Agent: "b", Run: 0, Status: result.Failed, Steps: 2, Error: "broke, \"badly\""})
}
