package policy

import (
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/bandit"
)

// Values of the parameter compare: what the event that arm i is better than the
// greedy arm j by δ is taken to be. The paper writes q_j in places where its
// argument needs the mean q̄_j (docs/theory.md §1.3), and leaves open how a
// population estimates the probability of the other event.
const (
	withMean     = "mean"      // q_i ≥ q̄_j + δ
	withPairs    = "pairs"     // q_i^k ≥ q_j^k + δ, original member against original member
	withAllPairs = "all-pairs" // q_i^k ≥ q_j^l + δ for all K² pairs
)

// optimisticPairs is Algorithm 1 on populations compared in pairs: as
// optimistic, with the differences D of the pairs in place of q_i − q̄_j. A step
// takes time proportional to the number of arms.
type optimisticPairs struct {
	timed
	kind        bandit.IndexKind
	low         float64 // b
	compare     string
	differences []float64 // scratch
	original    []float64 // scratch: the greedy arm's members by identity
}

func newOptimisticPairs(b beliefs, c clock, kind bandit.IndexKind, low float64, compare string) *optimisticPairs {
	k := b.populations[0].Len()
	o := &optimisticPairs{timed: timed{newRanked(b), c}, kind: kind, low: low, compare: compare}
	o.original = make([]float64, k)
	if compare == withAllPairs {
		k *= k
	}
	o.differences = make([]float64, k)
	return o
}

func (o *optimisticPairs) SelectArm(*rand.Rand) int {
	j := o.means.first()
	q := o.means.entries[0].key
	greedy := &o.populations[j]
	for m := range greedy.Len() {
		o.original[greedy.Identity(m)] = greedy.Member(m)
	}
	best, selected := 0.0, j
	for i := range o.populations {
		if i == j {
			continue
		}
		p := &o.populations[i]
		d := o.differences[:0]
		for m := range p.Len() {
			x := p.Member(m)
			if o.compare == withPairs {
				d = append(d, x-o.original[p.Identity(m)])
				continue
			}
			for _, y := range o.original {
				d = append(d, x-y)
			}
		}
		if a := o.advantage(d, q, p.Mean()); a > best {
			best, selected = a, i
		}
	}
	return selected
}

// advantage sorts the differences d of an arm of the given mean from the greedy
// arm, of mean q, and returns its advantage.
func (o *optimisticPairs) advantage(d []float64, q, mean float64) float64 {
	slices.Sort(d)
	n := float64(len(d))
	cost := o.share * (q - o.low)
	u, product, sum := -cost, 0.0, 0.0 // limits for large δ
	for m := range d {
		x := d[len(d)-1-m]
		if x <= 0 {
			break
		}
		p := float64(m+1) / n
		u = max(u, advantage(x, p, cost))
		product = max(product, x*p)
		sum += x
	}
	gap := o.share * (q - mean)
	switch o.kind {
	case bandit.U:
		return u
	case bandit.UPlus:
		return (1-o.share)*product - gap
	}
	return (1-o.share)*sum/n - gap
}

// stochasticPairs is Algorithm 2 on populations compared in any way, arm by arm.
//
// With program set it selects like a published program of the paper's author.
// Arms are tried in order, and one is accepted if u_i − u_j, in units of g(0),
// exceeds a bar. The bar is q̄_j at first. Later, by a slip, it is the number of
// the arm that was accepted last. So the first arm that passes is mostly
// selected.
type stochasticPairs struct {
	timed
	low     float64 // b
	members members
	compare string
	program bool
}

func newStochasticPairs(b beliefs, c clock, low float64, common bool, compare string, program bool) *stochasticPairs {
	return &stochasticPairs{timed{newRanked(b), c}, low, newMembers(b.populations[0].Len(), common), compare, program}
}

func (s *stochasticPairs) SelectArm(rng *rand.Rand) int {
	s.members.begin(rng)
	j := s.means.first()
	q := s.means.entries[0].key
	cost := s.share * (q - s.low)
	bar, scale := 0.0, 1.0
	if s.program {
		left := s.left()
		bar, scale = q, left.Total()/left.Weight(0)
	}
	selected, member := j, -1
	for i := range s.populations {
		if i == j {
			continue
		}
		p := &s.populations[i]
		if s.members.left == 0 {
			s.members.refill(p, rng)
		}
		m := s.members.take()
		delta := p.Member(m) - q
		if delta <= 0 && cost >= 0 {
			continue // the advantage cannot be positive
		}
		prob := 0.0
		switch s.compare {
		case withMean:
			prob = float64(p.Rank(m)) / float64(p.Len())
		case withPairs:
			prob = bandit.ProbExceedsJoint(p, &s.populations[j], delta)
		case withAllPairs:
			prob = bandit.ProbExceeds(p, &s.populations[j], delta)
		}
		a := scale * advantage(delta, prob, cost)
		if a <= 0 || a <= bar {
			continue
		}
		selected, member, bar = i, m, a
		if s.program {
			bar = float64(i)
		}
	}
	s.take(selected, member)
	return selected
}

// take remembers the drawn member of the selected arm for its update; member is
// −1 if none was drawn.
func (s *stochasticPairs) take(arm, member int) {
	p := &s.populations[arm]
	if member < 0 && s.members.common {
		member = place(p, s.members.drawn)
	}
	if member >= 0 {
		p.Take(member)
	}
}
