package tables

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/rlrun/rlrun/framework/output/outputtest"
	"github.com/rlrun/rlrun/internal/must"
)

func TestParquetHoldsEverything(t *testing.T) {
	dir := t.TempDir()
	files := must.Get(Parquet.Write(outputtest.Small(t), dir))(t)
	if !slices.Equal(files, []string{"runs.parquet", "outcomes.parquet", "curves.parquet", "decisions.parquet"}) {
		t.Errorf("files %v", files)
	}
	runs, err := parquet.ReadFile[runRow](filepath.Join(dir, "runs.parquet"))
	if err != nil || len(runs) != 3 || runs[2].Error != `broke, "badly"` || runs[0].Episodes != 1 {
		t.Errorf("runs %+v, %v", runs, err)
	}
	curves, err := parquet.ReadFile[curveRow](filepath.Join(dir, "curves.parquet"))
	want := []curveRow{
		{"two arms", "a_1", 0, "episode_return", 4, 2}, {"two arms", "a_1", 0, "reward", 1, 1}, {"two arms", "a_1", 0, "reward", 4, 0.5},
		{"two arms", "a_1", 1, "reward", 1, 0.25}, {"two arms", "a_1", 1, "reward", 4, 1. / 3},
	}
	if err != nil || !slices.Equal(curves, want) {
		t.Errorf("curves %+v, %v", curves, err)
	}
	outcomes, err := parquet.ReadFile[outcomeRow](filepath.Join(dir, "outcomes.parquet"))
	if err != nil || !slices.Contains(outcomes, outcomeRow{"two arms", "a_1", 0, "cumulative_reward", 2.5}) {
		t.Errorf("outcomes %+v, %v", outcomes, err)
	}
	decisions, err := parquet.ReadFile[decisionRow](filepath.Join(dir, "decisions.parquet"))
	if err != nil || len(decisions) != 1 || decisions[0].Option != "greedy, at last" || decisions[0].State != -1 {
		t.Errorf("decisions %+v, %v", decisions, err)
	}
}

func TestCSV(t *testing.T) {
	dir := t.TempDir()
	must.Get(CSV.Write(outputtest.Small(t), dir))(t)
	f := must.Get(os.Open(filepath.Join(dir, "decisions.csv")))(t)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != 2 || strings.Join(rows[1], "|") != "two arms|a_1|1|1|0|-1|greedy, at last|false|2|false|0.5|0|0|0|0||0|0|0||" {
		t.Errorf("%v, %v", rows, err)
	}
}
