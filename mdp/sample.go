package mdp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
)

// SampleConfig governs SampleMixing. The zero value is useful.
type SampleConfig struct {
	MixingConfig
	Pairs int // number of pairs; default 256
	// BurnIn is the number of steps after which a walk that began in the initial
	// distribution counts as stationary. Up to as many again are added at random,
	// so that a periodic chain is met in all its phases. Default 20,000.
	BurnIn int
	Seed   uint64 // of the random numbers
}

// MixingSample estimates the mean exploration mixing time over states under the
// stationary distribution and the actions that the policy does not take, from
// independent pairs of those.
type MixingSample struct {
	Eta, Epsilon float64 // thresholds, as in Mixing
	Pairs        []Pair  // that were drawn
	T            []int   // of each pair, Never when it is never forgotten
	Extrapolated []bool  // T is an estimate from the rate of the last steps
	// Mean of T and its percentile bootstrap interval of confidence 0.95; +Inf when some T is Never.
	// The largest T of all pairs is not to be learned by sampling.
	Mean, Low, High float64
	Why             error // as in Mixing
}

// SampleMixing is for models too large for MixingTime. Each pair's deviation is
// propagated as a sparse vector until it is forgotten: exactly, as distances do
// not increase. A pair that is not after MaxSteps (100,000) has its time
// extrapolated from the rate of the last 64 steps. Pairs are shared between
// processors; the result depends on the seed only.
func SampleMixing(m *Tabular, pi Policy, o SampleConfig) (*MixingSample, error) {
	n := m.NumStates()
	eta, epsilon, err := o.thresholds(n)
	if err != nil {
		return nil, err
	}
	setDefault(&o.Pairs, 256)
	setDefault(&o.BurnIn, 20_000)
	setDefault(&o.MaxSteps, 100_000)
	c, err := Induce(m, pi)
	if err != nil {
		return nil, err
	}
	f, err := c.fate(c.Structure())
	if err != nil {
		return nil, err
	}
	out := &MixingSample{Eta: eta, Epsilon: epsilon,
		Pairs: make([]Pair, o.Pairs), T: make([]int, o.Pairs), Extrapolated: make([]bool, o.Pairs)}
	var next atomic.Int64
	reasons := make([]*MissingError, o.Pairs)
	var wg sync.WaitGroup
	for range min(numBlocks(math.MaxInt), o.Pairs) {
		wg.Go(func() {
			p := &pairSampler{m: m, pi: pi, c: c, f: f, o: o, threshold: 2 * eta, now: newScatter(n), then: newScatter(n)}
			for i := int(next.Add(1)) - 1; i < o.Pairs; i = int(next.Add(1)) - 1 {
				rng := rand.New(rand.NewPCG(o.Seed, uint64(i)))
				pair := p.draw(rng)
				out.Pairs[i] = pair
				out.T[i], out.Extrapolated[i], reasons[i] = p.time(pair)
			}
		})
	}
	wg.Wait()
	for _, why := range reasons {
		if why != nil {
			out.Why = why
			break
		}
	}
	values := make([]float64, o.Pairs)
	for i, t := range out.T {
		if values[i] = float64(t); t == Never {
			values[i] = math.Inf(1)
		}
	}
	out.Mean, out.Low, out.High = bootstrapMean(values, rand.New(rand.NewPCG(o.Seed, math.MaxUint64)))
	return out, nil
}

func setDefault(x *int, value int) {
	if *x <= 0 {
		*x = value
	}
}

// bootstrapMean returns the mean and its percentile bootstrap interval of confidence 0.95
// (Efron 1979) from 1000 resamples.
func bootstrapMean(values []float64, rng *rand.Rand) (mean, low, high float64) {
	const resamples = 1000
	for _, x := range values {
		mean += x / float64(len(values))
	}
	means := make([]float64, resamples)
	for b := range means {
		for range values {
			means[b] += values[rng.IntN(len(values))] / float64(len(values))
		}
	}
	slices.Sort(means)
	return mean, means[resamples/40], means[resamples*39/40]
}

// pairSampler draws pairs and finds their mixing times.
type pairSampler struct {
	m         *Tabular
	pi        Policy
	c         *Chain
	f         *fate
	o         SampleConfig
	threshold float64
	now, then *scatter
}

// draw walks to a state and takes an action at random among those that the
// policy never takes there, or among all if there is none.
func (p *pairSampler) draw(rng *rand.Rand) Pair {
	s := p.m.Start(rng)
	for range p.o.BurnIn + rng.IntN(p.o.BurnIn) {
		lo, hi := p.c.start[s], p.c.start[s+1]
		k := lo
		if hi-lo > 1 {
			k += draw(p.c.prob[lo:hi], rng)
		}
		s = int(p.c.next[k])
	}
	taken := make([]float64, p.m.NumActions())
	Distribution(taken, p.m, p.pi, s)
	var all, others []int
	for a, x := range taken {
		if p.m.Available(s, a) {
			if all = append(all, a); x == 0 {
				others = append(others, a)
			}
		}
	}
	if len(others) == 0 {
		others = all
	}
	return Pair{s, others[rng.IntN(len(others))]}
}

// time propagates the deviation of a pair until it is forgotten.
func (p *pairSampler) time(pair Pair) (t int, extrapolated bool, why *MissingError) {
	index, value := deviation(p.m, p.c, pair.S, pair.A, p.now)
	if limit, perSlot := p.f.norm(index, value); limit >= p.threshold*(1-knifeEdge) {
		if why = p.f.explain(perSlot); why != nil {
			why.Why = fmt.Sprintf("taking action %d in state %d is never forgotten, %s", pair.A, pair.S, why.Why)
		}
		return Never, false, why
	}
	norm := 0.0
	for k, s := range index {
		p.now.add(s, value[k])
		norm += math.Abs(value[k])
	}
	defer func() { p.now.drain(nil, nil) }()
	const window = 64
	var past [window]float64
	for t = 1; norm >= p.threshold; t++ {
		if t > p.o.MaxSteps {
			rate := math.Log(past[t%window]/norm) / (window - 1)
			if more := math.Ceil(math.Log(norm/p.threshold) / rate); rate > 0 && more < 1e15 {
				return t + int(more), true, nil
			}
			return Never, true, nil
		}
		past[t%window] = norm
		norm = p.step()
	}
	return t, false, nil
}

// step moves the vector one step on and returns its norm. Masses below 1e-15 of
// the threshold are dropped. So the support stays the distribution's own and does not
// grow to all reachable states.
func (p *pairSampler) step() float64 {
	for _, s := range p.now.support {
		x := p.now.value[s]
		p.now.value[s], p.now.present[s] = 0, false
		if math.Abs(x) < 1e-15*p.threshold {
			continue
		}
		lo, hi := p.c.start[s], p.c.start[s+1]
		prob := p.c.prob[lo:hi]
		for k, t := range p.c.next[lo:hi] {
			p.then.add(t, x*prob[k])
		}
	}
	p.now.support = p.now.support[:0]
	p.now, p.then = p.then, p.now
	norm := 0.0
	for _, s := range p.now.support {
		norm += math.Abs(p.now.value[s])
	}
	return norm
}
