package bandit

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// plainMaximise is the largest value of an objective at some points.
func plainMaximise(o objective, d shape, ys []float64) (best point) {
	for _, y := range ys {
		if p, _ := o.at(d, y); p.value > best.value {
			best = p
		}
	}
	return best
}

// The search finds no less than a fine grid does, and its point has its value.
func TestSearchIsPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := shapeOf(drawBelief(t, "belief", "beta", "normal-gamma", "gaussian", "exponential", "uniform"))
		o := objective{base: drawComparison(t).Known, share: rapid.SampledFrom([]float64{0.001, 0.3, 1}).Draw(t, "share")}
		switch {
		case rapid.Bool().Draw(t, "odds"):
			o.odds, o.share = true, 0
		case o.share == 1:
			o.extra = rapid.Float64Range(-1, 1).Draw(t, "extra")
		}
		got, want := o.search(d), plainMaximise(o, d, scan(d.(Belief), o.base))
		if want.value > got.value*(1+1e-9) || want.value > 0 && math.IsNaN(got.y) {
			t.Fatalf("%+v: %+v, on a grid %+v", o, got, want)
		}
		if math.IsNaN(got.y) || got.y == 0 || math.IsInf(got.value, 1) {
			return // none, a limit, or certain
		}
		if p, _ := o.at(d, got.y); math.Abs(p.value-got.value) > 1e-12*got.value {
			t.Fatalf("%+v: %+v, but its value is %v", o, got, p.value)
		}
	})
}
