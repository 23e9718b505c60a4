package policy

import (
	"math"

	"github.com/rlrun/rlrun/bandit"
)

var mossKind = kind{"moss", "horizon", nil, buildMOSS}

// newMOSS is MOSS, the minimax optimal strategy in the stochastic case (Audibert &
// Bubeck 2009): mean + width·√(max(0, ln(H/(K n_i)))/n_i), for H pulls of K arms, n_i of
// them of arm i so far. width is the width of the range of rewards. An arm whose share
// H/K is used up has no bonus left. Without a horizon, 0, H is the number of the pull: it
// is MOSS-anytime (Degenne & Perchet 2016) with α = 1.
func newMOSS(n int, width, horizon float64) *upperConfidence {
	u := &upperConfidence{tally: newTally(n, 0)}
	pulls := func(rewards float64) float64 { return rewards + 1 }
	if horizon > 0 {
		pulls = func(float64) float64 { return horizon }
	}
	u.rising = newRising(n, 0, pulls, func(arm int, pulls float64) float64 {
		share := pulls / float64(n)
		return u.means[arm] + width*math.Sqrt(max(0, math.Log(share/float64(u.pulls[arm]))))*u.spread[arm]
	})
	return u
}

func buildMOSS(d *builder) (maker, error) {
	width, err := d.width()
	if err != nil || d.Horizon == nil {
		return func(beliefs, []bandit.Beta) Policy { return newMOSS(d.task.Arms, width, 0) }, err
	}
	horizon := float64(*d.Horizon)
	return func(beliefs, []bandit.Beta) Policy { return newMOSS(d.task.Arms, width, horizon) }, nil
}
