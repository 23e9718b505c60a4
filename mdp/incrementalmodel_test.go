package mdp_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// Models that are kept up to date are those that are made anew, to the last bit.
func TestLatestIsTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const members = 3
		n, actions := rapid.IntRange(1, 8).Draw(t, "states"), rapid.IntRange(1, 3).Draw(t, "actions")
		prior := must.Get(mdp.NewDirichlet(mdp.DirichletPrior{States: n, Actions: actions}))(t)
		b := must.Get(mdp.NewBootstrap(prior, members, 0.5, mdp.Poisson, rapid.Uint64().Draw(t, "seed")))(t)
		d := must.Get(mdp.NewDirichlet(mdp.DirichletPrior{States: n, Actions: actions, SeenOnly: rapid.Bool().Draw(t, "seen only")}))(t)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "stream"), 0))
		for range 6 {
			for range rapid.IntRange(0, 5).Draw(t, "steps") {
				s, a, r, next := rng.IntN(n), rng.IntN(actions), rng.Float64(), rng.IntN(n)
				b.Update(s, a, r, next)
				d.Update(s, a, r, next)
			}
			same(t, d.LatestMean(), d.Mean())
			same(t, b.LatestMean(), b.Mean())
			for range rapid.IntRange(0, 4).Draw(t, "looks") {
				k := rng.IntN(members)
				same(t, b.Latest(k), b.Member(k))
			}
		}
	})
}

func same(t *rapid.T, got, want *mdp.Tabular) {
	if got.NumTransitions() != want.NumTransitions() {
		t.Fatalf("%d transitions, want %d", got.NumTransitions(), want.NumTransitions())
	}
	for s := range want.NumStates() {
		for a := range want.NumActions() {
			next, prob := got.Transition(s, a)
			n, p := want.Transition(s, a)
			if !slices.Equal(next, n) || !slices.Equal(prob, p) || got.Reward(s, a) != want.Reward(s, a) {
				t.Fatalf("state %d, action %d: %v %v %v, want %v %v %v", s, a, next, prob, got.Reward(s, a), n, p, want.Reward(s, a))
			}
		}
	}
}

// Terminal states stay and pay nothing; the others are as they were.
func TestTerminating(t *testing.T) {
	prior := must.Get(mdp.NewDirichlet(mdp.DirichletPrior{States: 4, Actions: 2}))(t)
	m := prior.Sample(rand.New(rand.NewPCG(1, 1)))
	if got := m.Terminating(nil, make([]bool, 4)); got != m {
		t.Error("another model without terminal states")
	}
	got := m.Terminating(m.Terminating(nil, []bool{true, true, true, true}), []bool{false, true, false, false})
	for s := range 4 {
		for a := range 2 {
			next, prob := got.Transition(s, a)
			n, p, r := []int32{1}, []float64{1}, 0.0
			if s != 1 {
				n, p = m.Transition(s, a)
				r = m.Reward(s, a)
			}
			if !slices.Equal(next, n) || !slices.Equal(prob, p) || got.Reward(s, a) != r || got.Terminal(s) != (s == 1) {
				t.Errorf("state %d, action %d: %v %v %v, want %v %v %v", s, a, next, prob, got.Reward(s, a), n, p, r)
			}
		}
	}
}
