package mdp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/internal/resample"
)

// RewardPrior is a conjugate prior of the mean reward of one (s,a), given the
// moments of its rewards.
type RewardPrior interface {
	// Mean returns the posterior mean.
	Mean(seen Moments) float64
	// Sample draws a mean reward from the posterior.
	Sample(seen Moments, rng *rand.Rand) float64
}

// BetaReward is the prior Beta(A,B), A, B > 0, of rewards in [0,1]. A reward
// between the ends counts as that much of a success.
type BetaReward struct{ A, B float64 }

// Mean implements RewardPrior.
func (p BetaReward) Mean(x Moments) float64 { return (p.A + x.N*x.Mean) / (p.A + p.B + x.N) }

// Sample implements RewardPrior.
func (p BetaReward) Sample(x Moments, rng *rand.Rand) float64 {
	a := logGamma(max(p.A+x.N*x.Mean, 1e-300), rng)
	b := logGamma(max(p.B+x.N*(1-x.Mean), 1e-300), rng)
	return 1 / (1 + math.Exp(b-a))
}

// logGamma draws the logarithm of a gamma variate of the given shape. Below one
// it is that of shape+1, lowered by log(U)/shape: at small shapes the variate
// itself underflows to zero.
func logGamma(shape float64, rng *rand.Rand) float64 {
	if shape < 1 {
		u := 1 - rng.Float64() // in (0,1]
		return logGamma(shape+1, rng) + math.Log(u)/shape
	}
	return math.Log(gamma(shape, rng))
}

// gamma draws a gamma variate of shape 1 or more: an exponential one, or by Marsaglia & Tsang
// (2000), which seldom takes a logarithm.
func gamma(shape float64, rng *rand.Rand) float64 {
	if shape == 1 {
		return rng.ExpFloat64()
	}
	d := shape - 1./3
	c := 1 / (3 * math.Sqrt(d))
	for {
		x := rng.NormFloat64()
		v := 1 + x*c
		if v <= 0 {
			continue
		}
		v = v * v * v
		u := rng.Float64()
		if u < 1-0.0331*(x*x)*(x*x) || math.Log(u) < 0.5*x*x+d*(1-v+math.Log(v)) {
			return d * v
		}
	}
}

// Dirichlet is the conjugate posterior with an independent Dirichlet row for
// every (s,a) and an independent mean reward (Strens 2000).
type Dirichlet struct {
	*Counts
	alpha   float64
	seen    bool
	rewards RewardPrior
	logs    []float64
	drawn   *scatter         // a row of a draw, where few of many successors get a probability
	latest  incrementalModel // of the mean
}

// DirichletPrior describes what is believed before the first step.
type DirichletPrior struct {
	States, Actions int // numbers of states and actions, at least 1 each
	// Alpha is the parameter of each successor, > 0. Default 1/S.
	Alpha float64
	// SeenOnly gives probability to successors that have been seen only, and makes
	// a pair that has not been tried a self-loop. A plain Dirichlet lets such pairs
	// lead anywhere, so that they mix at once, and mixing times come out too short
	// (docs/theory.md §2.5).
	SeenOnly bool
	Rewards  RewardPrior // default Beta(1,1)
}

// NewDirichlet returns the prior as a belief.
func NewDirichlet(p DirichletPrior) (*Dirichlet, error) {
	c, err := NewCounts(p.States, p.Actions)
	if err != nil {
		return nil, err
	}
	if p.Alpha == 0 {
		p.Alpha = 1 / float64(p.States)
	}
	if !(p.Alpha > 0) || math.IsInf(p.Alpha, 0) {
		return nil, fmt.Errorf("mdp: Dirichlet parameter %v is not positive", p.Alpha)
	}
	if p.Rewards == nil {
		p.Rewards = BetaReward{1, 1}
	}
	if r, ok := p.Rewards.(BetaReward); ok && !(r.A > 0 && r.B > 0) {
		return nil, fmt.Errorf("mdp: parameters of %+v are not positive", r)
	}
	return &Dirichlet{Counts: c, alpha: p.Alpha, seen: p.SeenOnly, rewards: p.Rewards, logs: make([]float64, p.States)}, nil
}

// Mean returns the model of expected probabilities and rewards.
func (d *Dirichlet) Mean() *Tabular {
	return d.fill(nil, func(s, _ int, row *countRow, t *Tabular) { d.meanRow(t, s, row) })
}

// Update learns from one step: action a in state s had this reward and led to next.
func (d *Dirichlet) Update(s, a int, reward float64, next int) {
	d.Counts.Update(s, a, reward, next)
	d.latest.change(s*d.actions + a)
}

// UpdateReward learns from the reward of a step, without its successor.
func (d *Dirichlet) UpdateReward(s, a int, reward float64) {
	d.Counts.UpdateReward(s, a, reward)
	d.latest.change(s*d.actions + a)
}

// meanRow appends a row of the mean to t.
func (d *Dirichlet) meanRow(t *Tabular, s int, row *countRow) {
	t.reward = append(t.reward, d.rewards.Mean(row.reward))
	total := row.total + d.alpha*float64(d.support(row))
	d.successors(s, row, func(next int32, count float64) {
		t.next = append(t.next, next)
		if total == 0 {
			t.prob = append(t.prob, 1) // the self-loop
		} else {
			t.prob = append(t.prob, (d.alpha+count)/total)
		}
	})
}

// support returns how many successors have a Dirichlet parameter.
func (d *Dirichlet) support(row *countRow) int {
	if d.seen {
		return len(row.next)
	}
	return d.states
}

// successors calls f for the possible successors in increasing order.
func (d *Dirichlet) successors(s int, row *countRow, f func(next int32, count float64)) {
	switch {
	case d.seen && len(row.next) == 0:
		f(int32(s), 0)
	case d.seen:
		for k, t := range row.next {
			f(t, row.count[k])
		}
	default:
		k := 0
		for t := range int32(d.states) {
			if k < len(row.next) && row.next[k] == t {
				f(t, row.count[k])
				k++
			} else {
				f(t, 0)
			}
		}
	}
}

// improbable is the probability below which a drawn successor is left out. Of a
// million of them all together change a value by less than 1e-6 of its range.
const improbable = 1e-12

// Sample draws a model.
func (d *Dirichlet) Sample(rng *rand.Rand) *Tabular { return d.SampleInto(nil, rng) }

// SampleInto is Sample in the memory of an earlier sample, which it overwrites.
// Successors with a probability below 1e-12 are left out. If alpha is small against 1
// these are most of them, and the model is sparse. If many are unseen, they are not even
// drawn.
func (d *Dirichlet) SampleInto(t *Tabular, rng *rand.Rand) *Tabular {
	return d.fill(t, func(s, _ int, row *countRow, t *Tabular) {
		t.reward = append(t.reward, d.rewards.Sample(row.reward, rng))
		if m := d.support(row) - len(row.next); float64(m) > manyUnseen*(1+float64(m)*d.alpha) {
			d.sampleSparse(t, row, m, rng)
		} else {
			d.sampleDense(t, s, row, rng)
		}
	})
}

// sampleDense appends a drawn row: gamma variates, normalised. Those of shapes below one may
// underflow, and are normalised in log space.
func (d *Dirichlet) sampleDense(t *Tabular, s int, row *countRow, rng *rand.Rand) {
	first, n, largest := len(t.next), 0, math.Inf(-1)
	if d.alpha >= 1 {
		sum, next, prob := 0.0, slices.Grow(t.next, d.states), slices.Grow(t.prob, d.states)
		d.successors(s, row, func(u int32, count float64) {
			x := gamma(d.alpha+count, rng)
			next, prob = append(next, u), append(prob, x)
			sum += x
		})
		t.next, t.prob = next, prob
		t.normalise(first, sum)
		return
	}
	d.successors(s, row, func(next int32, count float64) {
		t.next = append(t.next, next)
		d.logs[n] = logGamma(d.alpha+count, rng)
		largest = max(largest, d.logs[n])
		n++
	})
	sum := 0.0
	for _, x := range d.logs[:n] {
		t.prob = append(t.prob, math.Exp(x-largest))
		sum += t.prob[len(t.prob)-1]
	}
	t.normalise(first, sum)
}

// normalise divides the probabilities of the row that begins at first by their sum, and
// leaves out what is improbable then.
func (t *Tabular) normalise(first int, sum float64) {
	next, prob := t.next[first:], t.prob[first:len(t.next)]
	kept := 0
	for k, x := range prob {
		if p := x / sum; p > improbable {
			next[kept], prob[kept] = next[k], p
			kept++
		}
	}
	t.next, t.prob = t.next[:first+kept], t.prob[:first+kept]
}

// manyUnseen is the number of unseen successors that counts as many, for each one
// that is expected to matter. If their parameters add up to one, some 28 get a
// probability.
const manyUnseen = 32

// sampleSparse appends a drawn row, m of whose successors have not been seen. Together
// these get the probability of one successor with parameter mα. It is divided in
// size-biased order. A random point falls on one of the m equal successors; this one has
// a share Beta(1+α, (m-1)α), and it is any of them with the same chance. The others
// divide the rest likewise (Pitman 1996, "Some developments of the Blackwell-MacQueen
// urn scheme"). The rest falls by a constant factor each time, so few have been drawn
// when it is negligible.
func (d *Dirichlet) sampleSparse(t *Tabular, row *countRow, m int, rng *rand.Rand) {
	if d.drawn == nil {
		d.drawn = newScatter(d.states)
	}
	unseen := logGamma(float64(m)*d.alpha, rng)
	logs, largest := d.logs[:len(row.next)], unseen
	for k, count := range row.count {
		logs[k] = logGamma(d.alpha+count, rng)
		largest = max(largest, logs[k])
	}
	rest := math.Exp(unseen - largest)
	sum := rest
	for k, x := range logs {
		p := math.Exp(x - largest)
		d.drawn.add(row.next[k], p)
		sum += p
	}
	for ; rest > improbable*sum && m > 0; m-- {
		next := int32(rng.IntN(d.states))
		for d.drawn.present[next] {
			next = int32(rng.IntN(d.states))
		}
		left := 0.0
		if m > 1 {
			left = biasedRest(d.alpha, float64(m-1)*d.alpha, rng)
		}
		d.drawn.add(next, rest*(1-left))
		rest *= left
	}
	first := len(t.next)
	t.next, t.prob = d.drawn.drain(t.next, t.prob)
	t.normalise(first, sum)
}

// biasedRest draws 1-W for W ~ Beta(1+a, b), where a is small. It draws W ~ Beta(1,b),
// whose 1-W is a power of a uniform variate, and keeps W with probability W^a.
func biasedRest(a, b float64, rng *rand.Rand) float64 {
	for {
		rest := math.Exp(-rng.ExpFloat64() / b)
		// The bound -log W ≤ 1/W - 1 mostly does in place of the logarithm.
		if e := rng.ExpFloat64(); e*(1-rest) >= a*rest || e >= -a*math.Log1p(-rest) {
			return rest
		}
	}
}

// Bootstrap approximates a posterior by models that have each seen the data with
// random weights (the online bootstrap; Oza & Russell 2001). Every member starts
// from its own draw of a prior, which counts as a number of observations.
type Bootstrap struct {
	members []*Counts
	prior   []*Tabular
	weight  float64
	mask    Mask
	weights []float64 // of the last observation
	rng     *rand.Rand
	latest  []incrementalModel // of the members, and the mean
	scratch *scatter
}

// Mask is the distribution of the weight that an observation has for a member.
type Mask = resample.Mode

// The masks, each with mean one.
const (
	Poisson         = resample.Arrivals        // weights 0, 1, 2, … from Poisson(1) (Oza & Russell 2001)
	DoubleOrNothing = resample.DoubleOrNothing // 2 or 0, with probability one half each
	Exponential     = resample.Exponential     // weights from Exp(1), the Bayesian bootstrap (Rubin 1981)
)

// NewBootstrap returns members bootstrap models. Each begins with a draw of prior
// that weighs as much as weight > 0 observations of every (s,a). The masks are
// drawn from a stream of seed.
func NewBootstrap(prior *Dirichlet, members int, weight float64, mask Mask, seed uint64) (*Bootstrap, error) {
	if members < 1 || !(weight > 0) || math.IsInf(weight, 0) || mask != Poisson && mask != DoubleOrNothing && mask != Exponential {
		return nil, fmt.Errorf("mdp: no bootstrap has %d members, prior weight %v and mask %v", members, weight, mask)
	}
	b := &Bootstrap{weight: weight, mask: mask, weights: make([]float64, members), rng: rand.New(rand.NewPCG(seed, 0))}
	for range members {
		c, err := NewCounts(prior.states, prior.actions)
		if err != nil {
			return nil, err
		}
		b.members = append(b.members, c)
		b.prior = append(b.prior, prior.Sample(b.rng))
	}
	return b, nil
}

// Update learns from one step, as that of Dirichlet does.
func (b *Bootstrap) Update(s, a int, reward float64, next int) {
	b.mask.Draw(b.weights, 0, -1, b.rng)
	for k, c := range b.members {
		c.add(s, a, reward, next, b.weights[k])
	}
	for k := range b.latest {
		b.latest[k].change(s*b.members[0].actions + a)
	}
}

// Len returns the number of members.
func (b *Bootstrap) Len() int { return len(b.members) }

// Member returns the model of a member.
func (b *Bootstrap) Member(k int) *Tabular { return b.mix(b.members[k:k+1], b.prior[k:k+1]) }

// Mean returns the mean of the members.
func (b *Bootstrap) Mean() *Tabular { return b.mix(b.members, b.prior) }

// Sample returns a member at random.
func (b *Bootstrap) Sample(rng *rand.Rand) *Tabular { return b.Member(rng.IntN(len(b.members))) }

// mix returns the mean of members, each the weighted mean of its counts and its
// prior.
func (b *Bootstrap) mix(members []*Counts, prior []*Tabular) *Tabular {
	x := newScatter(members[0].states)
	return members[0].fill(nil, func(s, a int, _ *countRow, t *Tabular) { b.mixRow(t, x, members, prior, s, a) })
}

// mixRow appends a row of the mean of members to t. v is empty before and after.
func (b *Bootstrap) mixRow(t *Tabular, v *scatter, members []*Counts, prior []*Tabular, s, a int) {
	share := 1 / float64(len(members))
	reward := 0.0
	for k, c := range members {
		row := &c.rows[s*c.actions+a]
		f := share / (b.weight + row.total)
		next, prob := prior[k].Transition(s, a)
		for j, u := range next {
			v.add(u, f*b.weight*prob[j])
		}
		for j, u := range row.next {
			v.add(u, f*row.count[j])
		}
		reward += f * (b.weight*prior[k].Reward(s, a) + row.total*row.reward.Mean)
	}
	t.next, t.prob = v.drain(t.next, t.prob)
	t.reward = append(t.reward, reward)
}
