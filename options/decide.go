package options

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/bandit"
)

// Decide makes one decision; a Decider makes many without allocating. Only
// Stochastic uses rng.
func Decide(r Rule, p *Problem, rng *rand.Rand) (Decision, error) {
	d, err := NewDecider(r)
	if err != nil {
		return Decision{}, err
	}
	return d.Decide(p, rng)
}

// Decider decides between options by one rule. Its memory grows to the largest
// problem seen, and is kept as long as K stays the same; from then on a decision
// allocates nothing (save with a horizon of arbitrary weights, which is shifted by
// copying). It is not safe for concurrent use.
type Decider struct {
	rule        Rule
	members     int                  // K
	populations []*bandit.Population // of options, by number
	loaded      []float64            // their members, in the order of the models
	table       *bandit.IndexTable
	leads       []lead    // scratch
	ceilings    []float64 // scratch
}

// NewDecider returns a decider; the error says what is wrong with the rule.
func NewDecider(r Rule) (*Decider, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	return &Decider{rule: r}, nil
}

// Decide chooses an option. Of equally good ones it takes the first, and the
// greedy one before all others. With one state, and one step per decision, the
// choices are those of the policies of bandits on the same populations
// (TestOneStateDecidesAsTheBandit), with two differences: Stochastic without Common
// draws a member by its number for every option in turn, so that a policy that draws
// for fewer arms uses other random numbers; and Paired with the score U charges what
// bandit.PairedThreshold does, not what the policy that estimates only P from pairs
// does. It fails if the problem's Check does.
func (d *Decider) Decide(p *Problem, rng *rand.Rand) (Decision, error) {
	if err := p.Check(); err != nil {
		return Decision{}, err
	}
	charge := p.Charge
	if charge == 0 {
		charge = p.Hold
	}
	share := d.rule.Horizon.After(p.Step).Share(charge)
	dec := Decision{Step: p.Step, Choice: p.Greedy, Hold: p.Hold, Capped: p.Capped, Share: share}
	if d.rule.Score != Never && len(p.Arms) > 1 {
		d.resize(p.size())
		best, threshold := d.best(p, share, rng)
		dec.Delta, dec.P, dec.Advantage = best.delta, best.p, best.advantage
		if best.advantage > threshold {
			dec.Choice, dec.Explore = best.option, true
		}
	}
	dec.Option = p.Arms[dec.Choice].Name
	return dec, nil
}

// resize makes room for problems of k members.
func (d *Decider) resize(k int) {
	if k == d.members {
		return
	}
	*d = Decider{rule: d.rule, members: k, leads: make([]lead, k)}
	if d.rule.Score == Index {
		d.table = bandit.NewIndexTable(d.rule.Kind, 1, k)
	}
}

// population returns the values of option x as a population.
func (d *Decider) population(p *Problem, x int) *bandit.Population {
	k := d.members
	for len(d.populations) <= x {
		d.populations = append(d.populations, newPopulation(k))
		d.loaded = append(d.loaded, make([]float64, k)...)
	}
	row, loaded := p.row(x), d.loaded[x*k:(x+1)*k]
	if !slices.Equal(row, loaded) {
		fill(d.populations[x], row)
		copy(loaded, row)
	}
	return d.populations[x]
}

// rival is an option compared with the greedy one.
type rival struct {
	option              int
	advantage, delta, p float64
}

// best returns the option other than the greedy one that has the largest
// advantage, the first of equal ones, and what that has to exceed to be positive
// whatever the rounding.
func (d *Decider) best(p *Problem, share float64, rng *rand.Rand) (best rival, threshold float64) {
	c := comparison{Decider: d, Problem: p, share: share, common: -1, rng: rng}
	switch d.rule.Score {
	case Paired:
		y := p.row(p.Greedy)
		c.mean = mean(y)
		for _, v := range y {
			c.size += math.Abs(v - d.rule.LowerBound)
		}
	case Index:
		y := d.population(p, p.Greedy)
		d.table.Reset(share)
		c.index = d.table.Index(y, d.rule.LowerBound)
	default:
		c.mean = d.population(p, p.Greedy).Mean()
		if d.rule.Common {
			c.common = rng.IntN(d.members)
		}
	}
	best.option = -1
	d.ceilings = d.ceilings[:0]
	promising := -1 // the option with the largest ceiling, which is compared first
	for x := range p.Arms {
		d.ceilings = append(d.ceilings, c.ceiling(x))
		if x != p.Greedy && (promising < 0 || d.ceilings[x] > d.ceilings[promising]) {
			promising = x
		}
	}
	if d.rule.Score == Paired {
		best = c.compare(promising)
	}
	for x := range p.Arms {
		if x == p.Greedy || x == best.option || best.option >= 0 && d.ceilings[x] < best.advantage {
			continue
		}
		if r := c.compare(x); best.option < 0 || r.advantage > best.advantage || r.advantage == best.advantage && x < best.option {
			best = r
		}
	}
	if best.advantage > 0 && (d.rule.Score == Paired || d.rule.Score == MeanValue) {
		size := 0.0
		for _, v := range p.Values {
			if v = math.Abs(v); v > size { // quicker than max, which has to look for NaN
				size = v
			}
		}
		threshold = 1e-14 * (math.Abs(c.mean) + size)
	}
	return best, threshold
}
