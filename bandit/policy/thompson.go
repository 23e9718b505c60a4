package policy

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/rlrun/rlrun/bandit"
)

// thompson is Thompson sampling for any belief: select the arm with the largest
// of one sample an arm.
type thompson struct{ beliefs }

func (t *thompson) SelectArm(rng *rand.Rand) int {
	best, selected := math.Inf(-1), 0
	for i, b := range t.learners {
		if x := b.Sample(rng); x > best {
			best, selected = x, i
		}
	}
	return selected
}

func (t *thompson) Update(arm int, reward float64, rng *rand.Rand) { t.update(arm, reward, rng) }

// members draws members of populations of one size uniformly, several of one
// random word where their number is a power of two. With common set it draws
// one original member for all arms of a step.
type members struct {
	k      int
	mask   uint64 // k−1
	width  uint   // bits of a member; 0 if k is 1 or no power of two
	common bool
	drawn  int // the common member

	word uint64 // what is left of the random word
	left uint   // its bits
}

func newMembers(k int, common bool) members {
	m := members{k: k, mask: uint64(k - 1), common: common}
	if k&(k-1) == 0 && !common {
		m.width = uint(bits.TrailingZeros(uint(k)))
	}
	return m
}

// begin starts the draws of a step.
func (m *members) begin(rng *rand.Rand) {
	if m.common {
		m.drawn = rng.IntN(m.k)
	}
}

// next draws a member of population p and returns its place in p's order.
func (m *members) next(p *bandit.Population, rng *rand.Rand) int {
	if m.width == 0 {
		if m.common {
			return place(p, m.drawn)
		}
		return rng.IntN(m.k)
	}
	if m.left < m.width {
		m.word, m.left = rng.Uint64(), 64
	}
	member := m.word & m.mask
	m.word >>= m.width
	m.left -= m.width
	return int(member)
}

// place returns m with p.Identity(m) == member.
func place(p *bandit.Population, member int) int {
	m := 0
	for m+1 < p.Len() && p.Identity(m) != member {
		m++
	}
	return m
}

// thompsonPopulation is Thompson sampling on populations: arms are visited in
// descending order of their largest member, until that of the next cannot beat
// what was drawn. The visit of an arm that draws its largest member is the
// last, so that on average at most K arms are visited, however many there are.
type thompsonPopulation struct {
	beliefs
	tops    ranking // by largest member
	members members
}

func newThompsonPopulation(b beliefs, common bool) *thompsonPopulation {
	t := &thompsonPopulation{beliefs: b, members: newMembers(b.populations[0].Len(), common)}
	t.tops = newRanking(b.len(), func(arm int) float64 { return t.populations[arm].Max() })
	return t
}

func (t *thompsonPopulation) SelectArm(rng *rand.Rand) int {
	t.members.begin(rng)
	best := math.Inf(-1)
	selected, member := t.tops.entries[0].arm, 0
	for _, e := range t.tops.entries {
		if e.key < best {
			break
		}
		p := &t.populations[e.arm]
		m := t.members.next(p, rng)
		if x := p.Member(m); x > best || x == best && e.arm < selected {
			best, selected, member = x, e.arm, m
		}
	}
	t.populations[selected].Take(member)
	return int(selected)
}

func (t *thompsonPopulation) Update(arm int, reward float64, rng *rand.Rand) {
	p := &t.populations[arm]
	p.Update(reward, rng)
	t.tops.set(arm, p.Max())
}

// thompsonBeta is Thompson sampling on Beta beliefs. An arm is sampled only if
// it may beat the best sample x so far. Right of its mode a Beta(a,b) density f
// with a, b ≥ 1 is log-concave, so that beyond x it lies under the exponential
// f(x)·exp(−s(y−x)) with −s the slope of ln f at x: a candidate y > x is drawn
// with probability f(x)/s and accepted with probability f(y)/(f(x)e^{−s(y−x)}).
// So the arm takes any value y > x with exactly its density, and how far it
// stays below x does not matter.
type thompsonBeta struct {
	betas   []bandit.Beta
	means   ranking
	lnBeta  []float64 // ln B(a,b) of each arm
	updates uint
}

func newThompsonBeta(b beliefs, betas []bandit.Beta) *thompsonBeta {
	t := &thompsonBeta{betas: betas, lnBeta: make([]float64, len(betas))}
	for i, d := range betas {
		t.lnBeta[i] = lnBeta(d)
	}
	t.means = newRanking(b.len(), b.mean)
	return t
}

// lnBeta returns the logarithm of the beta function of d's parameters.
func lnBeta(d bandit.Beta) float64 {
	a, _ := math.Lgamma(d.A)
	b, _ := math.Lgamma(d.B)
	ab, _ := math.Lgamma(d.A + d.B)
	return a + b - ab
}

// hopeless is the logarithm of a probability below that of any event that 64
// random bits can show.
const hopeless = -45

func (t *thompsonBeta) SelectArm(rng *rand.Rand) int {
	first := t.means.first()
	selected := first
	x := newAbscissa(t.betas[first].Sample(rng))
	for i := range t.betas {
		if i == first {
			continue
		}
		d := t.betas[i]
		slope := (d.B-1)*x.overRest - (d.A-1)*x.overX
		if !(slope >= 1) || d.A < 1 || d.B < 1 {
			// Below its mode, or too flat to be worth the trouble.
			if y := d.Sample(rng); y > x.x {
				x, selected = newAbscissa(y), i
			}
			continue
		}
		// An arm beats x with probability at most P = f(x)/s, and P ≤ f(x)/2^k
		// with k the binary exponent of s. A standard exponential variate
		// exceeds −ln P with probability P.
		lnf := (d.A-1)*x.lnX + (d.B-1)*x.lnRest - t.lnBeta[i]
		k := math.Float64bits(slope)>>52 - 1023
		lnP := lnf - float64(k)*math.Ln2
		if lnP < hopeless {
			continue
		}
		e := rng.ExpFloat64()
		if e < -lnP {
			continue
		}
		lnP = lnf - math.Log(slope)
		if lnP > 0 {
			if y := d.Sample(rng); y > x.x {
				x, selected = newAbscissa(y), i
			}
			continue
		}
		if e < -lnP {
			continue
		}
		step := rng.ExpFloat64() // s(y−x)
		y := x.x + step/slope
		if y >= 1 {
			continue
		}
		z := newAbscissa(y)
		lng := (d.A-1)*z.lnX + (d.B-1)*z.lnRest - t.lnBeta[i]
		if -rng.ExpFloat64() < lng-lnf+step {
			x, selected = z, i
		}
	}
	return selected
}

func (t *thompsonBeta) Update(arm int, reward float64, rng *rand.Rand) {
	d := &t.betas[arm]
	// B(a+1,b) = B(a,b)·a/(a+b). Now and then it is computed afresh, so that
	// rounding does not build up.
	t.updates++
	switch {
	case t.updates%1024 == 0 || reward != 0 && reward != 1:
		t.lnBeta[arm] = lnBeta(bandit.Beta{A: d.A + reward, B: d.B + 1 - reward})
	case reward == 1:
		t.lnBeta[arm] += math.Log(d.A / (d.A + d.B))
	default:
		t.lnBeta[arm] += math.Log(d.B / (d.A + d.B))
	}
	d.Update(reward, rng)
	t.means.set(arm, d.Mean())
}

// Greedy returns the arm with the largest mean.
func (t *thompsonBeta) Greedy() int { return t.means.first() }

// abscissa is a point in (0,1) with what beta densities need of it.
type abscissa struct{ x, overX, overRest, lnX, lnRest float64 }

func newAbscissa(x float64) abscissa {
	return abscissa{x, 1 / x, 1 / (1 - x), math.Log(x), math.Log1p(-x)}
}
