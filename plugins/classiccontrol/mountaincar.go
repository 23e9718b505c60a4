package classiccontrol

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

type mountainCarParams struct {
	Limit
	GoalVelocity float64 `json:"goal_velocity" jsonschema:"minimum=-0.07,maximum=0.07" jsonschema_description:"Smallest velocity at which the goal is reached; default of Gymnasium."`
}

// MountainCar returns the car that is too weak for its hill (Moore 1990; Sutton &
// Barto 2018, Example 10.1) with the numbers of Gymnasium's MountainCar-v0, as a
// plugin. The state is (position, velocity), the actions push left, not at all and
// right. Every step costs 1 until the car is at 0.5. Sutton & Barto's differs in
// its right end, which is the goal, and in having no limit of steps.
func MountainCar() vector.Plugin {
	return plugin("rlrun/mountaincar@1",
		"Mountain car (Moore 1990) with the dynamics of Gymnasium's MountainCar-v0: swing up a hill that is too steep to drive up.", 30,
		mountainCarParams{Limit: Limit{200}},
		func(p mountainCarParams) dynamics { return mountainCar{p.GoalVelocity} })
}

const (
	carLeft     = -1.2
	carRight    = 0.6
	carGoal     = 0.5
	carMaxSpeed = 0.07
	carForce    = 0.001
	carGravity  = 0.0025
)

type mountainCar struct{ goalVelocity float64 }

func (mountainCar) names() []string { return []string{"left", "none", "right"} }

func (mountainCar) spec() framework.Spec {
	return framework.Spec{
		Observation: box([]float64{carLeft, -carMaxSpeed}, []float64{carRight, carMaxSpeed}),
		Action:      space.Discrete{N: 3},
		RewardLow:   -1, RewardHigh: -1,
	}
}

func (mountainCar) start(x *state, rng *rand.Rand) { *x = state{uniform(rng, -0.6, -0.4), 0} }

func (c mountainCar) step(x *state, action int, _ *rand.Rand) (reward float64, terminated bool) {
	position, velocity := x[0], x[1]
	velocity += float64(action-1)*carForce - math.Cos(3*position)*carGravity
	velocity = min(max(velocity, -carMaxSpeed), carMaxSpeed)
	position = min(max(position+velocity, carLeft), carRight)
	if position == carLeft && velocity < 0 {
		velocity = 0
	}
	x[0], x[1] = position, velocity
	return -1, position >= carGoal && velocity >= c.goalVelocity
}

func (mountainCar) observe(x *state, dst []float32) { dst[0], dst[1] = float32(x[0]), float32(x[1]) }
