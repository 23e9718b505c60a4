package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// By hand: 1 to 8 without two values at either end leave 3, 4, 5, 6. Winsorized,
// the sample is 3 3 3 4 5 6 6 6, whose variance is 14/7. So the standard error is
// √2 √8 / 4 = 1, and t with 3 degrees of freedom 3.182446.
func TestTrimmedIntervalByHand(t *testing.T) {
	got := TrimmedInterval([]float64{1, 2, 3, 4, 5, 6, 7, 8}, 2, 0.95)
	if math.Abs(got.Value-4.5) > 1e-12 || math.Abs(got.Low-(4.5-3.182446)) > 1e-5 || math.Abs(got.High-(4.5+3.182446)) > 1e-5 {
		t.Errorf("got %+v", got)
	}
}

// For many values, even of a skewed distribution, it equals the bootstrap's
// interval up to the randomness of the bootstrap. With 2,000 resamples a bound
// has a standard error of about 0.06 standard errors of the mean.
func TestTrimmedIntervalIsTheBootstraps(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	xs := make([]float64, manyValues)
	for i := range xs {
		xs[i] = 1e6 + math.Exp(rng.NormFloat64())
	}
	slices.Sort(xs)
	want := BootstrapIQM([][]float64{xs}, 0.95, rng)[0]
	got := TrimmedInterval(xs, len(xs)/4, 0.95)
	unit := (want.High - want.Low) / 4 // about a standard error
	if math.Abs(got.Value-want.Value) > 1e-9*unit+1e-6 || math.Abs(got.Low-want.Low) > 0.3*unit || math.Abs(got.High-want.High) > 0.3*unit {
		t.Errorf("got %+v, the bootstrap's is %+v", got, want)
	}
}

// The interval covers the interquartile mean of a skewed distribution as often
// as it says. Here that mean is twice the integral of the quantile function of
// Exp(1) between the quartiles. 1,000 samples show 95 % up to 2.1 % with
// probability 0.998.
func TestTrimmedIntervalCovers(t *testing.T) {
	// ∫ -ln(1-p) dp = (1-p) ln(1-p) + p
	antiderivative := func(p float64) float64 { return (1-p)*math.Log1p(-p) + p }
	truth := 2 * (antiderivative(0.75) - antiderivative(0.25))
	rng := rand.New(rand.NewPCG(1, 2))
	hits := 0
	xs := make([]float64, 400)
	for range 1000 {
		for i := range xs {
			xs[i] = rng.ExpFloat64()
		}
		slices.Sort(xs)
		if got := TrimmedInterval(xs, 100, 0.95); got.Low <= truth && truth <= got.High {
			hits++
		}
	}
	if math.Abs(float64(hits)/1000-0.95) > 0.021 {
		t.Errorf("%d of 1000 intervals cover", hits)
	}
}
