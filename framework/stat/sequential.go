package stat

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Decision is what a sequential test says.
type Decision string

// The decisions. Open means that looks are left. After the last look a test that has
// not decided is Undecided, which never means that the agents are equal.
const (
	Larger    Decision = "larger"
	Smaller   Decision = "smaller"
	Open      Decision = "open"
	Undecided Decision = "undecided"
)

// Design is a group-sequential test of paired differences by sign flips, in the
// manner of AdaStop (Mathieu et al. 2023), with two-sided mass and paired signs. It
// looks at the runs after every block, and at look k spends at most Alpha·k/Looks of
// its level. The level is exact for differences that are symmetric about zero.
type Design struct {
	Runs  int     // planned
	Block int     // runs between looks; the last block may be smaller
	Alpha float64 // level, both sides together
}

// Looks is the largest number of looks.
func (d Design) Looks() int { return (d.Runs + d.Block - 1) / d.Block }

// exact tells whether all sign vectors are used.
func (d Design) exact() bool { return d.Runs <= exactRuns }

// vectors is the number of sign vectors of the test where not all are used: 10,000,
// or more where Alpha is so small that 10,000 are too coarse.
func (d Design) vectors() int { return max(10_000, int(math.Ceil(20/d.Alpha))) }

// Check refuses a design that cannot decide at any look, whatever the differences,
// and names the least number of runs that can.
func (d Design) Check() error {
	switch {
	case d.Runs < 1 || d.Block < 1:
		return fmt.Errorf("a sequential test needs at least one run and blocks of at least one, not %d and %d", d.Runs, d.Block)
	case !(d.Alpha > 0 && d.Alpha < 1):
		return fmt.Errorf("the level of a sequential test must be in (0,1), not %v", d.Alpha)
	}
	// The mass of the differences as they are and of all their signs turned, at the
	// last look, where all of Alpha may be spent.
	if math.Ldexp(1, 1-d.Runs) <= d.Alpha {
		return nil
	}
	return fmt.Errorf("%w: at level %.3g for each comparison it takes at least %d runs, not %d", ErrTooFewRuns, d.Alpha, d.LeastRuns(), d.Runs)
}

// ErrTooFewRuns is in the error of a design that can never decide.
var ErrTooFewRuns = errors.New("too few runs to decide anything")

// LeastRuns is the smallest number of runs with which the test can decide.
func (d Design) LeastRuns() int { return int(math.Ceil(1 - math.Log2(d.Alpha))) }

// Look is what the test saw after a block.
type Look struct {
	Runs  int     // differences so far
	Sum   float64 // of them
	Bound float64 // |Sum| at or above it decides; NaN: nothing could decide
	Spent float64 // of Alpha, so far
}

// Verdict is the result of a sequential test, with the looks that it took.
type Verdict struct {
	Decision Decision // after the last look
	Looks    []Look   // in order
}

// Runs is the number of differences that the verdict rests on.
func (v Verdict) Runs() int {
	if len(v.Looks) == 0 {
		return 0
	}
	return v.Looks[len(v.Looks)-1].Runs
}

// Test looks at the blocks in turn until it decides. blocks[k] holds the differences of
// block k, fewer than planned if pairs are missing. Blocks that do not exist yet are
// absent. Random sign vectors, of tests with more than 20 planned runs, come from seed.
// The verdict is a function of the blocks and the seed: looking again with more blocks
// repeats the earlier looks.
func (d Design) Test(blocks [][]float64, seed uint64) Verdict {
	looks := d.Looks()
	blocks = blocks[:min(len(blocks), looks)]
	scale := 0.0
	var v Verdict
	var rng *rand.Rand
	alive := []float64{0} // sums of the sign vectors that crossed no bound, the first as observed
	total := 1.0          // sign vectors, alive or not; spent counts in the same unit
	if !d.exact() {
		alive = make([]float64, d.vectors())
		total = float64(len(alive))
		rng = rand.New(rand.NewPCG(seed, uint64(d.Runs)))
	}
	spent := 0.0
	sum, runs := 0.0, 0
	for k, block := range blocks {
		for _, x := range block {
			sum += x
			scale += math.Abs(x)
		}
		runs += len(block)
		if d.exact() {
			alive = extend(alive, signedSums(block))
			total = math.Ldexp(total, len(block))
			spent = math.Ldexp(spent, len(block))
		} else {
			for i := range alive {
				alive[i] += flipped(block, i, rng)
			}
		}
		allowed := d.Alpha * float64(k+1) / float64(looks) * total * (1 + slack)
		tie := slack * scale
		bound, mass := boundary(alive, allowed-spent, tie)
		spent += float64(mass)
		v.Looks = append(v.Looks, Look{runs, sum, bound, spent / total})
		if math.Abs(sum) >= bound-tie {
			v.Decision = Larger
			if sum < 0 {
				v.Decision = Smaller
			}
			return v
		}
		if mass > 0 {
			// The observed vector, the first, is not among them.
			alive = slices.DeleteFunc(alive, func(s float64) bool { return math.Abs(s) >= bound-tie })
		}
	}
	v.Decision = Open
	if len(blocks) == looks {
		v.Decision = Undecided
	}
	return v
}

// extend returns all sums of one of each.
func extend(sums, more []float64) []float64 {
	out := make([]float64, 0, len(sums)*len(more))
	for _, a := range sums {
		for _, b := range more {
			out = append(out, a+b)
		}
	}
	return out
}

// flipped is the sum of a block under fresh random signs, or as it is for vector 0.
func flipped(block []float64, vector int, rng *rand.Rand) float64 {
	sum := 0.0
	if vector == 0 {
		for _, x := range block {
			sum += x
		}
		return sum
	}
	var signs uint64
	for i, x := range block {
		if i%64 == 0 {
			signs = rng.Uint64()
		}
		sum += math.Copysign(1, float64(int64(bits.RotateLeft64(signs, i)))) * x
	}
	return sum
}

// boundary is the smallest attained |sum| with at most allowed sums at or above it,
// and their number. Sums within tie of each other are one value. NaN and 0 if even the
// largest has too many.
func boundary(sums []float64, allowed, tie float64) (bound float64, mass int) {
	size := make([]float64, len(sums))
	for i, s := range sums {
		size[i] = math.Abs(s)
	}
	slices.Sort(size)
	bound = math.NaN()
	for i := len(size); i > 0; {
		j := i
		for j > 0 && size[j-1] >= size[i-1]-tie {
			j--
		}
		if float64(len(size)-j) > allowed {
			break
		}
		bound, mass = size[j], len(size)-j
		i = j
	}
	return bound, mass
}
