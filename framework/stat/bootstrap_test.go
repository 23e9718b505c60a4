package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestInterquartileMean(t *testing.T) {
	for _, tt := range []struct {
		xs   []float64
		want float64
	}{
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8}, 4.5},       // (3+4+5+6)/4
		{[]float64{-100, 1, 2, 3, 1000}, 2},            // (1+2+3)/3: one goes at either end
		{[]float64{1, 2, 9}, 4},                        // too few to lose any
		{[]float64{0, 0, 0, 1, 1, 1, 1, 8, 9}, 4. / 5}, // nine lose two at either end: (0+1+1+1+1)/5
		{[]float64{7}, 7},
	} {
		if got := IQM(Scores{tt.xs}); math.Abs(got-tt.want) > 1e-15 {
			t.Errorf("of %v: got %g, want %g", tt.xs, got, tt.want)
		}
	}
	if !math.IsNaN(IQM(nil)) {
		t.Error("of nothing: want NaN")
	}
}

// The bootstrap by counts is the bootstrap: draw, sort, take the mean of the
// middle.
func TestBootstrapAgainstSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(-10, 10), 2, 12).Draw(t, "xs")
		slices.Sort(xs)
		got := BootstrapIQM([][]float64{xs}, 0.95, rand.New(rand.NewPCG(1, 1)))[0]
		rng := rand.New(rand.NewPCG(1, 1))
		means := make([]float64, Resamples)
		sample := make([]float64, len(xs))
		for r := range means {
			for i := range sample {
				sample[i] = xs[rng.IntN(len(xs))]
			}
			slices.Sort(sample)
			means[r] = IQM(Scores{sample})
		}
		slices.Sort(means)
		// Order statistics 49.975 and 1949.025 of 0..1999.
		wantLow := means[49] + 0.975*(means[50]-means[49])
		wantHigh := means[1949] + 0.025*(means[1950]-means[1949])
		if math.Abs(got.Low-wantLow) > 1e-9 || math.Abs(got.High-wantHigh) > 1e-9 {
			t.Fatalf("got %g to %g, want %g to %g", got.Low, got.High, wantLow, wantHigh)
		}
	})
}

// The bootstrap interval of 40 normal values covers the interquartile mean (0 by
// symmetry) nearly as often as it says: a percentile bootstrap is a little short.
// Were the coverage 0.93, one of 400 samples outside 0.93 ± 0.06 would be a false
// alarm with probability below 1e-5.
func TestBootstrapCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const samples = 400
	hits := 0
	xs := make([]float64, 40)
	for range samples {
		for i := range xs {
			xs[i] = rng.NormFloat64()
		}
		slices.Sort(xs)
		if got := BootstrapIQM([][]float64{xs}, 0.95, rng)[0]; got.Low <= 0 && 0 <= got.High {
			hits++
		}
	}
	if rate := float64(hits) / samples; math.Abs(rate-0.93) > 0.06 {
		t.Errorf("%.3f of the intervals cover", rate)
	}
}

// Samples share their draws: an interval does not depend on the samples beside it, and
// one sample moved by a constant has its interval moved by it.
func TestBootstrapSharesDraws(t *testing.T) {
	xs, ys := []float64{3, 1, 4, 1, 5, 9, 2, 6}, make([]float64, 8)
	for i, x := range xs {
		ys[i] = x + 16
	}
	draws := func() *rand.Rand { return rand.New(rand.NewPCG(1, 1)) }
	alone := BootstrapIQM([][]float64{xs}, 0.95, draws())
	both := BootstrapIQM([][]float64{ys, xs}, 0.95, draws())
	if both[1] != alone[0] {
		t.Errorf("beside another sample %+v, alone %+v", both[1], alone[0])
	}
	if moved := (Interval{alone[0].Value + 16, alone[0].Low + 16, alone[0].High + 16}); both[0] != moved {
		t.Errorf("got %+v, want %+v", both[0], moved)
	}
}
