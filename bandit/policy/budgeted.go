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
	Budget     *int     `json:"budget,omitempty" jsonschema:"required,minimum=1,maximum=1000000000000" jsonschema_extras:"x-beyond=it never commits to an arm" jsonschema_description:"Number of pulls before committing to an arm."`
	Allocation string   `json:"allocation,omitempty" jsonschema:"enum=round-robin,enum=biased-robin,enum=lookahead,enum=vpi,default=round-robin" jsonschema_description:"How the pulls are spent. round-robin: in turn. biased-robin: it stays with an arm while it succeeds, and goes to the next when it fails. lookahead: on the arm on which all pulls that are left would raise the expected mean of the arm committed to the most, if it got them all. vpi: on the arm with the largest value of perfect information. The first three are those of Madani, Lizotte & Greiner (2004), lookahead their single coin look-ahead; vpi and the default are choices of ours."`
	Cost       *float64 `json:"cost,omitempty" jsonschema:"minimum=0,default=0" jsonschema_description:"Cost of a pull, in units of the mean reward of the arm committed to. The policy commits as soon as no pull is worth its cost: as vpi values one, or with lookahead the best number of pulls of an arm, of those left, their half, quarter and so on. Only with these allocations. Default: 0, a choice of ours."`
}

func (p Budgeted) build(t *setting) (maker, error) {
	if p.Budget == nil {
		return nil, errors.New("budget must be given: the number of pulls before committing to an arm, at least 1")
	}
	success := 0.0
	switch _, beta := t.belief.(BetaBelief); {
	case p.Allocation == lookahead && !beta:
		return nil, fmt.Errorf("allocation lookahead needs a belief of kind beta, not %s", nameOf(t.belief))
	case *p.Cost > 0 && p.Allocation != lookahead && p.Allocation != byVPI:
		return nil, fmt.Errorf("cost has no effect with allocation %s: leave it out, or choose lookahead or vpi", p.Allocation)
	case p.Allocation == biasedRobin && !t.bounded():
		return nil, errors.New("allocation biased-robin needs rewards in a bounded range: one in its upper half is a success")
	case p.Allocation == biasedRobin:
		success = t.Low/2 + t.High/2
	}
	return func(b beliefs) Policy {
		made := &budgeted{ranked: newRanked(b), budget: *p.Budget, allocation: p.Allocation, success: success, cost: *p.Cost}
		if made.cost > 0 {
			return costly{made}
		}
		return made
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
	cost       float64 // of a pull
	turn       int
	made       int // pulls
}

// costly is budgeted whose pulls cost. It stops when it commits.
type costly struct{ *budgeted }

// Stopped implements Stopper.
func (c costly) Stopped() (rewards int, is bool) { return c.made, c.budget == 0 }

func (b *budgeted) SelectArm(*rand.Rand) int {
	if b.budget == 0 || b.len() == 1 {
		return b.Greedy()
	}
	best, selected := math.Inf(-1), 0
	for i, d := range b.learners {
		worth := math.Inf(-1)
		bestOther, _ := b.bestOther(i)
		switch b.allocation {
		case lookahead:
			for n := b.budget; n == b.budget || n > 0 && b.cost > 0; n /= 2 {
				worth = max(worth, improvement(gainAfter(*d.(*bandit.Beta), n, bestOther), d.Mean(), bestOther)-float64(n)*b.cost)
			}
		case byVPI:
			worth = improvement(d.Gain(bestOther), d.Mean(), bestOther) - b.cost
		default:
			return b.turn
		}
		if worth > best {
			best, selected = worth, i
		}
	}
	if b.cost > 0 && best <= 0 {
		b.budget = 0
		return b.Greedy()
	}
	return selected
}

func (b *budgeted) Update(arm int, reward float64, rng *rand.Rand) {
	if b.budget == 0 {
		return // committed
	}
	b.budget--
	b.made++
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
