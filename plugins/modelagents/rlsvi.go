package modelagents

import (
	"math"

	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// rlsviParams are the parameters of RLSVI.
type rlsviParams struct {
	Horizon int     `json:"horizon" jsonschema:"minimum=1" jsonschema_description:"H, the length of an episode in steps. If an episode is longer, or never ends, values are drawn again after each H steps. Default: the length for RiverSwim in Osband's TabulaRL."`
	Sigma   float64 `json:"sigma" jsonschema:"exclusiveMinimum=0" jsonschema_description:"σ, the standard deviation of a reward plus the value after it, assumed known, in units of value; the default is a choice of ours for rewards of about 1, made on RiverSwim, DeepSea and FrozenLake."`
	Lambda  float64 `json:"lambda" jsonschema:"exclusiveMinimum=0" jsonschema_description:"λ, the prior precision of a value, whose prior mean is 0; the default is a choice of ours, for values of about 1."`
}

// RLSVI returns randomised least-squares value iteration (Osband, Van Roy & Wen 2016, Algorithm
// 1; Osband et al. 2019) as a plugin, with a parameter for each state and action. Before an
// episode it draws, from the last step to the first,
//
//	Q_h(s,a) ~ N(m, 1/κ), κ = λ + n/σ², m = Σ_i (r_i + max_b Q_{h+1}(s_i,b))/(κσ²),
//
// over the n times that the pair was tried, and then follows argmax_a Q_h. The draws of one step
// are in the targets of the step before, so that exploration is deep. What was seen counts for
// every h: as in Osband et al. (2019), a state says what it has to of the step of the episode.
func RLSVI() vector.Plugin {
	return modelbased.Plugin("rlrun/rlsvi@1",
		"RLSVI (Osband, Van Roy & Wen 2016), tabular: greedy for values drawn from the posterior of a least-squares fit, step by step backwards.",
		rlsviParams{Horizon: 20, Sigma: 0.1, Lambda: 1},
		func(p rlsviParams, t finite.Task) (func() modelbased.Design, error) {
			return func() modelbased.Design {
				return modelbased.Episodic(&leastSquares{lambda: p.Lambda, data: 1 / (p.Sigma * p.Sigma)}, p.Horizon)
			}, finite.CheckHorizon(p.Horizon, t)
		})
}

// leastSquares is the posterior over values, from which every backup draws.
type leastSquares struct {
	modelbased.Data
	lambda, data float64 // precision of the prior, and of a target
}

// Refresh implements modelbased.Backups.
func (m *leastSquares) Refresh() {}

// Sweep implements modelbased.Backups.
func (m *leastSquares) Sweep([]float64, int) {}

// Backup implements modelbased.Backups.
func (m *leastSquares) Backup(q []float64, s int, value []float64) {
	for a := range q {
		n := m.Counts.N(s, a)
		precision := m.lambda + float64(m.data*n)
		targets := m.Sum(n*m.Counts.Rewards(s, a).Mean, s, a, value)
		q[a] = float64(m.data*targets/precision) + m.Rand.NormFloat64()/math.Sqrt(precision)
	}
}
