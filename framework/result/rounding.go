package result

import (
	"cmp"
	"math"
	"slices"

	"github.com/rlrun/rlrun/internal/each"
)

// Rounding bounds what rounding alone can make of values of a metric in an environment.
// Sums of the same n rewards in another order differ by up to n·2⁻⁵² times the sum of
// the rewards' magnitudes (Higham 2002, section 4.2): each is off by half of this.
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

// Rounded is a number and how far rounding may have moved it.
type Rounded struct{ Value, Error float64 }

// Of returns a value with its error.
func (r Rounding) Of(value float64) Rounded { return Rounded{value, r.slack / 2 * r.size(value)} }

// Minus is the difference of two numbers, 0 if they differ by rounding only.
func (x Rounded) Minus(y Rounded) Rounded {
	d := Rounded{x.Value - y.Value, x.Error + y.Error}
	if math.Abs(d.Value) <= d.Error {
		d.Value = 0
	}
	return d
}

// Values returns values of the metric as Level does.
func (r Rounding) Values(values []float64) []float64 { return Level(each.Of(values, r.Of)) }

// Level returns the values of numbers, where sizes that differ by rounding only are made
// equal: each becomes the middle one of its group. So values and differences that are the same
// in exact arithmetic are the same, and those that are 0 are 0.
func Level(numbers []Rounded) []float64 {
	order := make([]int, len(numbers))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Compare(math.Abs(numbers[i].Value), math.Abs(numbers[j].Value))
	})
	size := func(k int) Rounded { return Rounded{math.Abs(numbers[order[k]].Value), numbers[order[k]].Error} }
	out := make([]float64, len(numbers))
	for first := 0; first < len(order); {
		least := size(first).Minus(Rounded{}) // 0 of what is 0 but for rounding
		end := first
		for end < len(order) && size(end).Minus(least).Value == 0 {
			end++
		}
		if least.Value > 0 {
			middle := size((first + end) / 2).Value
			for _, i := range order[first:end] {
				out[i] = math.Copysign(middle, numbers[i].Value)
			}
		}
		first = end
	}
	return out
}
