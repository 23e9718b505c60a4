// Package argmax selects actions by their values.
package argmax

import "math/rand/v2"

// First returns the first action of the largest value; q is not empty.
func First(q []float64) int {
	best := 0
	for a, v := range q {
		if v > q[best] {
			best = a
		}
	}
	return best
}

// Max returns the largest value; q is not empty.
func Max(q []float64) float64 {
	best := q[0]
	for _, v := range q[1:] {
		if v > best {
			best = v
		}
	}
	return best
}

// Any returns one of the actions of the largest value, which have equal chances; q
// is not empty. It draws where there are several.
func Any(q []float64, rng *rand.Rand) int {
	best, a, ties := q[0], 0, 1
	for b := 1; b < len(q); b++ {
		switch v := q[b]; {
		case v > best:
			best, a, ties = v, b, 1
		case v == best:
			ties++
		}
	}
	if ties == 1 {
		return a
	}
	for k := rng.IntN(ties); k > 0; {
		if a++; q[a] == best {
			k--
		}
	}
	return a
}
