package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// manyValues is the greatest size of a sample that is bootstrapped. Larger ones get
// an asymptotic interval: 2,000 resamples would take long, and the bootstrap's own
// randomness is larger than the difference.
const manyValues = 10_000

// TrimmedInterval returns the mean of an ascending sample without its cut least and cut
// greatest values, and the interval of the given level by Tukey & McLaughlin (1963). The
// interval is Student's, with n-2cut-1 degrees of freedom and the standard error s_w √n /
// (n-2cut). Here s_w is the standard deviation of the winsorized sample, in which the
// nearest remaining value replaces each of the cut values. The ends are NaN if fewer than two
// values remain or all of them are equal, and the mean too if none remains.
func TrimmedInterval(ascending []float64, cut int, level float64) Interval {
	n := len(ascending)
	if n-2*cut < 2 {
		return unknown(Mean(ascending[min(cut, n):max(n-cut, min(cut, n))]))
	}
	rest := ascending[cut : n-cut]
	// Sums of differences from the middle lose no digits to a large mean.
	middle := rest[len(rest)/2]
	// Their squares must neither overflow nor vanish.
	e := unit(rest[len(rest)-1] - rest[0])
	sum, winsorized, squares := 0.0, 0.0, 0.0
	for _, x := range rest {
		d := math.Ldexp(x-middle, -e)
		sum += d
		winsorized += d
		squares += d * d
	}
	for _, x := range []float64{rest[0], rest[len(rest)-1]} {
		d := math.Ldexp(x-middle, -e)
		winsorized += float64(cut) * d
		squares += float64(cut) * d * d
	}
	variance := (squares - winsorized*winsorized/float64(n)) / float64(n-1)
	remaining := float64(len(rest))
	t := distuv.StudentsT{Sigma: 1, Nu: remaining - 1}.Quantile((1 + level) / 2)
	half := math.Ldexp(t*math.Sqrt(max(variance, 0)*float64(n))/remaining, e)
	mean := middle + math.Ldexp(sum/remaining, e)
	return NewInterval(mean, mean-half, mean+half)
}
