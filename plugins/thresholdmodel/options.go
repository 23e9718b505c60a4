package thresholdmodel

import (
	"slices"

	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
	"github.com/rlrun/rlrun/plugins/internal/voi"
)

// A host may decide when the agent explores. It is then offered pairs with their gain and cost,
// and chooses by condition (T) or another rule. The agent's own rule remains how gains are
// computed, by sup or mean.

// decision is what a host has decided.
type decision struct {
	facing  int // the state in which a decision is made
	follows int
	pair    voi.Pair
	pairs   []voi.Pair // of the problem that was faced last
	offers  []options.Pair
	value   [1]float64
}

// What the agent follows.
const (
	itself   = iota // no host decides
	greedily        // the policy that is greedy for the reference model
	aPair
)

func (d *decision) reset() { d.facing, d.follows, d.pairs = 0, itself, d.pairs[:0] }

var greedyArm = []options.Arm{{Name: "greedy"}}

// SetOptionKinds implements lanes.OptionLearner.
func (x *agent) SetOptionKinds(kinds []options.Kind) error {
	if err := options.CheckKinds(kinds); err != nil {
		return lanes.Unsupported("%v", err)
	}
	other := func(k options.Kind) bool { return k != options.Pairs && k != options.Greedy }
	if slices.ContainsFunc(kinds, other) || !slices.Contains(kinds, options.Pairs) {
		return lanes.Unsupported("it explores by options of kind %s alone; for others take another agent, such as bootstrap-model", options.Pairs)
	}
	return nil
}

// SetObservation implements lanes.OptionLearner.
func (x *agent) SetObservation(o int) { x.decision.facing = x.arrive(o) }

// Learn implements lanes.OptionLearner.
func (x *agent) Learn(r float64, o int) { x.decision.facing = x.learn(r, o) }

// DescribeDecision implements lanes.OptionLearner.
func (x *agent) DescribeDecision(p *options.Problem) error {
	d := &x.decision
	d.pairs = x.planner.Pairs(d.pairs[:0], d.facing, x.left())
	d.offers = d.offers[:0]
	for _, y := range d.pairs {
		d.offers = append(d.offers, options.Pair{State: x.observed[y.State], Action: x.meaning[y.Action], Gain: y.Gain, Cost: y.Cost, Steps: y.Steps})
	}
	d.value[0] = x.planner.Value(d.facing)
	p.Arms, p.Greedy, p.Values, p.Pairs = greedyArm, 0, d.value[:], d.offers
	p.Optimal = nil
	return nil
}

// Choose implements lanes.OptionLearner.
func (x *agent) Choose(option int) int {
	d := &x.decision
	d.follows = greedily
	if option > 0 {
		d.follows, d.pair = aPair, d.pairs[option-1]
	}
	return x.choose(d.facing)
}

// GreedyPolicy implements lanes.OptionLearner.
func (x *agent) GreedyPolicy(dst []int) ([]int, error) {
	for o := range x.number {
		dst = append(dst, x.Act(o))
	}
	return dst, nil
}
