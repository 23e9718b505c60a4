package modelagents

import (
	"cmp"
	"math"
	"slices"

	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// ucrl2Params are the parameters of UCRL2.
type ucrl2Params struct {
	Horizon int     `json:"horizon" jsonschema:"minimum=0" jsonschema_description:"0: reward per step, planning when the visits to some pair have doubled; default of Jaksch, Ortner & Auer (2010). Above: the form for episodes of so many steps of Osband's TabulaRL, which plans at the start of each and every so many steps."`
	Delta   float64 `json:"delta" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1" jsonschema_description:"Probability with which the confidence sets may fail; default of TabulaRL."`
	Scaling float64 `json:"scaling" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Factor of the widths of the confidence sets. 1, the default, is the theory (Jaksch et al. 2010), smaller ones explore less and often do better."`
	Widths  string  `json:"widths,omitempty" jsonschema:"enum=jaksch,enum=tabularl" jsonschema_description:"Of the confidence sets of a pair seen n times. jaksch: √(7 ln(2SAt/δ)/(2n)) for its reward and √(14 S ln(2At/δ)/n) for its transitions, t being the step; default of Jaksch et al. (2010, equations 3 and 4). tabularl: √(4 L/n) and √(4 S L/n), L = ln(2SA(k+1)/δ), k being the number of the plan."`
	Bounds
}

// UCRL2 returns UCRL2 (Jaksch, Ortner & Auer 2010) as a plugin: the best policy of
// the most rewarding model that the data allow, found by extended value iteration,
// and kept until the visits to some pair have doubled. It assumes that
// observations are Markov states, that rewards are bounded and, for its guarantee
// and reward per step, that every state can be reached from every other. An episode
// that terminates then goes on in the state in which the next begins; with a horizon
// termination is what it is for PSRL. A truncated step teaches like any other.
func UCRL2() vector.Plugin {
	return finite.Plugin("rlrun/ucrl2@1",
		"UCRL2 (Jaksch, Ortner & Auer 2010): the best policy of the best model within confidence sets.",
		ucrl2Params{Delta: 0.05, Scaling: 1, Widths: "jaksch"},
		func(p ucrl2Params, t finite.Task) (func() finite.Learner, error) {
			if err := p.check(t); err != nil {
				return nil, err
			}
			low, high, err := p.Bounds.of(t)
			if err != nil {
				return nil, err
			}
			return func() finite.Learner {
				pairs := t.States * t.Actions
				x := &ucrl2{p: &p, low: low, span: high - low}
				x.init(t)
				x.fresh, x.reward, x.width = make([]float64, pairs), make([]float64, pairs), make([]float64, pairs)
				x.q = make([]float64, (p.Horizon+1)*pairs)
				x.value, x.next = make([]float64, t.States), make([]float64, t.States)
				x.policy = make([]int, t.States)
				return x
			}, nil
		})
}

func (p *ucrl2Params) check(t finite.Task) error {
	switch {
	case p.Horizon < 0:
		return lanes.Invalid("horizon is %d, must not be negative", p.Horizon)
	case !(p.Delta > 0 && p.Delta < 1):
		return lanes.Invalid("delta is %v, must be in (0,1)", p.Delta)
	case !(p.Scaling > 0) || math.IsInf(p.Scaling, 0):
		return lanes.Invalid("scaling is %v, must be positive", p.Scaling)
	case p.Widths != "jaksch" && p.Widths != "tabularl":
		return lanes.Invalid("widths is %q, must be jaksch or tabularl", p.Widths)
	}
	return checkHorizon(p.Horizon, t)
}

type ucrl2 struct {
	counting
	p             *ucrl2Params
	low, span     float64   // rewards are in [low, low+span]
	fresh         []float64 // visits to each pair since the last plan
	plans         float64   // made in this run
	reward, width []float64 // of each pair: the largest mean reward, the L1 width of its transitions
	q             []float64 // of pair i with h steps to go: q[h*S*A+i]; h = 0 without a horizon
	value, next   []float64 // the last two iterates; value is where the next plan starts
	row           []successor
	policy        []int   // without a horizon
	gain          float64 // optimistic, of the last plan
	left          int     // steps that the plan is still good for, with a horizon
	over          bool    // it terminated an episode: where it led is yet to be seen
	paid          float64 // by that step
}

// successor is one of a pair's: its value and estimated probability.
type successor struct{ value, prob float64 }

func (x *ucrl2) Start(s uint64) {
	x.start(s)
	clear(x.fresh)
	clear(x.value)
	x.plans, x.over = 0, false
}

func (x *ucrl2) Begin(s int) int {
	x.left = 0
	if x.over {
		x.learn(x.paid, s)
		x.over = false
	}
	return x.Act(s)
}

func (x *ucrl2) Step(r float64, next int) int {
	x.learn(r, next)
	return x.Act(next)
}

func (x *ucrl2) End(r float64, next int, terminated bool) {
	switch {
	case terminated && x.p.Horizon == 0:
		x.over, x.paid = true, r
		return
	case terminated:
		x.mark(next)
	}
	x.learn(r, next)
}

func (x *ucrl2) learn(r float64, next int) {
	x.counts.Update(x.state, x.action, r, next)
	x.fresh[x.state*x.t.Actions+x.action]++
}

func (x *ucrl2) Act(s int) int {
	x.state = s
	if x.p.Horizon > 0 {
		x.unmark(s)
		if x.left == 0 {
			x.widen()
			x.induct()
			x.left = x.p.Horizon
		}
		i := (x.left*x.t.States + s) * x.t.Actions
		x.left--
		x.action = argmax.Any(x.q[i:i+x.t.Actions], x.rng)
		return x.action
	}
	if i := s*x.t.Actions + x.policy[s]; x.plans == 0 || x.fresh[i] >= max(1, x.counts.N(s, x.policy[s])-x.fresh[i]) {
		x.widen()
		x.iterate()
	}
	x.action = x.policy[s]
	return x.action
}

// widen begins a plan: it computes what the confidence sets allow.
func (x *ucrl2) widen() {
	x.plans++
	clear(x.fresh)
	states, actions := float64(x.t.States), float64(x.t.Actions)
	var r, p float64 // squared widths at n = 1
	if x.p.Widths == "jaksch" {
		t := x.counts.Total() + 1
		r = 7. / 2 * math.Log(2*states*actions*t/x.p.Delta)
		p = 14 * states * math.Log(2*actions*t/x.p.Delta)
	} else {
		r = 4 * math.Log(2*states*actions*(x.plans+1)/x.p.Delta)
		p = states * r
	}
	for i := range x.reward {
		s, a := i/x.t.Actions, i%x.t.Actions
		n := x.counts.N(s, a)
		mean := x.low
		if n > 0 {
			mean = x.counts.Rewards(s, a).Mean
		}
		n = max(1, n)
		x.reward[i] = mean + x.p.Scaling*x.span*math.Sqrt(r/n)
		x.width[i] = x.p.Scaling * math.Sqrt(p/n)
	}
}

// induct is backward induction over the horizon.
func (x *ucrl2) induct() {
	clear(x.value)
	pairs := len(x.reward)
	for h := 1; h <= x.p.Horizon; h++ {
		x.backup(x.q[h*pairs:(h+1)*pairs], x.next)
		x.value, x.next = x.next, x.value
	}
}

// maxSweeps bounds the iterations of a plan. Widths small enough to need more come
// of tiny scalings only.
const maxSweeps = 10_000

// iterate is extended value iteration until the span of the last change is below
// that of rewards over √t (Jaksch et al. 2010, Figure 1 and §3.1), from where the
// last plan ended. As every pair may lead to the best state, it converges
// whatever the periods (ibid., Theorem 7).
func (x *ucrl2) iterate() {
	enough := x.span / math.Sqrt(x.counts.Total()+1)
	for range maxSweeps {
		x.backup(x.q, x.next)
		lo, hi, least := math.Inf(1), math.Inf(-1), math.Inf(1)
		for s, v := range x.next {
			d := v - x.value[s]
			lo, hi, least = min(lo, d), max(hi, d), min(least, v)
		}
		for s := range x.next {
			x.next[s] -= least
		}
		x.value, x.next = x.next, x.value
		x.gain = (lo + hi) / 2
		if hi-lo <= enough {
			break
		}
	}
	for s := range x.policy {
		x.policy[s] = argmax.Any(x.q[s*x.t.Actions:(s+1)*x.t.Actions], x.rng)
	}
}

// backup writes the optimistic backups of value into q, and the best of each state
// into next.
func (x *ucrl2) backup(q, next []float64) {
	best := 0
	for s, v := range x.value {
		if v > x.value[best] {
			best = s
		}
	}
	n := x.t.Actions
	for s := range x.t.States {
		for a := range n {
			i := s*n + a
			if x.terminal[s] {
				q[i] = 0
			} else {
				q[i] = x.reward[i] + x.expect(s, a, best)
			}
		}
		next[s] = argmax.Max(q[s*n : (s+1)*n])
	}
}

// expect returns the largest expected value after a pair within the L1 width:
// half of the width goes to the best state, from the worst (Strehl & Littman 2008;
// Jaksch et al. 2010, Figure 2).
func (x *ucrl2) expect(s, a, best int) float64 {
	n := x.counts.N(s, a)
	next, count := x.counts.Row(s, a)
	add, top, sum := x.width[s*x.t.Actions+a]/2, x.value[best], 0.0
	x.row = x.row[:0]
	for k, u := range next {
		if int(u) != best {
			p := count[k] / n
			x.row = append(x.row, successor{x.value[u], p})
			sum += p
		}
	}
	if add >= sum { // all may go to the best
		return top
	}
	slices.SortFunc(x.row, func(a, b successor) int { return cmp.Compare(a.value, b.value) })
	expected := (1 - sum + add) * top
	for _, u := range x.row {
		taken := min(u.prob, add)
		add -= taken
		expected += (u.prob - taken) * u.value
	}
	return expected
}
