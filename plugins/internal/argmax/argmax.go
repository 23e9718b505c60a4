// Package argmax selects actions by their values.
package argmax

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/internal/each"
)

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

// Hidden is the value of an action that is not allowed.
var Hidden = math.Inf(-1)

// Hide gives the actions that a mask does not allow the value Hidden; nil allows all.
func Hide(q []float64, mask []bool) {
	for a, allowed := range mask {
		if !allowed {
			q[a] = Hidden
		}
	}
}

// Uniform returns one of the actions that are not Hidden, which have equal chances; q is not
// empty.
func Uniform(q []float64, rng *rand.Rand) int {
	a := rng.IntN(len(q))
	if q[a] != Hidden {
		return a
	}
	shown := func(v float64) bool { return v != Hidden }
	n := each.Count(q, shown)
	if n == 0 {
		return a
	}
	return each.Nth(q, rng.IntN(n), shown) // drawn again: 1/len + (len−n)/len·1/n = 1/n
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
