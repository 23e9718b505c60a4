package voi

// The law of gains (docs/theory.md §3.8): under a correct belief, what the steps that explore are
// expected to gain adds up to the reward of the run less the value of never exploring.

// count adds to Σ A ("The law of gains") for a step that explores, its gain less its gap: action a in state s, which tries the pair that is pursued or
// is on the way to it.
func (p *Planner) count(s, a int, tries bool) {
	i := s*p.belief.actions + a
	if a != int(p.model.policy[s]) {
		p.strays++
	}
	gain := -p.model.gap[i]
	if tries {
		p.tries++
		gain += p.gains.promised[i]
	}
	p.predicted += gain * p.belief.scale
}

// Predicted returns what the steps that explored so far were expected to gain, in rewards: for each
// of them the gain of the pair that it tried, less its gap.
func (p *Planner) Predicted() float64 { return p.predicted }

// settles is after how many steps the reward of random actions is taken to stay as it is.
const settles = 1000

// Random returns the mean reward of a run of so many steps of uniformly random actions, by what
// pairs have shown. Actions that were never tried are left out, and a state in which none was tried
// leads to the beginning. It changes nothing.
func (p *Planner) Random(steps int) float64 {
	b := p.belief
	at, next := make([]float64, b.size()), make([]float64, b.size())
	begin := func(to []float64, w float64) {
		if b.end < 0 {
			to[0] += w
			return
		}
		row := &b.pairs[int(b.end)*b.actions]
		for k, y := range row.next {
			to[y] += w * row.count[k] / row.n
		}
	}
	begin(at, 1)
	until := min(steps, settles)
	sum, late := 0.0, 0.0 // late is the reward of the second half
	for t := range until {
		clear(next)
		reward := 0.0
		for s, w := range at {
			pairs, tried := b.pairs[s*b.actions:(s+1)*b.actions], 0.0
			for i := range pairs {
				tried += min(1, pairs[i].n)
			}
			if tried == 0 {
				reward += w * b.meanReward()
				begin(next, w)
				continue
			}
			for i := range pairs {
				x := &pairs[i]
				reward += w * min(1, x.n) / tried * x.mean
				for k, y := range x.next {
					if v := w / tried * x.count[k] / x.n; b.ends(int(y)) {
						begin(next, v)
					} else {
						next[y] += v
					}
				}
			}
		}
		sum += reward
		if t >= until/2 {
			late += reward
		}
		at, next = next, at
	}
	sum += late / float64(until-until/2) * float64(steps-until)
	return b.low + b.scale*sum/float64(steps)
}
