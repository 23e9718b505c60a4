package stat

import (
	"math"
	"math/rand/v2"
)

// exactRuns is the number of runs up to which a sequential test tries all sign
// vectors: 2²⁰.
const exactRuns = 20

// exactPairs is the number of differences up to which SignFlip counts all sign vectors,
// from the sums of two halves: 2²⁰ each.
const exactPairs = 40

// Random sign vectors beyond firstDraws are not drawn if these settle that the p value
// is settled or more.
const (
	firstDraws = 9_999
	settled    = 0.1
)

// SignFlip tests whether paired differences are symmetric about zero, which they are
// if the two agents can be exchanged. The p value is two-sided: the share of sign
// vectors s with |Σ s d| ≥ |Σ d|. Up to 40 differences all sign vectors count, and
// exact is true. With more, draws random ones are drawn from seed, and p is
// (1 + those) / (draws + 1), which keeps the level (Phipson & Smyth 2010). A p
// value of 0.1 or more after 9,999 draws is final. No draws are made where Hoeffding's
// bound (1963) is below the least p value that they could give, which is then p. Both
// keep the level. NaN of no differences.
func SignFlip(d []float64, draws int, seed uint64) (p float64, exact bool) {
	return signFlip(d, draws, seed, math.Abs)
}

// SignFlipAbove is SignFlip with one side: the p value is the share of sign vectors s with
// Σ s d ≥ Σ d. It is small if the differences are above zero.
func SignFlipAbove(d []float64, draws int, seed uint64) (p float64, exact bool) {
	return signFlip(d, draws, seed, itself)
}

func itself(x float64) float64 { return x }

// signFlip counts the sign vectors whose sum is at least as extreme. extreme is math.Abs or itself.
func signFlip(d []float64, draws int, seed uint64, extreme func(float64) float64) (p float64, exact bool) {
	n, sides := len(d), 1.0
	if extreme(-1) > 0 {
		sides = 2
	}
	if n == 0 {
		return math.NaN(), true
	}
	scale, sum, squares, largest := 0.0, 0.0, 0.0, 0.0
	for _, x := range d {
		largest = max(largest, math.Abs(x))
	}
	for _, x := range d {
		scale += math.Abs(x)
		sum += x
		squares += x / largest * (x / largest)
	}
	least := extreme(sum) - slack*scale
	switch {
	case least <= 0 && sides == 2:
		return 1, n <= exactPairs
	case n <= exactPairs:
		return sides * shareAbove(sortedSums(d[:n/2]), sortedSums(d[n/2:]), least), true
	case least > 0 && sides*math.Exp(-least/largest*(least/largest)/(2*squares))*float64(draws+1) <= 1:
		return 1 / float64(draws+1), false
	}
	blocks := signBlocks(d)
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	count := 1
	for k := range draws {
		if extreme(randomSum(blocks, rng)) >= least {
			count++
		}
		if k+1 == firstDraws && float64(count) >= settled*float64(k+2) {
			return float64(count) / float64(k+2), false
		}
	}
	return float64(count) / float64(draws+1), false
}

// shareAbove is the share of pairs of values, one from each ascending list, whose sum is least or more.
func shareAbove(first, second []float64, least float64) float64 {
	count, high := 0, len(second) // second[high:] are above
	for _, a := range first {
		for high > 0 && a+second[high-1] >= least {
			high--
		}
		count += len(second) - high
	}
	return float64(count) / float64(len(first)) / float64(len(second))
}

// sortedSums returns Σ s d of all sign vectors s in ascending order.
func sortedSums(d []float64) []float64 {
	sums, next := make([]float64, 1, 1<<len(d)), make([]float64, 0, 1<<len(d))
	for _, x := range d {
		x = math.Abs(x)
		next = next[:0]
		for i, j := 0, 0; i < len(sums); { // merge sums−x and sums+x
			if j < len(sums) && sums[j]+x < sums[i]-x {
				next = append(next, sums[j]+x)
				j++
			} else {
				next = append(next, sums[i]-x)
				i++
			}
			if i == len(sums) {
				for ; j < len(sums); j++ {
					next = append(next, sums[j]+x)
				}
			}
		}
		sums, next = next, sums
	}
	return sums
}

// signedSums returns Σ s d of all sign vectors s, that of all plus first.
func signedSums(d []float64) []float64 {
	sums := []float64{0}
	for _, x := range d {
		n := len(sums)
		for _, s := range sums[:n] {
			sums = append(sums, s-x)
		}
		for i := range n {
			sums[i] += x
		}
	}
	return sums
}

// signBlocks returns the signed sums of each eight differences, so that a random
// sign vector costs a table look-up for eight signs.
func signBlocks(d []float64) [][]float64 {
	var blocks [][]float64
	for ; len(d) > 0; d = d[min(8, len(d)):] {
		blocks = append(blocks, signedSums(d[:min(8, len(d))]))
	}
	return blocks
}

// randomSum returns Σ s d of a random sign vector.
func randomSum(blocks [][]float64, rng *rand.Rand) float64 {
	sum := 0.0
	var bits uint64
	for i, block := range blocks {
		if i%8 == 0 {
			bits = rng.Uint64()
		}
		sum += block[int(bits&0xff)&(len(block)-1)]
		bits >>= 8
	}
	return sum
}

// exactAllocations bounds the allocations that Permutation tries one by one.
const exactAllocations = 1 << 20

// Permutation tests whether two independent samples come from one distribution. The
// p value is two-sided: the share of allocations of the pooled values to two groups of
// these sizes whose means differ by at least as much. Up to 2²⁰ allocations all are
// tried, and exact is true; otherwise random ones as in SignFlip. NaN if a sample is
// empty.
func Permutation(x, y []float64, draws int, seed uint64) (p float64, exact bool) {
	return permutation(x, y, draws, seed, math.Abs)
}

// PermutationAbove is Permutation with one side: the p value is the share of allocations in which the mean of
// x less that of y is at least as large. It is small if x is above y.
func PermutationAbove(x, y []float64, draws int, seed uint64) (p float64, exact bool) {
	return permutation(x, y, draws, seed, itself)
}

// permutation counts the allocations whose difference is at least as extreme. extreme is math.Abs or itself.
func permutation(x, y []float64, draws int, seed uint64, extreme func(float64) float64) (p float64, exact bool) {
	n, m := len(x), len(y)
	if n == 0 || m == 0 {
		return math.NaN(), true
	}
	pool := append(append([]float64{}, x...), y...)
	total, scale := 0.0, 0.0
	for _, v := range pool {
		total += v
		scale += math.Abs(v)
	}
	// The difference of means is a function of the first group's sum.
	far := func(sum float64) float64 { return extreme(sum/float64(n) - (total-sum)/float64(m)) }
	least := far(Mean(x)*float64(n)) - slack*scale
	if binomial(n+m, n) <= exactAllocations {
		count, all := 0, 0
		var choose func(from, left int, sum float64)
		choose = func(from, left int, sum float64) {
			if left == 0 {
				all++
				if far(sum) >= least {
					count++
				}
				return
			}
			for i := from; i <= len(pool)-left; i++ {
				choose(i+1, left-1, sum+pool[i])
			}
		}
		choose(0, n, 0)
		return float64(count) / float64(all), true
	}
	rng := rand.New(rand.NewPCG(seed, uint64(n+m)))
	count := 1
	for range draws {
		sum := 0.0
		for i := range n {
			k := i + rng.IntN(len(pool)-i)
			pool[i], pool[k] = pool[k], pool[i]
			sum += pool[i]
		}
		if far(sum) >= least {
			count++
		}
	}
	return float64(count) / float64(draws+1), false
}

// binomial is n over k, as a float; +Inf where it is too large.
func binomial(n, k int) float64 {
	out := 1.0
	for i := range k {
		out = out * float64(n-i) / float64(i+1)
	}
	return math.Round(out)
}
