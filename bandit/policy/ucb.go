package policy

import (
	"math"
	"math/rand/v2"
)

// This file has what the upper confidence bounds share.

// rising selects the arm with the largest index if the indices of unpulled arms
// rise with time. For a block of steps it keeps their values at the end of the
// block. These are upper bounds, so only arms whose bound beats the best present
// index are looked at. A block is a few times √n steps, over which the bounds of
// n arms hardly rise, but a look at all costs little.
type rising struct {
	// index returns the index of an arm at a level. It must not fall as the
	// level grows, up to a relative error of slack.
	index func(arm int, level float64) float64
	// level returns the level at the time when the given number of rewards are
	// in.
	level  func(rewards float64) float64
	slack  float64
	n      int
	now    int     // rewards so far
	until  int     // end of the block
	last   float64 // level at the end of the block
	block  int
	bounds ranking
}

func newRising(n int, slack float64, level func(rewards float64) float64, index func(arm int, level float64) float64) rising {
	return rising{index: index, level: level, slack: slack, n: n, block: 8 + int(4*math.Sqrt(float64(n)))}
}

func (r *rising) bound(arm int) float64 { return r.index(arm, r.last) }

func (r *rising) SelectArm(*rand.Rand) int {
	if r.bounds.entries == nil || r.now > r.until {
		r.until = r.now + r.block
		r.last = r.level(float64(r.until))
		if r.bounds.entries == nil {
			r.bounds = newRanking(r.n, r.bound)
		} else {
			r.bounds.rebuild(r.bound)
		}
	}
	level := r.level(float64(r.now))
	best, selected := math.Inf(-1), r.bounds.entries[0].arm
	for _, e := range r.bounds.entries {
		if e.key+r.slack*math.Abs(e.key) < best {
			break
		}
		x := r.index(int(e.arm), level)
		if x > best || x == best && e.arm < selected {
			best, selected = x, e.arm
		}
	}
	return int(selected)
}

// learned says that the arm has a new reward.
func (r *rising) learned(arm int) {
	r.now++
	if r.bounds.entries != nil && r.now <= r.until {
		r.bounds.set(arm, r.bound(arm))
	}
}

// tally holds what the frequentist policies know of their arms.
type tally struct {
	pulls  []int
	means  []float64 // of the rewards; as given at the start before the first
	spread []float64 // 1/√pulls
	lap    wander
}

func newTally(n int, start float64) tally {
	t := tally{pulls: make([]int, n), means: make([]float64, n), spread: make([]float64, n)}
	for i := range t.means {
		t.means[i] = start
	}
	return t
}

// Recommend implements Recommender.
func (t *tally) Recommend() int {
	best := 0
	for i, m := range t.means {
		if t.pulls[i] > 0 && (m > t.means[best] || t.pulls[best] == 0) {
			best = i
		}
	}
	return best
}

func (t *tally) add(arm int, reward float64) {
	t.pulls[arm]++
	n := float64(t.pulls[arm])
	t.means[arm] += (reward - t.means[arm]) / n
	t.spread[arm] = 1 / math.Sqrt(n)
}

// wander goes round the arms so that each has been pulled as often as any other
// before one is pulled again.
type wander struct{ arm, lap int }

// next returns the first arm pulled no more than lap times since its turn.
func (w *wander) next(pulls []int) (arm, lap int) {
	for pulls[w.arm] > w.lap {
		if w.arm++; w.arm == len(pulls) {
			w.arm = 0
			w.lap++
		}
	}
	return w.arm, w.lap
}

// upperConfidence pulls each arm once. Then it uses an index computed from the
// tally.
type upperConfidence struct {
	rising
	tally
}

func (u *upperConfidence) SelectArm(rng *rand.Rand) int {
	if u.lap.lap == 0 {
		if arm, lap := u.lap.next(u.pulls); lap == 0 {
			return arm
		}
	}
	return u.rising.SelectArm(rng)
}

func (u *upperConfidence) Update(arm int, reward float64, _ *rand.Rand) {
	u.add(arm, reward)
	u.learned(arm)
}
