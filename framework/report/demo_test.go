package report

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/must"
)

// demo is the summary of an invented experiment: every agent of labels learns at
// a rate of its own in two environments, on a grid of about points points. One
// run of the second agent fails.
func demo(t testing.TB, labels []string, steps, points, runs int, log bool) *result.Summary {
	t.Helper()
	meta := result.Meta{
		Name: "demo", Description: "An invented experiment.", Steps: steps, Seed: 7, Runs: runs, Discount: 0.99,
		Environments: []string{"bernoulli-bandit, 16 arms", "gaussian-bandit"}, Agents: labels,
		Optimum: map[string]float64{"bernoulli-bandit, 16 arms": 0.941},
	}
	for i := range points {
		step := (i + 1) * steps / points
		if log {
			step = int(math.Round(math.Pow(float64(steps), float64(i)/float64(points-1))))
		}
		if n := len(meta.Grid); n == 0 || step > meta.Grid[n-1] {
			meta.Grid = append(meta.Grid, step)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var recs []result.Record
	for e, env := range meta.Environments {
		for a, agent := range labels {
			for run := range runs {
				rec := result.Record{Environment: env, Agent: agent, Run: run, Status: result.OK, Steps: steps}
				if a == 1 && run == 3 {
					rec.Status, rec.Error, rec.Steps = result.Failed, "plugin \"demo\", lane 3, step 17: invalid answer: reward is NaN\nstderr: <b>oh no</b>", 17
					recs = append(recs, rec)
					continue
				}
				best := 0.941 + 0.05*rng.NormFloat64()
				rate := 20 * float64(a+1) * float64(e+1)
				final := best - 0.2/float64(a+1)
				var reward, regret, optimal, disc []float64
				prev, sum, dsum := 0, 0.0, 0.0
				for _, step := range meta.Grid {
					w := float64(step - prev)
					mean := final - (final-0.5)*math.Exp(-float64(step)/rate)
					r := mean + 0.4*rng.NormFloat64()/math.Sqrt(w)
					sum += w * (best - mean)
					dsum += (math.Pow(0.99, float64(prev)) - math.Pow(0.99, float64(step))) / 0.01 * r
					prev = step
					reward, regret, disc = append(reward, r), append(regret, sum), append(disc, dsum)
					optimal = append(optimal, math.Max(0, math.Min(1, mean)))
				}
				rec.Curves = map[result.Metric][]float64{result.Reward: reward, result.Regret: regret, result.DiscountedReturn: disc}
				if e == 0 {
					rec.Curves[result.OptimalAction] = optimal
				}
				recs = append(recs, rec)
			}
		}
	}
	return must.Get(result.Aggregate(meta, result.Sorted(recs)))(t)
}
