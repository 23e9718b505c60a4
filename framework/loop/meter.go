package loop

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/vector"
)

// meter reads the metrics of an environment's or agent's own into curves.
type meter struct {
	side     string // "environment" or "agent"
	measures *vector.Measures
	wanted   []bool // of its metrics, those to record
	values   []float64
	curves   [][]float64 // those of lane 0, then those of lane 1, …
}

// newMeters returns the meters of a batch: none if there is nothing to read.
func newMeters(b *Batch) (meters []meter) {
	for _, x := range []meter{
		{side: result.EnvironmentMetrics, measures: b.Environment.Abilities().Measures},
		{side: result.AgentMetrics, measures: b.Agent.Abilities().Measures},
	} {
		if x.measures == nil || x.side == result.EnvironmentMetrics && b.Actors > 1 {
			continue
		}
		for _, m := range x.measures.Metrics {
			x.wanted = append(x.wanted, result.MetricOf(x.side, m.Name).In(b.Metrics))
		}
		if slices.Contains(x.wanted, true) {
			x.curves = make([][]float64, len(b.Runs)*len(x.measures.Metrics))
			meters = append(meters, x)
		}
	}
	return meters
}

// measure adds a point to the curves of the lanes that have reached a grid point since
// the last call.
func (r *recorder) measure(ctx context.Context) error {
	if len(r.due) == 0 {
		return nil
	}
	lanes := r.due
	if r.actors > 1 { // a run may have reached several points
		lanes = slices.Compact(slices.Clone(r.due))
		for k := range lanes {
			lanes[k] *= r.actors
		}
	}
	for i := range r.meters {
		x := &r.meters[i]
		n := len(x.measures.Metrics)
		x.values = append(x.values[:0], make([]float64, len(lanes)*n)...)
		if err := x.measures.Read(ctx, lanes, x.values); err != nil {
			return fmt.Errorf("%s, metrics: %w", x.side, err)
		}
		values := x.values
		for k, run := range r.due {
			last := k+1 == len(r.due) || r.due[k+1] != run // of its points
			for m := range n {
				if !x.wanted[m] {
					continue
				}
				value := math.NaN()
				if last || x.measures.Metrics[m].Total == framework.Mean { // which is that of all steps of the call
					value = values[m]
				}
				x.curves[run*n+m] = append(x.curves[run*n+m], value)
			}
			if last {
				values = values[n:]
			}
		}
	}
	r.due = r.due[:0]
	return nil
}

// addTo adds the curves of a lane that are to be recorded and ever had a value. A time that has none is censored, and has a curve.
func (x *meter) addTo(curves map[result.Metric][]float64, lane int) {
	n := len(x.measures.Metrics)
	for m, metric := range x.measures.Metrics {
		points := x.curves[lane*n+m]
		if x.wanted[m] && slices.ContainsFunc(points, func(v float64) bool { return metric.Total == framework.Time || !math.IsNaN(v) }) {
			curves[result.MetricOf(x.side, metric.Name)] = points
		}
	}
}
