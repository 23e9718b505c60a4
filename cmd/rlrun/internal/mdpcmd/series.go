package mdpcmd

import (
	"maps"
	"math"
	"slices"
)

// outcome is where a step led, and whether its reward was at least the first ones' mean.
type outcome struct {
	next int
	high bool
}

// series are the outcomes of an action in a state. In a Markov decision process they are independent and
// equally distributed, so that those which follow each other in a run are no more alike than others.
type series struct {
	first    int                 // rewards that mean is of
	mean     float64             // of the first rewards
	last     map[int]outcome     // by lane
	counts   map[outcome]float64 // how often each occurred
	n, pairs float64             // outcomes, and pairs of them that follow each other in a run
	alike    float64             // pairs of equal ones
}

// firstRewards are the outcomes that decide which rewards are high, and are not counted.
const firstRewards = 16

func (x *series) add(t *transition, lane int) {
	if x.first < firstRewards {
		x.first++
		x.mean += (t.reward - x.mean) / float64(x.first)
		return
	}
	o := outcome{t.next, t.reward >= x.mean}
	if last, ok := x.last[lane]; ok {
		x.pairs++
		if last == o {
			x.alike++
		}
	}
	x.last[lane] = o
	x.counts[o]++
	x.n++
}

// differs says whether outcomes that follow each other in a run are alike more often than outcomes in any
// order would be: by ten, and by six standard deviations of the number of runs (Wald & Wolfowitz 1940, for
// more than two kinds), over all states and actions together.
func (x *sample) differs() bool {
	var excess, variance float64
	for _, at := range slices.SortedFunc(maps.Keys(x.series), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
		s := x.series[at]
		if s.pairs == 0 || s.n < 2 {
			continue
		}
		var square, cube, same float64
		for _, c := range slices.Sorted(maps.Values(s.counts)) {
			p := c / s.n
			square += float64(p * p)
			cube += float64(float64(p*p) * p)
			same += float64(c * (c - 1))
		}
		excess += s.alike - float64(s.pairs*same)/float64(s.n*(s.n-1))
		variance += float64(s.pairs * max(0, square+float64(square*square)-2*cube))
	}
	return excess > 10+6*math.Sqrt(variance)
}
