package tabularagents

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
)

// Values are those of Algorithms 1 and 2 of Jin et al. (2018), written as in the paper with sums and
// rewards in [0,1], after every step of 200 episodes. The agent's rewards are those times 5 less 2.
func TestUCBQIsItsPaper(t *testing.T) {
	const horizon, states, actions, c, p = 4, 3, 2, 0.3, 0.05
	spec := agenttest.Finite
	spec.RewardLow, spec.RewardHigh = -2, 3
	for _, bonus := range []string{"hoeffding", "bernstein"} {
		x := agenttest.Lane[*ucbQ](t, find(t, "ucb-q"), fmt.Sprintf(`{"horizon":4,"scaling":0.3,"bonus":%q}`, bonus), spec)
		rng := rand.New(rand.NewPCG(1, 1))
		var q, n, mu, sigma, beta [horizon + 1][states][actions]float64
		for h := range horizon {
			for s := range states {
				q[h][s] = [actions]float64{horizon, horizon}
			}
		}
		v := func(h, s int) float64 {
			if h == horizon {
				return 0
			}
			return min(horizon, max(q[h][s][0], q[h][s][1]))
		}
		T := 0.0
		for range 200 {
			s := rng.IntN(states)
			a := x.Begin(s)
			for h := range horizon {
				if q[h][s][a] < max(q[h][s][0], q[h][s][1])-1e-9 {
					t.Fatalf("%s: action %d of values %v", bonus, a, q[h][s])
				}
				r, next := rng.Float64(), rng.IntN(states)
				T++
				n[h][s][a]++
				k, iota := n[h][s][a], math.Log(states*actions*T/p)
				alpha, b := (horizon+1)/(horizon+k), c*math.Sqrt(math.Pow(horizon, 3)*iota/k)
				if bonus == "bernstein" {
					mu[h][s][a] += v(h+1, next)
					sigma[h][s][a] += v(h+1, next) * v(h+1, next)
					w := (sigma[h][s][a] - mu[h][s][a]*mu[h][s][a]/k) / k
					now := min(b, c*(math.Sqrt(horizon/k*(w+horizon)*iota)+math.Sqrt(math.Pow(horizon, 7)*states*actions)*iota/k))
					b = (now - (1-alpha)*beta[h][s][a]) / (2 * alpha)
					beta[h][s][a] = now
				}
				q[h][s][a] += alpha * (r + v(h+1, next) + b - q[h][s][a])
				if h < horizon-1 {
					i, left := x.last, float64(horizon-h)
					a2 := x.Step(5*r-2, next)
					if got, want := x.q[i], 5*q[h][s][a]-2*left; math.Abs(got-want) > 1e-9 {
						t.Fatalf("%s: step %v, %v, want %v", bonus, T, got, want)
					}
					s, a = next, a2
				} else {
					x.End(5*r-2, next, true)
				}
			}
		}
	}
}

// With the bonus of the theory no value is below the optimum: in DeepSea with six rows, whose best
// return is 0.99, in 3000 episodes. With the default bonus the best path is found, and without one
// the treasure is, as values begin at H.
func TestUCBQIsOptimistic(t *testing.T) {
	x, m := trained(t, "deepsea", `{"size":6}`, "ucb-q", `{"horizon":6,"scaling":1}`, 18_000)
	start, _ := m.Initial()
	if v := argmax.Max(x.(*ucbQ).row(0, int(start[0]))); v < 0.99 {
		t.Errorf("the start is worth %v, the optimum is 0.99", v)
	}
	for _, scaling := range []string{"0.001", "0"} {
		if got := plugins.Earns(t, "deepsea", `{"size":6}`, "ucb-q", `{"horizon":6,"scaling":`+scaling+`}`, 5, 12_000, 18_000, "reward"); got < 0.98/6 {
			t.Errorf("scaling %s: a step earns %v, the best is 0.165", scaling, got)
		}
	}
}

// In evaluations a state has the values of the step at which it was met most often, without what
// steps at other times say.
func TestUCBQActsGreedily(t *testing.T) {
	x := agenttest.Lane[*ucbQ](t, find(t, "ucb-q"), `{"horizon":3}`, agenttest.Finite)
	copy(x.row(1, 2), []float64{1, 2})
	copy(x.row(2, 2), []float64{9, 8})
	x.n[(1*3+2)*2], x.n[(2*3+2)*2+1] = 5, 4
	if a := x.GreedyAction(2); a != 1 {
		t.Errorf("action %d", a)
	}
}
