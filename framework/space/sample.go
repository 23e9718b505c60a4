package space

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Sample draws a value of s, as Gymnasium does. It is uniform over a Discrete or
// MultiDiscrete space. An element of a Box is uniform between its bounds,
// exponential beyond a single bound, and standard normal without bounds. The
// value's slices are new. It requires a valid space.
func Sample(s Space, rng *rand.Rand) Value {
	switch s := s.(type) {
	case Discrete:
		return Value{Int: s.Start + rng.Int64N(s.N)}
	case MultiDiscrete:
		v := Value{Ints: make([]int64, len(s.NVec))}
		for i, n := range s.NVec {
			v.Ints[i] = rng.Int64N(n)
		}
		return v
	case Box:
		return s.sample(rng)
	}
	panic(fmt.Sprintf("space: cannot sample %T", s))
}

func (b Box) sample(rng *rand.Rand) Value {
	var v Value
	for i := range b.Width() {
		low, high := b.bounds(i)
		if b.DType() == Uint8 {
			low, high = math.Ceil(max(low, 0)), math.Floor(min(high, math.MaxUint8))
			v.Uint8 = append(v.Uint8, uint8(low)+uint8(rng.IntN(max(1, int(high-low)+1))))
			continue
		}
		var x float64
		switch u := rng.Float64(); {
		case math.IsInf(low, -1) && math.IsInf(high, 1):
			x = rng.NormFloat64()
		case math.IsInf(high, 1):
			x = low + rng.ExpFloat64()
		case math.IsInf(low, -1):
			x = high - rng.ExpFloat64()
		default:
			x = min(max(low*(1-u)+high*u, low), high)
		}
		if b.DType() == Float32 {
			v.Float32 = append(v.Float32, float32(x))
		} else {
			v.Float64 = append(v.Float64, x)
		}
	}
	return v
}
