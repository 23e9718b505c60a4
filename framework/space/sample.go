package space

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/internal/each"
)

// Sample draws a value of s, with the distribution of Gymnasium's sample. It is uniform
// over a Discrete or MultiDiscrete space. An element of a Box is uniform between its
// bounds, exponential beyond a single bound, and standard normal without bounds. Where
// elements are integers, it is uniform over those between the bounds, and otherwise the
// floor of these distributions. The value's slices are new. It requires a valid space.
func Sample(s Space, rng *rand.Rand) Value {
	var v Value
	SampleInto(&v, s, rng)
	return v
}

// SampleMasked is Sample among the values of a Discrete space that a mask allows. A mask that is
// nil or allows none is left out of account.
func SampleMasked(s Space, mask []bool, rng *rand.Rand) Value {
	n := each.Count(mask, each.True)
	if n == 0 {
		return Sample(s, rng)
	}
	return Value{Int: s.(Discrete).Start + int64(each.Nth(mask, int(rng.Int64N(int64(n))), each.True))}
}

// SampleInto is Sample that reuses the slices of dst.
func SampleInto(dst *Value, s Space, rng *rand.Rand) {
	dst.Ints, dst.Float64, dst.Float32, dst.Uint8 = dst.Ints[:0], dst.Float64[:0], dst.Float32[:0], dst.Uint8[:0]
	switch s := s.(type) {
	case Discrete:
		dst.Int = s.Start + rng.Int64N(s.N)
	case MultiDiscrete:
		for _, n := range s.NVec {
			dst.Ints = append(dst.Ints, rng.Int64N(n))
		}
	case Box:
		for i := range s.Width() {
			low, high := s.bounds(i)
			switch s.Type {
			case Float64:
				dst.Float64 = append(dst.Float64, draw(low, high, rng))
			case Float32:
				dst.Float32 = append(dst.Float32, min(max(float32(draw(low, high, rng)), float32(low)), float32(high)))
			default:
				low, high = s.integers(i)
				x := high // of an exponential that is 0
				if both := low + high; both-both == 0 {
					x = low + float64(rng.Int64N(int64(high-low)+1))
				} else {
					x = min(x, math.Floor(draw(low, high+1, rng)))
				}
				if s.Type == Uint8 {
					dst.Uint8 = append(dst.Uint8, uint8(x))
				} else {
					dst.Ints = append(dst.Ints, int64(x))
				}
			}
		}
	default:
		panic(fmt.Sprintf("space: cannot sample %T", s))
	}
}

// draw returns a real number in [low, high].
func draw(low, high float64, rng *rand.Rand) float64 {
	switch lower, upper := math.IsInf(low, 0), math.IsInf(high, 0); {
	case lower && upper:
		return rng.NormFloat64()
	case lower:
		return high - rng.ExpFloat64()
	case upper:
		return low + rng.ExpFloat64()
	}
	u := rng.Float64()
	return min(max(low*(1-u)+high*u, low), high) // high - low may overflow
}
