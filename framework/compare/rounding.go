package compare

import (
	"cmp"
	"slices"

	"github.com/rlrun/rlrun/framework/result"
)

// merge makes values equal that differ by rounding only: each becomes the smallest one
// of its group. Without it, two agents that earn the same rewards in another order would
// differ in every run, and a test of many runs would call one of them better.
func merge(samples []*sample) {
	type value struct {
		x  *float64
		by result.Rounding
	}
	var all []value
	for _, s := range samples {
		for i := range s.values {
			all = append(all, value{&s.values[i], s.rounding})
		}
	}
	slices.SortFunc(all, func(a, b value) int { return cmp.Compare(*a.x, *b.x) })
	for i := 0; i < len(all); {
		least := all[i]
		x := *least.x
		for i < len(all) && (least.by.Equal(x, *all[i].x) || all[i].by.Equal(x, *all[i].x)) {
			*all[i].x = x
			i++
		}
	}
}
