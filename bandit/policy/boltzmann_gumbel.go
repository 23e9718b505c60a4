package policy

import (
	"math"
	"math/rand/v2"
)

// BoltzmannGumbel selects argmax_i q̄_i + w·C·Z_i/√n_i with Z_i standard Gumbel variates
// (Cesa-Bianchi, Gentile, Lugosi & Neu 2017, §4). There are n_i rewards of arm i, q̄_i is their mean, and
// w is the width of the range of rewards. Each arm is pulled once first. With τ·Z_i in place of
// w·C·Z_i/√n_i it would be Softmax.
type BoltzmannGumbel struct {
	Scale *float64 `json:"scale,omitempty" jsonschema:"minimum=0,default=1" jsonschema_description:"C, the size of the noise. Default: 1, as in SMPyBandits; a choice of ours."`
}

func (p BoltzmannGumbel) build(t *setting) (maker, error) {
	width, err := t.width()
	return func(beliefs) Policy { return &boltzmannGumbel{newTally(t.Arms, 0), width * *p.Scale} }, err
}

type boltzmannGumbel struct {
	tally
	scale float64
}

func (g *boltzmannGumbel) SelectArm(rng *rand.Rand) int {
	if g.lap.lap == 0 {
		if arm, lap := g.lap.next(g.pulls); lap == 0 {
			return arm
		}
	}
	best, selected := math.Inf(-1), 0
	for i, mean := range g.means {
		if x := mean - g.scale*math.Log(rng.ExpFloat64())*g.spread[i]; x > best { // Z_i = −ln of an exponential variate
			best, selected = x, i
		}
	}
	return selected
}

func (g *boltzmannGumbel) Update(arm int, reward float64, _ *rand.Rand) { g.add(arm, reward) }
