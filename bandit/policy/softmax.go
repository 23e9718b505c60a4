package policy

import (
	"math"
	"math/rand/v2"
)

// Softmax selects arm i with probability exp(q̄_i/τ_t) / Σ_j exp(q̄_j/τ_t), Gibbs or Boltzmann
// exploration (Sutton & Barto 1998, §2.3). After t rewards τ_t = τ/(1 + decay·t). A step takes time
// proportional to the number of arms.
type Softmax struct {
	Temperature *float64 `json:"temperature,omitempty" jsonschema:"exclusiveMinimum=0,default=0.1" jsonschema_description:"tau, in units of reward; a choice of ours; set it for your task."`
	Decay       *float64 `json:"decay,omitempty" jsonschema:"minimum=0,default=0" jsonschema_description:"temperature is divided by 1 + decay*t after t rewards. Default: constant, as in Sutton & Barto (1998, §2.3)."`
}

func (p Softmax) build(*setting) (maker, error) {
	temperature := schedule{value: *p.Temperature, decay: *p.Decay}
	return func(b beliefs) Policy { return &softmax{newRanked(b), temperature, make([]float64, b.len())} }, nil
}

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
