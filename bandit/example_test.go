package bandit_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/rlrun/rlrun/bandit"
)

// An arm has paid 3 times in 7; another is known to pay 0.5.
func ExampleThreshold() {
	belief := bandit.Beta{A: 1 + 3, B: 1 + 4} // a uniform prior, 3 successes, 4 failures
	known := bandit.Comparison{Known: 0.5}    // what the other arm pays; LowerBound 0, Hold 1

	t := bandit.Threshold(belief, known)
	fmt.Printf("an improvement of δ* = %.4f has probability %.4f\n", t.DeltaStar, t.PStar)
	fmt.Printf("it is worth trying for γ > %.4f, or from N = %d on\n", t.GammaStar, t.NStar)
	for _, gamma := range []float64{0.9, 0.99} {
		fmt.Println(gamma, bandit.Explore(bandit.Discounted(gamma), belief, known))
	}
	// Output:
	// an improvement of δ* = 0.0938 has probability 0.1834
	// it is worth trying for γ > 0.9579, or from N = 23 on
	// 0.9 false
	// 0.99 true
}

// All that counts of a horizon is the share of its weight that T pulls take.
func ExampleHorizon() {
	for _, h := range []struct {
		name string
		bandit.Horizon
	}{
		{"discounted", bandit.Discounted(0.99)},
		{"100 rewards", bandit.Finite(99)},
		{"both", bandit.DiscountedFinite(0.99, 99)},
		{"5 free pulls", bandit.Weights([]float64{0, 0, 0, 0, 0, 1, 1, 1})},
	} {
		fmt.Printf("%-12s ρ₁ = %.4f, ρ₅ = %.4f\n", h.name, h.Share(1), h.Share(5))
	}
	// Output:
	// discounted   ρ₁ = 0.0100, ρ₅ = 0.0490
	// 100 rewards  ρ₁ = 0.0100, ρ₅ = 0.0500
	// both         ρ₁ = 0.0158, ρ₅ = 0.0773
	// 5 free pulls ρ₁ = 0.0000, ρ₅ = 0.0000
}

// An index is the value of a known arm at which trying this one ceases to pay.
func ExampleIndex() {
	const gamma = 0.99
	rho := bandit.Discounted(gamma).Share(1)
	for _, b := range []bandit.Beta{{A: 4, B: 5}, {A: 40, B: 50}} {
		fmt.Printf("mean %.3f", b.Mean())
		for _, kind := range []bandit.IndexKind{bandit.U, bandit.UPlus, bandit.V} {
			fmt.Printf("  %v %.4f", kind, bandit.Index(kind, b, rho, 0))
		}
		fmt.Printf("  Gittins %.4f\n", bandit.Gittins(b.A, b.B, gamma))
	}
	// Output:
	// mean 0.444  U 0.6053  U+ 0.6697  V 0.7119  Gittins 0.6312
	// mean 0.444  U 0.4721  U+ 0.5184  V 0.5348  Gittins 0.4751
}

// A population is a belief for rewards of any distribution: point estimates that
// start apart and learn from each reward.
func ExamplePopulation() {
	rng := rand.New(rand.NewPCG(1, 2))
	arms, err := bandit.NewPopulations(1, 16, bandit.Uniform{Lo: 0, Hi: 1},
		bandit.PopulationConfig{Schedule: bandit.HarmonicStep(1), Mode: bandit.PoissonWeights}, rng)
	if err != nil {
		fmt.Println(err)
		return
	}
	arm := &arms[0]
	for range 20 {
		arm.Update(0.3+0.2*rng.NormFloat64(), rng)
	}
	fmt.Printf("mean %.2f, between %.2f and %.2f\n", arm.Mean(), arm.Min(), arm.Max())
	fmt.Printf("P(q ≥ 0.35) = %.4f\n", arm.Exceed(0.35))
	// Output:
	// mean 0.32, between 0.27 and 0.39
	// P(q ≥ 0.35) = 0.1875
}

// A plan is the Bayes-optimal way to play a small problem, to judge others by.
func ExamplePlan() {
	priors := []bandit.Beta{{A: 1, B: 1}, {A: 1, B: 1}}
	horizon := bandit.Finite(19) // 20 rewards

	plan, err := bandit.NewPlan(priors, horizon, 20, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	greedy, err := bandit.GreedyValue(priors, horizon, 20)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("optimal %.4f, greedy %.4f\n", plan.Value(), greedy)
	fmt.Println("after a success and a failure of arm 0, pull arm", plan.Best([]int{1, 1, 0, 0}))
	// Output:
	// optimal 12.4313, greedy 12.3311
	// after a success and a failure of arm 0, pull arm 1
}
