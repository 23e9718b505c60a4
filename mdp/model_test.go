package mdp_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// An episode of CliffWalking takes 13 steps at −1 each; repeated, that is −1 a
// step. One of DeepSea pays 0.99 in N steps.
func TestRestarting(t *testing.T) {
	cliff := must.Get(catalog.CliffWalking())(t)
	const n = 7
	sea := must.Get(catalog.DeepSea(catalog.Sea{Size: n}))(t)
	for want, m := range map[float64]*mdp.Tabular{-1: cliff.Model, 0.99 / n: sea.Model} {
		again := must.Get(m.Restarting())(t)
		sol := must.Get(mdp.SolveAverage(again, mdp.SolverConfig{}))(t)
		for s, g := range sol.Gain {
			if !near(g, want, 1e-12) {
				t.Errorf("gain %v from state %d, want %v", g, s, want)
			}
		}
		if same, err := again.Restarting(); err != nil || same != again {
			t.Error("a model without terminal states is not left alone")
		}
	}
	stuck := must.Get(mdp.NewModel(mdp.Definition{States: 1, Actions: 1, Terminal: []int{0}}))(t)
	if _, err := stuck.Restarting(); err == nil {
		t.Error("restarting in a terminal state is accepted")
	}
}

// bare hides everything of a model but the interface.
type bare struct{ mdp.Model }

// Solvers need no more than the interface.
func TestAnyModel(t *testing.T) {
	task := must.Get(catalog.Garnet(8, 3, 3, 11))(t)
	m := bare{task.Model}
	a := must.Get(mdp.SolveDiscounted(task.Model, 0.9, mdp.SolverConfig{}))(t)
	b := must.Get(mdp.SolveDiscounted(m, 0.9, mdp.SolverConfig{}))(t)
	c := must.Get(mdp.SolveAverage(task.Model, mdp.SolverConfig{}))(t)
	d := must.Get(mdp.SolveAverage(m, mdp.SolverConfig{}))(t)
	x := must.Get(mdp.MixingTime(task.Model, c.Policy, mdp.MixingConfig{}))(t)
	y := must.Get(mdp.MixingTime(m, d.Policy, mdp.MixingConfig{}))(t)
	if a.Value[0] != b.Value[0] || c.Gain[0] != d.Gain[0] || x.MeanNonGreedy != y.MeanNonGreedy {
		t.Error("a model behind the interface is solved differently")
	}
}

func TestBadArguments(t *testing.T) {
	task := must.Get(catalog.RiverSwim(3))(t)
	m := task.Model
	one := func(_ any, err error) error { return err }
	for says, err := range map[string]error{
		"discount 1 is outside":     one(mdp.SolveDiscounted(m, 1, mdp.SolverConfig{})),
		"start from has 1 states":   one(mdp.SolveDiscounted(m, .9, mdp.SolverConfig{Value: []float64{0}})),
		"unknown method":            one(mdp.SolveDiscounted(m, .9, mdp.SolverConfig{Method: 99})),
		"policy has 1 states":       one(mdp.SolveAverage(m, mdp.SolverConfig{Policy: mdp.Deterministic{0}})),
		"not for the average":       one(mdp.SolveAverage(m, mdp.SolverConfig{Method: mdp.ModifiedPolicyIteration})),
		"horizon -1":                one(mdp.SolveFinite(m, -1)),
		"action 7 is outside":       one(mdp.SolveDiscounted(m, .9, mdp.SolverConfig{Method: mdp.PolicyIteration, Policy: mdp.Deterministic{0, 7, 0}})),
		"state 1: probabilities":    one(mdp.Induce(m, mdp.Deterministic{0, 7, 0})),
		"state 2: probabilities":    one(mdp.Induce(m, mdp.Randomised{{.5, .5}, {1, 0}, {.5, .4}})),
		"probability -0.5":          one(mdp.Induce(m, mdp.Randomised{{1.5, -.5}, {1, 0}, {1, 0}})),
		"policy has 2 states":       one(mdp.Induce(m, mdp.Randomised{{.5, .5}, {1, 0}})),
		"threshold η = -1":          one(mdp.MixingTime(m, mdp.Uniform{}, mdp.MixingConfig{Eta: -1})),
		"no state 9":                one(mdp.Forgetting(m, mdp.Uniform{}, 9, 0, 1)),
		"state 0 has no transition": one(mdp.NewModel(mdp.Definition{States: 1 << 30, Actions: 1 << 30})),
		"never leads to state 1":    one(mdp.NewModel(mdp.Definition{States: 2, Actions: 1, Transitions: []mdp.Transition{{0, 0, 0, 1}, {1, 0, 1, 1}}, SuccessorRewards: []mdp.SuccessorReward{{0, 0, 1, 3}}})),
	} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("want an error that says %q, got %v", says, err)
		}
	}
}

// Rows made by a function are checked as those of a list are.
func TestGenerateErrors(t *testing.T) {
	for says, fill := range map[string]func(row *mdp.Row){
		"state 0, action 0: successor 2 is outside 0..1": func(row *mdp.Row) { row.Add(2, 1) },
		"successor -1 is out of range":                   func(row *mdp.Row) { row.Add(-1, 1) },
		"probability NaN":                                func(row *mdp.Row) { row.Add(0, math.NaN()) },
		"probability -0.5":                               func(row *mdp.Row) { row.Add(0, -0.5); row.Add(1, 1.5) },
		"sum to 0.5, not 1":                              func(row *mdp.Row) { row.Add(0, 0.5) },
		"state 0 has no transition":                      func(row *mdp.Row) {},
		"reward +Inf is not a finite number":             func(row *mdp.Row) { row.AddRewarded(0, 1, math.Inf(1)) },
		"reward NaN is not a finite number":              func(row *mdp.Row) { row.Add(0, 1); row.Reward(math.NaN()) },
		"too large":                                      func(row *mdp.Row) { row.AddRewarded(0, 1, 1e308) },
		"is not a standard deviation":                    func(row *mdp.Row) { row.Add(0, 1); row.Noise.SD = -1 },
		"a Bernoulli reward has no Gaussian noise":       func(row *mdp.Row) { row.Add(0, 1); row.Noise = mdp.Noise{SD: 1, Bernoulli: true} },
		"mean 2 of a Bernoulli reward is outside [0,1]":  func(row *mdp.Row) { row.AddRewarded(0, 1, 2); row.Noise.Bernoulli = true },
	} {
		_, err := mdp.Generate(mdp.Definition{States: 2, Actions: 1}, func(_, _ int, row *mdp.Row) { fill(row) })
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("want an error that says %q, got %v", says, err)
		}
	}
	for _, d := range []mdp.Definition{{}, {States: 1}, {States: 1, Actions: 1 << 40}, {States: 1, Actions: 1, Terminal: []int{1}},
		{States: 1, Actions: 1, Terminal: []int{0, 0}}, {States: 1, Actions: 1, Initial: []mdp.Weight{{S: 3, P: 1}}}} {
		if _, err := mdp.Generate(d, func(_, _ int, row *mdp.Row) { row.Add(0, 1) }); err == nil {
			t.Errorf("%+v is accepted", d)
		}
	}
}

// Rows within 1e-8 of summing to one are rescaled; a successor that is added twice
// adds up, with the mean of its rewards.
func TestRowsAreMergedAndRescaled(t *testing.T) {
	m := must.Get(mdp.Generate(mdp.Definition{States: 3, Actions: 1}, func(_, _ int, row *mdp.Row) {
		row.AddRewarded(2, 0.333333333, 4)
		row.AddRewarded(0, 0.333333333, 1)
		row.AddRewarded(2, 0.333333333, 1)
		row.Reward(10)
	}))(t)
	next, prob := m.Transition(1, 0)
	if len(next) != 2 || next[0] != 0 || next[1] != 2 || !near(prob[0]+prob[1], 1, 1e-15) || !near(prob[1], 2.0/3, 1e-15) {
		t.Errorf("row %v %v", next, prob)
	}
	if r := m.SuccessorRewards(1, 0); !near(r[0], 11, 1e-12) || !near(r[1], 12.5, 1e-12) || !near(m.Reward(1, 0), 12, 1e-12) {
		t.Errorf("rewards %v, mean %v", r, m.Reward(1, 0))
	}
}

// Episodes begin as the initial distribution says: 6 standard errors.
func TestStart(t *testing.T) {
	task := must.Get(catalog.RiverSwimStrehl(6))(t)
	rng := rand.New(rand.NewPCG(8, 0))
	const n = 10_000
	count := map[int]int{}
	for range n {
		count[task.Model.Start(rng)]++
	}
	if len(count) != 2 || math.Abs(float64(count[1])-n/2) > 6*math.Sqrt(n)/2 {
		t.Errorf("starts %v", count)
	}
}
