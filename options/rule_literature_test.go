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

// By hand, with two options of four members: y is worth 0.5, and x 0.6 in one member and 0 in the others. Then Δ(y) = 0.025, Δ(x) = 0.375,
// g(y) = 0 and g(x) = 0.0675. (Δ(y)+0.35q)²/(0.0675q) is least at q = 1/14. The bound is five standard deviations.
func TestInformationDirectedByHand(t *testing.T) {
	d := must.Get(NewDecider(DeciderConfig{Rule: RuleInformationDirected, Horizon: bandit.Finite(10)}))(t)
	p := &Problem{Arms: []Arm{{Name: "y"}, {Name: "x"}}, Hold: 1, Values: []float64{0.5, 0.5, 0.5, 0.5, 0, 0.6, 0, 0}}
	rng, n, explored := newRNG(4), 20_000, 0
	for range n {
		if must.Get(d.Decide(p, rng))(t).Explore {
			explored++
		}
	}
	if got, want := float64(explored)/float64(n), 1.0/14; math.Abs(got-want) > 5*math.Sqrt(want*(1-want)/float64(n)) {
		t.Errorf("x is chosen in a share %v of the decisions, want 1/14", got)
	}
	for _, certain := range [][]float64{{0.1, 0.7, 0.1, 0.6}, {0.3, 0.3, 0.3, 0.3}} {
		if p.Values = certain; must.Get(d.Decide(p, rng))(t).Explore {
			t.Errorf("it explores where the greedy option is best in all members: %v", certain)
		}
	}
	p.Arms, p.Values = p.Arms[:2], []float64{0.25, 0.25, 0.5, 0.5} // it shows nothing
	if !must.Get(d.Decide(p, rng))(t).Explore {
		t.Error("an option that is best in all members is not chosen")
	}
}

// No distribution over four options has a smaller ratio than the one from which the rule draws.
func TestInformationDirectedIsLeast(t *testing.T) {
	rng := newRNG(6)
	for range 20 {
		const n, k = 4, 5
		p := &Problem{Arms: make([]Arm, n), Hold: 1, Values: make([]float64, n*k)}
		for i := range p.Values {
			p.Values[i] = rng.NormFloat64()
		}
		regret, information := make([]float64, n), make([]float64, n)
		for x := range n {
			groups := map[int][]float64{}
			for m := range k {
				best := 0
				for y := range n {
					if p.row(y)[m] > p.row(best)[m] {
						best = y
					}
				}
				regret[x] += (p.row(best)[m] - p.row(x)[m]) / k
				groups[best] = append(groups[best], p.row(x)[m])
			}
			for _, g := range groups {
				information[x] += float64(len(g)) / k * (mean(g) - mean(p.row(x))) * (mean(g) - mean(p.row(x)))
			}
		}
		ratio := func(shares []float64) float64 {
			d, g := 0.0, 0.0
			for x, share := range shares {
				d, g = d+share*regret[x], g+share*information[x]
			}
			return d * d / g
		}
		d, counts := must.Get(NewDecider(DeciderConfig{Rule: RuleInformationDirected, Horizon: bandit.Finite(10)}))(t), make([]float64, n)
		for range 20_000 {
			counts[must.Get(d.Decide(p, rng))(t).Choice] += 1.0 / 20_000
		}
		got := ratio(counts)
		for range 2000 {
			other, sum := make([]float64, n), 0.0
			for x := range other {
				other[x] = -math.Log(rng.Float64())
				sum += other[x]
			}
			for x := range other {
				other[x] /= sum
			}
			if ratio(other) < got*0.99 {
				t.Fatalf("the ratio is %v with %v, and %v with what is drawn, %v", ratio(other), other, got, counts)
			}
		}
	}
}

// By hand: y has the mean 0.6, z 0.55 and x 0.5. ν(y) = E max(v,0.55) − 0.6 = 0.025, ν(z) = 0.15, ν(x) = (0.6+1)/2 − 0.6 = 0.2. With ρ = 1/10 x leads by
// 0.1(0.5−0.6) + 0.9(0.2−0.025), and with ρ = 1 nothing is explored. Random actions of value 0.1 show 1 and 1.2 with ζ = 1/2.
func TestKnowledgeGradientByHand(t *testing.T) {
	arms := []Arm{{Name: "y"}, {Name: "z"}, {Name: "x"}, {Name: "random", Class: Uninformed, RevealProbability: 0.5}}
	p := Problem{Arms: arms[:3], Values: []float64{0.5, 0.7, 0.2, 0.9, 0, 1}, Hold: 1}
	d := must.Get(Decide(DeciderConfig{Rule: RuleKnowledgeGradient, Horizon: bandit.Finite(9)}, &p, nil))(t)
	if want := 0.1*(0.5-0.6) + 0.9*(0.2-0.025); d.Option != "x" || math.Abs(d.Advantage-want) > 1e-12 || math.Abs(d.Delta*d.P-0.2) > 1e-12 {
		t.Errorf("%+v, want the advantage %v", d, want)
	}
	p.Hold = 10
	if d := must.Get(Decide(DeciderConfig{Rule: RuleKnowledgeGradient, Horizon: bandit.Finite(9)}, &p, nil))(t); d.Explore {
		t.Errorf("%+v", d)
	}
	p = Problem{Arms: []Arm{arms[0], arms[3]}, Values: []float64{0.5, 0.7, 0.1, 0.1}, Optimal: []float64{1, 1.2}, Hold: 1}
	d = must.Get(Decide(DeciderConfig{Rule: RuleKnowledgeGradient, Horizon: bandit.Finite(9)}, &p, nil))(t)
	if want := 0.1*(0.1-0.6) + 0.9*0.5*(1.1-0.6); d.Option != "random" || d.P != 1 || math.Abs(d.Advantage-want) > 1e-12 {
		t.Errorf("%+v, want the advantage %v", d, want)
	}
}
