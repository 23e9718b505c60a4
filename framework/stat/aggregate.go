package stat

import (
	"cmp"
	"slices"

	"github.com/rlrun/rlrun/internal/each"
)

// IQM is the interquartile mean: the mean of the values that remain when a
// quarter of them, rounded down, is removed at either end (Agarwal et al. 2021,
// section 4). NaN of no values.
func IQM(s Scores) float64 { return newRanked(s.pool()).iqm(nil) }

// MeanOfMeans is the mean over environments of the mean over runs.
func MeanOfMeans(s Scores) float64 { return Mean(means(s)) }

// MedianOfMeans is the median over environments of the mean over runs.
func MedianOfMeans(s Scores) float64 { return median(means(s)) }

func means(s Scores) []float64 {
	return each.Of(s, Mean)
}

// median sorts its argument.
func median(xs []float64) float64 {
	slices.Sort(xs)
	return Quantile(xs, 0.5)
}

// OptimalityGap is how far scores fall short of gamma on average: gamma minus the
// mean of min(x, gamma) over all values (Agarwal et al. 2021, section 4). Scores
// above gamma do not make up for those below.
func OptimalityGap(s Scores, gamma float64) float64 {
	sum, n := 0.0, 0
	for _, values := range s {
		for _, x := range values {
			sum += min(x, gamma)
		}
		n += len(values)
	}
	return gamma - sum/float64(n)
}

// Profile is the performance profile: at each of increasing taus, the share of all values
// that are above it (Agarwal et al. 2021, section 4.2; Dolan & Moré 2002).
func Profile(s Scores, taus []float64) []float64 {
	above := make([]float64, len(taus))
	newRanked(s.pool()).tail(nil, taus, above)
	return above
}

// ProbabilityOfImprovement is the mean over environments of P(X > Y) + P(X = Y)/2. Here X
// and Y are any two runs of the two agents (Agarwal et al. 2021, section 4.3; Mann &
// Whitney 1947). Both agents have the same environments.
func ProbabilityOfImprovement(x, y Scores) float64 {
	sum := 0.0
	for e := range x {
		sum += above(newRanked(x[e]), newRanked(y[e]), nil, nil)
	}
	return sum / float64(len(x))
}

// PairedWinRate is the mean over environments of the share of runs that x wins
// against the run of y with the same index; a tie counts one half. Both have the same
// environments, and in each the same number of runs.
func PairedWinRate(x, y Scores) float64 {
	sum := 0.0
	for e := range x {
		wins := 0.0
		for k := range x[e] {
			wins += float64(1+cmp.Compare(x[e][k]-y[e][k], 0)) / 2
		}
		sum += wins / float64(len(x[e]))
	}
	return sum / float64(len(x))
}
