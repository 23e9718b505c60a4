package options

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/bandit"
)

// comparison is a problem with what all its comparisons need. Advantages are per
// unit of the horizon's weight G.
type comparison struct {
	*Decider
	*Problem
	share  float64 // ρ
	mean   float64 // v̄(y)
	size   float64 // Σ|v_k(y)−b|, for ceilings
	index  float64 // that of y
	common int     // the member drawn for all options, or −1
	rng    *rand.Rand
}

// compare compares option x with the greedy one.
func (c *comparison) compare(x int) rival {
	switch c.rule.Score {
	case Paired:
		return c.paired(x)
	case MeanValue:
		return c.withMean(x)
	case Index:
		return c.indexed(x)
	}
	return c.drawn(x)
}

// lead is by how much an option is better in a model, and what the greedy one is
// above the lower bound there.
type lead struct{ lead, cost float64 }

// ceiling bounds the advantage of option x from above without sorting its leads: by
// Markov's inequality sup δp is at most the mean of D_k⁺, and where it is attained at
// least the models with D_k ≤ 0 cost something. It is +Inf where there is no such
// bound.
func (c *comparison) ceiling(x int) float64 {
	if c.rule.Score != Paired || c.Arms[x].Class == Uninformed {
		return math.Inf(1)
	}
	y, row := c.row(c.Greedy), c.row(x)
	row = row[:len(y)]
	positive, sum, cost := 0.0, 0.0, 0.0
	for k, v := range y {
		d, above := row[k]-v, v-c.rule.LowerBound
		sum += d
		if d > 0 {
			positive += d
			if above >= 0 {
				continue
			}
		}
		cost += above
	}
	most := positive - c.share*cost
	if c.rule.Kind != bandit.U {
		most = (1-c.share)*positive + c.share*sum
	}
	size := c.size + 2*positive - sum            // with Σ|D_k|
	return (most + 1e-12*size) / float64(len(y)) // whatever the rounding
}

// sorted returns the leads of values over those of the greedy option, the largest
// first; of equal ones the first.
func (c *comparison) sorted(values []float64) []lead {
	y := c.row(c.Greedy)
	values, leads := values[:len(y)], c.leads[:len(y)]
	if len(leads) > 32 {
		for k, v := range y {
			leads[k] = lead{values[k] - v, v - c.rule.LowerBound}
		}
		slices.SortStableFunc(leads, func(a, b lead) int { return cmp.Compare(b.lead, a.lead) })
		return leads
	}
	// For so few it is faster to insert them, from both ends.
	above, below := 0, len(leads)
	for k, v := range y {
		l := lead{values[k] - v, v - c.rule.LowerBound}
		if l.lead > 0 {
			j := above
			for ; j > 0 && leads[j-1].lead < l.lead; j-- {
				leads[j] = leads[j-1]
			}
			leads[j] = l
			above++
			continue
		}
		j := below
		for ; j < len(leads) && leads[j].lead >= l.lead; j++ {
			leads[j-1] = leads[j]
		}
		leads[j-1] = l
		below--
	}
	return leads
}

// paired is the comparison model by model, (A) of docs/theory.md §3.2 for U. With
// D_k = v_k(x) − v_k(y) and p = #{D_k ≥ δ}/K it is
//
//	U:  sup δp − ρ·mean((v_k(y)−b)·1{D_k < δ})
//	U⁺: (1−ρ) sup δp − ρ(v̄(y)−v̄(x))
//	V:  (1−ρ) mean D_k⁺ − ρ(v̄(y)−v̄(x))
func (c *comparison) paired(x int) rival {
	if c.Arms[x].Class == Uninformed {
		return c.uninformed(x)
	}
	leads := c.sorted(c.row(x))
	if c.rule.Kind != bandit.U {
		gain, gap, r := promise(leads, c.rule.Kind)
		r.option, r.advantage = x, (1-c.share)*gain-c.share*gap
		return r
	}
	k := len(leads)
	short, best := 0.0, 0.0
	r := rival{option: x}
	for m := k - 1; m >= 0; m-- { // δ = D of the m+1 best; short is the cost of the others
		l := leads[m]
		if l.lead > 0 && (m+1 == k || leads[m+1].lead < l.lead) {
			n := float64(m + 1)
			if v := l.lead*n - c.share*short; r.p == 0 || v >= best {
				best, r.delta, r.p = v, l.lead, n/float64(k)
			}
		}
		short += l.cost
	}
	if v := -c.share * short; r.p == 0 || v > best { // δ beyond all leads
		best, r.delta, r.p = v, 0, 0
	}
	r.advantage = best / float64(k)
	return r
}

// promise returns, of leads in descending order, sup δp or for V their mean
// positive part, minus their mean, and the δ and p of sup δp.
func promise(leads []lead, kind bandit.IndexKind) (gain, gap float64, at rival) {
	k := float64(len(leads))
	product, positive, sum := 0.0, 0.0, 0.0
	for m, l := range leads {
		sum += l.lead
		if l.lead <= 0 {
			continue
		}
		positive += l.lead
		n := float64(m + 1)
		if v := l.lead * n; v > product {
			product, at.delta, at.p = v, l.lead, n/k
		}
	}
	if kind == bandit.V {
		return positive / k, -sum / k, at
	}
	return product / k, -sum / k, at
}

// uninformed is (B) of docs/theory.md §3.2, with D_k = v*_k − v_k(y) and e the mean
// value of x:
//
//	(1−ρ)ζ sup δp − ρ(v̄(y)−e)
//
// or, for V, with mean D_k⁺ in place of sup δp.
func (c *comparison) uninformed(x int) rival {
	gain, _, r := promise(c.sorted(c.Optimal), c.rule.Kind)
	r.option, r.advantage = x, c.afterReveal(x, gain)
	return r
}

func (c *comparison) afterReveal(x int, gain float64) float64 {
	return (1-c.share)*c.Arms[x].Reveal*gain - c.share*(c.mean-mean(c.row(x)))
}

// withMean is the comparison with the mean value of y as if it were known, (★) of
// docs/theory.md §1.1 for U, §1.8 for the others.
func (c *comparison) withMean(x int) rival {
	if c.Arms[x].Class == Uninformed {
		return c.uninformed(x)
	}
	b := c.population(c.Problem, x)
	r := rival{option: x}
	switch c.rule.Kind {
	case bandit.U:
		// At ρ = 1 the index with lower bound l is l + sup (v−l)P(v_k(x) ≥ v).
		cost := c.share * (c.mean - c.rule.LowerBound)
		l := c.mean - cost
		r.advantage = bandit.Index(bandit.U, b, 1, l) - l - cost
	case bandit.UPlus:
		r.advantage = (1-c.share)*(bandit.Index(bandit.U, b, 1, c.mean)-c.mean) - c.share*(c.mean-b.Mean())
	default:
		r.advantage = (1-c.share)*b.Gain(c.mean) - c.share*(c.mean-b.Mean())
	}
	var advantage float64
	r.delta, r.p, advantage = c.terms(b, c.mean)
	if c.rule.Kind == bandit.U && advantage < 0 {
		r.advantage = advantage // the index also counts δ ≤ 0, which only matters here
	}
	return r
}

// terms returns the best δ > 0 of a population against a known value, its p, and
// the advantage of that; δ = p = 0 if there is none. For U the share counts, the
// others look for sup δp.
func (c *comparison) terms(b *bandit.Population, known float64) (delta, p, advantage float64) {
	share := 0.0
	if c.rule.Kind == bandit.U {
		share = c.share
	}
	delta, advantage = bandit.BestDelta(b, bandit.Comparison{Known: known, LowerBound: c.rule.LowerBound}, share)
	if delta <= 0 {
		return 0, 0, advantage
	}
	n := 0
	for n < b.Len() && b.Member(n)-known >= delta {
		n++
	}
	return delta, float64(n) / float64(b.Len()), advantage
}

// indexed compares the option's index with that of y (docs/theory.md §1.9).
func (c *comparison) indexed(x int) rival {
	r := rival{option: x}
	if c.Arms[x].Class == Uninformed {
		r.advantage = c.uninformedIndex(x) - c.index
		return r
	}
	b := c.population(c.Problem, x)
	r.advantage = c.table.Index(b, c.rule.LowerBound) - c.index
	r.delta, r.p, _ = c.terms(b, c.index)
	return r
}

// uninformedIndex is the known value λ against which an uninformed option breaks
// even. (B) with λ for v_k(y), (1−ρ)ζ E(v*_k−λ)⁺ = ρ(λ−e) for V, gives, just as in
// docs/theory.md §1.9,
//
//	λ = max_m (ρe + w_m x)/(ρ + w_m),  w_m = (1−ρ)ζm/K,
//
// where x is the mean of the m largest v*_k for V, the m-th largest for the
// others; and at least e.
func (c *comparison) uninformedIndex(x int) float64 {
	e := mean(c.row(x))
	for k, v := range c.Optimal {
		c.leads[k] = lead{lead: v}
	}
	slices.SortFunc(c.leads, func(a, b lead) int { return cmp.Compare(b.lead, a.lead) })
	best, sum := e, 0.0
	for m, l := range c.leads {
		n := float64(m + 1)
		sum += l.lead
		v := l.lead
		if c.rule.Kind == bandit.V {
			v = sum / n
		}
		w := (1 - c.share) * c.Arms[x].Reveal * n / float64(len(c.leads))
		if w > 0 {
			best = max(best, (c.share*e+w*v)/(c.share+w))
		}
	}
	return best
}

// drawn is Algorithm 2: δ is the lead of a drawn member, and its advantage
// δp − ρ(1−p)(v̄(y)−b), or (B) with that δ for an uninformed option.
func (c *comparison) drawn(x int) rival {
	k := c.common
	if k < 0 {
		k = c.rng.IntN(c.members)
	}
	values, r := c.row(x), rival{option: x}
	if c.Arms[x].Class == Uninformed {
		y := c.row(c.Greedy)
		r.delta = max(0, c.Optimal[k]-y[k])
		n := 0
		for l, v := range c.Optimal {
			if v-y[l] >= r.delta {
				n++
			}
		}
		r.p = float64(n) / float64(len(y))
		r.advantage = c.afterReveal(x, r.delta*r.p)
		return r
	}
	n := 0
	for _, v := range values {
		if v >= values[k] {
			n++
		}
	}
	r.delta, r.p = values[k]-c.mean, float64(n)/float64(len(values))
	r.advantage = r.delta*r.p - (1-r.p)*(c.share*(c.mean-c.rule.LowerBound))
	return r
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
