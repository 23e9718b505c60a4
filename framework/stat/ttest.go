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
// the interval of the given level. It assumes normal differences; SignFlip does not.
func PairedT(d []float64, level float64) TTest {
	mean, squares := moments(d)
	n := float64(len(d))
	return newTTest(mean, math.Sqrt(squares/(n-1)/n), n-1, level)
}

// Welch tests whether two independent samples with variances of their own have the
// same mean (Welch 1947), with the interval of the difference of means, x − y. If all
// values of x are equal, and all of y, there is no variance to go by. Then P is that of
// the permutation test: few zeros and ones are often separated by chance.
func Welch(x, y []float64, level float64) TTest {
	mx, sx := moments(x)
	my, sy := moments(y)
	n, m := float64(len(x)), float64(len(y))
	vx, vy := sx/(n-1)/n, sy/(m-1)/m
	df := (vx + vy) * (vx + vy) / (vx*vx/(n-1) + vy*vy/(m-1))
	t := newTTest(mx-my, math.Sqrt(vx+vy), df, level)
	if t.P == 0 && vx+vy == 0 {
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

func newTTest(difference, stderr, df, level float64) TTest {
	nan := math.NaN()
	switch {
	case math.IsNaN(stderr):
		return TTest{nan, nan, nan, Interval{difference, nan, nan}}
	case stderr == 0: // all values are equal
		t := TTest{0, df, 1, Interval{difference, difference, difference}}
		if difference != 0 {
			t.T, t.P = math.Inf(1), 0
			if difference < 0 {
				t.T = math.Inf(-1)
			}
		}
		return t
	}
	student := distuv.StudentsT{Sigma: 1, Nu: df}
	t := difference / stderr
	half := stderr * student.Quantile((1+level)/2)
	return TTest{t, df, 2 * student.CDF(-math.Abs(t)), Interval{difference, difference - half, difference + half}}
}
