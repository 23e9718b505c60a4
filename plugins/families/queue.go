package families

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// queue is a single server with three speeds (the control of service rates;
// Puterman 1994, §3.7): faster service costs more, a waiting customer costs 0.08
// a step, and a full queue 1.5 more. The state is the number of customers; the
// queue begins empty.
func queue(rng *rand.Rand) (*catalog.Task, error) {
	full := between(rng, 10, 20)
	arrive := uniform(rng, 0.25, 0.35)
	serve := []float64{0.15, 0.4, 0.7}
	cost := []float64{0, uniform(rng, 0.1, 0.2), uniform(rng, 0.6, 1)}
	d := mdp.Definition{Name: "Queue", States: full + 1, Actions: 3, Initial: from(0)}
	return generate(d, func(s, a int, row *mdp.Row) {
		more, fewer := arrive*(1-serve[a]), serve[a]*(1-arrive)
		if s == 0 {
			more, fewer = arrive, 0
		}
		row.Add(min(s+1, full), more)
		row.Add(max(s-1, 0), fewer)
		row.Add(s, 1-more-fewer)
		row.Reward(-0.08*float64(s) - cost[a])
		if s == full {
			row.Reward(-1.5)
		}
	}, "slow", "medium", "fast")
}
