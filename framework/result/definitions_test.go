package result

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/internal/must"
)

// A plugin's metric is summed up as the plugin says, and stands in the table under the
// plugin's title.
func TestDeclaredMetric(t *testing.T) {
	meta := Meta{Name: "x", Steps: 4, Grid: []int{1, 4}, Environments: []string{"e"}, Agents: []string{"a"}, Runs: 1,
		Recorded: []Metric{Reward, "environment.*"}}
	rec := Record{Environment: "e", Agent: "a", Status: OK, Steps: 4,
		Curves: map[Metric][]float64{Reward: {0, 1}, "environment.fuel": {3, 5}}}
	all := func(yield func(Record, error) bool) { yield(rec, nil) }
	for value, want := range map[metric.Value]float64{"": 4.5, metric.Mean: 4.5, metric.Last: 5, metric.Sum: 8, metric.Tail: 5} {
		meta.Definitions = []metric.Definition{{Name: "environment.fuel", Title: "fuel burned", Value: value}}
		s := must.Get(Aggregate(meta, all))(t)
		if row := s.Row("e", "a", "environment.fuel"); row == nil || row.Mean != want {
			t.Errorf("%q: %+v, want %v", value, row, want)
		}
		var b strings.Builder
		if err := WriteTable(&b, s, 0); err != nil || !strings.Contains(b.String(), "fuel burned") {
			t.Errorf("%v\n%s", err, b.String())
		}
		if !slices.Contains(s.MetricsOf("e", true), "environment.fuel") {
			t.Error("the metric has no curve")
		}
	}
}

// Of a time a run without a value is censored: it counts with its length in the mean, and as longer than all others in
// the median. Its outcome has no value.
func TestCensoredTimes(t *testing.T) {
	meta := Meta{Name: "x", Steps: 90, Episodes: 9, Grid: []int{3, 9}, Environments: []string{"e"}, Agents: []string{"most", "few"}, Runs: 3,
		Recorded: []Metric{"agent.found"}, Definitions: []metric.Definition{{Name: "agent.found", Title: "found", Unit: "episodes", Value: metric.Time}}}
	nan := math.NaN()
	var recs []Record
	add := func(agent string, run int, curve ...float64) {
		recs = append(recs, Record{Environment: "e", Agent: agent, Run: run, Status: OK, Steps: 40, Episodes: 9, Curves: map[Metric][]float64{"agent.found": curve}})
	}
	add("most", 0, nan, nan)
	add("most", 1, nan, 9)
	add("most", 2, 3, 3)
	add("few", 0, nan, nan)
	add("few", 1, nan, nan)
	add("few", 2, nan, 6)
	s := must.Get(Aggregate(meta, Sorted(recs)))(t)
	for agent, want := range map[string]struct {
		mean, median float64
		cell         string
	}{"most": {7, 9, ", median 9 (1 of 3 censored)"}, "few": {8, math.Inf(1), ", no median (2 of 3 censored)"}} {
		row := s.Row("e", agent, "agent.found")
		if row.N != 3 || row.Mean != want.mean || row.Median != want.median {
			t.Errorf("%s: %+v, want %+v", agent, row, want)
		}
		if cell := s.Cell("e", agent, "agent.found"); !strings.HasSuffix(cell, want.cell) {
			t.Errorf("%s: %q, want %q at its end", agent, cell, want.cell)
		}
		var read Row
		must.Do(t, json.Unmarshal(must.Get(json.Marshal(row))(t), &read))
		if !slices.Equal(read.Censored, row.Censored) {
			t.Errorf("%s: runs %v are read as %v", agent, row.Censored, read.Censored)
		}
	}
	for run, x := range s.Row("e", "most", "agent.found").Outcomes() {
		if want := []float64{nan, 9, 3}[run]; x != want && !math.IsNaN(want) || math.IsNaN(x) != math.IsNaN(want) {
			t.Errorf("the outcome of run %d is %v, want %v", run, x, want)
		}
	}
	if d := s.Row("e", "few", "agent.found").Difference; d.N != 3 || d.Mean != 1 { // 9, 9 and 6 less 9, 9 and 3
		t.Errorf("difference %+v", d)
	}
}
