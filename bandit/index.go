package bandit

import (
	"fmt"
	"math"
	"slices"
)

// IndexKind names one of the three bounds on the value of pulling an arm T
// times and then knowing it (docs/theory.md §1.8). Each becomes an index: the
// value of a known arm at which pulling no longer pays (§1.9). They are
// ordered, U ≤ UPlus ≤ V.
type IndexKind int

const (
	// U is the paper's bound, which credits a bad arm with no more than the
	// lower bound b while it is tried.
	U IndexKind = iota
	// UPlus uses that the mean of the arm is known while it is tried.
	UPlus
	// V also counts every degree by which the arm may turn out better: the
	// value of perfect information. At T = 1 it is the optimistic Gittins
	// index OGI(1) of Gutin & Farias (2016).
	V
)

var indexKinds = []string{"U", "U+", "V"}

// String returns the name of the index in configs: "U", "U+" or "V".
func (k IndexKind) String() string {
	if k < 0 || int(k) >= len(indexKinds) {
		return fmt.Sprintf("IndexKind(%d)", int(k))
	}
	return indexKinds[k]
}

// ParseIndexKind reads the name that String gives.
func ParseIndexKind(name string) (IndexKind, error) {
	k := slices.Index(indexKinds, name)
	if k < 0 {
		return 0, fmt.Errorf("unknown index %q (one of %v)", name, indexKinds)
	}
	return IndexKind(k), nil
}

// Index returns the value λ of a known arm at which trying the arm with belief
// b is just not worth it. Here rho = ρ_T in [0,1] is the share of the horizon
// that the trial takes (Horizon.Share). Only U uses the lower bound on mean
// rewards. The pairwise test of the paper explores arm i against j exactly if
// Index(U, i, ρ, lowerBound) > q̄_j. Comparing the indices of all arms also
// takes into account that j is uncertain.
//
// With rho = 0 all three are the largest value that b holds possible. The
// result is exact for a Population (and O(K)), and otherwise found to relative 1e-9
// for shares of 1e-16 or more.
func Index(kind IndexKind, b Belief, rho, lowerBound float64) float64 {
	if !(rho >= 0 && rho <= 1) {
		panic("bandit: share outside [0,1]")
	}
	if kind < U || kind > V {
		panic("bandit: unknown index")
	}
	if p, ok := b.(*Population); ok {
		return p.index(kind, rho, lowerBound)
	}
	d := shapeOf(b)
	switch kind {
	case U:
		return lowerBound + objective{base: lowerBound, share: rho}.maximise(d).value
	case UPlus:
		mean := d.Mean()
		return mean + (1-rho)*objective{base: mean, share: rho}.maximise(d).value
	}
	return indexV(d, b.Exceed, rho)
}

// BestAdvantage returns the largest advantage, over all δ, that a bound promises for trying
// the arm with belief b in place of one with the known mean, relative to the total weight
// (docs/theory.md §1.8). rho and lowerBound are those of Index. For U it also counts δ ≤ 0,
// which makes a difference where it is negative.
func BestAdvantage(kind IndexKind, b Belief, known, lowerBound, rho float64) float64 {
	if kind == U {
		// At ρ = 1 the index with lower bound y is y + sup (x−y)P(q ≥ x).
		cost := rho * (known - lowerBound)
		y := known - cost
		return Index(U, b, 1, y) - y - cost
	}
	gap := rho * (known - b.Mean())
	if kind == UPlus {
		return (1-rho)*(Index(U, b, 1, known)-known) - gap
	}
	return (1-rho)*b.Gain(known) - gap
}

// indexV solves (1−ρ) E(q−λ)⁺ = ρ(λ−q̄). The difference of the two sides is
// convex and falls, so that Newton's method rises to the root from λ = q̄.
func indexV(d shape, exceed func(float64) float64, rho float64) float64 {
	_, hi := d.support()
	if rho == 0 {
		return hi
	}
	mean := d.Mean()
	l := mean
	for range 200 {
		excess := (1-rho)*d.Gain(l) - rho*(l-mean)
		next := min(l+excess/((1-rho)*exceed(l)+rho), hi)
		if !(next > l) {
			break
		}
		if next-l <= 1e-15*math.Abs(next) {
			return next
		}
		l = next
	}
	return l
}

// index is the exact supremum over the members, at which it is attained: with
// weight w_m = m/(Kρ+(1−ρ)m) for the m largest (docs/theory.md §1.9),
//
//	λ^U = b + max_m w_m (q_m − b)
//	λ⁺  = q̄ + (1−ρ) max_m w_m (q_m − q̄)
//	λ^V = q̄ + (1−ρ) max_m w_m (mean of the m largest − q̄)
func (p *Population) index(kind IndexKind, rho, lowerBound float64) float64 {
	k := float64(len(p.x))
	fixed, slope := k*rho, 1-rho
	// The best ratio num/den so far, compared without dividing.
	num, den, n := 0.0, 1.0, 0.0
	switch kind {
	case U:
		for m := range p.x {
			n++
			if v, w := (p.at(m)-lowerBound)*n, fixed+slope*n; v*den > num*w {
				num, den = v, w
			}
		}
		return lowerBound + num/den
	case UPlus:
		for _, x := range p.x {
			n++
			if v, w := (x-p.mean)*n, fixed+slope*n; v*den > num*w {
				num, den = v, w
			}
		}
	default:
		sum := 0.0
		for _, x := range p.x {
			n++
			sum += x - p.mean
			if w := fixed + slope*n; sum*den > num*w {
				num, den = sum, w
			}
		}
	}
	return float64(p.scale*(p.mean+slope*num/den)) + p.shift
}

func (p *Population) support() (lo, hi float64) { return p.Min(), p.Max() }

func (p *Population) tails(x float64) (above, below float64) {
	n, k := float64(p.count(x)), float64(len(p.x))
	return n / k, (k - n) / k
}

func (p *Population) atoms() int { return len(p.x) }

func (p *Population) atom(m int) (x, above, below float64) {
	n, k := float64(m+1), float64(len(p.x))
	return p.at(m), n / k, (k - n) / k
}

// IndexTable holds the weights of Index for populations of one size at one
// share, so that the index of each of many arms takes a few nanoseconds and no
// division. Arms of the same size may share it.
//
// While all members of a population learn alike, their differences shrink by a common
// factor. The amount by which λ⁺ and λ^V exceed the mean shrinks by the same factor. So it
// is computed once and kept in the population, until members change in another way.
type IndexTable struct {
	kind    IndexKind
	share   float64
	weights []float64
}

// NewIndexTable prepares the index for populations of k members; see Reset.
func NewIndexTable(kind IndexKind, rho float64, k int) *IndexTable {
	if kind < U || kind > V {
		panic("bandit: unknown index")
	}
	t := &IndexTable{kind: kind, weights: make([]float64, k)}
	t.Reset(rho)
	return t
}

// Reset changes the share to rho in [0,1], in O(K).
func (t *IndexTable) Reset(rho float64) {
	if !(rho >= 0 && rho <= 1) {
		panic("bandit: share outside [0,1]")
	}
	t.share = rho
	k := float64(len(t.weights))
	for m := range t.weights {
		n := float64(m + 1)
		scale := n
		switch t.kind {
		case UPlus:
			scale = (1 - rho) * n
		case V:
			scale = 1 - rho
		}
		t.weights[m] = scale / (k*rho + (1-rho)*n)
	}
}

// Index returns Index(kind, p, rho, lowerBound), up to rounding. p must have as many members
// as the table has weights. As Index keeps a result in p, one goroutine at a time may use p.
func (t *IndexTable) Index(p *Population, lowerBound float64) float64 {
	if len(p.x) != len(t.weights) {
		panic("bandit: an index table fits populations of its own size only")
	}
	if t.kind == U {
		best := 0.0
		w := t.weights[:len(p.x)]
		for m := range p.x {
			if v := float64(w[m] * (p.at(m) - lowerBound)); v > best { // max is slower: it minds NaN and −0
				best = v
			}
		}
		return lowerBound + best
	}
	above := &p.rule.above
	if above.kind != t.kind || above.share != t.share {
		above.kind, above.share, above.value = t.kind, t.share, t.above(p)
	}
	return float64(p.scale*(p.mean+above.value)) + p.shift
}

// above returns by how much λ⁺ or λ^V exceeds the mean, both before scale and shift.
func (t *IndexTable) above(p *Population) float64 {
	w := t.weights[:len(p.x)]
	best, sum := 0.0, 0.0
	for m, x := range p.x {
		gap := x - p.mean
		if t.kind == V {
			sum += gap
			gap = sum
		}
		if v := float64(w[m] * gap); v > best {
			best = v
		}
	}
	return best
}
