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
