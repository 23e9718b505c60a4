package policy

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/bandit"
)

// e3 is E³ (Kearns & Singh 2002) for a task that consists of arms only. It
// pulls them in turn (balanced wandering) until each is known. From then on it
// takes the arm with the largest mean reward. An arm counts as known after
// (H·n/ε)⁴ pulls, where H is the horizon. In practice that never happens.
//
// The program behind the paper's curve converted that number to an integer. The
// integer overflowed to a negative number, so the program never wandered. Here
// known is then zero, and only optimism, the mean of an arm before its first
// pull, makes it explore.
type e3 struct {
	tally
	known float64
	order ranking // by mean
}

func newE3(n int, known, optimism float64) *e3 {
	e := &e3{tally: newTally(n, optimism), known: known}
	e.order = newRanking(n, func(arm int) float64 { return e.means[arm] })
	return e
}

func (e *e3) SelectArm(*rand.Rand) int {
	if e.known > 0 {
		if arm, lap := e.lap.next(e.pulls); float64(lap) < e.known {
			return arm
		}
	}
	return e.order.first()
}

func (e *e3) Update(arm int, reward float64, _ *rand.Rand) {
	e.add(arm, reward)
	e.order.set(arm, e.means[arm])
}

// Greedy returns the arm with the largest mean reward.
func (e *e3) Greedy() int { return e.order.first() }

// elimination is the common part of the algorithms of Even-Dar, Mannor &
// Mansour (2006). They work in rounds. In each round every remaining arm is
// pulled a number of times and some arms are dropped, until one is left.
// Rewards are scaled to [0,1].
type elimination struct {
	low, width float64
	left       []int // in ascending order
	pulls      []int // in this round, of the arms in left
	sums       []float64
	turn       int // place in left
	quota      int // pulls of each arm in this round
}

func newElimination(n int, low, width float64) elimination {
	e := elimination{low: low, width: width, left: make([]int, n), pulls: make([]int, n), sums: make([]float64, n)}
	for i := range e.left {
		e.left[i] = i
	}
	return e
}

// Done reports whether one arm is left.
func (e *elimination) Done() bool { return len(e.left) == 1 }

func (e *elimination) SelectArm(*rand.Rand) int { return e.left[e.turn] }

// add records a reward and reports whether it ends the round.
func (e *elimination) add(arm int, reward float64) bool {
	place, found := slices.BinarySearch(e.left, arm)
	if !found || e.Done() {
		return false
	}
	e.pulls[place]++
	e.sums[place] += (reward - e.low) / e.width
	for e.pulls[e.turn] >= e.quota {
		if e.turn++; e.turn == len(e.left) {
			e.turn = 0
			return true
		}
	}
	return false
}

// mean returns the mean reward of the arm at a place of left.
func (e *elimination) mean(place int) float64 { return e.sums[place] / float64(e.pulls[place]) }

// keep drops the arms at the places of left for which stay is false.
func (e *elimination) keep(stay func(place int) bool) {
	n := 0
	for i := range e.left {
		if stay(i) {
			e.left[n], e.pulls[n], e.sums[n] = e.left[i], e.pulls[i], e.sums[i]
			n++
		}
	}
	e.left = e.left[:n]
}

// best returns the place of the arm with the largest mean reward.
func (e *elimination) best() int {
	best := 0
	for i := range e.left {
		if e.mean(i) > e.mean(best) {
			best = i
		}
	}
	return best
}

// successiveElimination pulls the remaining arms in turn. After t pulls of each it drops
// the arms whose mean reward lies 2α_t or more below the largest. α_t = √(ln(5nt²/δ)/t)
// is the paper's value for unknown means, with c = 5. With probability 1−δ the best arm
// survives. With an accuracy ε it stops once 2α_t ≤ ε, and the arm is then ε-close to the
// best.
type successiveElimination struct {
	elimination
	arms              float64
	failure, accuracy float64 // δ, ε
}

func newSuccessiveElimination(n int, low, width, failure, accuracy float64) *successiveElimination {
	s := &successiveElimination{newElimination(n, low, width), float64(n), failure, accuracy}
	s.quota = 1
	return s
}

func (s *successiveElimination) Update(arm int, reward float64, _ *rand.Rand) {
	if !s.add(arm, reward) {
		return
	}
	t := float64(s.quota)
	alpha := math.Sqrt(math.Log(5*s.arms*t*t/s.failure) / t)
	best := s.best()
	top := s.mean(best)
	if settled := 2*alpha <= s.accuracy; settled {
		s.keep(func(place int) bool { return place == best })
	} else {
		s.keep(func(place int) bool { return top-s.mean(place) < 2*alpha })
	}
	s.quota++
}

// medianElimination pulls each remaining arm ⌈(4/ε²)·ln(3/δ)⌉ times and drops the
// worse half, round by round with ε ← ¾ε and δ ← δ/2. It starts from a quarter of
// the accuracy and half of the failure probability. With probability 1−δ the last
// arm is ε-close to the best.
type medianElimination struct {
	elimination
	accuracy, failure float64   // ε, δ of this round
	means             []float64 // scratch
}

func newMedianElimination(n int, low, width, failure, accuracy float64) *medianElimination {
	m := &medianElimination{newElimination(n, low, width), accuracy / 4, failure / 2, make([]float64, n)}
	m.allot()
	return m
}

// allot sets the pulls of each arm in this round.
func (m *medianElimination) allot() {
	pulls := math.Ceil(4 / (m.accuracy * m.accuracy) * math.Log(3/m.failure))
	m.quota = int(min(pulls, maxRewards))
}

func (m *medianElimination) Update(arm int, reward float64, _ *rand.Rand) {
	if !m.add(arm, reward) {
		return
	}
	means := m.means[:len(m.left)]
	for i := range means {
		means[i] = m.mean(i)
	}
	slices.Sort(means)
	// Of those at the median as many are kept, in order, as are needed.
	want := (len(means) + 1) / 2
	median := means[len(means)-want]
	above := 0
	for i := range m.left {
		if m.mean(i) > median {
			above++
		}
	}
	spare := want - above
	m.keep(func(place int) bool {
		if m.mean(place) == median {
			spare--
			return spare >= 0
		}
		return m.mean(place) > median
	})
	clear(m.pulls)
	clear(m.sums)
	m.accuracy *= 0.75
	m.failure /= 2
	m.allot()
}

var e3Kind = kind{"e3", "gamma horizon accuracy", nil, buildE3}

func buildE3(d *builder) (maker, error) {
	c, err := d.clock()
	if err != nil {
		return nil, err
	}
	known := math.Ceil(math.Pow(c.horizon.Total()*float64(d.task.Arms)/or(d.Accuracy, 0.1), 4))
	return func(beliefs, []bandit.Beta) Policy { return newE3(d.task.Arms, known, 0) }, nil
}

var successiveEliminationKind = kind{"successive-elimination", "accuracy failure", nil, buildElimination}

func buildElimination(d *builder) (maker, error) {
	width, err := d.width()
	if err != nil {
		return nil, err
	}
	failure := or(d.Failure, 0.05)
	if d.Kind == "median-elimination" {
		accuracy := or(d.Accuracy, 0.1)
		return func(beliefs, []bandit.Beta) Policy {
			return newMedianElimination(d.task.Arms, d.task.Low, width, failure, accuracy)
		}, nil
	}
	accuracy := or(d.Accuracy, 0)
	return func(beliefs, []bandit.Beta) Policy {
		return newSuccessiveElimination(d.task.Arms, d.task.Low, width, failure, accuracy)
	}, nil
}

var medianEliminationKind = kind{"median-elimination", "accuracy failure", nil, buildElimination}
