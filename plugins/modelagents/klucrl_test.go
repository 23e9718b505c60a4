package modelagents

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// The best distribution within a divergence is that of a search over a grid of all
// distributions over three states: no point of the grid that is allowed is better, and one is
// as good, up to the step of the grid.
func TestExpectKLAgainstBruteForce(t *testing.T) {
	const grid = 200
	rapid.Check(t, func(t *rapid.T) {
		counts := must.Get(mdp.NewCounts(3, 1))(t)
		seen := rapid.SliceOfN(rapid.IntRange(0, 4), 3, 3).Draw(t, "counts")
		seen[0] += 1
		total := 0.0
		for u, n := range seen {
			total += float64(n)
			for range n {
				counts.Update(0, 0, 0, u)
			}
		}
		value := rapid.SliceOfN(rapid.Float64Range(0, 10), 3, 3).Draw(t, "value")
		width := rapid.Float64Range(0.05, 2).Draw(t, "width")
		best := 0
		for u, v := range value {
			if v > value[best] {
				best = u
			}
		}
		x := &modelbased.Experience{Task: finite.Task{States: 3, Actions: 1}, Counts: counts}
		m := &confidence{Data: modelbased.Data{Experience: x}, best: best, pairs: []confidencePair{{width: width}}}
		got := m.expectKL(0, 0, value)
		most, nearly := math.Inf(-1), math.Inf(-1) // within the radius, and within one that is a step wider
		for i := range grid + 1 {
			for j := range grid + 1 - i {
				q := [3]float64{float64(i) / grid, float64(j) / grid, float64(grid-i-j) / grid}
				divergence, v := 0.0, 0.0
				for u := range q {
					if p := float64(seen[u]) / total; p > 0 {
						divergence += p * math.Log(p/q[u])
					}
					v += q[u] * value[u]
				}
				if divergence <= width*width+1e-12 {
					most = max(most, v)
				}
				if divergence <= 1.1*width*width+0.02 {
					nearly = max(nearly, v)
				}
			}
		}
		if got < most-1e-9 || got > nearly+0.1 {
			t.Fatalf("counts %v, values %v, width %v: %v, by brute force %v, and %v in a wider ball", seen, value, width, got, most, nearly)
		}
	})
}

// By hand: one successor of value 0 was seen, and a better one is worth 1. KL(p̂, q) = −ln q ≤ ρ
// leaves it 1 − e^−ρ. Of two that were seen equally often, the divergence is −½ ln(4 q (1−q)).
func TestExpectKLByHand(t *testing.T) {
	counts := must.Get(mdp.NewCounts(3, 2))(t)
	counts.Update(0, 0, 0, 0)
	counts.Update(0, 1, 0, 0)
	counts.Update(0, 1, 0, 2)
	x := &modelbased.Experience{Task: finite.Task{States: 3, Actions: 2}, Counts: counts}
	m := &confidence{Data: modelbased.Data{Experience: x}, best: 2, pairs: make([]confidencePair, 6)}
	m.pairs[0].width, m.pairs[1].width = 0.5, 0.5
	if got, want := m.expectKL(0, 0, []float64{0, 0.5, 1}), 1-math.Exp(-0.25); math.Abs(got-want) > 1e-12 {
		t.Errorf("one seen: %v, want %v", got, want)
	}
	if got, want := m.expectKL(0, 1, []float64{0, 0.5, 1}), (1+math.Sqrt(1-math.Exp(-0.5)))/2; math.Abs(got-want) > 1e-9 {
		t.Errorf("two seen: %v, want %v", got, want)
	}
	if got := m.expectKL(1, 0, []float64{0, 0.5, 1}); got != 1 {
		t.Errorf("none seen: %v, want the largest value", got)
	}
}

// The widths of Filippi et al. (2010) by hand, as in TestWidths.
func TestKLWidths(t *testing.T) {
	x := newAgent(t, "kl-ucrl", `{"delta":0.1}`, continuing())
	for k := range 9 {
		x.Counts.Update(min(1, k/4), 1, 0.5, 2)
	}
	m := x.Construction.(*confidence)
	m.Refresh()
	l := math.Log(10)
	b := math.Log(2 * math.E * 9 * 2 * l / 0.1)
	want := 3 * (b + math.Log(b+1/l)*(1+1/(b+1/l))) / 4
	if got := m.pairs[1].width * m.pairs[1].width; math.Abs(got-want) > 1e-12 {
		t.Errorf("divergence %v, want %v", got, want)
	}
	if want := 0.5 + 2*math.Sqrt(math.Log(4*3*2*l/0.1)/1.99/4); math.Abs(m.pairs[1].reward-want) > 1e-12 {
		t.Errorf("reward %v, want %v", m.pairs[1].reward, want)
	}
}

// No plan of 20 runs is below the optimum: by the theorem a run fails with a probability of at most 0.05.
func TestKLPlans(t *testing.T) {
	if below, plans := tooGloomy(t, "kl-ucrl", `{}`, 20); below != 0 || plans < 20*12 {
		t.Errorf("%d of %d plans are below the optimum", below, plans)
	}
}
