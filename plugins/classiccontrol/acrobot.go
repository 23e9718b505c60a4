package classiccontrol

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

type acrobotParams struct {
	Limit
	Dynamics    string  `json:"dynamics,omitempty" jsonschema:"enum=book,enum=nips" jsonschema_description:"book: the equations of Sutton & Barto. nips: the equations printed in Sutton (1996), which lack a term. The results of that paper were made with the equations of the book. Gymnasium calls it book_or_nips; its default."`
	TorqueNoise float64 `json:"torque_noise" jsonschema:"minimum=0" jsonschema_description:"Largest disturbance of the torque, uniform, in N m; default of Gymnasium."`
}

// Acrobot returns the gymnast on a bar (DeJong & Spong 1994; Sutton 1996) with the
// numbers of Gymnasium's Acrobot-v1, as a plugin. The state is (θ₁, θ₂, θ̇₁, θ̇₂),
// and the observation (cos θ₁, sin θ₁, cos θ₂, sin θ₂, θ̇₁, θ̇₂). The
// actions are torques of −1, 0 and 1 N m at the joint between the two links. A step is 0.2 s
// of the classical Runge-Kutta method. Every step costs 1 until the tip is a link's length
// above the bar; the last costs nothing.
func Acrobot() vector.Plugin {
	return plugin("rlrun/acrobot@1",
		"Acrobot (Sutton 1996) with the dynamics of Gymnasium's Acrobot-v1: swing the tip of two links above the bar.", 15,
		acrobotParams{Limit: Limit{500}, Dynamics: "book"},
		func(p acrobotParams) dynamics { return acrobot{p.Dynamics == "nips", p.TorqueNoise} })
}

// Both links have mass 1 kg, length 1 m, their centre of mass in the middle and a
// moment of inertia of 1 kg m².
const (
	acrobotTau     = 0.2
	linkCentre     = 0.5
	linkInertia    = 1.0
	acrobotSpeed1  = 4 * math.Pi
	acrobotSpeed2  = 9 * math.Pi
	acrobotInitial = 0.1
)

type acrobot struct {
	nips  bool
	noise float64
}

func (acrobot) names() []string { return []string{"torque -1", "torque 0", "torque +1"} }

func (acrobot) spec() framework.Spec {
	return framework.Spec{
		Observation: box([]float64{-1, -1, -1, -1, -acrobotSpeed1, -acrobotSpeed2}, []float64{1, 1, 1, 1, acrobotSpeed1, acrobotSpeed2}),
		Action:      space.Discrete{N: 3},
		RewardLow:   -1, RewardHigh: 0,
	}
}

func (acrobot) start(x *state, rng *rand.Rand) {
	for i := range x {
		x[i] = uniform(rng, -acrobotInitial, acrobotInitial)
	}
}

func (a acrobot) step(x *state, action int, rng *rand.Rand) (reward float64, terminated bool) {
	torque := float64(action - 1)
	if a.noise > 0 {
		torque += uniform(rng, -a.noise, a.noise)
	}
	k1 := a.derivative(x, torque)
	k2 := a.derivative(moved(x, &k1, acrobotTau/2), torque)
	k3 := a.derivative(moved(x, &k2, acrobotTau/2), torque)
	k4 := a.derivative(moved(x, &k3, acrobotTau), torque)
	for i := range x {
		x[i] += acrobotTau / 6 * (k1[i] + 2*k2[i] + 2*k3[i] + k4[i])
	}
	x[0], x[1] = wrap(x[0]), wrap(x[1])
	x[2] = min(max(x[2], -acrobotSpeed1), acrobotSpeed1)
	x[3] = min(max(x[3], -acrobotSpeed2), acrobotSpeed2)
	if -math.Cos(x[0])-math.Cos(x[1]+x[0]) > 1 {
		return 0, true
	}
	return -1, false
}

// moved returns x + h·k.
func moved(x, k *state, h float64) *state {
	var y state
	for i := range y {
		y[i] = x[i] + h*k[i]
	}
	return &y
}

// wrap brings an angle back to [−π, π].
func wrap(x float64) float64 {
	for x > math.Pi {
		x -= 2 * math.Pi
	}
	for x < -math.Pi {
		x += 2 * math.Pi
	}
	return x
}

// derivative returns dx/dt (Sutton & Barto 2018 refer to Spong 1994 for the
// equations; with nips, those of Sutton 1996, Figure 4).
func (a acrobot) derivative(x *state, torque float64) state {
	const c, i = linkCentre, linkInertia
	speed1, speed2 := x[2], x[3]
	sin2, cos2 := math.Sincos(x[1])
	d1 := c*c + (1 + c*c + 2*c*cos2) + 2*i
	d2 := (c*c + c*cos2) + i
	phi2 := c * gravity * math.Cos(x[0]+x[1]-math.Pi/2)
	phi1 := -c*speed2*speed2*sin2 - 2*c*speed2*speed1*sin2 + (c+1)*gravity*math.Cos(x[0]-math.Pi/2) + phi2
	drive := torque + d2/d1*phi1 - phi2
	if !a.nips {
		drive -= c * speed1 * speed1 * sin2
	}
	accel2 := drive / (c*c + i - d2*d2/d1)
	accel1 := -(d2*accel2 + phi1) / d1
	return state{speed1, speed2, accel1, accel2}
}

func (acrobot) observe(x *state, dst []float32) {
	sin1, cos1 := math.Sincos(x[0])
	sin2, cos2 := math.Sincos(x[1])
	dst[0], dst[1], dst[2], dst[3] = float32(cos1), float32(sin1), float32(cos2), float32(sin2)
	dst[4], dst[5] = float32(x[2]), float32(x[3])
}
