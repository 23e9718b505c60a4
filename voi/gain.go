package voi

import (
	"cmp"
	"math"
	"slices"
)

// Rule says how the improvements D that trying may show become its gain.
type Rule int

// The rules.
const (
	// Sup is sup_δ δ·P(D ≥ δ): the threshold of the paper.
	Sup Rule = iota
	// Mean is E D⁺, the value of information. It is never less than Sup.
	Mean
)

// improvement is a D that trying a pair may show, with its probability.
type improvement struct{ p, d float64 }

// gain returns what a population of improvements is worth. It changes their order.
func (r Rule) gain(population []improvement) float64 {
	gain, p := 0.0, 0.0
	if r == Mean {
		return mean(population)
	}
	slices.SortFunc(population, func(a, b improvement) int { return cmp.Compare(b.d, a.d) })
	for _, x := range population {
		if x.d <= 0 {
			break
		}
		p += x.p
		gain = max(gain, p*x.d)
	}
	return gain
}

// mean returns E D⁺.
func mean(population []improvement) float64 {
	sum := 0.0
	for _, x := range population {
		sum += x.p * max(0, x.d)
	}
	return sum
}

// outcome is something that a try may show: a successor worth v from which the pair is
// reached again with f and c, or a reward.
type outcome struct {
	p, v, f, c float64
	record     float64 // by how much a new state is better than one is believed to be
}

// reward is a reward that a try may show.
type rewardOutcome struct{ p, r float64 }

// normal is the standard normal distribution in bins that halve towards both tails, as
// with many steps left improbable improvements count: the probability of each bin, and
// its mean.
var normal = func() (bins []improvement) {
	density := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
	const tails = 12
	for k := range tails {
		p, inner, outer := math.Exp2(float64(-k-2)), 0.0, 0.0
		if k > 0 {
			inner = -math.Sqrt2 * math.Erfinv(2*math.Exp2(float64(-k-1))-1)
		}
		if k < tails-1 {
			outer = density(-math.Sqrt2 * math.Erfinv(2*p-1))
		} else {
			p *= 2
		}
		x := (density(inner) - outer) / p
		bins = append(bins, improvement{p, x}, improvement{p, -x})
	}
	return bins
}()

const bins = 6

// binEdges are cumulative probabilities, from the best states on, at which states
// are grouped: finely where they are good.
var binEdges = [bins]float64{0.02, 0.08, 0.2, 0.4, 0.7, 2}

// prospects is what is believed of outcomes that have not been seen. It is the same
// for all pairs.
type prospects struct {
	order  []int32 // states by value, the best first
	vmean  float64 // of a new state
	vmax   float64
	top    float64
	record float64 // probability that a successor which no neighbour explains is better than all
	pool   []float64

	first, again         []rewardOutcome // of a pair's first try, and new ones of a later try
	meanFirst, meanAgain float64
	noise                float64 // variance of a reward
}

// update computes what is believed of outcomes that have not been seen.
func (x *prospects) update(m *meanModel, horizon float64) {
	b, states := m.b, len(m.v)
	x.order = grow(x.order, states)
	x.vmax, x.vmean = math.Inf(-1), 0
	for s, v := range m.v {
		x.order[s] = int32(s)
		x.vmax = max(x.vmax, v)
		x.vmean += v / float64(states)
	}
	slices.SortFunc(x.order, func(a, b int32) int { return cmp.Compare(m.v[b], m.v[a]) })
	x.top = max(horizon, x.vmax)
	x.record = b.newShare() / float64(states+1)
	x.noise = (1.0/12 + b.noise) / (1 + b.repeats)

	x.pool = x.pool[:0]
	for i := range b.pairs {
		if b.pairs[i].n > 0 {
			x.pool = append(x.pool, b.pairs[i].mean)
		}
	}
	x.first = x.process(x.first[:0])
	x.pool = append(x.pool[:0], b.surprises...)
	x.again = x.process(x.again[:0])
	x.meanFirst, x.meanAgain = b.meanReward(), b.surprise()
}

// process appends the predictive distribution of a Dirichlet process of concentration 1
// over a uniform base, after the pool.
func (x *prospects) process(dst []rewardOutcome) []rewardOutcome {
	slices.Sort(x.pool)
	n := len(x.pool)
	groups := min(bins, n)
	for g := range groups {
		from, to := g*n/groups, (g+1)*n/groups
		sum := 0.0
		for _, r := range x.pool[from:to] {
			sum += r
		}
		dst = append(dst, rewardOutcome{float64(to-from) / float64(n+1), sum / float64(to-from)})
	}
	for k := range 3 {
		dst = append(dst, rewardOutcome{1 / float64(n+1) / 3, (float64(k) + 0.5) / 3})
	}
	return dst
}

// group appends states that are equally likely, of probability p together, in bins.
func group(dst []outcome, m *meanModel, states []int32, p float64, f, c []float64) []outcome {
	groups := min(bins, len(states))
	for g := range groups {
		from, to := g*len(states)/groups, (g+1)*len(states)/groups
		o := outcome{p: p * float64(to-from) / float64(len(states))}
		for _, y := range states[from:to] {
			o.v += m.v[y]
			o.f += f[y]
			o.c += c[y]
		}
		k := 1 / float64(to-from)
		o.v, o.f, o.c = o.v*k, o.f*k, o.c*k
		dst = append(dst, o)
	}
	return dst
}

// newOutcomes appends what a new successor of state s may be, given ways to s. Their
// means are those of the base.
func (x *prospects) newOutcomes(dst []outcome, m *meanModel, s int, f, c []float64) []outcome {
	far := m.far(s)
	dst = group(dst, m, m.b.near[s], m.near, f, c)
	dst = group(dst, m, m.b.back[s], 1-m.near-far, f, c)
	// A record is believed to be worth the mean, until it is seen.
	record := far * x.record
	dst = append(dst, outcome{}) // of records, below
	at := len(dst)
	sum, e := 0.0, 0
	var o outcome
	flush := func() {
		if o.p > 0 {
			o.v, o.f, o.c = o.v/o.p, o.f/o.p, o.c/o.p
			dst = append(dst, o)
		}
		o = outcome{}
	}
	for _, y := range x.order {
		w := m.global[y]
		if sum+w > binEdges[e] && o.p > 0 {
			flush()
			for e < bins-1 && sum+w > binEdges[e] {
				e++
			}
		}
		sum += w
		w *= far
		o.p += w
		o.v += w * m.v[y]
		o.f += w * f[y]
		o.c += w * c[y]
	}
	flush()
	// Records take their probability from all of these alike.
	mv, mf, mc := 0.0, 0.0, 0.0
	for k := at; k < len(dst); k++ {
		mv += dst[k].p * dst[k].v
		mf += dst[k].p * dst[k].f
		mc += dst[k].p * dst[k].c
		dst[k].p *= 1 - x.record
	}
	if far > 0 {
		mv, mf, mc = mv/far, mf/far, mc/far
	}
	const parts = 3
	for k := range parts {
		v := x.vmax + (x.top-x.vmax)*(float64(k)+0.5)/parts
		o := outcome{p: record / parts, v: mv, f: mf, c: mc, record: v - x.vmean}
		if k == 0 {
			dst[at-1] = o
		} else {
			dst = append(dst, o)
		}
	}
	return dst
}
