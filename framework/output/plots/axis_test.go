package plots

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"pgregory.net/rapid"
)

func labels(ticks []plot.Tick) string {
	var out []string
	for _, t := range ticks {
		if t.Label != "" {
			out = append(out, t.Label)
		}
	}
	return strings.Join(out, " ")
}

func TestTicks(t *testing.T) {
	for _, tt := range []struct {
		ticks  func(lo, hi float64) []plot.Tick
		lo, hi float64
		want   string
	}{
		{linearTicks, 0, 1, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{linearTicks, -0.03, 0.031, "−0.03 −0.02 −0.01 0.00 0.01 0.02 0.03"},
		{linearTicks, 0, 10000, "0 2,000 4,000 6,000 8,000 10,000"},
		{linearTicks, -1500, 1500, "−1,500 −1,000 −500 0 500 1,000 1,500"},
		{linearTicks, 0, 4e9, "0 5e8 1e9 1.5e9 2e9 2.5e9 3e9 3.5e9 4e9"},
		{linearTicks, -2e-9, 4e-9, "−2e−9 −1e−9 0 1e−9 2e−9 3e−9 4e−9"},
		{linearTicks, 12345678, 12345681, "1.2345678e7 1.23456785e7 1.2345679e7 1.23456795e7 1.234568e7 1.23456805e7 1.2345681e7"},
		{linearTicks, 0.1, 0.100000003, "0.1000000000 0.1000000005 0.1000000010 0.1000000015 0.1000000020 0.1000000025 0.1000000030"},
		{linearTicks, 1, 1, ""},
		{logTicks, 1, 1e6, "1 10 100 1,000 10,000 100,000 1,000,000"},
		{logTicks, 1, 1e12, "1 100 10,000 1,000,000 1e8 1e10 1e12"},
		{logTicks, 1, 2000, "1 10 100 1,000 2,000"},
		{logTicks, 1, 1100, "1 10 100 1,000"}, // too near
		{logTicks, 1, 200000, "1 10 100 1,000 10,000 100,000"},
		{logTicks, 30, 10000, "100 1,000 10,000"},
		{logTicks, 200, 900, "200 300 400 500 600 700 800 900"},
		{logTicks, 0.001, 10, "0.001 0.01 0.1 1 10"},
	} {
		if got := labels(tt.ticks(tt.lo, tt.hi)); got != tt.want {
			t.Errorf("%g to %g: got %s, want %s", tt.lo, tt.hi, got, tt.want)
		}
	}
}

// Ticks lie in the range, increase, have distinct labels, and are few enough to
// read.
func TestTicksAreReadable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Float64Range(-1e9, 1e9).Draw(t, "lo") * rapid.SampledFrom([]float64{1, 1e-3, 1e-9}).Draw(t, "scale")
		hi := lo + max(1e-9*math.Abs(lo), math.Pow(10, rapid.Float64Range(-10, 9).Draw(t, "decades")))
		seen := map[string]bool{}
		last := math.Inf(-1)
		ticks := linearTicks(lo, hi)
		for _, tick := range ticks {
			slack := 1e-6 * (hi - lo)
			if tick.Value < lo-slack || tick.Value > hi+slack || tick.Value <= last || seen[tick.Label] {
				t.Fatalf("%g to %g: %v", lo, hi, ticks)
			}
			for _, c := range tick.Label {
				if !strings.ContainsRune("0123456789,.e−", c) { // the font has these
					t.Fatalf("%g to %g: %q", lo, hi, tick.Label)
				}
			}
			last, seen[tick.Label] = tick.Value, true
		}
		if len(ticks) < 3 || len(ticks) > 9 {
			t.Fatalf("%g to %g: %d ticks", lo, hi, len(ticks))
		}
	})
}

func TestStylesDiffer(t *testing.T) {
	seen := map[string]int{}
	for i := range 28 {
		col, dash := lineStyle(i)
		key := fmt.Sprint(col, dash)
		if j, ok := seen[key]; ok {
			t.Errorf("lines %d and %d look the same", i, j)
		}
		seen[key] = i
	}
}

// Values that differ by rounding only, or by the smallest numbers, have ticks, and few.
func TestTicksOfRounding(t *testing.T) {
	for _, c := range [][2]float64{{1e17, 1e17 + 32}, {1, math.Nextafter(1, 2)}, {0, math.SmallestNonzeroFloat64}, {-1e300, 1e300}} {
		if n := len(linearTicks(c[0], c[1])); n > 10 {
			t.Errorf("%g to %g: %d ticks", c[0], c[1], n)
		}
	}
	f := Figure{Lines: []Line{{X: []float64{1, 2}, Y: []float64{1e17, 1e17 + 32}}}}
	_, _, y0, y1 := f.ranges()
	if ticks := linearTicks(y0, y1); len(ticks) < 3 || ticks[0].Label == ticks[1].Label {
		t.Errorf("%g to %g: %v", y0, y1, ticks)
	}
}
