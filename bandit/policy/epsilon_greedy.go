package policy

import "math/rand/v2"

// EpsilonGreedy selects, with probability ε_t, one of all arms uniformly, else argmax_i q̄_i
// (Sutton & Barto 2018, §2.2). After t rewards ε_t = ε/(1 + decay·t).
type EpsilonGreedy struct {
	Epsilon *float64 `json:"epsilon,omitempty" jsonschema:"minimum=0,maximum=1,default=0.01" jsonschema_description:"Probability of an arm at random; default of the paper."`
	Decay   *float64 `json:"decay,omitempty" when:"epsilon!=0" jsonschema:"minimum=0,default=0" jsonschema_description:"epsilon is divided by 1 + decay*t after t rewards. Default: constant, as in Sutton & Barto (2018, §2.2)."`
}

func (p EpsilonGreedy) build(*setting) (maker, error) {
	epsilon := schedule{value: *p.Epsilon, decay: *p.Decay}
	return func(b beliefs) Policy { return &epsilonGreedy{newRanked(b), epsilon} }, nil
}

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

// schedule is a parameter that decays as value/(1 + decay·t) with the number t
// of rewards so far.
type schedule struct{ value, decay, t float64 }

func (s *schedule) now() float64 {
	if s.decay == 0 {
		return s.value
	}
	return s.value / (1 + s.decay*s.t)
}
