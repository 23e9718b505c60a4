package voi

import (
	"cmp"
	"math"
	"slices"
)

// GainKind is the way in which the gain of trying a pair follows from the distribution of the
// improvement D that its outcomes may show.
type GainKind int

// The kinds of gain.
const (
	// Sup is sup_δ δ·P(D ≥ δ): the threshold of the paper.
	Sup GainKind = iota
	// Mean is E D⁺, the value of information. It is never less than Sup.
	Mean
)

// improvement is a D that trying a pair may show, with its probability.
type improvement struct{ p, d float64 }

// gain returns what a population of improvements is worth, and the probability of those that
// count. It overwrites the population.
func (r GainKind) gain(population []improvement) (gain, succeeds float64) {
	if r == Mean {
		for _, x := range population {
			if x.d > 0 {
				succeeds += x.p
			}
		}
		return mean(population), succeeds
	}
	positive := population[:0]
	for _, x := range population {
		if x.d > 0 {
			positive = append(positive, x)
		}
	}
	slices.SortFunc(positive, func(a, b improvement) int { return cmp.Compare(b.d, a.d) })
	p := 0.0
	for _, x := range positive {
		p += x.p
		if p*x.d > gain {
			gain, succeeds = p*x.d, p
		}
	}
	return gain, succeeds
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
	order   []int32 // states by value, the best first
	visited []int32 // those of them that count among the states visited
	vmean   float64 // of a new state
	vmax    float64
	top     float64
	behind  float64 // what finding a state is worth that is not better than all
	pool    []payment
	paid    []payment // the rewards of pairs in their order, at
	sorted  int       // this value of Belief.common

	first, again []rewardOutcome // of a pair's first try, and new ones of a later try of the pair of newRewards
	many         int             // Belief.common of again, if they are those of a pair that has paid many, or −1
	meanFirst    float64
	bestFirst    float64 // the largest reward of first
	trial        trial
}

// update computes what is believed of outcomes that have not been seen.
func (x *prospects) update(m *meanModel, horizon float64) {
	b, states := m.belief, len(m.values)
	x.order = grow(x.order, states)
	x.vmax, x.vmean = math.Inf(-1), m.average(m.values).all
	for s, v := range m.values {
		x.order[s] = int32(s)
		x.vmax = max(x.vmax, v)
	}
	slices.SortFunc(x.order, func(a, b int32) int { return cmp.Compare(m.values[b], m.values[a]) })
	x.visited = x.visited[:0]
	for _, s := range x.order {
		if int(s) != m.apart() {
			x.visited = append(x.visited, s)
		}
	}
	x.top = max(horizon*(1+m.zero), x.vmax)
	x.behind = valueBehind(better(b, x.vmax, x.vmean, x.top, m.zero*horizon, horizon), b.toFind())

	x.trial = newTrial(b, horizon)
	x.pool = x.pool[:0]
	for i := range b.pairs {
		if b.pairs[i].n > 0 && !b.ends(i/b.actions) {
			x.pool = append(x.pool, payment{b.pairs[i].mean, 1})
		}
	}
	x.first = x.process(x.first[:0])
	x.meanFirst = b.meanReward()
	x.bestFirst = 0
	for _, r := range x.first {
		x.bestFirst = max(x.bestFirst, r.r)
	}
}

// trial is what is believed of the tries of a pair that was never tried. After the first, all
// others show the same to the end of the run with probability same. Then the base has the
// weight after in the mean row, and afterR in the mean reward. Otherwise it has the weights
// rest and restR. In the mean these are the weights of after the first try.
type trial struct{ same, after, afterR, rest, restR float64 }

// newTrial returns the trial in a run with so many steps left.
func newTrial(b *Belief, horizon float64) (t trial) {
	unlike := b.unlike()
	var q, qR float64
	q, t.after = b.successors.ahead(&flat, 1, 1, horizon)
	qR, t.afterR = b.rewards.ahead(&flat, 1, unlike, horizon)
	t.same = (1 - q) * (1 - qR)
	t.rest = (b.successors.predict(&flat, 1, 1) - t.same*t.after) / (1 - t.same)
	t.restR = (b.rewards.predict(&flat, 1, unlike) - t.same*t.afterR) / (1 - t.same)
	return t
}

// newRewards computes what a reward may be that is new to a pair, and returns its mean.
func (x *prospects) newRewards(b *Belief, p *pair) float64 {
	if x.sorted != b.common {
		x.sorted, x.paid = b.common, append(x.paid[:0], b.paid...)
		slices.SortFunc(x.paid, byReward)
	}
	if !p.paidMany() || x.many != b.common {
		x.pool = x.pool[:0]
		for _, y := range x.paid {
			if p.couldPay(y.reward) {
				x.pool = append(x.pool, payment{b.measure(y.reward), y.pairs})
			}
		}
		x.again = x.process(x.again[:0])
		x.many = -1
		if p.paidMany() { // they are the same for all such pairs
			x.many = b.common
		}
	}
	return b.surprise(p)
}

func byReward(a, b payment) int { return cmp.Compare(a.reward, b.reward) }

// process appends the predictive distribution of a Dirichlet process of concentration 1
// over a uniform base, after the pool, which it sorts.
func (x *prospects) process(dst []rewardOutcome) []rewardOutcome {
	slices.SortFunc(x.pool, byReward)
	n := 0.0
	for _, y := range x.pool {
		n += y.pairs
	}
	// Groups of about n/bins.
	sum, weight, before := 0.0, 0.0, 0.0
	for _, y := range x.pool {
		sum += y.pairs * y.reward
		weight += y.pairs
		if before+weight >= n*float64(len(dst)+1)/bins-1e-9 {
			dst = append(dst, rewardOutcome{weight / (n + 1), sum / weight})
			before += weight
			sum, weight = 0, 0
		}
	}
	for k := range 3 {
		dst = append(dst, rewardOutcome{1 / (n + 1) / 3, (float64(k) + 0.5) / 3})
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
			o.v += m.values[y]
			o.f += f[y]
			o.c += c[y]
		}
		k := 1 / float64(to-from)
		o.v, o.f, o.c = o.v*k, o.f*k, o.c*k
		dst = append(dst, o)
	}
	return dst
}

// outcomes are what a new successor of a state may be: states visited, and then states never
// visited, from one on. The probabilities of each part add up to 1.
type outcomes struct {
	all []outcome
	new int // where the second part begins
}

// at writes the outcomes if a state never visited has the probability p.
func (o *outcomes) at(dst []outcome, p float64) []outcome {
	dst = append(dst[:0], o.all...)
	for k := range dst {
		if k < o.new {
			dst[k].p *= 1 - p
		} else {
			dst[k].p *= p
		}
	}
	return dst
}

// newOutcomes computes what a new successor of state s may be, given routes to s. Their
// means are those of the base.
func (x *prospects) newOutcomes(o *outcomes, m *meanModel, s int, f, c []float64) {
	far := m.far(s)
	self := m.belief.selfShare(s)
	dst := append(o.all[:0], outcome{p: m.near * self, v: m.values[s], f: f[s], c: c[s]})
	dst = group(dst, m, m.belief.near[s][1:], m.near*(1-self), f, c)
	dst = group(dst, m, m.belief.back[s], 1-m.near-far, f, c)
	sum, e := 0.0, 0
	var y outcome
	flush := func() {
		if y.p > 0 {
			y.v, y.f, y.c = y.v/y.p, y.f/y.p, y.c/y.p
			dst = append(dst, y)
		}
		y = outcome{}
	}
	for _, z := range x.order {
		w := m.global[z]
		if sum+w > binEdges[e] && y.p > 0 {
			flush()
			for e < bins-1 && sum+w > binEdges[e] {
				e++
			}
		}
		sum += w
		w *= far
		y.p += w
		y.v += w * m.values[z]
		y.f += w * f[z]
		y.c += w * c[z]
	}
	flush()
	o.new = len(dst)
	record := 1 / float64(m.counted()+1)
	dst = group(dst, m, x.visited, (1-record)*(1-m.alike), f, c)
	dst = append(dst, outcome{p: (1 - record) * m.alike, v: m.values[s], f: m.gamma * m.belief.nearMean(s, f), c: m.gamma * m.belief.nearMean(s, c)})
	for k := range dst[o.new:] {
		dst[o.new+k].record = x.behind
	}
	// A record is believed to be worth the mean, until it is seen.
	mean := means(dst[o.new:])
	const parts = 3
	for k := range parts {
		v := x.vmax + (x.top-x.vmax)*(float64(k)+0.5)/parts
		dst = append(dst, outcome{p: record / parts, v: mean.v / (1 - record), f: mean.f / (1 - record), c: mean.c / (1 - record), record: v - mean.v/(1-record)})
	}
	o.all = dst
}

// better returns Δ ("What lies behind a new state"), the believed advantage of a state that is better than all visited
// ones. With a probability, the share of pairs that stay in their state, the agent can stay
// there. Otherwise the state pays once in a tour of all states. vmax and vmean are the
// largest and the mean value of states, and top is the largest possible value. zero is
// setZero's number times the horizon.
func better(b *Belief, vmax, vmean, top, zero, horizon float64) float64 {
	stay := b.stayShare()
	return stay*((vmax+top)/2-vmean) + (1-stay)*(1-(vmax-zero)/(top-zero))/2*horizon/float64(b.States()+1)
}

// valueBehind is G ≈ (Δ − κm)²/2Δ ("What lies behind a new state"), the value of finding a state that is
// not better than all others: it may lead to better ones. better is the advantage of the best of these.
// spent is the cost of finding a state times the number of states.
func valueBehind(better, spent float64) float64 {
	if spent >= better {
		return 0
	}
	return (better - spent) * (better - spent) / (2 * better)
}
