package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// TTest is the result of a t test of a difference of means. Numbers that need more
// values than there are are NaN.
type TTest struct {
	T        float64 // the statistic
	DF       float64 // its degrees of freedom
	P        float64 // two-sided p value, in [0,1]
	Interval         // the difference and its interval
}

// PairedT tests whether the mean of paired differences is zero (Student 1908), with
// the interval of the given level. It assumes normal differences; SignFlip does not. If
// all differences are equal, there is no variance to go by. Then P is that of SignFlip, and there
// is no interval.
func PairedT(d []float64, level float64) TTest {
	m := momentsOf(d)
	t := newTTest(m.Mean, m.StdErr(), float64(len(d))-1, level)
	if math.IsInf(t.T, 0) {
		t.P = math.Ldexp(1, 1-len(d))
	}
	return t
}

// Welch tests whether two independent samples with variances of their own have the
// same mean (Welch 1947), with the interval of the difference of means, x − y. It needs two
// values of each. If all values of x are equal, and all of y, there is no variance to go by.
// Then P is that of Permutation: few zeros and ones are often separated by chance. There is no
// interval.
func Welch(x, y []float64, level float64) TTest {
	mx, my := momentsOf(x), momentsOf(y)
	stderr := math.Hypot(mx.StdErr(), my.StdErr())
	share := mx.StdErr() / stderr * (mx.StdErr() / stderr) // of the variance
	df := 1 / (share*share/(float64(len(x))-1) + (1-share)*(1-share)/(float64(len(y))-1))
	t := newTTest(mx.Mean-my.Mean, stderr, df, level)
	if math.IsInf(t.T, 0) {
		t.P = separated(len(x), len(y))
	}
	return t
}

// separated is the p value of Permutation for two samples, each of equal values, that
// differ: no other allocation is as far apart, but the mirrored one of samples of one size.
func separated(n, m int) float64 {
	count := 1.0
	if n == m {
		count = 2
	}
	return count / binomial(n+m, n)
}

// newTTest leaves P to the caller where T is infinite.
func newTTest(difference, stderr, df, level float64) TTest {
	nan := math.NaN()
	switch {
	case math.IsNaN(stderr):
		return TTest{nan, nan, nan, unknown(difference)}
	case stderr == 0: // all values are equal
		t := TTest{0, df, 1, unknown(difference)}
		if difference != 0 {
			t.T, t.P = math.Copysign(math.Inf(1), difference), nan
		}
		return t
	}
	student := distuv.StudentsT{Sigma: 1, Nu: df}
	t := difference / stderr
	half := stderr * student.Quantile((1+level)/2)
	return TTest{t, df, 2 * student.CDF(-math.Abs(t)), NewInterval(difference, difference-half, difference+half)}
}
