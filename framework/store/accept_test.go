package store

import (
	"errors"
	"testing"
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
