package voi

import (
	"math"
	"math/bits"
	"slices"
)

// A trait is something that tells how likely it is that a new successor of a pair is a state never
// visited.
const (
	ageTrait      = iota // how often the pair was tried: never, once, twice or three times, four to seven times, …
	degreeTrait          // how many states its state is known to lead to
	childrenTrait        // how many states were first entered from its state
	knownTrait           // which states known to be close its next new successor could be
	actionTrait          // its action: in many tasks actions mean the same everywhere
	traits
)

// levels is how many levels of each trait but the action are told apart.
var levels = [actionTrait]int{16, 12, 3, 8}

// discoveries estimates the probability that a new successor is an unvisited
// state. It is the product of the probability that one is left, a base rate,
// and a factor for the level of each trait.
type discoveries struct {
	cells      []cell
	found, all float64
	left       float64 // probability that there are states left
	factor     [traits][]float64
	observed   [traits][]float64 // states found, and
	expected   [traits][]float64 // how many without the factor (of estimate)
}

// cell counts new successors of pairs of a kind.
type cell struct {
	of         kind
	all, since float64 // since the last state was found
}

// kind is the level of each trait of a pair.
type kind [traits]int32

// newDiscoveries returns an estimate from nothing.
func newDiscoveries(actions int) discoveries {
	d := discoveries{left: 1}
	for t := range traits {
		n := actions
		if t < actionTrait {
			n = levels[t]
		}
		d.factor[t], d.observed[t], d.expected[t] = make([]float64, n), make([]float64, n), make([]float64, n)
		for k := range d.factor[t] {
			d.factor[t][k] = 1
		}
	}
	return d
}

// kindOf returns the kind of a pair that was tried n times.
func kindOf(n float64, degree, children, known, action int) (k kind) {
	for t, level := range [actionTrait]int{bits.Len(uint(n)), degree, children, known} {
		k[t] = int32(min(level, levels[t]-1))
	}
	k[actionTrait] = int32(action)
	return k
}

// observe takes in a new successor of a pair of some kind.
func (d *discoveries) observe(of kind, found bool) {
	i := slices.IndexFunc(d.cells, func(c cell) bool { return c.of == of })
	if i < 0 {
		i = len(d.cells)
		d.cells = append(d.cells, cell{of: of})
	}
	d.cells[i].all++
	d.cells[i].since++
	d.all++
	if found {
		for t, level := range of {
			d.observed[t][level]++
		}
		d.found++
		for k := range d.cells {
			d.cells[k].since = 0
		}
	}
}

// share is the probability that a new successor of a pair of some kind is a state never visited.
func (d *discoveries) share(of kind) float64 { return d.left * d.usual(of) }

// usual is the share while there are states left.
func (d *discoveries) usual(of kind) float64 {
	f, p := &d.factor, (d.found+0.5)/(d.all+1)
	p = p * f[0][of[0]] * f[1][of[1]] * f[2][of[2]] * f[3][of[3]] * f[4][of[4]]
	return min(1, p)
}

// estimate estimates factors and the probability that there are states left, given the number
// of states. The number of states found by the pairs of a level is Poisson. Its mean is the
// expected number times a factor with a gamma distribution of mean 1, which weighs as one
// expected state. The factors of a trait are estimated given the others, in turn. There are
// more than m states with probability m/(m+1) at first. If there are, the number found since
// the last one is Poisson.
func (d *discoveries) estimate(states int) {
	const rounds = 3
	for range rounds {
		for t := range traits {
			expected, factor := d.expected[t], d.factor[t]
			clear(expected)
			for k := range d.cells {
				c := &d.cells[k]
				level := c.of[t]
				expected[level] += c.all * d.usual(c.of) / factor[level]
			}
			for level := range factor {
				factor[level] = (1 + d.observed[t][level]) / (1 + expected[level])
			}
		}
	}
	since := 0.0
	for k := range d.cells {
		since += d.cells[k].since * d.usual(d.cells[k].of)
	}
	odds := float64(states) * math.Exp(-since)
	d.left = odds / (1 + odds)
}
