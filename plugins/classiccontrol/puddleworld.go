package classiccontrol

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

type puddleWorldParams struct {
	Limit
	Noise float64 `json:"noise" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Standard deviation of the normal noise on each coordinate of a move; default of Sutton (1996)."`
}

// PuddleWorld returns the square with two puddles of Sutton (1996) as a plugin. The
// state is a point of [0,1]². The actions move it by 0.05 up, down, right and left,
// with normal noise of deviation 0.01 on both coordinates, but not out of the
// square. An episode starts at a uniformly random point outside the goal, which is
// the corner x + y ≥ 1.9. A step costs 1, and 400 times the depth of its end in
// each puddle. The puddles are all points within 0.1 of the segments from (0.1,
// 0.75) to (0.45, 0.75) and from (0.45, 0.4) to (0.45, 0.8).
//
// The paper leaves open how large the goal is, what is paid where the puddles
// overlap, and limits no episodes; programs in circulation differ in all three.
// Corner and limit are those of RLPy (Geramifard et al. 2015), which counts the
// deeper puddle only, and pays 0 for the last step.
func PuddleWorld() vector.Plugin {
	return plugin("rlrun/puddleworld@1",
		"Puddle world (Sutton 1996): to the corner of a square, around two puddles.", 10,
		puddleWorldParams{Limit: Limit{1000}, Noise: 0.01},
		func(p puddleWorldParams) dynamics { return puddleWorld{p.Noise} })
}

const (
	puddleMove   = 0.05
	puddleRadius = 0.1
	puddleCost   = 400.0
	puddleGoal   = 1.9
)

type puddleWorld struct{ noise float64 }

func (puddleWorld) names() []string { return []string{"up", "down", "right", "left"} }

func (puddleWorld) spec() framework.Spec {
	return framework.Spec{
		Observation: box([]float64{0, 0}, []float64{1, 1}),
		Action:      space.Discrete{N: 4},
		// Both puddles are deepest where their axes meet.
		RewardLow: -1 - 2*puddleCost*puddleRadius, RewardHigh: -1,
	}
}

func (puddleWorld) start(x *state, rng *rand.Rand) {
	for {
		*x = state{rng.Float64(), rng.Float64()}
		if x[0]+x[1] < puddleGoal {
			return
		}
	}
}

func (p puddleWorld) step(x *state, action int, rng *rand.Rand) (reward float64, terminated bool) {
	move := [4][2]float64{{0, puddleMove}, {0, -puddleMove}, {puddleMove, 0}, {-puddleMove, 0}}[action]
	for i := range move {
		x[i] = min(max(x[i]+move[i]+p.noise*rng.NormFloat64(), 0), 1)
	}
	reward = -1 - puddleCost*(depth(x[0], x[1], 0.1, 0.45, 0.75)+depth(x[1], x[0], 0.4, 0.8, 0.45))
	return reward, x[0]+x[1] >= puddleGoal
}

// depth returns how far the point (u, v) is in the puddle whose axis goes from
// (low, at) to (high, at): 0 outside.
func depth(u, v, low, high, at float64) float64 {
	return max(0, puddleRadius-math.Hypot(u-min(max(u, low), high), v-at))
}

func (puddleWorld) observe(x *state, dst []float32) { dst[0], dst[1] = float32(x[0]), float32(x[1]) }
