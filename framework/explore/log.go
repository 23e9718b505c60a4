package explore

import (
	"strconv"
	"strings"

	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/options"
)

// decisions is the log of a run: of its decisions, those whose number, from 0, is
// a multiple of stride, which doubles whenever there would be more than most.
type decisions struct {
	most   int
	seen   int
	stride int
	kept   []result.Decision
	fresh  bool // the last decision is kept, and its action is not known yet
}

// clear begins a new log; the old one is left to whom it was given to.
func (l *decisions) clear() { l.seen, l.stride, l.kept, l.fresh = 0, 1, nil, false }

// next counts a decision and says whether to keep it.
func (l *decisions) next() bool {
	if l.most == 0 {
		return false
	}
	n := l.seen
	l.seen++
	if n%l.stride != 0 {
		return false
	}
	if len(l.kept) < l.most {
		return true
	}
	half := l.kept[:0]
	for i := 0; i < len(l.kept); i += 2 {
		half = append(half, l.kept[i])
	}
	l.kept = half
	l.stride *= 2
	return n%l.stride == 0 && len(l.kept) < l.most
}

// mostLeads is the largest number of members whose leads are kept.
const mostLeads = 64

// Offered is an option of a decision, as the rule saw it.
type Offered struct {
	Name   string    `json:"name"`
	Greedy bool      `json:"greedy,omitempty"`
	Values []float64 `json:"values,omitempty"` // per step, in each member; none of a pair
	// Gain and Cost are E D⁺ and E D⁻, D being by how much the option is better than the greedy one in a
	// member; of a pair its gain and cost, which are sums of rewards.
	Gain  float64 `json:"gain"`
	Cost  float64 `json:"cost"`
	Hold  int     `json:"hold"`  // T, for which it is held if it is chosen
	Share float64 `json:"share"` // ρ, the share of the horizon that this takes
}

// terms returns Gain and Cost of option x.
func terms(p *options.Problem, x int) (gain, cost float64) {
	if i := x - len(p.Arms); i >= 0 {
		return p.Pairs[i].Gain, p.Pairs[i].Cost
	}
	leads := p.Leads(x)
	n := float64(len(leads))
	for _, lead := range leads {
		gain += max(0, lead) / n
		cost += max(0, -lead) / n
	}
	return gain, cost
}

func (l *decisions) add(d options.Decision, p *options.Problem, episode, state int, numbers []options.Number) {
	x := result.Compared{Numbers: numbersText(numbers)}
	if d.Other >= 0 {
		x.Other = p.Name(d.Other)
		x.Gain, x.Cost = terms(p, d.Other)
	}
	if leads := p.Leads(d.Other); len(leads) <= mostLeads {
		x.Leads = strings.Join(each.Of(leads, func(lead float64) string { return strconv.FormatFloat(lead, 'g', 3, 64) }), " ")
	}
	if d.Other >= len(p.Arms) {
		x.Gain, x.Cost = d.Delta, d.Delta-d.Advantage
	}
	x.Greedy = p.Mean(p.Greedy)
	l.kept = append(l.kept, result.Decision{
		Action: -1, Compared: x,
		Step: d.Step, Episode: episode, State: state, Option: d.Option, Explore: d.Explore, Hold: d.Hold, Capped: d.Capped,
		Delta: d.Delta, P: d.P, Share: d.Share, Advantage: d.Advantage,
	})
}

// action says which action the last decision led to, if that is kept.
func (l *decisions) action(a int) {
	if l.fresh {
		l.kept[len(l.kept)-1].Action = a
		l.fresh = false
	}
}
