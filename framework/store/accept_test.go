package store

import (
	"errors"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/internal/must"
)

// Runs of an environment whose spec or metrics have changed since are of another task.
func TestOtherSpecsAreRefused(t *testing.T) {
	was := Provenance{Session: Session{Specs: []SpecProvenance{{"v", "1"}}}, Resumed: []Session{{Specs: []SpecProvenance{{"w", "1"}}}}}
	for name, tt := range map[string]struct {
		specs []SpecProvenance
		other bool
	}{
		"as before":         {[]SpecProvenance{{"v", "1"}, {"w", "1"}}, false},
		"one more":          {[]SpecProvenance{{"v", "1"}, {"x", "2"}}, false},
		"of the first":      {[]SpecProvenance{{"v", "2"}}, true},
		"of a later one":    {[]SpecProvenance{{"w", "2"}}, true},
		"none is looked at": {nil, false},
	} {
		if err := was.sameSpecs(Dir{Path: "d"}, &Session{Specs: tt.specs}); errors.Is(err, ErrOtherExperiment) != tt.other {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Metrics that mean something else than those of the directory are refused, and further ones are not.
func TestOtherMetricsAreRefused(t *testing.T) {
	d := Dir{Path: t.TempDir()}
	must.Do(t, d.writeJSON(metricsFile, Declared{Agent: []framework.Metric{{Name: "m", Better: framework.Higher}}}))
	for better, ok := range map[framework.Direction]bool{framework.Higher: true, framework.Lower: false} {
		e := &Experiment{Dir: d, Declared: Declared{Agent: []framework.Metric{{Name: "m", Better: better}, {Name: "n"}}}}
		if err := e.sameMetrics(); (err == nil) != ok {
			t.Errorf("%s: %v", better, err)
		}
	}
}
