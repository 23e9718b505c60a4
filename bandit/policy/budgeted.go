package policy

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/bandit"
)

// Budgeted learns for a number of pulls whose rewards do not count, then commits to the arm with the
// largest mean (Madani, Lizotte & Greiner 2004). Finding the best allocation of the pulls is NP-hard.
type Budgeted struct {
	Budget     *int   `json:"budget,omitempty" jsonschema:"required,minimum=1,maximum=1000000000000" jsonschema_extras:"x-beyond=it never commits to an arm" jsonschema_description:"Number of pulls before committing to an arm."`
	Allocation string `json:"allocation,omitempty" jsonschema:"enum=round-robin,enum=biased-robin,enum=lookahead,enum=vpi,default=round-robin" jsonschema_description:"How the pulls are spent. round-robin: in turn. biased-robin: it stays with an arm while it succeeds, and goes to the next when it fails. lookahead: on the arm on which all pulls that are left would raise the expected mean of the arm committed to the most, if it got them all. vpi: on the arm with the largest value of perfect information. The first three are those of Madani, Lizotte & Greiner (2004), lookahead their single coin look-ahead; vpi and the default are choices of ours."`
}

func (p Budgeted) build(t *setting) (maker, error) {
	if p.Budget == nil {
		return nil, errors.New("budget must be given: the number of pulls before committing to an arm, at least 1")
	}
	success := 0.0
	switch _, beta := t.belief.(BetaBelief); {
	case p.Allocation == lookahead && !beta:
		return nil, fmt.Errorf("allocation lookahead needs a belief of kind beta, not %s", nameOf(t.belief))
	case p.Allocation == biasedRobin && !t.bounded():
		return nil, errors.New("allocation biased-robin needs rewards in a bounded range: one in its upper half is a success")
	case p.Allocation == biasedRobin:
		success = t.Low/2 + t.High/2
	}
	return func(b beliefs) Policy {
		return &budgeted{ranked: newRanked(b), budget: *p.Budget, allocation: p.Allocation, success: success}
	}, nil
}

// Allocations of Budgeted that are not in turn.
const (
	biasedRobin = "biased-robin"
	lookahead   = "lookahead"
	byVPI       = "vpi"
)

type budgeted struct {
	ranked
	budget     int // pulls left
	allocation string
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
		default:
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
