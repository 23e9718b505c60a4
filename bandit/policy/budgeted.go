package policy

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/bandit"
)

// allocation is how budgeted learning spends its pulls.
type allocation int

const (
	// roundRobin pulls the arms in turn.
	roundRobin allocation = iota
	// biasedRobin stays with an arm while it succeeds, and goes to the next
	// when it fails.
	biasedRobin
	// lookahead pulls the arm on which, if it got all pulls that are left,
	// these would raise the expected mean of the arm committed to the most.
	lookahead
	// byVPI does so as if the arm's mean became known: it pulls the arm with
	// the largest value of perfect information.
	byVPI
)

// budgeted learns for a number of pulls whose rewards do not count, then commits
// to the arm with the largest mean (Madani, Lizotte & Greiner 2004). Finding the
// best allocation is NP-hard; theirs are roundRobin, biasedRobin and lookahead,
// their single coin look-ahead.
type budgeted struct {
	ranked
	budget     int // pulls left
	allocation allocation
	success    float64 // the least reward that is one
	turn       int
}

func (b *budgeted) SelectArm(*rand.Rand) int {
	if b.budget == 0 || b.len() == 1 {
		return b.Greedy()
	}
	best, selected := math.Inf(-1), 0
	for i, d := range b.learners {
		gain := 0.0
		bestOther, _ := b.bestOther(i)
		switch b.allocation {
		case lookahead:
			gain = gainAfter(*d.(*bandit.Beta), b.budget, bestOther)
		case byVPI:
			gain = d.Gain(bestOther)
		case roundRobin, biasedRobin:
			return b.turn
		}
		if v := improvement(gain, d.Mean(), bestOther); v > best {
			best, selected = v, i
		}
	}
	return selected
}

func (b *budgeted) Update(arm int, reward float64, rng *rand.Rand) {
	if b.budget == 0 {
		return // committed
	}
	b.budget--
	b.ranked.Update(arm, reward, rng)
	if b.allocation != biasedRobin || reward < b.success {
		b.turn = (arm + 1) % b.len()
	}
}

// Done reports whether the budget is spent.
func (b *budgeted) Done() bool { return b.budget == 0 }

// gainAfter returns E(q̄′−x)⁺, where q̄′ is the mean of a Beta belief after a
// number of pulls, whose successes are beta-binomial.
func gainAfter(d bandit.Beta, pulls int, x float64) float64 {
	n := float64(pulls)
	lnB := lnBeta(d)
	sum := 0.0
	for s := n; s >= 0; s-- {
		excess := (d.A+s)/(d.A+d.B+n) - x
		if excess <= 0 {
			break
		}
		all, _ := math.Lgamma(n + 1)
		won, _ := math.Lgamma(s + 1)
		lost, _ := math.Lgamma(n - s + 1)
		p := math.Exp(all - won - lost + lnBeta(bandit.Beta{A: d.A + s, B: d.B + n - s}) - lnB)
		sum += p * excess
	}
	return sum
}

// planned follows the Bayes-optimal plan for Bernoulli arms with Beta priors
// over a finite number of pulls, found by backward induction (bandit.Plan).
// Afterwards it takes the arm with the largest mean. A reward r strictly
// between 0 and 1 counts as a success with probability r, which keeps its mean
// (Agrawal & Goyal 2012).
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

var budgetedKind = kind{"budgeted", "budget allocation", anyBelief, buildBudgeted}

func buildBudgeted(d *builder) (maker, error) {
	if d.Budget == nil {
		return nil, errors.New("budget must be given: the number of pulls before committing to an arm, at least 1")
	}
	a := map[string]allocation{"biased-robin": biasedRobin, "lookahead": lookahead, "vpi": byVPI}[d.Allocation] // else roundRobin
	budget, success := *d.Budget, 0.0
	switch {
	case a == lookahead && d.belief != "beta":
		return nil, fmt.Errorf("allocation lookahead needs a belief of kind beta, not %s", d.belief)
	case a == biasedRobin && !d.task.bounded():
		return nil, errors.New("allocation biased-robin needs rewards in a bounded range: one in its upper half is a success")
	case a == biasedRobin:
		success = d.task.Low/2 + d.task.High/2
	}
	return func(b beliefs, _ []bandit.Beta) Policy {
		return &budgeted{ranked: newRanked(b), budget: budget, allocation: a, success: success}
	}, nil
}

var backwardInductionKind = kind{"backward-induction", "gamma horizon", betaOnly, buildPlanned}

func buildPlanned(d *builder) (maker, error) {
	if d.Horizon == nil {
		return nil, errors.New("horizon must be given: the number of pulls to plan, at least 1")
	}
	c, err := d.clock()
	if err != nil {
		return nil, err
	}
	var plan *bandit.Plan
	if d.task.Arms > 1 {
		priors := make([]bandit.Beta, d.task.Arms)
		for i := range priors {
			priors[i] = *d.prior
		}
		if plan, err = bandit.NewPlan(priors, c.horizon, *d.Horizon, 0); err != nil {
			return nil, err
		}
	}
	return func(b beliefs, _ []bandit.Beta) Policy {
		return &planned{ranked: newRanked(b), plan: plan, left: *d.Horizon, counts: make([]int, 2*b.len())}
	}, nil
}
