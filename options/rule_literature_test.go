package options

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/must"
)

// With options that earn fixed rewards, upper-confidence chooses what UCB1 chooses that is written
// out here, and the best option in all but O(log n) decisions.
func TestUpperConfidenceIsUCB1(t *testing.T) {
	pays := []float64{0.25, 1, 0.5}
	d := must.Get(NewDecider(DeciderConfig{Rule: RuleUpperConfidence, Horizon: bandit.Finite(1e6)}))(t)
	p := &Problem{Arms: []Arm{{Name: "greedy"}, {Name: "a"}, {Name: "b"}}, Values: make([]float64, 3), Hold: 1, Trials: make([]Trial, 3)}
	sums, counts := make([]float64, 3), make([]float64, 3)
	for n := range 5000 {
		best, most := 0, math.Inf(-1)
		for x := range pays {
			index := math.Inf(1)
			if counts[x] > 0 {
				low, high := math.Inf(1), math.Inf(-1)
				for y := range pays {
					if counts[y] > 0 {
						low, high = min(low, sums[y]/counts[y]), max(high, sums[y]/counts[y])
					}
				}
				index = sums[x]/counts[x] + (high-low)*math.Sqrt(2*math.Log(float64(n))/counts[x])
			}
			if index > most {
				best, most = x, index
			}
		}
		got := must.Get(d.Decide(p, nil))(t)
		if got.Choice != best {
			t.Fatalf("decision %d is option %d, want %d", n, got.Choice, best)
		}
		sums[best] += pays[best]
		counts[best]++
		p.Trials[best].Count++
		p.Trials[best].Steps++
		p.Trials[best].Reward += pays[best]
	}
	// Auer, Cesa-Bianchi & Fischer (2002), theorem 1, with rewards in a range of 0.75.
	if most := 8*math.Log(5000)*(1+0.5625/0.25) + 2*(1+math.Pi*math.Pi/3); counts[0]+counts[2] > most {
		t.Errorf("%v bad choices, at most %v are expected", counts[0]+counts[2], most)
	}
}

// Posterior sampling chooses an option as often as members hold it for best. The bound is five
// standard deviations: a false alarm in 600,000.
func TestPosteriorSamplingMatchesProbability(t *testing.T) {
	d := must.Get(NewDecider(DeciderConfig{Rule: RulePosteriorSampling, Horizon: bandit.Finite(10)}))(t)
	p := &Problem{Arms: []Arm{{Name: "greedy"}, {Name: "a"}, {Name: "b"}}, Hold: 1,
		Values: []float64{3, 3, 3, 1, 3 /**/, 2, 9, 1, 2, 3 /**/, 1, 1, 5, 0, 3}}
	rng, n, counts := newRNG(4), 20_000, make([]int, 3)
	for range n {
		counts[must.Get(d.Decide(p, rng))(t).Choice]++
	}
	for x, want := range []float64{0.4, 0.4, 0.2} { // the greedy option also where all are equal
		if got := float64(counts[x]) / float64(n); math.Abs(got-want) > 5*math.Sqrt(want*(1-want)/float64(n)) {
			t.Errorf("option %d is chosen in a share %v of the decisions, want %v", x, got, want)
		}
	}
}
