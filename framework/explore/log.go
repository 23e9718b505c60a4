package explore

import (
	"strconv"

	"github.com/rlrun/rlrun/framework/result"
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

func (l *decisions) add(d options.Decision, p *options.Problem, episode, state int, numbers []options.Number) {
	x := result.Compared{Numbers: numbersText(numbers)}
	if d.Other >= 0 {
		x.Other = p.Name(d.Other)
	}
	leads := p.Leads(d.Other)
	for k, lead := range leads {
		n := float64(len(leads))
		x.Gain += max(0, lead) / n
		x.Cost += max(0, -lead) / n
		if len(leads) <= mostLeads {
			if k > 0 {
				x.Leads += " "
			}
			x.Leads += strconv.FormatFloat(lead, 'g', 3, 64)
		}
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
