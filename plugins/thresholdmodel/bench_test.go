package thresholdmodel

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
)

// BenchmarkRiverSwim is a run of 100,000 steps on RiverSwim-6, without the loop.
func BenchmarkRiverSwim(b *testing.B) {
	benchmark(b, 6, 100_000, func(s, a int, u float64) (float64, int) {
		switch {
		case a == 0:
			if s == 0 {
				return 0.005, 0
			}
			return 0, s - 1
		case s == 5:
			if u < 0.6 {
				return 1, 5
			}
			return 1, 4
		case u < 0.35:
			return 0, s + 1
		case u < 0.95 || s == 0:
			return 0, s
		}
		return 0, s - 1
	}, 2)
}

// BenchmarkGrid is a run on a slippery grid with a goal in the corner that leads back to
// the start, of 10,000 steps, on 100 cells and on 1,024.
func BenchmarkGrid(b *testing.B) {
	for _, side := range []int{10, 32} {
		b.Run(fmt.Sprint(side*side), func(b *testing.B) {
			benchmark(b, side*side, 10_000, func(s, a int, u float64) (float64, int) {
				if s == side*side-1 {
					return 1, 0
				}
				switch {
				case u < 0.1:
					a = (a + 1) % 4
				case u < 0.2:
					a = (a + 3) % 4
				}
				row, column := s/side, s%side
				switch a {
				case 0:
					row = max(0, row-1)
				case 1:
					column = min(side-1, column+1)
				case 2:
					row = min(side-1, row+1)
				default:
					column = max(0, column-1)
				}
				return 0, row*side + column
			}, 4)
		})
	}
}

// BenchmarkManyActions is a run of 5,000 steps with 200 actions in each of 30 states. A pair leads
// to one of three states.
func BenchmarkManyActions(b *testing.B) {
	const states, actions = 30, 200
	benchmark(b, states, 5_000, func(s, a int, u float64) (float64, int) {
		i := uint64(s*actions + a)
		rng := rand.New(rand.NewPCG(i, 1))
		r, first := rng.Float64(), rng.IntN(states)
		return 0.2 + 0.6*r*r, (first + int(u*3)*7) % states
	}, actions)
}

func benchmark(b *testing.B, states, steps int, move func(s, a int, u float64) (float64, int), actions int64) {
	spec := framework.Spec{ID: "test/bench@1", Observation: space.Discrete{N: int64(states)}, Action: space.Discrete{N: actions}, RewardHigh: 1, Continuing: true, Steps: steps}
	x := agenttest.Lane[*agent](b, Plugin(), ``, spec)
	b.ReportAllocs()
	run := uint64(0)
	for b.Loop() {
		rng := rand.New(rand.NewPCG(run, 1))
		run++
		x.Start(0)
		s := 0
		a := x.Begin(s)
		for range steps {
			r, y := move(s, a, rng.Float64())
			s = y
			a = x.Step(r, y)
		}
	}
	b.ReportMetric(float64(b.N*steps)/b.Elapsed().Seconds(), "steps/s")
}
