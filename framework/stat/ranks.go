package stat

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// Ranks returns the rank of every value, the largest first: 1 is best. Equal values
// share the mean of their ranks.
func Ranks(values []float64) []float64 {
	order := newRanked(values)
	n := len(values)
	out := make([]float64, n)
	for i := 0; i < n; {
		j := i
		for j < n && order.values[j] == order.values[i] {
			j++
		}
		// Positions i..j−1 from below are ranks n−j+1..n−i from above.
		for k := i; k < j; k++ {
			out[order.index[k]] = float64(n) - float64(i+j-1)/2
		}
		i = j
	}
	return out
}

// FriedmanTest compares several agents over environments by their ranks (Friedman
// 1937), with the F statistic of Iman & Davenport (1980) and the p value that its formula
// gives (Demšar 2006, section 3.2.2).
type FriedmanTest struct {
	MeanRanks  []float64 // of each agent, 1 is best
	ChiSquared float64   // Friedman's statistic
	F          float64   // statistic of Iman and Davenport
	P          float64   // of F; FriedmanPermutation needs no formula
}

// Friedman takes scores[e][a], the score of agent a in environment e, larger being
// better. There is no correction for ties. F and P are NaN with fewer than two agents
// or environments, and where every environment ranks the agents alike: the formula holds
// for many environments only, and there it says 0 whatever their number.
func Friedman(scores [][]float64) FriedmanTest {
	n := float64(len(scores))
	if n == 0 {
		return FriedmanTest{ChiSquared: math.NaN(), F: math.NaN(), P: math.NaN()}
	}
	k := float64(len(scores[0]))
	t := FriedmanTest{MeanRanks: make([]float64, len(scores[0])), F: math.NaN(), P: math.NaN()}
	for _, row := range scores {
		for a, r := range Ranks(row) {
			t.MeanRanks[a] += r
		}
	}
	for a := range t.MeanRanks {
		t.MeanRanks[a] /= n
		r := t.MeanRanks[a]
		t.ChiSquared += (r - (k+1)/2) * (r - (k+1)/2)
	}
	t.ChiSquared *= 12 * n / (k * (k + 1))
	if rest := n*(k-1) - t.ChiSquared; k > 1 && n > 1 && rest > slack*n*k {
		t.F = (n - 1) * t.ChiSquared / rest
		t.P = tailF(t.F, k-1, (k-1)*(n-1))
	}
	return t
}

// exactAgents is the most agents for which FriedmanPermutation counts all arrangements.
const exactAgents = 9

// FriedmanPermutation is the p value of Friedman's statistic if every environment's ranks
// could as well belong to its agents in any other order: the share of arrangements whose
// statistic is at least as large. It takes scores like Friedman. Ties are part of the ranks
// and need no correction. It counts all arrangements if that takes up to 2²⁰ additions, and
// exact is true; otherwise draws random ones, as in SignFlip. p is NaN with fewer than two
// agents or environments.
func FriedmanPermutation(scores [][]float64, draws int, seed uint64) (p float64, exact bool) {
	if len(scores) < 2 || len(scores[0]) < 2 {
		return math.NaN(), true
	}
	k := len(scores[0])
	sums := make([]int, k)
	rows := make([][]int, len(scores)) // twice the ranks, less their mean: whole numbers, ties included
	for e, row := range scores {
		for a, r := range Ranks(row) {
			x := int(math.Round(2*r)) - k - 1
			rows[e] = append(rows[e], x)
			sums[a] += x
		}
	}
	least := squares(sums)
	if p, ok := countArrangements(rows, least); ok {
		return p, true
	}
	rng := rand.New(rand.NewPCG(seed, uint64(len(scores)*k)))
	count := 1
	for range draws {
		copy(sums, rows[0])
		for _, row := range rows[1:] {
			for a := range row {
				b := a + rng.IntN(k-a)
				row[a], row[b] = row[b], row[a]
				sums[a] += row[a]
			}
		}
		if squares(sums) >= least {
			count++
		}
	}
	return float64(count) / float64(draws+1), false
}

func squares(sums []int) int {
	total := 0
	for _, x := range sums {
		total += x * x
	}
	return total
}

// countArrangements returns the share of arrangements of all rows but the first for which
// the squares of the column sums add up to least or more. Exchanging agents in all rows
// changes nothing, so the first row may stay, and the sums of columns are kept in order.
// ok is false if there are too many.
func countArrangements(rows [][]int, least int) (p float64, ok bool) {
	k := len(rows[0])
	if k > exactAgents {
		return 0, false
	}
	type sums [exactAgents]int
	var start sums
	copy(start[:], rows[0])
	slices.Sort(start[:k])
	counts, all, work := map[sums]uint64{start: 1}, uint64(1), 0
	for _, row := range rows[1:] {
		row = slices.Clone(row)
		slices.Sort(row)
		arrangements := [][]int{slices.Clone(row)}
		for nextArrangement(row) {
			arrangements = append(arrangements, slices.Clone(row))
		}
		work += len(counts) * len(arrangements)
		if work > exactAllocations || all > math.MaxUint64/uint64(len(arrangements)) {
			return 0, false
		}
		all *= uint64(len(arrangements))
		next := map[sums]uint64{}
		for s, c := range counts {
			for _, arrangement := range arrangements {
				t := s
				for a, x := range arrangement {
					t[a] += x
				}
				slices.Sort(t[:k])
				next[t] += c
			}
		}
		counts = next
	}
	extreme := uint64(0)
	for s, c := range counts {
		if squares(s[:k]) >= least {
			extreme += c
		}
	}
	return float64(extreme) / float64(all), true
}

// nextArrangement makes of a row the next one in lexicographic order; false after the last.
func nextArrangement(row []int) bool {
	i := len(row) - 2
	for i >= 0 && row[i] >= row[i+1] {
		i--
	}
	if i < 0 {
		return false
	}
	j := len(row) - 1
	for row[j] <= row[i] {
		j--
	}
	row[i], row[j] = row[j], row[i]
	slices.Reverse(row[i+1:])
	return true
}

// tailF is the probability that a variable with the F distribution is above f. gonum's
// survival function is 1 − CDF, in which small values drown.
func tailF(f, d1, d2 float64) float64 { return mathext.RegIncBeta(d2/2, d1/2, d2/(d2+d1*f)) }

// NemenyiQ is the critical value q_α of the Nemenyi test for k agents (Demšar 2006, table
// 5). It is the critical value of the studentised range with infinite degrees of freedom,
// divided by √2.
func NemenyiQ(k int, alpha float64) float64 {
	return StudentizedRangeQuantile(1-alpha, k, math.Inf(1)) / math.Sqrt2
}

// NemenyiCD is the critical difference of mean ranks of k agents over n environments:
// larger differences reject at level alpha for all pairs together (Demšar 2006,
// section 3.2.2). It depends on which agents are in the pool; Wilcoxon with Holm does
// not (Benavoli, Corani & Mangili 2016).
func NemenyiCD(k, n int, alpha float64) float64 {
	return NemenyiQ(k, alpha) * math.Sqrt(float64(k*(k+1))/(6*float64(n)))
}

// Wilcoxon is the signed rank test of paired differences (Wilcoxon 1945). w is the
// smaller of the two rank sums. p is two-sided and exact for the given ranks,
// including ties, of sizes that differ by rounding too. Differences of zero are left out. p is 1
// if none is left.
func Wilcoxon(d []float64) (w, p float64) {
	var size []float64
	var positive []bool
	for _, x := range d {
		if x != 0 {
			size = append(size, -math.Abs(x)) // so that rank 1 is the smallest
			positive = append(positive, x > 0)
		}
	}
	if len(size) == 0 {
		return 0, 1
	}
	sorted := newRanked(size)
	for i, k := range sorted.index[1:] {
		if last := size[sorted.index[i]]; size[k]-last <= -slack*last {
			size[k] = last
		}
	}
	// Twice the ranks are whole numbers, ties included.
	double := make([]int, len(size))
	plus, total := 0, 0
	for i, r := range Ranks(size) {
		double[i] = int(math.Round(2 * r))
		total += double[i]
		if positive[i] {
			plus += double[i]
		}
	}
	smaller := min(plus, total-plus)
	// share[t] is the probability that a random sign vector has rank sum t/2.
	share := make([]float64, total+1)
	share[0] = 1
	reached := 0
	for _, r := range double {
		reached += r
		for t := reached; t >= 0; t-- {
			share[t] /= 2
			if t >= r {
				share[t] += share[t-r] / 2
			}
		}
	}
	for t := range smaller + 1 {
		p += share[t]
	}
	return float64(smaller) / 2, min(1, 2*p)
}

// Cliques groups agents that do not differ. It returns the maximal ranges of
// agents, sorted by mean rank, in which differs is false for every pair. order
// lists agents from best to worst. A clique is the first and the last position
// of a range in order. Ranges of one agent are left out.
func Cliques(order []int, differs func(a, b int) bool) [][2]int {
	var out [][2]int
	for first := range order {
		last := first
	extend:
		for last+1 < len(order) {
			for i := first; i <= last; i++ {
				if differs(order[i], order[last+1]) {
					break extend
				}
			}
			last++
		}
		if last > first && (len(out) == 0 || out[len(out)-1][1] < last) {
			out = append(out, [2]int{first, last})
		}
	}
	return out
}
