package kinds_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/output/kinds"
	"github.com/rlrun/rlrun/framework/output/outputtest"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/must"
)

// A metric that no run of an agent has is a row without a value in tables, and a point without
// one in events.
func TestUnknownMetrics(t *testing.T) {
	meta := result.Meta{Name: "x", Steps: 2, Grid: []int{1, 2}, Environments: []string{"e"}, Agents: []string{"a"}, Runs: 1, Asked: []result.Metric{result.Reward, result.Regret}}
	r := outputtest.Results(t, meta, result.Record{Environment: "e", Agent: "a", Status: result.OK, Steps: 2, Curves: map[result.Metric][]float64{result.Reward: {1, 2}}})
	dir := t.TempDir()
	for _, o := range kinds.Export {
		must.Get(o.Write(r, dir))(t)
	}
	if text := string(must.Get(os.ReadFile(filepath.Join(dir, "outcomes.csv")))(t)); !strings.Contains(text, "e,a,0,regret,NaN") {
		t.Error(text)
	}
	if text := string(must.Get(os.ReadFile(filepath.Join(dir, "summary.tex")))(t)); !strings.Contains(text, "not known") {
		t.Error(text)
	}
	events := must.Get(filepath.Glob(filepath.Join(dir, "e", "a", "run-0", "*")))(t)
	if len(events) != 1 || !strings.Contains(string(must.Get(os.ReadFile(events[0]))(t)), "regret\x15\x00\x00\xc0\x7f") { // a quiet NaN
		t.Errorf("events %q", events)
	}
}
