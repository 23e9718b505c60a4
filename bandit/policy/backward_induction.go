package policy

import (
	"errors"
	"math/rand/v2"

	"github.com/rlrun/rlrun/bandit"
)

// BackwardInduction follows the Bayes-optimal plan for Bernoulli arms with Beta priors over a finite
// number of pulls H (Bellman 1956; bandit.Plan). With the counts x after k pulls,
//
//	V_k(x) = max_i q̄_i(x)·(γ^k + V_{k+1}(x + a success of i)) + (1−q̄_i(x))·V_{k+1}(x + a failure of i),
//
// and V_H = 0.
//
// Afterwards it takes the arm with the largest mean. A reward r strictly between 0 and 1 counts as a
// success with probability r, which keeps its mean (Agrawal & Goyal 2012).
type BackwardInduction struct{ Horizon }

func (p BackwardInduction) build(t *setting) (maker, error) {
	if p.Pulls == nil {
		return nil, errors.New("horizon must be given: the number of pulls to plan, at least 1")
	}
	c, err := p.clock(1)
	if err != nil {
		return nil, err
	}
	var plan *bandit.Plan
	if t.Arms > 1 {
		belief := t.belief.(BetaBelief)
		priors := make([]bandit.Beta, t.Arms)
		for i := range priors {
			priors[i] = bandit.Beta{A: *belief.A, B: *belief.B}
		}
		if plan, err = bandit.NewPlan(priors, c.horizon, *p.Pulls, 0); err != nil {
			return nil, err
		}
	}
	return func(b beliefs) Policy {
		return &planned{ranked: newRanked(b), plan: plan, left: *p.Pulls, counts: make([]int, 2*b.len())}
	}, nil
}

type planned struct {
	ranked
	plan   *bandit.Plan // shared, read only
	left   int          // pulls
	counts []int        // successes and failures of each arm
}

func (p *planned) SelectArm(*rand.Rand) int {
	if p.left == 0 || p.len() == 1 {
		return p.Greedy()
	}
	return p.plan.Best(p.counts)
}

func (p *planned) Update(arm int, reward float64, rng *rand.Rand) {
	success := reward >= 1
	if reward > 0 && reward < 1 {
		success = rng.Float64() < reward
	}
	if success {
		p.counts[2*arm]++
		reward = 1
	} else {
		p.counts[2*arm+1]++
		reward = 0
	}
	p.left = max(0, p.left-1)
	p.ranked.Update(arm, reward, rng)
}
