package compare

import "github.com/rlrun/rlrun/framework/result"

// merge makes values equal that differ by rounding only. Without it, two agents that earn
// the same rewards in another order would differ in every run, and a test of many runs
// would call one of them better.
func merge(samples []*sample) {
	var all []result.Rounded
	for _, s := range samples {
		for _, x := range s.values {
			all = append(all, s.rounding.Of(x))
		}
	}
	level := result.Level(all)
	for _, s := range samples {
		level = level[copy(s.values, level):]
	}
}
