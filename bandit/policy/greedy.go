package policy

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/bandit"
)

// greedy selects the arm with the largest mean.
type greedy struct{ ranked }

func (g *greedy) SelectArm(*rand.Rand) int { return g.means.first() }

// uniform selects every arm with the same probability and learns nothing.
type uniform struct{ n int }

func (u uniform) SelectArm(rng *rand.Rand) int { return rng.IntN(u.n) }

func (uniform) Update(int, float64, *rand.Rand) {}

// schedule is a parameter that decays as value/(1 + decay·t) with the number t
// of rewards so far.
type schedule struct{ value, decay, t float64 }

func (s *schedule) now() float64 {
	if s.decay == 0 {
		return s.value
	}
	return s.value / (1 + s.decay*s.t)
}

// epsilonGreedy selects, with probability ε_t, an arm uniformly among all, else
// the greedy one.
type epsilonGreedy struct {
	ranked
	epsilon schedule
}

func (g *epsilonGreedy) SelectArm(rng *rand.Rand) int {
	if rng.Float64() < g.epsilon.now() {
		return rng.IntN(g.len())
	}
	return g.means.first()
}

func (g *epsilonGreedy) Update(arm int, reward float64, rng *rand.Rand) {
	g.epsilon.t++
	g.ranked.Update(arm, reward, rng)
}

// softmax selects arm i with probability proportional to exp(q̄_i/τ_t), Gibbs
// or Boltzmann exploration. A step takes time proportional to the number of
// arms.
type softmax struct {
	ranked
	temperature schedule
	weights     []float64 // scratch
}

func (s *softmax) SelectArm(rng *rand.Rand) int {
	scale := 1 / s.temperature.now()
	best := s.means.entries[0].key
	sum := 0.0
	for i := range s.weights {
		s.weights[i] = math.Exp((s.mean(i) - best) * scale)
		sum += s.weights[i]
	}
	u := rng.Float64() * sum
	for i, w := range s.weights {
		if u -= w; u < 0 {
			return i
		}
	}
	return s.means.first() // rounding has used up the sum
}

func (s *softmax) Update(arm int, reward float64, rng *rand.Rand) {
	s.temperature.t++
	s.ranked.Update(arm, reward, rng)
}

var greedyKind = kind{"greedy", "", pointFirst, func(*builder) (maker, error) {
	return func(b beliefs, _ []bandit.Beta) Policy { return &greedy{newRanked(b)} }, nil
}}

var uniformKind = kind{"uniform", "", nil, func(d *builder) (maker, error) {
	return func(beliefs, []bandit.Beta) Policy { return uniform{d.task.Arms} }, nil
}}

var epsilonGreedyKind = kind{"epsilon-greedy", "epsilon decay", pointFirst, buildEpsilonGreedy}

func buildEpsilonGreedy(d *builder) (maker, error) {
	epsilon := schedule{value: or(d.Epsilon, 0.01), decay: or(d.Decay, 0)}
	return func(b beliefs, _ []bandit.Beta) Policy { return &epsilonGreedy{newRanked(b), epsilon} }, nil
}

var softmaxKind = kind{"softmax", "temperature decay", pointFirst, buildSoftmax}

func buildSoftmax(d *builder) (maker, error) {
	temperature := schedule{value: or(d.Temperature, 0.1), decay: or(d.Decay, 0)}
	return func(b beliefs, _ []bandit.Beta) Policy {
		return &softmax{newRanked(b), temperature, make([]float64, b.len())}
	}, nil
}
