// Package policy holds the policies for bandits that rlrun compares. They are
// the optimistic rules of the paper and their index forms, the classic
// heuristics, upper confidence bounds, and the exact references for small
// problems. Most work with any belief of package bandit; New says which do not.
//
// One arm changes a step. So data over all arms are maintained, not recomputed,
// and arms that cannot be selected are not looked at. None of this changes the
// selection: each policy selects arms with the distribution of its plain
// definition, which its comment states.
//
// Ties go to the arm with the lowest number, and greedy wins ties against
// exploring, unless a policy says otherwise. So the order of the arms decides who
// is tried first, and a caller numbers them at random for each run unless their
// order means something. The agent rlrun/bandit does.
//
// The package imports package bandit, gonum and the standard library only.
package policy

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/bandit"
)

// Policy chooses arms 0 … n−1 and learns from what they pay. It is not safe for
// concurrent use. Unless it says so it allocates nothing once it is made.
type Policy interface {
	// SelectArm returns the arm to pull next. Only randomised policies use rng.
	SelectArm(rng *rand.Rand) int
	// Update learns from the reward of a pull of arm, which is usually, but need
	// not be, the one selected last. rng serves randomised beliefs. The reward
	// must pass Task.Check.
	Update(arm int, reward float64, rng *rand.Rand)
}

// Greedier is a Policy that knows which arm it holds best on average, so that
// one can tell whether a selection was exploratory.
type Greedier interface {
	// Greedy returns the arm with the largest mean. Policies that do not use
	// means take time proportional to the number of arms for it.
	Greedy() int
}

// Recommender is a Policy that is no Greedier and can say which arm it would stay with from now on.
type Recommender interface {
	// Recommend returns the arm with the largest mean reward so far (Bubeck, Munos & Stoltz 2009,
	// empirical best arm), among those that are left.
	Recommend() int
}

// Stopper is a Policy for finding the best arm, which ends.
type Stopper interface {
	// Stopped returns the number of rewards after which one arm was left, if that is so.
	Stopped() (rewards int, is bool)
}

// beliefs are what a policy believes about its arms.
type beliefs struct {
	learners    []bandit.Learner
	populations []bandit.Population // the same ones, if that is what they are
	betas       []bandit.Beta       // likewise
	pass        func()              // lets a step pass, which changes the beliefs about all arms; nil if they stay
}

func (b *beliefs) len() int { return len(b.learners) }

func (b *beliefs) mean(arm int) float64 {
	if b.populations != nil {
		return b.populations[arm].Mean()
	}
	return b.learners[arm].Mean()
}

// Greedy returns the arm with the largest mean.
func (b *beliefs) Greedy() int {
	best, selected := b.mean(0), 0
	for i := 1; i < b.len(); i++ {
		if m := b.mean(i); m > best {
			best, selected = m, i
		}
	}
	return selected
}

// update teaches the arm's belief, and lets a step pass.
func (b *beliefs) update(arm int, reward float64, rng *rand.Rand) {
	b.learners[arm].Update(reward, rng)
	if b.pass != nil {
		b.pass()
	}
}

// ranked are beliefs with their means kept in order.
type ranked struct {
	beliefs
	means ranking
}

func newRanked(b beliefs) ranked { return ranked{b, newRanking(b.len(), b.mean)} }

// Greedy returns the arm with the largest mean.
func (r *ranked) Greedy() int { return r.means.first() }

func (r *ranked) Update(arm int, reward float64, rng *rand.Rand) {
	if r.populations == nil {
		r.update(arm, reward, rng)
		if r.pass != nil {
			r.means.rebuild(r.mean)
			return
		}
		r.means.set(arm, r.learners[arm].Mean())
		return
	}
	p := &r.populations[arm]
	p.Update(reward, rng)
	r.means.set(arm, p.Mean())
}

// timed are ranked beliefs whose horizon runs down.
type timed struct {
	ranked
	clock
}

func (t *timed) Update(arm int, reward float64, rng *rand.Rand) {
	t.tick()
	t.ranked.Update(arm, reward, rng)
}

// bestOther returns the largest mean among the arms other than arm, and whether
// there are any.
func (r *ranked) bestOther(arm int) (mean float64, ok bool) {
	for _, e := range r.means.entries[:min(2, len(r.means.entries))] {
		if int(e.arm) != arm {
			return e.key, true
		}
	}
	return 0, false
}

// clock is a horizon as it runs down, with the share of what is left that an
// exploration of hold pulls would take.
type clock struct {
	horizon bandit.Horizon // at the start
	passed  int            // rewards since
	hold    int
	share   float64 // ρ_T
	finite  bool
}

func newClock(h bandit.Horizon, hold int) clock {
	return clock{horizon: h, hold: hold, share: h.Share(hold), finite: h.Rewards() <= maxRewards}
}

// maxRewards is where a horizon counts as infinite.
const maxRewards = 1 << 53

// tick lets one reward pass. After the end of a finite horizon the share is 1.
func (c *clock) tick() {
	if c.finite {
		c.passed++
		c.share = c.left().Share(c.hold)
	}
}

// left returns the horizon that is left.
func (c *clock) left() bandit.Horizon { return c.horizon.After(c.passed) }
