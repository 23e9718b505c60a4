package mdp_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// The reward per step of truncated episodes is that of the model whose states are a state and a step
// of the episode, in which the last step begins the next episode.
func TestTruncatedGainsAreThoseOfStatesWithTheirStep(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 40 {
		states, actions, limit := 2+rng.IntN(5), 1+rng.IntN(3), 1+rng.IntN(6)
		d := mdp.Definition{States: states, Actions: actions, EpisodeSteps: limit, Initial: []mdp.Weight{{S: 0, P: 0.5}, {S: 1, P: 0.5}}}
		if trial%2 == 0 && states > 2 {
			d.Terminal = []int{states - 1}
		}
		type outcome struct {
			next int
			p, r float64
		}
		rows := make([][]outcome, states*actions)
		for i := range rows {
			p := rng.Float64()
			rows[i] = []outcome{{rng.IntN(states), p, rng.NormFloat64()}, {rng.IntN(states), 1 - p, rng.NormFloat64()}}
		}
		m := must.Get(mdp.Generate(d, func(s, a int, row *mdp.Row) {
			if len(d.Terminal) > 0 && s == states-1 {
				return
			}
			for _, o := range rows[s*actions+a] {
				row.AddRewarded(o.next, o.p, o.r)
			}
		}))(t)
		over := func(s, step int) bool { return step == limit || m.Terminal(s) }
		clock := mdp.Definition{States: states * limit, Actions: actions, Initial: d.Initial}
		long := must.Get(mdp.Generate(clock, func(x, a int, row *mdp.Row) {
			s, step := x%states, x/states
			if m.Terminal(s) { // never reached
				row.Add(0, 1)
				return
			}
			for _, o := range rows[s*actions+a] {
				if !over(o.next, step+1) {
					row.AddRewarded(o.next+states*(step+1), o.p, o.r)
					continue
				}
				for _, w := range d.Initial {
					row.AddRewarded(w.S, o.p*w.P, o.r)
				}
			}
		}))(t)
		best, random := m.TruncatedGains(mdp.Uniform{})
		reached := must.Get(long.Reachable())(t)
		if want := must.Get(mdp.SolveAverage(reached, mdp.SolverConfig{}))(t).Gain[0]; math.Abs(best-want) > 1e-8 {
			t.Errorf("%d: best %v, want %v", trial, best, want)
		}
		gains, _, err := must.Get(mdp.Induce(reached, mdp.Uniform{}))(t).EvaluateAverage()
		if must.Do(t, err); math.Abs(random-gains[0]) > 1e-8 {
			t.Errorf("%d: random %v, want %v", trial, random, gains[0])
		}
	}
}
