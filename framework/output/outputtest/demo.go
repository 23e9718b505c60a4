package outputtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/must"
)

// Demo is the summary of an invented experiment: every agent of labels learns at
// a rate of its own in two environments, on a grid of about points points. One
// run of the second agent fails.
func Demo(t testing.TB, labels []string, steps, points, runs int, log bool) *result.Summary {
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

// Invented is a summary of made-up numbers.
func Invented(agents []string, environments, points int) *result.Summary {
	s := &result.Summary{Meta: result.Meta{Name: "many", Agents: agents, Runs: 10, Steps: 10 * points}}
	for k := range points {
		s.Meta.Grid = append(s.Meta.Grid, 10*(k+1))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for e := range environments {
		env := fmt.Sprintf("environment %d", e)
		s.Meta.Environments = append(s.Meta.Environments, env)
		for _, agent := range agents {
			s.Counts = append(s.Counts, result.Count{Environment: env, Agent: agent, Ended: result.Ended{OK: 10}})
			for _, m := range []result.Metric{result.Reward, result.Regret, result.OptimalAction} {
				level := rng.Float64()
				c := result.Curve{Environment: env, Agent: agent, Metric: m, Steps: s.Meta.Grid}
				for k := range points {
					y := level * float64(k) / float64(points)
					c.Mean, c.Low, c.High, c.Runs = append(c.Mean, y), append(c.Low, y-0.1), append(c.High, y+0.1), append(c.Runs, 10)
				}
				s.Curves = append(s.Curves, c)
				s.Rows = append(s.Rows, result.Row{Environment: env, Agent: agent, Metric: m, IQM: level, IQMLow: level - 0.1, IQMHigh: level + 0.1,
					Estimate: result.Estimate{N: 10, Mean: level, StdErr: 0.05, Low: level - 0.1, High: level + 0.1}})
			}
		}
	}
	return s
}
