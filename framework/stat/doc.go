// Package stat holds the statistics behind rlrun's conclusions: aggregate scores
// and their bootstrap intervals (Agarwal et al. 2021), tests for paired and
// unpaired runs, and corrections for several tests. It also has ranks over
// environments (Demšar 2006), and a sequential test that stops when a comparison
// is decided.
//
// It knows nothing of experiments or files and imports gonum only. docs/statistics.md
// says when rlrun uses which. Functions that draw random numbers take their seed, so
// that equal input gives equal output. No function changes its arguments.
package stat

import (
	"math"
	"slices"
)

// Scores holds the values of one agent: Scores[e] has one value per run in
// environment e. Environments may have different numbers of runs.
type Scores [][]float64

// pool returns all values, of all environments.
func (s Scores) pool() []float64 { return slices.Concat(s...) }

// Mean returns the mean; NaN of no values.
func Mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// Quantile interpolates linearly between order statistics (Hyndman & Fan 1996,
// definition 7). sorted is ascending, p in [0,1]; NaN if sorted is empty.
func Quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	h := p * float64(len(sorted)-1)
	i := int(h)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (h-float64(i))*(sorted[i+1]-sorted[i])
}

// slack is the relative difference up to which two sums of the same magnitudes
// count as equal. Ties are frequent, and the order of additions changes last bits.
const slack = 1e-12
