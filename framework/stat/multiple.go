package stat

import "slices"

// Holm adjusts p values so that comparing each with α makes any false rejection at
// most with probability α, whatever their dependence (Holm 1979).
func Holm(p []float64) []float64 {
	order := ascending(p)
	out := make([]float64, len(p))
	most := 0.0
	for rank, i := range order {
		most = max(most, min(1, p[i]*float64(len(p)-rank)))
		out[i] = most
	}
	return out
}

// BenjaminiHochberg adjusts p values for independent or positively dependent tests
// (Benjamini & Hochberg 1995). If each is compared with α, the expected share of
// false rejections among all rejections is at most α.
func BenjaminiHochberg(p []float64) []float64 {
	order := ascending(p)
	out := make([]float64, len(p))
	least := 1.0
	for rank := len(order) - 1; rank >= 0; rank-- {
		i := order[rank]
		least = min(least, p[i]*float64(len(p))/float64(rank+1))
		out[i] = least
	}
	return out
}

// ascending returns the indices of p in increasing order of their values.
func ascending(p []float64) []int { return newRanked(slices.Clone(p)).index }
