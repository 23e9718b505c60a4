package loop

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/mdp"
)

// learnModels asks the environment for its models, if it knows them and a
// metric needs them.
func (r *recorder) learnModels(ctx context.Context, env framework.VectorEnvironment) error {
	needs := slices.Contains(r.batch.Metrics, result.Regret) || slices.Contains(r.batch.Metrics, result.OptimalAction)
	modeler, ok := env.(framework.Modeler)
	if !needs || !ok {
		return nil
	}
	models, err := modeler.Models(ctx)
	if err != nil {
		return fmt.Errorf("environment, models: %w", err)
	}
	if len(models) != len(r.lanes) {
		return fmt.Errorf("environment: %d models for %d lanes: %w", len(models), len(r.lanes), framework.ErrInvalidAnswer)
	}
	for i, m := range models {
		if m != nil && m.NumStates() == 1 {
			r.gaps[i] = gaps(m)
		}
	}
	return nil
}

// gaps returns Δ_a = max_b r(0,b) − r(0,a) of a one-state model, the instantaneous
// (pseudo-)regret of each arm (Lattimore & Szepesvári 2020, §4.5).
func gaps(m *mdp.Tabular) []float64 {
	g := make([]float64, m.NumActions())
	best := math.Inf(-1)
	for a := range g {
		g[a] = m.Reward(0, a)
		best = max(best, g[a])
	}
	for a := range g {
		g[a] = best - g[a]
	}
	return g
}

// flush adds a point to every curve of lane i.
func (r *recorder) flush(i int) {
	l := &r.lanes[i]
	width := float64(l.steps - l.windowAt)
	l.cumulative += l.window
	for k := range l.curves {
		c := &l.curves[k]
		x := math.NaN()
		switch c.metric {
		case result.Reward:
			x = l.window / width
		case result.CumulativeReward:
			x = l.cumulative
		case result.DiscountedReturn:
			x = l.discounted
		case result.Regret:
			if r.gaps[i] != nil {
				x = l.regret
			}
		case result.OptimalAction:
			if r.gaps[i] != nil {
				x = float64(l.optimal) / width
			}
		case result.EpisodeReturn:
			if l.ended > 0 {
				x = l.returns / float64(l.ended)
			}
		}
		c.points = append(c.points, x)
	}
	l.window, l.optimal, l.returns, l.ended = 0, 0, 0, 0
	l.windowAt = l.steps
	l.point++
	l.nextAt = 0
	if l.point < len(r.batch.Grid) {
		l.nextAt = r.batch.Grid[l.point]
	}
}

// outcomes returns what every lane yielded. A curve that never had a value (a
// metric the environment cannot give) is left out.
func (r *recorder) outcomes() []Outcome {
	out := make([]Outcome, len(r.lanes))
	for i := range r.lanes {
		l := &r.lanes[i]
		o := Outcome{Run: r.batch.Runs[i], Steps: l.steps, Episodes: l.episodes, Curves: map[result.Metric][]float64{}}
		for _, c := range l.curves {
			if slices.ContainsFunc(c.points, func(x float64) bool { return !math.IsNaN(x) }) {
				o.Curves[c.metric] = c.points
			}
		}
		out[i] = o
	}
	return out
}
