package explore

import (
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
}

// clear begins a new log; the old one is left to whom it was given to.
func (l *decisions) clear() { l.seen, l.stride, l.kept = 0, 1, nil }

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

func (l *decisions) add(d options.Decision, episode, state int) {
	l.kept = append(l.kept, result.Decision{
		Step: d.Step, Episode: episode, State: state, Option: d.Option, Explore: d.Explore, Hold: d.Hold, Capped: d.Capped,
		Delta: d.Delta, P: d.P, Share: d.Share, Advantage: d.Advantage,
	})
}
