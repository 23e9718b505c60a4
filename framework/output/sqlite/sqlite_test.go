package sqlite_test

import (
	"bytes"
	"database/sql"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/output/outputtest"
	"github.com/rlrun/rlrun/framework/output/sqlite"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/inputfile"
	"github.com/rlrun/rlrun/internal/must"
)

func TestSQLite(t *testing.T) {
	s, recs := outputtest.Tiny(t)
	path := filepath.Join(t.TempDir(), "results 1?.db")
	for range 2 { // the second replaces the first
		must.Do(t, sqlite.Write(path, s, result.Sorted(recs)))
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("directory holds %v", entries)
	}
	plain := filepath.Join(filepath.Dir(path), "plain.db")
	must.Do(t, os.Rename(path, plain))
	db := must.Get(sql.Open("sqlite", plain))(t)
	defer db.Close()
	for _, tt := range []struct{ query, want string }{
		{"SELECT count(*) FROM runs", "5"},
		{"SELECT group_concat(run || status || steps) FROM runs WHERE agent = 'b'", "0ok1,1ok1,2failed4"},
		{"SELECT avg(value) FROM outcomes WHERE agent = 'a' AND metric = 'reward'", "2"},
		{"SELECT mean || '/' || runs || '/' || step FROM curves WHERE agent = 'a' AND metric = 'reward'", "2.0/2/1"},
		{"SELECT round(ci_high, 6) FROM curves WHERE agent = 'a' AND metric = 'cumulative_reward'", "14.706205"},
		{"SELECT environment || agent || run || error FROM failures", "e, fb2plugin died"},
		{"SELECT option || explore || hold || capped || delta FROM decisions WHERE run = 0 AND step = 0", "uniform1310.5"},
		{"PRAGMA integrity_check", "ok"},
	} {
		var got string
		if err := db.QueryRow(tt.query).Scan(&got); err != nil || got != tt.want {
			t.Errorf("%s: got %q, %v, want %q", tt.query, got, err, tt.want)
		}
	}
}

func TestSQLiteWritesNull(t *testing.T) {
	recs := []result.Record{outputtest.OK("e", "a", 0, 1)}
	s := outputtest.Aggregate(t, result.Meta{Grid: []int{1}, Environments: []string{"e"}, Agents: []string{"a"}}, recs)
	path := filepath.Join(t.TempDir(), "results.db")
	must.Do(t, sqlite.Write(path, s, result.Sorted(recs)))
	db := must.Get(sql.Open("sqlite", path))(t)
	defer db.Close()
	var n int
	if err := db.QueryRow("SELECT count(*) FROM curves WHERE stderr IS NULL").Scan(&n); err != nil || n != 2 {
		t.Errorf("%d, %v; want 2", n, err)
	}
}

// What stops the writing leaves the old database and no other file.
func TestSQLiteIsAllOrNothing(t *testing.T) {
	s, recs := outputtest.Tiny(t)
	path := filepath.Join(t.TempDir(), "results.db")
	must.Do(t, os.WriteFile(path, []byte("old"), 0o600))
	broken := func(yield func(result.Record, error) bool) {
		_ = yield(recs[0], nil) && yield(result.Record{}, errors.New("damaged"))
	}
	if err := sqlite.Write(path, s, broken); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("error is %v", err)
	}
	if data, _ := os.ReadFile(path); string(data) != "old" {
		t.Error("the old file is gone")
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("directory holds %v", entries)
	}
}

// unknown has metrics that a cell does not have.
func unknown(t *testing.T) (*result.Summary, func(func(result.Record, error) bool)) {
	t.Helper()
	meta := result.Meta{Name: "x", Steps: 2, Grid: []int{1, 2}, Environments: []string{"e", "f"}, Agents: []string{"a"}, Runs: 2,
		Metrics: nil, Recorded: []result.Metric{result.Reward, result.Regret, result.EpisodeReturn, "agent.*"}, Asked: []result.Metric{result.Reward, result.Regret, result.EpisodeReturn, "agent.*"},
		Definitions: []metric.Definition{{Name: "agent.loss", Title: "agent loss"}}}
	nan := math.NaN()
	records := func(yield func(result.Record, error) bool) {
		for _, r := range []result.Record{
			{Environment: "e", Run: 0, Curves: map[result.Metric][]float64{result.Reward: {1, 2}, result.Regret: {1, 1}, result.EpisodeReturn: {nan, 4}, "agent.loss": {math.Inf(1), 3}}},
			{Environment: "e", Run: 1, Curves: map[result.Metric][]float64{result.Reward: {1, 2}, result.Regret: {1, 2}, "agent.loss": {5, 3}}},
			{Environment: "f", Run: 0, Curves: map[result.Metric][]float64{result.Reward: {1e308, nan}}, Infinite: []result.Metric{result.Reward}},
			{Environment: "f", Run: 1, Curves: map[result.Metric][]float64{result.Reward: {1e308, 1e308}}},
		} {
			r.Agent, r.Status, r.Steps, r.Episodes = "a", result.OK, 2, 1
			if !yield(r, nil) {
				return
			}
		}
	}
	s := must.Get(result.Aggregate(meta, records))(t)
	return s, records
}

// A metric that is not known is NULL, once a run.
func TestSQLiteOfUnknownMetrics(t *testing.T) {
	s, records := unknown(t)
	path := filepath.Join(t.TempDir(), "results.db")
	must.Do(t, sqlite.Write(path, s, records))
	db := must.Get(sql.Open("sqlite", path))(t)
	defer db.Close()
	var null int
	must.Do(t, db.QueryRow("SELECT count(*) FROM outcomes WHERE value IS NULL AND metric = 'regret' AND environment = 'f'").Scan(&null))
	if null != 2 {
		t.Errorf("%d outcomes of regret are NULL, want one a run", null)
	}
}

// comparisons are one that is decided and one that is not.
func comparisons() *compare.Result {
	return &compare.Result{Comparisons: []compare.Comparison{
		{Environment: "e", A: "b", B: "a", Verdict: "b is better", Tukey: 0.01},
		{Environment: "e", A: "c", B: "a", Verdict: compare.NotDecided, Tukey: math.NaN()},
	}}
}

func TestComparisons(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.db")
	results := must.Get(sql.Open("sqlite", path))(t)
	must.Get(results.Exec("CREATE TABLE runs (run INTEGER)"))(t)
	must.Do(t, results.Close())
	for range 2 { // the second replaces the first
		must.Do(t, sqlite.WriteComparisons(path, comparisons()))
	}
	db := must.Get(sql.Open("sqlite", path))(t)
	defer db.Close()
	var n, better, unknown, runs int
	must.Do(t, db.QueryRow("SELECT count(*), sum(verdict = 'b is better' AND tukey_p < 0.05), sum(tukey_p IS NULL) FROM comparisons").Scan(&n, &better, &unknown))
	must.Do(t, db.QueryRow("SELECT count(*) FROM runs").Scan(&runs))
	if n != 2 || better != 1 || unknown != 1 {
		t.Errorf("%d comparisons, b better in %d, without p %d", n, better, unknown)
	}
	if err := sqlite.WriteComparisons(filepath.Join(t.TempDir(), "none.db"), comparisons()); err == nil {
		t.Error("writes into a database that is not there")
	}
	must.Do(t, os.Truncate(path, 1<<42)) // it takes no room
	if err := sqlite.WriteComparisons(path, comparisons()); !errors.Is(err, inputfile.ErrTooLarge) {
		t.Errorf("of a database of 4 TiB: %v", err)
	}
}

// A database is replaced by a changed copy: what a link, a hard link or a journal leads to
// stays as it is.
func TestComparisonsGoThroughNoLink(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim.db")
	db := must.Get(sql.Open("sqlite", victim))(t)
	must.Get(db.Exec("CREATE TABLE comparisons (a); INSERT INTO comparisons VALUES (1)"))(t)
	must.Do(t, db.Close())
	before := must.Get(os.ReadFile(victim))(t)
	linked, hard := filepath.Join(dir, "linked.db"), filepath.Join(dir, "hard.db")
	must.Do(t, os.Symlink(victim, linked))
	must.Do(t, os.Link(victim, hard))
	if err := sqlite.WriteComparisons(linked, comparisons()); err == nil {
		t.Error("writes through a link")
	}
	must.Do(t, sqlite.WriteComparisons(hard, comparisons()))
	if !bytes.Equal(must.Get(os.ReadFile(victim))(t), before) {
		t.Error("the file of another name was changed")
	}
	must.Do(t, os.WriteFile(hard+"-journal", []byte("x"), 0o666))
	if err := sqlite.WriteComparisons(hard, comparisons()); !errors.Is(err, disk.ErrJournal) {
		t.Errorf("a database with a journal: %v", err)
	}
}
