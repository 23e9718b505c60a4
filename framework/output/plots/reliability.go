package plots

import (
	"fmt"
	"math"

	"github.com/rlrun/rlrun/framework/result"
)

// The sums of a run that the law of gains compares (docs/theory.md §3.8).
const (
	gainPredicted = result.Metric(result.AgentMetrics + ".gain_predicted")
	gainRealised  = result.Metric(result.AgentMetrics + ".gain_realised")
	predictedGain = "predicted gain of a run"
	realisedGain  = "realised gain"
)

// NewReliability draws realised gains over predicted ones in one environment, a point for each run
// of each agent that has both metrics. If the belief of an agent is right, the
// mean of its points is on the line of equal gains, or above it for the rule sup (the law of gains). It fails where there is nothing to draw.
func NewReliability(s *result.Summary, environment string) (*Figure, error) {
	f := &Figure{Title: fmt.Sprintf("%s: do predicted gains come true?", environment), XLabel: predictedGain, YLabel: realisedGain}
	low, high := math.Inf(1), math.Inf(-1)
	for _, agent := range s.Meta.Agents {
		l := Line{Label: agent, Points: true}
		predicted, realised := s.Row(environment, agent, gainPredicted), s.Row(environment, agent, gainRealised)
		if predicted != nil && realised != nil {
			of := map[int]float64{}
			for k, run := range predicted.Runs {
				of[run] = predicted.Values[k]
			}
			for k, run := range realised.Runs {
				if x, ok := of[run]; ok {
					l.X, l.Y = append(l.X, x), append(l.Y, realised.Values[k])
					low, high = min(low, x), max(high, x)
				}
			}
		}
		f.Lines = append(f.Lines, l) // without points it keeps the colours of the others
	}
	if low > high {
		return nil, errNothing
	}
	margin := 0.05 * (high - low) // so that no point is on an axis
	low, high = low-margin, high+margin
	f.Lines = append(f.Lines, Line{Label: "as predicted", X: []float64{low, high}, Y: []float64{low, high}, Reference: true})
	return f, f.check()
}
