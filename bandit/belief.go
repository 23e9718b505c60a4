// Package bandit answers one question about a multi-armed bandit: when is it
// worth leaving the greedy arm? It holds beliefs over the unknown mean reward of
// an arm, and horizons (the weights of later rewards). It computes the
// exploration threshold of Dimitrakakis, "Nearly optimal
// exploration-exploitation decision thresholds", corrected and extended in
// docs/theory.md, and its index forms. It also computes exact references to
// judge them by (Gittins, backward induction). Policies that act on these
// beliefs are in bandit/policy.
//
//   - Beliefs: Population, Beta, NormalGamma, Gaussian, GammaPoisson,
//     ShiftedExponential, Uniform, TwoPoint; any other type with the four
//     methods of Belief works with everything here. ProbExceeds compares two, and
//     UpperQuantile inverts Exceed.
//   - Horizons: Discounted, DiscountedFinite, Finite, Weights.
//   - Decisions: ExplorationBound and Advantage (the bound of Lemma 1),
//     Threshold (δ*, φ*, γ*, N*), Explore, BestDelta, BestAdvantage.
//   - Indices: Index with the kinds U, UPlus and V, IndexTable for populations.
//   - References: Gittins, GittinsSolver, NewPlan, PolicyValue, GreedyValue.
//
// The package is mathematics: it imports the standard library, gonum and the weights of the
// bootstrap only.
// Its functions panic, with a constant message, when a caller breaks a
// documented precondition; constructors that take data return errors instead.
package bandit

import "math/rand/v2"

// Belief is a probability distribution over the unknown mean reward q of one
// arm. Implementations are Population, Beta, NormalGamma, Gaussian, GammaPoisson,
// ShiftedExponential, Uniform and TwoPoint.
type Belief interface {
	// Mean returns q̄ = E[q].
	Mean() float64
	// Sample draws q from the belief.
	Sample(rng *rand.Rand) float64
	// Exceed returns P(q ≥ x). The inequality is weak: with a population a
	// strict one would give its top member probability zero.
	Exceed(x float64) float64
	// Gain returns E(q−x)⁺, the value of learning q perfectly when a known
	// alternative is worth x (Dearden, Friedman & Russell 1998).
	Gain(x float64) float64
}

// Learner is a Belief that learns from the rewards of its arm.
type Learner interface {
	Belief
	// Update learns from one reward of the arm. Randomised updates (the online
	// bootstrap's masks) draw from rng; the others leave it alone.
	Update(reward float64, rng *rand.Rand)
}
