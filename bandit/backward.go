package bandit

import (
	"errors"
	"fmt"
	"math"

	"github.com/rlrun/rlrun/internal/induction"
)

// Plan is the Bayes-optimal way to play Bernoulli arms with independent Beta
// priors for a given number of pulls. It is found by backward induction over
// all counts of successes and failures (Bellman 1956; DeGroot 1970, §12.4).
// There are (pulls+2n choose 2n) such states for n arms: 4.6 million for two
// arms and 100 pulls, which is about as far as it goes.
type Plan struct {
	lattice
	value float64
	first []float64
	best  [][]uint8 // by number of pulls made and rank
	slack float64
}

// defaultPlanBytes is the memory that NewPlan may use unless told otherwise.
const defaultPlanBytes = 1 << 30

// NewPlan plans the given number of pulls, at least one, of two or more arms. The plan
// maximises the sum of g(k)·(reward k) in the horizon h. If h is longer than these pulls,
// the arm with the larger mean at their end is pulled for the rest. ErrorBound bounds the
// loss by that. It fails if the plan would take more than maxBytes of memory; 0 means
// 1 GiB.
func NewPlan(priors []Beta, h Horizon, pulls, maxBytes int) (*Plan, error) {
	if maxBytes == 0 {
		maxBytes = defaultPlanBytes
	}
	l, err := newLattice(priors, h, pulls)
	if err != nil {
		return nil, err
	}
	// One byte per state for the best arm, and the values of two layers.
	if need := l.states(pulls-1, l.parts) + 16*l.states(pulls, l.parts-1); need > float64(maxBytes) {
		return nil, fmt.Errorf("a plan of %d pulls of %d arms takes %.3g bytes, more than %d: use fewer pulls", pulls, len(priors), need, maxBytes)
	}
	l.tabulate()
	p := &Plan{lattice: *l, best: make([][]uint8, pulls)}
	top := 0.0
	for _, prior := range priors {
		top = max(top, prior.Mean())
	}
	// Commitment keeps at least the largest prior mean, rewards are at most 1.
	p.slack = h.Tail(pulls) * (1 - top)
	for t := range p.best {
		p.best[t] = make([]uint8, int(l.states(t, l.parts-1)))
	}
	p.first = l.sweep(func(pull, rank int, _ []int, q []float64) int {
		best := 0
		for arm := range q {
			if q[arm] > q[best] {
				best = arm
			}
		}
		p.best[pull][rank] = uint8(best)
		return best
	})
	p.value = p.first[p.best[0][0]]
	return p, nil
}

// Value returns the Bayes-optimal expected weighted sum of rewards. Divide by
// Horizon.Total to compare horizons.
func (p *Plan) Value() float64 { return p.value }

// ErrorBound bounds how much more than Value could be had in the whole horizon:
// zero if it ends with the last pull.
func (p *Plan) ErrorBound() float64 { return p.slack }

// Best returns the arm to pull when arm i has had counts[2i] successes and
// counts[2i+1] failures; of equally good ones, up to rounding, the first. The
// counts must add up to less than the number of pulls.
func (p *Plan) Best(counts []int) int {
	if len(counts) != p.parts {
		panic("bandit: a plan needs two counts an arm")
	}
	pull := 0
	for _, c := range counts {
		if c < 0 {
			panic("bandit: negative count")
		}
		pull += c
	}
	if pull >= p.pulls {
		panic("bandit: the plan has no more pulls")
	}
	return int(p.best[pull][p.rank(counts, pull)])
}

// PolicyValue returns the exact expected weighted sum of rewards of a
// deterministic policy on Bernoulli arms with the given priors. (NewPlan does
// so for the optimal policy.) The function choose gets the counts, as in
// Plan.Best, and the present means of all arms. It reads them only, and returns
// an arm.
func PolicyValue(priors []Beta, h Horizon, pulls int, choose func(counts []int, means []float64) int) (float64, error) {
	l, err := newLattice(priors, h, pulls)
	if err != nil {
		return 0, err
	}
	if need := 16 * l.states(pulls, l.parts-1); need > defaultPlanBytes {
		return 0, fmt.Errorf("the value over %d pulls of %d arms takes %.3g bytes, more than %d: use fewer pulls", pulls, len(priors), need, defaultPlanBytes)
	}
	l.tabulate()
	means := make([]float64, len(priors))
	pick := func(counts []int) int {
		for arm := range means {
			means[arm] = l.mean(arm, counts)
		}
		arm := choose(counts, means)
		if arm < 0 || arm >= len(means) {
			panic("bandit: the policy chose no arm")
		}
		return arm
	}
	first := l.sweep(func(_, _ int, counts []int, _ []float64) int { return pick(counts) })
	return first[pick(make([]int, l.parts))], nil
}

// GreedyValue returns the expected weighted sum of rewards of always pulling
// the arm with the largest mean, the first of equal ones.
func GreedyValue(priors []Beta, h Horizon, pulls int) (float64, error) {
	return PolicyValue(priors, h, pulls, func(_ []int, means []float64) int {
		best := 0
		for arm, m := range means {
			if m > means[best] {
				best = arm
			}
		}
		return best
	})
}

// lattice numbers the states of the arms. Those with t pulls made are the
// compositions of t into parts = 2·arms counts, in lexicographic order.
type lattice struct {
	priors  []Beta
	horizon Horizon
	pulls   int
	parts   int
	below   [][]int // below[d][n] = (n+d choose d)
}

func newLattice(priors []Beta, h Horizon, pulls int) (*lattice, error) {
	switch {
	case len(priors) < 2 || len(priors) > math.MaxUint8:
		return nil, fmt.Errorf("backward induction needs 2 to %d arms, not %d", math.MaxUint8, len(priors))
	case pulls < 1:
		return nil, errors.New("backward induction needs at least one pull")
	}
	for _, p := range priors {
		if _, err := NewBeta(p.A, p.B); err != nil {
			return nil, err
		}
	}
	return &lattice{priors: append([]Beta(nil), priors...), horizon: h, pulls: pulls, parts: 2 * len(priors)}, nil
}

// states is (n+d choose d), rounded.
func (l *lattice) states(n, d int) float64 {
	c := 1.0
	for k := 1; k <= d; k++ {
		c *= float64(n+k) / float64(k)
	}
	return math.Round(c)
}

func (l *lattice) tabulate() {
	l.below = make([][]int, l.parts)
	for d := range l.below {
		l.below[d] = make([]int, l.pulls+2)
		for n := range l.below[d] {
			switch {
			case d == 0 || n == 0:
				l.below[d][n] = 1
			default:
				l.below[d][n] = l.below[d][n-1] + l.below[d-1][n]
			}
		}
	}
}

func (l *lattice) mean(arm int, counts []int) float64 {
	a, b := l.priors[arm].A+float64(counts[2*arm]), l.priors[arm].B+float64(counts[2*arm+1])
	return a / (a + b)
}

// rank is the place of the counts, of sum t, among their like: before them come
// those whose first part is smaller, and so on.
func (l *lattice) rank(counts []int, t int) int {
	rank := 0
	for j := range l.parts - 1 {
		d := l.parts - 1 - j
		rank += l.below[d][t] - l.below[d][t-counts[j]]
		t -= counts[j]
	}
	return rank
}

// sweep goes backward over all states, values them by the arm that choose
// picks, and returns the values of all arms in the first state. The function
// choose gets the values q of the arms in the state.
func (l *lattice) sweep(choose func(pull, rank int, counts []int, q []float64) int) []float64 {
	arms := len(l.priors)
	counts := make([]int, l.parts)
	last := make([]float64, l.below[l.parts-1][l.pulls])
	q := make([]float64, arms)
	child := make([]int, l.parts)
	if tail := l.horizon.Tail(l.pulls); tail > 0 {
		l.each(l.pulls, counts, func(rank int) {
			best := 0.0
			for arm := range arms {
				best = max(best, l.mean(arm, counts))
			}
			last[rank] = tail * best
		})
	}
	induction.Backward([][]float64{last, make([]float64, len(last))}, l.pulls, func(left int, value, next []float64) bool {
		t := l.pulls - left
		weight := l.horizon.Weight(t)
		l.each(t, counts, func(rank int) {
			l.children(counts, t, child)
			for arm := range q {
				m := l.mean(arm, counts)
				q[arm] = m*(weight+next[child[2*arm]]) + (1-m)*next[child[2*arm+1]]
			}
			value[rank] = q[choose(t, rank, counts, q)]
		})
		return false
	})
	return q
}

// children writes the ranks, among the states of sum t+1, of the counts with
// one added to each part in turn.
func (l *lattice) children(counts []int, t int, child []int) {
	// With one added to part i, the sums up to i are one larger: the terms
	// of rank before i, at i, and after it.
	before, after := 0, l.rank(counts, t)
	last := l.parts - 1
	for i := range last {
		b := l.below[last-i]
		left := t - counts[i]
		after -= b[t] - b[left]
		child[i] = before + b[t+1] - b[left] + after
		before += b[t+1] - b[left+1]
		t = left
	}
	child[last] = before
}

// each visits all counts of sum t in order of rank.
func (l *lattice) each(t int, counts []int, visit func(rank int)) {
	clear(counts)
	last := l.parts - 1
	counts[last] = t
	for rank := 0; ; rank++ {
		visit(rank)
		// The next composition: move one from the tail to the left.
		k := last
		for k >= 0 && counts[k] == 0 {
			k--
		}
		if k <= 0 {
			return
		}
		rest := counts[k] - 1
		counts[k] = 0
		counts[k-1]++
		counts[last] = rest
	}
}
