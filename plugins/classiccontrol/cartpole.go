package classiccontrol

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

type cartPoleParams struct {
	Limit
	SuttonBartoReward bool `json:"sutton_barto_reward" jsonschema_description:"Pay 0 per step and -1 for the fall in place of 1 for every step, as in Sutton & Barto (2018, Example 3.4); default of Gymnasium."`
}

// CartPole returns the pole on a cart (Barto, Sutton & Anderson 1983) with the
// numbers of Gymnasium's CartPole-v1, as a plugin. The state is (x, ẋ, θ, θ̇), in
// metres, radians and seconds; the actions push left and right with 10 N; a step
// is 0.02 s of the Euler method. Every step pays 1, the one of the fall, too: that
// is when |x| > 2.4 or |θ| > 12°.
func CartPole() vector.Plugin {
	return plugin("rlrun/cartpole@1",
		"Cart and pole (Barto, Sutton & Anderson 1983) with the dynamics of Gymnasium's CartPole-v1: keep the pole upright.", 50,
		cartPoleParams{Limit: Limit{500}},
		func(p cartPoleParams) dynamics { return cartPole{p.SuttonBartoReward} })
}

const (
	gravity    = 9.8 // m/s², of Acrobot, too
	poleMass   = 0.1
	cartMass   = 1.0
	poleHalf   = 0.5 // half of its length
	cartForce  = 10.0
	cartTau    = 0.02
	cartEnd    = 2.4
	poleFallen = 12 * 2 * math.Pi / 360
)

type cartPole struct{ cost bool }

func (cartPole) names() []string { return []string{"left", "right"} }

func (c cartPole) spec() framework.Spec {
	inf := math.Inf(1)
	s := framework.Spec{
		Observation: box([]float64{-2 * cartEnd, -inf, -2 * poleFallen, -inf}, []float64{2 * cartEnd, inf, 2 * poleFallen, inf}),
		Action:      space.Discrete{N: 2},
		RewardLow:   1, RewardHigh: 1,
	}
	if c.cost {
		s.RewardLow, s.RewardHigh = -1, 0
	}
	return s
}

func (cartPole) start(x *state, rng *rand.Rand) {
	for i := range x {
		x[i] = uniform(rng, -0.05, 0.05)
	}
}

// step solves the equations of motion of Florian (2007) without friction.
func (c cartPole) step(x *state, action int, _ *rand.Rand) (reward float64, terminated bool) {
	const total, moment = cartMass + poleMass, poleMass * poleHalf
	force := -cartForce
	if action == 1 {
		force = cartForce
	}
	sin, cos := math.Sincos(x[2])
	push := (force + moment*x[3]*x[3]*sin) / total
	angular := (gravity*sin - cos*push) / (poleHalf * (4./3 - poleMass*cos*cos/total))
	linear := push - moment*angular*cos/total
	x[0] += cartTau * x[1]
	x[1] += cartTau * linear
	x[2] += cartTau * x[3]
	x[3] += cartTau * angular
	fell := math.Abs(x[0]) > cartEnd || math.Abs(x[2]) > poleFallen
	switch {
	case !c.cost:
		return 1, fell
	case fell:
		return -1, true
	}
	return 0, false
}

func (cartPole) observe(x *state, dst []float32) {
	for i, v := range x {
		dst[i] = float32(v)
	}
}
