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

// OK returns the record of a run that ended, with these rewards at its grid points.
func OK(env, agent string, run int, reward ...float64) result.Record {
	return result.Record{Environment: env, Agent: agent, Run: run, Status: result.OK, Steps: len(reward), Curves: map[result.Metric][]float64{result.Reward: reward}}
}

// Aggregate sums records up.
func Aggregate(t testing.TB, meta result.Meta, recs []result.Record) *result.Summary {
	t.Helper()
	return must.Get(result.Aggregate(meta, result.Sorted(recs)))(t)
}

// Tiny has two runs of two agents with numbers that can be worked out by hand:
// runs of a give 1 and 3 (mean 2, standard error 1), of b twice 5 (no spread).
func Tiny(t testing.TB) (*result.Summary, []result.Record) {
	t.Helper()
	recs := []result.Record{
		OK("e, f", "a", 0, 1), OK("e, f", "a", 1, 3),
		OK("e, f", "b", 0, 5), OK("e, f", "b", 1, 5),
		{Environment: "e, f", Agent: "b", Run: 2, Status: result.Failed, Steps: 4, Error: "plugin died"},
	}
	recs[0].Decisions = []result.Decision{{Step: 0, Option: "uniform", Explore: true, Hold: 3, Capped: true, Episode: 4, State: -1, Delta: 0.5, P: 0.25, Share: 0.1, Advantage: 0.01}}
	meta := result.Meta{Name: "tiny", Steps: 1, Grid: []int{1}, Environments: []string{"e, f"}, Agents: []string{"a", "b"}, Runs: 3, Metrics: []result.Metric{result.Reward}}
	return Aggregate(t, meta, recs), recs
}
