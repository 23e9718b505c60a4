package result

import (
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
