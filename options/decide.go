package options

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/bandit"
)

// Decide makes one decision; a Decider makes many without allocating. Only rules that
// draw use rng.
func Decide(c DeciderConfig, p *Problem, rng *rand.Rand) (Decision, error) {
	d, err := NewDecider(c)
	if err != nil {
		return Decision{}, err
	}
	return d.Decide(p, rng)
}

// Decider decides between options by one rule. Its memory grows to the largest
// problem seen, and is kept as long as K stays the same. From then on a decision
// allocates nothing, except with a horizon of arbitrary weights, which is shifted
// by copying. It is not safe for concurrent use.
type Decider struct {
	config DeciderConfig
	memory
	comparison Comparison
	endless    bool    // the horizon does not change with the steps
	cost       int     // the last number of steps that share was asked for
	rho        float64 // and its answer
}

// memory is what a Decider keeps from one problem to the next.
type memory struct {
	members     int                  // K
	populations []*bandit.Population // of options, by number
	loaded      []float64            // their members, in the order of the models
	table       *bandit.IndexTable   // of RuleIndex
	leads       []lead               // scratch, one per member
	ceilings    []float64            // scratch
}

// NewDecider returns a decider; the error says what is wrong with the configuration.
func NewDecider(c DeciderConfig) (*Decider, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	d := &Decider{config: c, endless: math.IsInf(c.Horizon.Rewards(), 1)}
	d.comparison.Config, d.comparison.memory = &d.config, &d.memory
	return d, nil
}

// Decide chooses an option. Of equally good ones it takes the first, and the
// greedy one before all others. With one state, and one step per decision, the
// choices are those of the policies of bandits on the same populations
// (TestOneStateDecidesAsTheBandit), with two differences. RuleOptimisticStochastic without
// Common draws a member by its number for every option in turn, so that a policy that
// draws for fewer arms uses other random numbers. RuleCommonModel with the bound U
// charges what the joint form of docs/theory.md §1.4 does, not what the policy that
// estimates only P from pairs does. Decide fails if the problem's Check does.
func (d *Decider) Decide(p *Problem, rng *rand.Rand) (Decision, error) {
	size, err := p.check()
	if err != nil {
		return Decision{}, err
	}
	dec := Decision{Step: p.Step, Choice: p.Greedy, Other: -1, Hold: p.Hold, Capped: p.Capped, Share: d.share(p, p.cost(p.Greedy))}
	if n := len(p.Arms); n+len(p.Pairs) > 1 {
		if err := d.config.suits(p); err != nil {
			return Decision{}, err
		}
		d.resize(p.size())
		c := &d.comparison
		c.Problem, c.Share, c.RNG, c.largest = *p, dec.Share, rng, size
		best := c.best(d)
		dec.Delta, dec.P, dec.Advantage, dec.Other = best.Delta, best.P, best.Advantage, best.Option
		if best.Option >= 0 && best.Option < n { // the greedy option is held as long as the other would have been
			dec.Hold, dec.Share = d.Trial(p, best.Option)
		}
		switch {
		case best.Advantage <= 0:
		case c.exact || best.Advantage > c.rounding():
			dec.Choice, dec.Explore = best.Option, true
		default: // rounding alone
			dec.Advantage = 0
		}
	}
	if dec.Choice >= len(p.Arms) {
		dec.Capped = false
		dec.Hold, dec.Share = d.Trial(p, dec.Choice)
	} else {
		dec.Option = p.Arms[dec.Choice].Name
	}
	return dec, nil
}

// Trial returns for how many steps option x is held if it is chosen, and ρ, the share of the horizon left that counts
// as exploration then.
func (d *Decider) Trial(p *Problem, x int) (hold int, share float64) {
	if i := x - len(p.Arms); i >= 0 {
		steps := int(math.Ceil(p.Pairs[i].Steps))
		return steps, d.share(p, steps)
	}
	return p.hold(x), d.share(p, p.cost(x))
}

// share returns ρ, the share of the horizon left that a number of steps takes.
func (d *Decider) share(p *Problem, cost int) float64 {
	if !d.endless || cost != d.cost {
		d.cost, d.rho = cost, d.left(p).Share(cost)
	}
	return d.rho
}

// left returns the horizon that is left.
func (d *Decider) left(p *Problem) bandit.Horizon {
	past := p.Step
	if p.Left > 0 && !d.endless {
		past = max(int(d.config.Horizon.Rewards())-p.Left, 0)
	}
	return d.config.Horizon.After(past)
}

// suits returns an error if the rule cannot compare the problem's options.
func (c *DeciderConfig) suits(p *Problem) error {
	switch {
	case c.Rule == RuleNever:
	case c.Rule.Trials && len(p.Trials) < len(p.Arms):
		return fmt.Errorf("options: the rule %s needs the trials of %d options, and there are %d", c.Rule.String(), len(p.Arms), len(p.Trials))
	case c.Rule == RuleGain && len(p.Arms) > 1:
		return fmt.Errorf("options: the rule %s decides between pairs, and option %s is none; offer options of kind %s only", c.Rule.String(), p.Arms[1].Name, Pairs.String())
	case c.Rule != RuleGain && len(p.Pairs) > 0:
		return fmt.Errorf("options: the rule %s compares values in models, which options of kind %s do not have; use the rule %s", c.Rule.String(), Pairs.String(), RuleGain.String())
	}
	return nil
}

// best returns the result of the option, other than the greedy one, that has the
// largest advantage, the first of equal ones. Each is charged for the steps for which it
// would be held.
func (c *Comparison) best(d *Decider) ComparisonResult {
	c.Config.Rule.begin(c)
	if slices.ContainsFunc(c.Arms, func(a Arm) bool { return a.Steps > 0 }) {
		return c.bestPlain(d)
	}
	if best := c.Config.Rule.best; best != nil {
		return best(c)
	}
	return c.bestPlain(nil)
}

// bestPlain is best by comparing all, with shares of d; nil: all have the same.
func (c *Comparison) bestPlain(d *Decider) ComparisonResult {
	best := ComparisonResult{Option: -1}
	for x := range c.Arms {
		if x == c.Greedy {
			continue
		}
		if d != nil {
			c.Share = d.share(&c.Problem, c.cost(x))
		}
		if r := c.Config.Rule.compare(c, x); best.Option < 0 || r.Advantage > best.Advantage {
			best = r
		}
	}
	return best
}

// rounding returns what an advantage has to exceed to be positive whatever the
// rounding.
func (c *Comparison) rounding() float64 {
	return 1e-14 * (math.Abs(c.mean) + c.largest)
}

// resize makes room for problems of k members.
func (m *memory) resize(k int) {
	if k != m.members {
		*m = memory{members: k, leads: make([]lead, k)}
	}
}

// population returns the values of option x as a population.
func (m *memory) population(p *Problem, x int) *bandit.Population {
	k := m.members
	for len(m.populations) <= x {
		m.populations = append(m.populations, newPopulation(k))
		m.loaded = append(m.loaded, make([]float64, k)...)
	}
	row, loaded := p.row(x), m.loaded[x*k:(x+1)*k]
	if !slices.Equal(row, loaded) {
		fill(m.populations[x], row)
		copy(loaded, row)
	}
	return m.populations[x]
}

// newPopulation returns a population of k members for fill.
func newPopulation(k int) *bandit.Population {
	p, err := bandit.NewPopulation(make([]float64, k), bandit.PopulationConfig{Mode: bandit.DrawnMember, Step: 1})
	if err != nil {
		panic(fmt.Sprintf("options: a population of zeros cannot be made: %v", err))
	}
	return p
}

// fill gives a population of newPopulation new members, which are finite, without
// allocating.
func fill(p *bandit.Population, values []float64) {
	if err := p.Reset(values); err != nil {
		panic(fmt.Sprintf("options: a population cannot be filled: %v", err))
	}
}
