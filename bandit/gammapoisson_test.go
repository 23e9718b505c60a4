package bandit

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// The distribution is gonum's Gamma, after rewards too, and the gain is the integral of
// its upper tail. Four counts after Gamma(1, ½) give the posterior of the example in
// docs/library.md.
func TestGammaPoisson(t *testing.T) {
	d := GammaPoisson{1, 0.5}
	for _, count := range []float64{4, 2, 5, 3} {
		d.Update(count, nil)
	}
	if d != (GammaPoisson{15, 4.5}) {
		t.Fatalf("%+v, want Gamma(15, 4.5)", d)
	}
	for _, d := range []GammaPoisson{d, {0.3, 2}, {1, 1}, {40, 3}} {
		g := distuv.Gamma{Alpha: d.A, Beta: d.B}
		for _, p := range []float64{0.01, 0.3, 0.9, 0.999} {
			x := g.Quantile(p)
			above, below := d.tails(x)
			if math.Abs(above-(1-p)) > 1e-9 || math.Abs(below-p) > 1e-9 || math.Abs(d.density(x)/g.Prob(x)-1) > 1e-9 {
				t.Errorf("%+v at %v: tails %v and %v, density %v; want %v, %v and %v", d, x, above, below, d.density(x), 1-p, p, g.Prob(x))
			}
			gain, width := 0.0, (g.Quantile(1-1e-12)-x)/20_000
			for i := range 20_000 {
				gain += g.Survival(x+(float64(i)+0.5)*width) * width
			}
			if got := d.Gain(x); math.Abs(got-gain) > 2e-5*(1+gain) {
				t.Errorf("%+v: gain over %v is %v, want %v", d, x, got, gain)
			}
		}
		if d.Mean() != d.A/d.B || d.Exceed(-1) != 1 || d.Gain(-1) != d.Mean()+1 {
			t.Errorf("%+v: mean %v, at −1 %v and %v", d, d.Mean(), d.Exceed(-1), d.Gain(-1))
		}
	}
	for _, bad := range [][2]float64{{0, 1}, {1, 0}, {math.NaN(), 1}, {1, math.Inf(1)}} {
		if _, err := NewGammaPoisson(bad[0], bad[1]); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}
