package plan

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/must"
)

// The search of the Python package knows which metrics are recorded only where a config lists them.
func TestMetricsThatTuningLists(t *testing.T) {
	text := must.Get(os.ReadFile("../../python/src/rlrun/tuning.py"))(t)
	line := regexp.MustCompile(`(?m)^UNASKED = .*$`).Find(text)
	var listed []result.Metric
	for _, name := range regexp.MustCompile(`"([^"]+)"`).FindAllSubmatch(line, -1) {
		listed = append(listed, result.Metric(name[1]))
	}
	want := metric.Select(func(d *metric.Definition) bool {
		compared := d.Better != metric.Neither
		return compared && !d.Name.RecordedAs().In(everyMetric()) && !d.Sparse
	})
	slices.Sort(listed)
	slices.Sort(want)
	if !slices.Equal(listed, want) {
		t.Errorf("tuning.py lists %v, and they are %v", listed, want)
	}
}
