package compare

import (
	"math"
	"slices"
)

// rounding is the largest relative difference that rounding alone can make between two
// sums of the same rewards in another order: 2⁻⁵² for each step (Higham 2002, section
// 4.2), and at least 1e-12, which metrics of plugins may need.
func rounding(steps int) float64 { return max(1e-12, float64(steps)*0x1p-52) }

// equal tells whether two values differ by rounding only.
func equal(x, y, slack float64) bool {
	return math.Abs(x-y) <= slack*max(math.Abs(x), math.Abs(y))
}

// merge makes values equal that differ by rounding only: each becomes the smallest one
// of its group. Without it, two agents that earn the same rewards in another order would
// differ in every run, and a test of many runs would call one of them better.
func merge(samples []*sample, slack float64) {
	var all []*float64
	for _, s := range samples {
		for i := range s.values {
			all = append(all, &s.values[i])
		}
	}
	slices.SortFunc(all, func(a, b *float64) int {
		switch {
		case *a < *b:
			return -1
		case *a > *b:
			return 1
		}
		return 0
	})
	for i := 0; i < len(all); {
		least := *all[i]
		for i < len(all) && equal(least, *all[i], slack) {
			*all[i] = least
			i++
		}
	}
}
