package policy

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/bandit"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

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

// newUCB1 is UCB1 (Auer, Cesa-Bianchi & Fischer 2002): mean + width·√(c·ln
// t/n_i). There are t rewards so far, n_i of them of arm i, and width is the width of the
// range of rewards. Their c is 2.
func newUCB1(n int, width, c float64) *upperConfidence {
	u := &upperConfidence{tally: newTally(n, 0)}
	level := func(rewards float64) float64 { return width * math.Sqrt(c*math.Log(rewards)) }
	u.rising = newRising(n, 0, level, func(arm int, level float64) float64 {
		return u.means[arm] + level*u.spread[arm]
	})
	return u
}

// newKLUCB is KL-UCB for Bernoulli rewards (Garivier & Cappé 2011). In the t-th
// step the index is the largest q with n_i·d(mean, q) ≤ ln t + c·ln ln t, where
// d is the relative entropy of Bernoulli distributions. It holds for any
// rewards in [0,1]; low and width scale those of the task. Their proof needs c
// = 3, and they recommend c = 0.
func newKLUCB(n int, low, width, c float64) *upperConfidence {
	u := &upperConfidence{tally: newTally(n, 0)}
	level := func(rewards float64) float64 {
		l := math.Log(rewards + 1)
		return l + c*math.Log(max(1, l))
	}
	u.rising = newRising(n, 1e-11, level, func(arm int, level float64) float64 {
		return low + width*bernoulliBound((u.means[arm]-low)/width, level/float64(u.pulls[arm]))
	})
	return u
}

// bernoulliBound returns the largest q ≤ 1 with d(p, q) ≤ x, for x ≥ 0. Newton's
// method on the convex d falls to it from two upper bounds: that of Pinsker's
// inequality, and the root of p ln p + (1−p) ln((1−p)/(1−q)) = x.
func bernoulliBound(p, x float64) float64 {
	p = min(max(p, 0), 1)
	if p == 1 || x <= 0 {
		return p
	}
	entropy := 0.0
	if p > 0 {
		entropy = p * math.Log(p)
	}
	rest := min(1, (1-p)*math.Exp(-(x-entropy)/(1-p))) // 1−q, kept for q near 1
	if pinsker := 1 - p - math.Sqrt(x/2); pinsker > rest {
		rest = pinsker
	}
	if p == 0 {
		return 1 - math.Exp(-x)
	}
	for range 100 {
		q := 1 - rest
		if q == 1 { // and 1−p over a rest that small may be infinite
			return 1
		}
		excess := p*math.Log(p/q) + (1-p)*math.Log((1-p)/rest) - x
		step := excess * q * rest / (q - p)
		if !(step > 1e-14*rest) {
			break
		}
		rest += step
	}
	return 1 - rest
}

// bayesUCB selects the arm whose belief has the largest quantile of level 1 −
// 1/(t·(ln N)^c) in the t-th step, where N is the horizon if finite. Kaufmann,
// Cappé & Garivier (2012) prove c ≥ 5 and recommend c = 0.
type bayesUCB struct {
	rising
	beliefs
}

func newBayesUCB(b beliefs, logs float64) *bayesUCB {
	u := &bayesUCB{beliefs: b}
	level := func(rewards float64) float64 { return (rewards + 1) * logs }
	u.rising = newRising(b.len(), 1e-8, level, func(arm int, level float64) float64 {
		return upperQuantile(u.learners[arm], 1/level)
	})
	return u
}

func (u *bayesUCB) Update(arm int, reward float64, rng *rand.Rand) {
	u.update(arm, reward, rng)
	u.learned(arm)
}

// upperQuantile returns the value that a belief exceeds with probability tail.
func upperQuantile(b bandit.Learner, tail float64) float64 {
	tail = min(max(tail, 0), 1)
	switch d := b.(type) {
	case *bandit.Population:
		// The smallest member x with P(q ≤ x) ≥ 1 − tail.
		k := d.Len()
		return d.Member(min(int(tail*float64(k)), k-1))
	case *bandit.Particles:
		return d.UpperQuantile(tail)
	case *bandit.Beta:
		return 1 - mathext.InvRegIncBeta(d.B, d.A, tail)
	case *bandit.Gaussian:
		return d.Mu - d.Sigma*distuv.UnitNormal.Quantile(tail)
	case *bandit.NormalGamma:
		t := distuv.StudentsT{Mu: 0, Sigma: math.Sqrt(d.Beta / (d.Alpha * d.Lambda)), Nu: 2 * d.Alpha}
		return d.Mu - t.Quantile(tail)
	}
	return searchQuantile(b, tail)
}

// searchQuantile returns the smallest x with P(q ≥ x) ≤ tail, up to rounding, for
// any belief.
func searchQuantile(b bandit.Belief, tail float64) float64 {
	if tail >= 1 {
		return math.Inf(-1)
	}
	lo, hi := b.Mean(), b.Mean()
	for step := 1.0; b.Exceed(hi) > tail && !math.IsInf(hi, 0); step *= 2 {
		lo, hi = hi, hi+step
	}
	for step := 1.0; b.Exceed(lo) <= tail && !math.IsInf(lo, 0); step *= 2 {
		lo, hi = lo-step, lo
	}
	for {
		mid := lo + (hi-lo)/2
		if !(mid > lo && mid < hi) {
			return hi
		}
		if b.Exceed(mid) > tail {
			lo = mid
		} else {
			hi = mid
		}
	}
}

var ucb1Kind = kind{"ucb1", "confidence", nil, buildUCB1}

func buildUCB1(d *builder) (maker, error) {
	width, err := d.width()
	if err != nil {
		return nil, err
	}
	c := or(d.Confidence, 2)
	return func(beliefs, []bandit.Beta) Policy { return newUCB1(d.task.Arms, width, c) }, nil
}

var klUCBKind = kind{"kl-ucb", "confidence", nil, buildKLUCB}

func buildKLUCB(d *builder) (maker, error) {
	width, err := d.width()
	if err != nil {
		return nil, err
	}
	c := or(d.Confidence, 0)
	return func(beliefs, []bandit.Beta) Policy { return newKLUCB(d.task.Arms, d.task.Low, width, c) }, nil
}

var bayesUCBKind = kind{"bayes-ucb", "confidence horizon", betaFirst, buildBayesUCB}

func buildBayesUCB(d *builder) (maker, error) {
	logs := 1.0
	if c := or(d.Confidence, 0); c > 0 {
		if d.Horizon == nil {
			return nil, errors.New("horizon must be given if confidence is not 0")
		}
		if *d.Horizon == 1 {
			return nil, errors.New("horizon is 1, must be at least 2 if confidence is not 0")
		}
		logs = math.Pow(math.Log(float64(*d.Horizon)), c)
	} else if d.Horizon != nil {
		return nil, errors.New("horizon matters only if confidence is not 0: leave it out")
	}
	return func(b beliefs, _ []bandit.Beta) Policy { return newBayesUCB(b, logs) }, nil
}
