package result

import "math"

// Rounding bounds what rounding alone can make of values of a metric in an environment.
// Sums of the same n rewards in another order differ by up to n·2⁻⁵² times the sum of
// the rewards' magnitudes (Higham 2002, section 4.2).
type Rounding struct {
	slack float64 // n·2⁻⁵², and at least 1e-12, which metrics of plugins may need
	// size bounds the sum of the magnitudes of what adds up to a value, by the value.
	size func(value float64) float64
}

// RoundingOf returns that of a metric in an environment. It needs the bounds of rewards
// where these have both signs, and for regret also the optimum. Without them it takes a
// value's own magnitude.
func RoundingOf(meta *Meta, environment string, m Metric) Rounding {
	r := Rounding{slack: max(1e-12, float64(meta.Steps)*0x1p-52), size: math.Abs}
	if low, high := meta.Bounds(environment, m, meta.Steps); !unbounded(low, high) {
		r.size = func(x float64) float64 { return magnitude(x, low, high) }
	}
	optimum, known := meta.Optimum[environment]
	if low, high := meta.Bounds(environment, CumulativeReward, meta.Steps); m == Regret && known && !unbounded(low, high) && meta.Tasks[environment].States != 1 {
		total := float64(meta.Steps) * optimum // regret is this minus the rewards had
		r.size = func(x float64) float64 { return max(math.Abs(total), magnitude(total-x, low, high)) }
	}
	return r
}

func unbounded(low, high float64) bool { return math.IsInf(low, 0) || math.IsInf(high, 0) }

// magnitude is the largest sum of magnitudes that terms can have whose sum is x. low
// and high bound x as they bound each term, times the number of terms.
func magnitude(x, low, high float64) float64 {
	if low >= 0 || high <= 0 {
		return math.Abs(x)
	}
	share := (min(max(x, low), high) - low) / (high - low) // of terms at the high bound, the others at the low one
	return max(math.Abs(x), share*high-(1-share)*low)
}

// Equal tells whether two values differ by rounding only.
func (r Rounding) Equal(x, y float64) bool {
	return x == y || math.Abs(x-y) <= r.slack*max(r.size(x), r.size(y))
}
