package bandit

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/internal/resample"
)

// Population is a belief over the mean reward of one arm held as K point
// estimates of equal weight, the online bootstrap of the paper.
//
// Members are kept in descending order; member m (0 ≤ m < K) is the (m+1)-th
// largest and Identity(m) says which of the original members it is. While all
// members learn alike, an update is the same affine map of each. It is carried
// as value = scale·x + shift, so it is O(1) and never changes the order. The
// struct is one cache line; the members of the arms of one NewPopulations call
// lie in one array.
//
// A copy of a Population shares its members. Methods are not safe for concurrent
// use.
type Population struct {
	x            []float64 // descending
	scale, shift float64
	mean         float64 // of x, before scale and shift
	pulls        uint32
	drawn        int32 // -1: no draw since the last update
	rule         *populationShared
}

// populationShared is the part of a Population that its hot paths seldom read.
type populationShared struct {
	PopulationConfig
	varies bool    // steps differ between members or pulls
	ids    []int32 // ids[m] is the original place of member m
	// above is the last result of IndexTable.above, and the table's kind and share.
	above struct {
		kind  IndexKind // −1 after a change of members
		share float64
		value float64
	}
}

// UpdateMode says which members of a Population learn from a reward. Its String is the
// name in configs, such as "all".
type UpdateMode = resample.Mode

const (
	// AllMembers moves every member by the same step, as in the experiments
	// of the paper. Its spread is then a schedule, not a posterior.
	AllMembers = resample.All
	// DrawnMember moves the member last returned by Sample or Take only
	// (the paper's equation "bootstrap", with step α for r): each member
	// sees about one K-th of the data.
	DrawnMember = resample.Drawn
	// BernoulliMask moves each member with probability Mask.
	BernoulliMask = resample.Bernoulli
	// ExponentialWeights moves each member by α·ν, ν ~ Exp(1), clipped to
	// [0,1] (the paper's footnote).
	ExponentialWeights = resample.Exponential
	// PoissonWeights moves each member ν ~ Poisson(1) times, that is by
	// 1−(1−α)^ν (Oza & Russell 2001).
	PoissonWeights = resample.Poisson
	// IndependentMember moves one member, drawn anew for every reward, whichever was
	// drawn to select the arm.
	IndependentMember = resample.Independent
)

// ParseUpdateMode reads the name that String gives.
func ParseUpdateMode(name string) (UpdateMode, error) {
	return resample.Parse(name, IndependentMember)
}

// PopulationConfig says how a Population learns. The zero value is the
// paper's experiment: every member moves by a constant step.
type PopulationConfig struct {
	Mode UpdateMode // which members learn from a reward; default AllMembers
	// Step is the constant step size α in (0,1]; 0 means 0.01.
	Step float64
	// Schedule, if set, gives the step size in [0,1] of the n-th pull of the
	// arm (n ≥ 1) instead of Step; see HarmonicStep. It is called once an
	// update; values outside [0,1] are clipped.
	Schedule func(n int) float64
	// Mask is the probability in (0,1] that BernoulliMask moves a member; 0
	// means 1/2.
	Mask float64
}

// HarmonicStep is the schedule α_n = 1/(n+prior). With prior 0 the members
// become the sample mean of the rewards, which forgets the initial members at
// the first pull. With prior 1 each initial member counts as one reward.
func HarmonicStep(prior float64) func(n int) float64 {
	return func(n int) float64 { return 1 / (float64(n) + prior) }
}

func (o PopulationConfig) complete() (PopulationConfig, error) {
	if o.Step == 0 {
		o.Step = 0.01
	}
	if o.Mask == 0 {
		o.Mask = 0.5
	}
	switch {
	case o.Mode < AllMembers || o.Mode > IndependentMember:
		return o, fmt.Errorf("unknown update mode %d", int(o.Mode))
	case !(o.Step > 0 && o.Step <= 1):
		return o, fmt.Errorf("step size %v is not in (0,1]", o.Step)
	case !(o.Mask > 0 && o.Mask <= 1):
		return o, fmt.Errorf("mask probability %v is not in (0,1]", o.Mask)
	}
	return o, nil
}

// vary reports whether steps differ between members or pulls.
func (o PopulationConfig) vary() bool { return o.Mode != AllMembers || o.Schedule != nil }

// NewPopulation returns a population with the given members, copied: at least
// one, all finite.
func NewPopulation(members []float64, opts PopulationConfig) (*Population, error) {
	opts, err := opts.complete()
	if err != nil {
		return nil, err
	}
	if len(members) == 0 {
		return nil, errors.New("a population needs at least one member")
	}
	p := new(Population)
	if err := p.init(slices.Clone(members), make([]int32, len(members)), &populationShared{PopulationConfig: opts, varies: opts.vary()}); err != nil {
		return nil, err
	}
	return p, nil
}

// mostMembers is how many members populations may have together: 1.5 GiB.
const mostMembers = 1 << 27

// NewPopulations returns the populations of n ≥ 1 arms, k ≥ 1 members each,
// drawn arm by arm from the prior, with their members in one array.
func NewPopulations(n, k int, prior Belief, opts PopulationConfig, rng *rand.Rand) ([]Population, error) {
	opts, err := opts.complete()
	if err != nil {
		return nil, err
	}
	if n < 1 || k < 1 {
		return nil, fmt.Errorf("%d arms of %d members: at least one of each is needed", n, k)
	}
	if n > mostMembers/k {
		return nil, fmt.Errorf("%d arms of %d members are too many: at most %d members in all", n, k, mostMembers)
	}
	arms := make([]Population, n)
	x := make([]float64, n*k)
	ids := make([]int32, n*k)
	rules := make([]populationShared, n)
	for i := range arms {
		members := x[i*k : (i+1)*k : (i+1)*k]
		for m := range members {
			members[m] = prior.Sample(rng)
		}
		rules[i].PopulationConfig, rules[i].varies = opts, opts.vary()
		if err := arms[i].init(members, ids[i*k:(i+1)*k:(i+1)*k], &rules[i]); err != nil {
			return nil, err
		}
	}
	return arms, nil
}

// init takes over x, ids and rule.
func (p *Population) init(x []float64, ids []int32, rule *populationShared) error {
	for m, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("member %d of a population is %v", m, v)
		}
		ids[m] = int32(m)
	}
	rule.ids = ids
	*p = Population{x: x, scale: 1, drawn: -1, rule: rule}
	p.resort()
	p.resum()
	return nil
}

// Reset gives p other members, as many as it has, and forgets its updates: it is
// then, to the bit, what NewPopulation makes of them with the same options. It
// allocates nothing. The error says which member is not finite; p is of no use then.
func (p *Population) Reset(members []float64) error {
	if len(members) != len(p.x) {
		panic("bandit: bad members length")
	}
	copy(p.x, members)
	return p.init(p.x, p.rule.ids, p.rule)
}

// at is the value of member m. The conversion keeps the product from being
// fused into the sum, so that all machines agree to the bit.
func (p *Population) at(m int) float64 { return float64(p.scale*p.x[m]) + p.shift }

// Len returns K.
func (p *Population) Len() int { return len(p.x) }

// Pulls returns the number of updates so far.
func (p *Population) Pulls() int { return int(p.pulls) }

// Member returns the (m+1)-th largest member, 0 ≤ m < K.
func (p *Population) Member(m int) float64 { return p.at(m) }

// Members writes all K members to dst in descending order.
func (p *Population) Members(dst []float64) {
	if len(dst) != len(p.x) {
		panic("bandit: bad dst length")
	}
	for m := range dst {
		dst[m] = p.at(m)
	}
}

// Identity returns the place in the original order, 0 ≤ k < K, of member m.
func (p *Population) Identity(m int) int { return int(p.rule.ids[m]) }

// Identified returns the present value of original member k, 0 ≤ k < K, in
// O(K).
func (p *Population) Identified(k int) float64 {
	m := slices.Index(p.rule.ids, int32(k))
	if m < 0 {
		panic("bandit: no such member")
	}
	return p.at(m)
}

// Max returns the largest member.
func (p *Population) Max() float64 { return p.at(0) }

// Min returns the smallest member.
func (p *Population) Min() float64 { return p.at(len(p.x) - 1) }

// Mean returns the mean of the members.
func (p *Population) Mean() float64 { return float64(p.scale*p.mean) + p.shift }

// Rank returns the number of members at least as large as member m: m+1, or
// more with ties. P(q ≥ Member(m)) = Rank(m)/K.
func (p *Population) Rank(m int) int {
	v := p.at(m)
	for m++; m < len(p.x) && p.at(m) == v; m++ {
	}
	return m
}

// Take remembers member m as the drawn one, for DrawnMember updates, and returns its
// value. It is Sample for callers who draw m themselves.
func (p *Population) Take(m int) float64 {
	p.drawn = int32(m)
	return p.at(m)
}

// Sample draws a member uniformly, remembers it for DrawnMember updates, and returns
// its value.
func (p *Population) Sample(rng *rand.Rand) float64 { return p.Take(rng.IntN(len(p.x))) }

// count is the number of members ≥ x, by bisection.
func (p *Population) count(x float64) int {
	lo, hi := 0, len(p.x)
	for lo < hi {
		m := (lo + hi) / 2
		if p.at(m) >= x {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// Exceed returns the share of members ≥ x.
func (p *Population) Exceed(x float64) float64 { return float64(p.count(x)) / float64(len(p.x)) }

// Gain returns E(q−x)⁺ over the members.
func (p *Population) Gain(x float64) float64 {
	sum := 0.0
	for m := range p.x {
		d := p.at(m) - x
		if d <= 0 {
			break
		}
		sum += d
	}
	return sum / float64(len(p.x))
}
