package space

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/internal/must"
)

func TestSampleIsInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anySpace(t)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		c := NewColumn(s, 1)
		for range 20 {
			must.Do(t, c.Set(s, 0, Sample(s, rng)))
			if err := s.Check(&c, 0); err != nil {
				t.Fatalf("%#v: %v", s, err)
			}
		}
	})
}

// Every element of a small discrete space turns up: with 1,000 draws one of 7
// is missed with probability below 1e-65.
func TestSampleCoversDiscrete(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	seen := map[int64]bool{}
	for range 1000 {
		seen[Sample(Discrete{N: 7, Start: -3}, rng).Int] = true
	}
	if len(seen) != 7 || !seen[-3] || !seen[3] {
		t.Errorf("got %v", seen)
	}
}

// The mean of a uniform, an exponential and a normal element lies within 5
// standard errors of its expectation: a false alarm has probability below 2e-6.
func TestSampleMeans(t *testing.T) {
	inf := math.Inf(1)
	b := Box{Low: []float64{2, 2, -inf, -inf}, High: []float64{4, inf, 4, inf}, Shape: []int{4}}
	want := []float64{3, 3, 3, 0}
	sd := []float64{2 / math.Sqrt(12), 1, 1, 1}
	const n = 10000
	rng := rand.New(rand.NewPCG(1, 0))
	sum := make([]float64, 4)
	for range n {
		for i, x := range Sample(b, rng).Float64 {
			sum[i] += x
		}
	}
	for i := range want {
		if d := sum[i]/n - want[i]; math.Abs(d) > 5*sd[i]/math.Sqrt(n) {
			t.Errorf("element %d: mean off by %v", i, d)
		}
	}
}

// Integers of a box are drawn as by Gymnasium's sample: each with the same probability
// between two bounds, else the floor of an exponential or normal number. For each of six
// boxes χ² over 4 cells is below its quantile 1−1e-7 (36.0 with 3 degrees of freedom, chi2.isf
// of scipy): a false alarm has probability 6e-7.
func TestSampleOfIntegers(t *testing.T) {
	inf := math.Inf(1)
	normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	below := func(k float64) float64 { return 1 - math.Exp(-k) }
	for _, tt := range []struct {
		name string
		box  Box
		from int64      // the first cell; the last has all that follows, the first all before
		want [4]float64 // probabilities of four cells
	}{
		{"bounded", Box{Low: []float64{-1}, High: []float64{2}, Type: Int64}, -1, [4]float64{0.25, 0.25, 0.25, 0.25}},
		{"bounds between integers", Box{Low: []float64{-1.5}, High: []float64{2.5}, Type: Int64}, -1, [4]float64{0.25, 0.25, 0.25, 0.25}},
		{"bytes", Box{Low: []float64{251.5}, High: []float64{inf}, Type: Uint8}, 252, [4]float64{0.25, 0.25, 0.25, 0.25}},
		{"from a bound on", Box{Low: []float64{5}, High: []float64{inf}, Type: Int64}, 5, [4]float64{below(1), below(2) - below(1), below(3) - below(2), 1 - below(3)}},
		{"up to a bound", Box{Low: []float64{-inf}, High: []float64{5}, Type: Int64}, 2, [4]float64{1 - below(3), below(3) - below(2), below(2) - below(1), below(1)}},
		{"unbounded", Box{Low: []float64{-inf}, High: []float64{inf}, Type: Int64}, -2, [4]float64{normal(-1), normal(0) - normal(-1), normal(1) - normal(0), 1 - normal(1)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			must.Do(t, tt.box.Validate())
			const n = 10000
			rng, counts := rand.New(rand.NewPCG(1, 0)), [4]float64{}
			c := NewColumn(tt.box, 1)
			for range n {
				must.Do(t, c.Set(tt.box, 0, Sample(tt.box, rng)))
				must.Do(t, tt.box.Check(&c, 0))
				x := int64(0)
				if c.Type == Uint8 {
					x = int64(c.Uint8[0])
				} else {
					x = c.Int64[0]
				}
				counts[min(max(x-tt.from, 0), 3)]++
			}
			chi := 0.0
			for i, p := range tt.want {
				chi += (counts[i] - n*p) * (counts[i] - n*p) / (n * p)
			}
			if chi > 36 {
				t.Errorf("counts %v, want %v of %d: χ² = %v", counts, tt.want, n, chi)
			}
		})
	}
}
