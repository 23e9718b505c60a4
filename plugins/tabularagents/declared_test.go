package tabularagents

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
)

// random goes anywhere, and ends with the given probabilities.
func random(states, actions int, end ...float64) options.DeclaredOption {
	o := options.DeclaredOption{Name: "random", Initiation: make([]bool, states), End: make([]float64, states)}
	copy(o.End, end)
	for s := range states {
		row := make([]float64, actions)
		for a := range row {
			row[a] = float64(1+(s+a)%actions) / float64(actions*(actions+1)/2)
		}
		o.Initiation[s], o.Rows = true, append(o.Rows, row)
	}
	return o
}

// In every member, following an option and then the greedy policy gives the value that solves
// the member's equations for both: V_o = Σπ (w₀ prior + Σw(r + γ((1−β)V_o' + βV_y')))/(w₀ + Σw). The
// values agree as in TestPlannedValues.
func TestPlannedValuesOfOptions(t *testing.T) {
	const gamma, w0, members = 0.9, 0.05, 3
	x := newReplayQ(t, `{"members":3,"gamma":0.9,"prior_weight":0.05,"replays":20,"low":0,"high":10}`, agenttest.Finite)
	must.Do(t, x.SetOptionKinds([]options.Kind{options.DrawnMember, options.Declared}))
	o := random(5, 3, 0, 0.5, 1, 0.1)
	must.Do(t, x.Declare([]options.DeclaredOption{o}))
	rng := rand.New(rand.NewPCG(1, 1))
	for range 80 {
		x.replay.learn(rng.IntN(12), rng.Float64(), rng.IntN(5), -1, true) // nothing is tried in state 4
	}
	y := x.planned
	x.executor.DrawMember()
	greedy, option := make([]float64, 5*members), make([]float64, 5*members)
	backup := func(pair, m int, after func(s int) float64) float64 {
		row, prior := y.pair(pair)
		sum, n := w0*prior[m], w0
		if row.sums != nil {
			sum, n = sum+row.sums[members+m], n+row.sums[m]
			for j, u := range row.next {
				sum += gamma * row.weight(j, members)[m] * after(int(u))
			}
		}
		return sum / n
	}
	for range 400 {
		for s := range 5 {
			for m := range members {
				greedy[s*members+m] = backup(s*3+y.act(0, s), m, func(s int) float64 { return greedy[s*members+m] })
				sum := 0.0
				for a, p := range o.Rows[s] {
					sum += p * backup(s*3+a, m, func(s int) float64 { return (1-o.End[s])*option[s*members+m] + o.End[s]*greedy[s*members+m] })
				}
				option[s*members+m] = sum
			}
		}
	}
	dst := make([]float64, members)
	for s := range 5 {
		if steps := y.declaredValue(dst, &o, s); !(steps >= 1) {
			t.Errorf("state %d: the option takes %v steps", s, steps)
		}
		for m, got := range dst {
			if want := option[s*members+m]; math.Abs(got-want) > 0.3 {
				t.Errorf("state %d, member %d: the option is worth %v, want %v", s, m, got, want)
			}
		}
	}
}

// Intra-option learning finds the value of an option that was never followed. In state 0, action 1
// leads to state 1, where everything pays 1 and stays; the option stays in 0 with an even chance of
// ending, E = γ(E/2 + V/2) with V = γ/(1−γ).
func TestIntraOptionLearning(t *testing.T) {
	const gamma = 0.5
	x := newBootstrapQ(t, `{"members":2,"gamma":0.5,"update":"all"}`, agenttest.Finite, 2, 2, []options.Kind{options.Constants, options.Declared})
	stay := options.DeclaredOption{Name: "stay", Initiation: []bool{true, false}, Actions: []int{0, 0}, End: []float64{0.5, 1}}
	must.Do(t, x.Declare([]options.DeclaredOption{stay}))
	x.Start(1)
	for range 3000 {
		for s := range 2 {
			for a := range 2 {
				x.last = s*2 + a
				x.learnFrom(float64(s), gamma, max(s, a))
			}
		}
	}
	v := gamma / (1 - gamma)
	want := gamma * v / 2 / (1 - gamma/2)
	dst := make([]float64, 2)
	x.here = 0
	if steps := x.DeclaredValues(dst, 0); steps != 0 || math.Abs(dst[0]-want) > 1e-3 || math.Abs(dst[1]-want) > 1e-3 {
		t.Errorf("the option is worth %v, want %v", dst, want)
	}
}
