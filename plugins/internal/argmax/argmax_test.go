package argmax

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Both return an action of the largest value; First the first one, and Any draws
// only where there are several.
func TestArgmax(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := rapid.SliceOfN(rapid.SampledFrom([]float64{math.Inf(-1), -1, 0, 2}), 1, 9).Draw(t, "q")
		largest, ties := slices.Max(q), 0
		for _, v := range q {
			if v == largest {
				ties++
			}
		}
		if a := First(q); a != slices.Index(q, largest) {
			t.Fatalf("First of %v is %d", q, a)
		}
		pcg := rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)
		before := *pcg
		if a := Any(q, rand.New(pcg)); q[a] != largest || ties == 1 && *pcg != before {
			t.Fatalf("Any of %v is %d", q, a)
		}
	})
}

// Equal values have equal chances: of 3,000 draws each of three comes within 5 deviations
// of 1,000, except with a chance below 1e-5.
func TestAnyIsFair(t *testing.T) {
	rng, counts := rand.New(rand.NewPCG(1, 1)), [5]int{}
	for range 3000 {
		counts[Any([]float64{2, 1, 2, 0, 2}, rng)]++
	}
	for _, a := range []int{0, 2, 4} {
		if math.Abs(float64(counts[a])-1000) > 5*math.Sqrt(3000*2./9) {
			t.Errorf("%v", counts)
		}
	}
}
