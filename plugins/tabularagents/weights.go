package tabularagents

import "math"

// sizes draws the weights that a step at pair i has for the members and returns
// their step sizes, in memory of its own.
func (x *ensemble) sizes(i, followed int) []float64 {
	size := x.size
	x.weights.Draw(size, followed, x.rng, &x.pcg)
	if x.n != nil {
		x.harmonic(size, x.n[i*len(size):])
	}
	return size
}

// harmonic counts weights and turns them into step sizes.
func (x *ensemble) harmonic(size, n []float64) {
	n = n[:len(size)]
	for k, w := range size {
		n[k] += w
		switch {
		case w == 0:
		case x.Power == 1:
			size[k] = w / n[k]
		default:
			size[k] = min(w*math.Pow(n[k], -x.Power), 1)
		}
	}
}
