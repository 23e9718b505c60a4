package mdp

import (
	"errors"
	"fmt"
	"math"
)

// Row collects one transition row for Generate.
type Row struct {
	Noise   Noise // distribution of the row's reward
	next    []int32
	prob    []float64
	reward  []float64 // by successor
	base    float64   // added to every reward
	paid    bool      // base was given
	never   bool      // some probability was zero
	varying bool      // some reward depends on the successor
	bad     error
}

// Add says that the row's action leads to next with probability p. Adding the
// same successor again adds up.
func (r *Row) Add(next int, p float64) { r.AddRewarded(next, p, 0) }

// AddRewarded is Add with a reward for this successor. When one successor is
// added with several rewards, their probability-weighted mean is kept.
func (r *Row) AddRewarded(next int, p, reward float64) {
	switch {
	case next < 0 || next > math.MaxInt32:
		r.fail(fmt.Errorf("successor %d is out of range", next))
		return
	case !(p >= 0 && p <= 1+rowSumTolerance): // NaN, too
		r.fail(fmt.Errorf("probability %v of successor %d is outside [0,1]", p, next))
		return
	case math.IsNaN(reward) || math.IsInf(reward, 0):
		r.fail(fmt.Errorf("reward %v is not a finite number", reward))
		return
	}
	if p == 0 {
		r.never = true
		return
	}
	r.next = append(r.next, int32(next))
	r.prob = append(r.prob, p)
	r.reward = append(r.reward, reward)
}

// Reward adds x to the reward of the row, whatever the successor.
func (r *Row) Reward(x float64) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		r.fail(fmt.Errorf("reward %v is not a finite number", x))
	}
	r.base += x
	r.paid = true
}

func (r *Row) fail(err error) {
	if r.bad == nil {
		r.bad = err
	}
}

// finish sorts and merges the successors, checks the row, and rescales it if it does not
// sum to one. It returns what checkRow does. A row without successors is that of an action
// that the state lacks.
func (r *Row) finish(states int) (sum float64, err error) {
	if r.bad != nil {
		return 0, r.bad
	}
	if len(r.next) == 0 {
		switch {
		case r.paid || r.Noise != Noise{}:
			return 0, errors.New("no transition is given, so the state lacks the action")
		case r.never:
			return 0, errors.New("probabilities sum to 0, not 1")
		}
		return 1, nil
	}
	// Insertion sort: rows are short or already sorted.
	for i := 1; i < len(r.next); i++ {
		for j := i; j > 0 && r.next[j] < r.next[j-1]; j-- {
			r.next[j], r.next[j-1] = r.next[j-1], r.next[j]
			r.prob[j], r.prob[j-1] = r.prob[j-1], r.prob[j]
			r.reward[j], r.reward[j-1] = r.reward[j-1], r.reward[j]
		}
	}
	n := 0
	for i := range r.next {
		if n > 0 && r.next[n-1] == r.next[i] {
			p := r.prob[n-1] + r.prob[i]
			if r.reward[n-1] != r.reward[i] {
				r.reward[n-1] = (r.prob[n-1]*r.reward[n-1] + r.prob[i]*r.reward[i]) / p
			}
			r.prob[n-1] = p
			continue
		}
		r.next[n], r.prob[n], r.reward[n] = r.next[i], r.prob[i], r.reward[i]
		n++
	}
	r.next, r.prob, r.reward = r.next[:n], r.prob[:n], r.reward[:n]
	if n > 0 && int(r.next[n-1]) >= states {
		return 0, fmt.Errorf("successor %d is outside 0..%d", r.next[n-1], states-1)
	}
	if sum, err = checkRow(r.prob, rowSumTolerance); err != nil {
		return 0, err
	}
	r.varying = false
	for i := range r.reward {
		r.reward[i] += r.base
		x := r.reward[i]
		if x != r.reward[0] {
			r.varying = true
		}
		if math.Abs(x) > 1e300 { // so that no sum of a few overflows
			return 0, fmt.Errorf("reward %v is too large", x)
		}
	}
	if !(r.Noise.SD >= 0) || math.IsInf(r.Noise.SD, 0) {
		return 0, fmt.Errorf("noise %v is not a standard deviation", r.Noise.SD)
	}
	if r.Noise.Bernoulli {
		if r.Noise.SD != 0 {
			return 0, fmt.Errorf("a Bernoulli reward has no Gaussian noise")
		}
		for _, x := range r.reward {
			if x < 0 || x > 1 {
				return 0, fmt.Errorf("mean %v of a Bernoulli reward is outside [0,1]", x)
			}
		}
	}
	return sum, nil
}

// rowSumTolerance is how far a row may be from summing to one, as rows in files do that
// have seven digits. Within it rows are rescaled, since over 1e9 steps even a small leak
// would lose all mass.
const rowSumTolerance = 1e-6

// checkRow validates and normalises the probabilities of one row. It returns their sum
// before, or 1 if it differed from one by rounding at most.
func checkRow(prob []float64, tolerance float64) (float64, error) {
	sum, carry := 0.0, 0.0 // Kahan
	for _, p := range prob {
		y := p - carry
		t := sum + y
		carry = (t - sum) - y
		sum = t
	}
	if !(math.Abs(sum-1) <= tolerance) {
		return 0, fmt.Errorf("probabilities sum to %.10g, not 1", sum)
	}
	if math.Abs(sum-1) <= 1e-12 {
		return 1, nil
	}
	for i := range prob {
		prob[i] /= sum
	}
	return sum, nil
}
