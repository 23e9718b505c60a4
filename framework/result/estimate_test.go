package result

import (
	"math"
	"math/rand/v2"
	"testing"

	gonum "gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/framework/stat"
)

func near(a, b, rel float64) bool {
	return a == b || math.Abs(a-b) <= rel*max(math.Abs(a), math.Abs(b))
}

func TestEstimateAgainstGonum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(-1e3, 1e3), 2, 50).Draw(t, "xs")
		got := estimateOf(xs, &quantiles{})
		mean, sd := gonum.MeanStdDev(xs, nil)
		stderr := gonum.StdErr(sd, float64(len(xs)))
		if got.N != len(xs) || math.Abs(got.Mean-mean) > 1e-9 || math.Abs(got.StdErr-stderr) > 1e-9 {
			t.Fatalf("got %+v, want mean %g, stderr %g", got, mean, stderr)
		}
	})
}

// Student's t has 0.975 quantiles 12.706, 2.262 and 1.984 at 1, 9 and 99 degrees of
// freedom. They are in any printed table, for example in Fisher & Yates 1963, table III.
func TestEstimateInterval(t *testing.T) {
	for _, tt := range []struct {
		n int
		t float64
	}{{2, 12.706}, {10, 2.262}, {100, 1.984}} {
		xs := make([]float64, tt.n)
		for i := range xs {
			xs[i] = float64(i)
		}
		e := estimateOf(xs, &quantiles{})
		if got := (e.High - e.Mean) / e.StdErr; math.Abs(got-tt.t) > 5e-4 {
			t.Errorf("n=%d: half-width of %.4f standard errors, want %.3f", tt.n, got, tt.t)
		}
		if math.Abs((e.High+e.Low)/2-e.Mean) > 1e-9 {
			t.Errorf("n=%d: interval %g to %g about %g", tt.n, e.Low, e.High, e.Mean)
		}
	}
}

func TestEstimateOfFewValues(t *testing.T) {
	nan := math.NaN()
	if e := estimateOf([]float64{nan, nan}, &quantiles{}); e.N != 0 || !math.IsNaN(e.Mean) {
		t.Errorf("of none: %+v", e)
	}
	if e := estimateOf([]float64{nan, 3}, &quantiles{}); e.N != 1 || e.Mean != 3 || !math.IsNaN(e.StdErr) || !math.IsNaN(e.Low) {
		t.Errorf("of one: %+v", e)
	}
	if e := estimateOf([]float64{2, nan, 4}, &quantiles{}); e.N != 2 || e.Mean != 3 || e.StdErr != 1 {
		t.Errorf("of two: %+v", e)
	}
}

// The interval covers the true mean in 95 % of 2,000 samples of ten normal
// values. The number of hits is binomial with standard deviation 9.75; five of
// them are a false alarm with probability below 1e-6.
func TestIntervalCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const samples = 2000
	hits := 0
	var q quantiles
	for range samples {
		var m stat.Moments
		for range 10 {
			m.Add(5 + 2*rng.NormFloat64())
		}
		if e := estimate(&m, &q); e.Low <= 5 && 5 <= e.High {
			hits++
		}
	}
	want, sd := 0.95*samples, math.Sqrt(0.95*0.05*samples)
	if math.Abs(float64(hits)-want) > 5*sd {
		t.Errorf("%d of %d intervals cover the mean, want %g ± %.1f", hits, samples, want, 5*sd)
	}
}

func TestEstimateString(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		e    Estimate
		want string
	}{
		{Estimate{Mean: 0.51234, Low: 0.51234 - 0.0123, High: 0.51234 + 0.0123}, "0.512 ± 0.012"},
		{Estimate{Mean: 5012.4, Low: 5012.4 - 86, High: 5012.4 + 86}, "5012 ± 86"},
		{Estimate{Mean: 5012.4, Low: 5012.4 - 1234, High: 5012.4 + 1234}, "5012 ± 1234"},
		{Estimate{Mean: -3, Low: -4.5, High: -1.5}, "-3.0 ± 1.5"},
		{Estimate{Mean: 2.5, Low: nan, High: nan}, "2.5"},
		{Estimate{Mean: 2.5, Low: 2.5, High: 2.5}, "2.5"},
		{Estimate{Mean: nan, Low: nan, High: nan}, ""},
		{Estimate{Mean: 2e12, Low: 1e12, High: 3e12}, "2.0e+12 ± 1.0e+12"},
		{Estimate{Mean: 1e9, Low: 1e9 - 0.21, High: 1e9 + 0.21}, "1000000000.00 ± 0.21"},
		{Estimate{Mean: 1e9 + 0.456, Low: 1e9 + 0.456 - 0.21, High: 1e9 + 0.456 + 0.21}, "1000000000.46 ± 0.21"},
		{Estimate{Mean: 123456789, Low: 123456789 - 1e6, High: 123456789 + 1e6}, "123456789 ± 1000000"},
		{Estimate{Mean: 1.23456e20, Low: 1.23e20, High: 1.23912e20}, "1.2346e+20 ± 4.6e+17"},
		{Estimate{Mean: 5, Low: 5 - 2e-12, High: 5 + 2e-12}, "5.0000000000000e+00 ± 2.0e-12"},
		{Estimate{Mean: 3e-200, Low: 1e-200, High: 5e-200}, "3.0e-200 ± 2.0e-200"},
		{Estimate{Mean: -0.0001, Low: -0.5001, High: 0.4999}, "0.00 ± 0.50"},
		{Estimate{Mean: 0, Low: -2e12, High: 2e12}, "0e+00 ± 2.0e+12"},
	} {
		if got := tt.e.String(); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.e, got, tt.want)
		}
	}
	if got := (Estimate{Mean: 1, Low: 0.5, High: 1.5}).Signed(); got != "+1.00 ± 0.50" {
		t.Errorf("signed: got %q", got)
	}
}
