package voi

import "math/bits"

// ages is how many ages of pairs are told apart: never tried, tried once, twice or three
// times, four to seven times, and so on.
const ages = 16

// degrees is how many numbers of states that a state is known to lead to are told apart.
const degrees = 12

// discoveries estimates how likely it is that a new successor is a state never visited. That depends on
// the age of the pair and on the degree of its state, which is the number of states that it is known to lead to.
// At first most new successors are; once all states have been found none is, and pairs
// have been tried often and states lead to many by then.
type discoveries struct{ found, all [ages][degrees + 1]float64 } // the last of a row is its sum

// shares are probabilities that a new successor is a state never visited.
type shares [ages][degrees]float64

// age returns the age of a pair that was tried n times.
func age(n float64) int { return min(bits.Len(uint(n)), ages-1) }

// observe takes in a new successor of a pair that was tried n times, in a state of some degree.
func (d *discoveries) observe(n float64, degree int, found bool) {
	for _, k := range [2]int{min(degree, degrees-1), degrees} {
		d.all[age(n)][k]++
		if found {
			d.found[age(n)][k]++
		}
	}
}

// estimate estimates the shares. The share of the age before counts as one more successor
// of an age. The share of an age counts as one more successor of each degree.
func (d *discoveries) estimate(p *shares) {
	share := 0.5
	for k := range p {
		share = (d.found[k][degrees] + share) / (d.all[k][degrees] + 1)
		for j := range p[k] {
			p[k][j] = (d.found[k][j] + share) / (d.all[k][j] + 1)
		}
	}
}
