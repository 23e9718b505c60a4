package vector

import (
	"context"
	"fmt"
	"regexp"

	"github.com/rlrun/rlrun/framework"
)

// Measures are the metrics of an Environment's or Agent's own.
type Measures struct {
	Metrics []framework.Metric // as the plugin declared them
	// Read writes the current values of some lanes into dst, which has an entry for
	// every metric of the first lane, then of the second, and so on. The lanes have
	// been stepped; their numbers increase. See framework.Measurer.Measure.
	Read func(ctx context.Context, lanes []int, dst []float64) error
}

// measuresOf are the measures of lanes of single copies; nil if these have none. probe
// is one of the copies.
func measuresOf(probe any, copyOf func(lane int) any) *Measures {
	m, ok := probe.(framework.Measurer)
	if !ok {
		return nil
	}
	metrics := m.Metrics()
	if len(metrics) == 0 {
		return nil
	}
	return &Measures{metrics, func(ctx context.Context, lanes []int, dst []float64) error {
		for k, lane := range lanes {
			one, ok := copyOf(lane).(framework.Measurer)
			if !ok {
				return &LaneError{Lane: lane, Err: fmt.Errorf("the copy has no metrics, other than the first: %w", framework.ErrUnsupported)}
			}
			values := dst[k*len(metrics) : (k+1)*len(metrics)]
			if err := Guard(func() error { return one.Measure(ctx, values) }); err != nil {
				return &LaneError{Lane: lane, Err: err}
			}
		}
		return nil
	}}
}

var metricName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// mostMetrics is the most that a plugin may declare. Each one becomes a curve of every run, a
// column and a drawing.
const mostMetrics = 1000

// CheckMetrics reports what is wrong with the metrics of a framework.Measurer.
func CheckMetrics(metrics []framework.Metric) error {
	if len(metrics) > mostMetrics {
		return fmt.Errorf("%d metrics are declared; at most %d can be", len(metrics), mostMetrics)
	}
	seen := map[string]bool{}
	for _, m := range metrics {
		switch {
		case !metricName.MatchString(m.Name):
			return fmt.Errorf("metric %q: a name consists of lower-case letters, digits and underscores, a letter first", m.Name)
		case seen[m.Name]:
			return fmt.Errorf("metric %q is declared twice", m.Name)
		case m.Better != framework.Neither && m.Better != framework.Higher && m.Better != framework.Lower:
			return fmt.Errorf("metric %q: better is %q, must be %q, %q or empty", m.Name, m.Better, framework.Higher, framework.Lower)
		case m.Total != framework.Mean && m.Total != framework.Last && m.Total != framework.Sum && m.Total != framework.Time:
			return fmt.Errorf("metric %q: total is %q, must be %q, %q, %q or empty for the mean", m.Name, m.Total, framework.Last, framework.Sum, framework.Time)
		case m.Total == framework.Time && m.Unit != "steps" && m.Unit != "episodes":
			return fmt.Errorf("metric %q: total is %q and unit %q; the unit of a time must be \"steps\" or \"episodes\"", m.Name, m.Total, m.Unit)
		}
		seen[m.Name] = true
	}
	return nil
}
