package classiccontrol

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// Rewards at points whose distance from the axes is plain.
func TestPuddleRewards(t *testing.T) {
	for _, tt := range []struct {
		name   string
		x      state // before a move up without noise
		reward float64
		ends   bool
	}{
		{"dry", state{0.8, 0.1}, -1, false},
		{"on the axis of the first", state{0.2, 0.7}, -1 - 400*0.1, false},
		{"above its axis", state{0.2, 0.75}, -1 - 400*0.05, false},
		{"beside its round end", state{0.04, 0.78}, -1 - 400*(0.1-math.Hypot(0.06, 0.08)), false},
		{"in its round end", state{0.07, 0.74}, -1 - 400*(0.1-0.05), false},
		{"below the second", state{0.45, 0.27}, -1 - 400*(0.1-0.08), false},
		{"where the axes meet", state{0.45, 0.7}, -1 - 2*400*0.1, false},
		{"into the corner", state{0.95, 0.93}, -1, true},
		{"at the upper side", state{0.3, 0.97}, -1, false},
	} {
		x := tt.x
		reward, ends := puddleWorld{}.step(&x, 0, rand.New(rand.NewPCG(1, 1)))
		if math.Abs(reward-tt.reward) > 1e-12 || ends != tt.ends {
			t.Errorf("%s: %v, %v; want %v, %v", tt.name, reward, ends, tt.reward, tt.ends)
		}
		if want := min(tt.x[1]+0.05, 1); x[1] != want || x[0] != tt.x[0] {
			t.Errorf("%s: moved to %v, want (%v, %v)", tt.name, x, tt.x[0], want)
		}
	}
}

// Moves have the mean and deviation of the paper: tests on 10,000 moves, each
// failing by chance with probability below 1e-6 (five standard errors).
func TestPuddleMoves(t *testing.T) {
	const n = 10_000
	rng := rand.New(rand.NewPCG(2, 2))
	for action, want := range [][2]float64{{0, 0.05}, {0, -0.05}, {0.05, 0}, {-0.05, 0}} {
		var moves [2][]float64
		for range n {
			x := state{0.5, 0.5}
			puddleWorld{0.01}.step(&x, action, rng)
			for i := range moves {
				moves[i] = append(moves[i], x[i]-0.5)
			}
		}
		for i := range moves {
			mean, sd := stat.MeanStdDev(moves[i], nil)
			if math.Abs(mean-want[i]) > 5*0.01/math.Sqrt(n) || math.Abs(sd-0.01) > 5*0.01/math.Sqrt(2*n) {
				t.Errorf("action %d, coordinate %d: %v ± %v, want %v ± 0.01", action, i, mean, sd, want[i])
			}
		}
	}
}
