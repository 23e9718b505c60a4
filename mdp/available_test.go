package mdp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// ragged is a random model in which states lack actions. Every reward is negative, so
// that a missing action that kept its state for nothing would be the best.
func ragged(t *testing.T, rng *rand.Rand, states, actions int) *mdp.Tabular {
	has := make([]bool, states*actions)
	for s := range states {
		for a := range actions {
			has[s*actions+a] = rng.IntN(2) == 0
		}
		has[s*actions+rng.IntN(actions)] = true
	}
	return must.Get(mdp.Generate(mdp.Definition{States: states, Actions: actions}, func(s, a int, row *mdp.Row) {
		if !has[s*actions+a] {
			return
		}
		row.Reward(-1 - rng.Float64())
		row.Add((s+1)%states, 0.25) // communicating
		for range 2 {
			row.Add(rng.IntN(states), 0.375)
		}
	}))(t)
}

// policies calls f with each deterministic policy, as the model of its rows alone: one
// action a state.
func policies(t *testing.T, m *mdp.Tabular, f func(p mdp.Deterministic, alone *mdp.Tabular)) {
	p := make(mdp.Deterministic, m.NumStates())
	var choose func(s int)
	choose = func(s int) {
		if s < len(p) {
			for p[s] = range m.NumActions() {
				if m.Available(s, p[s]) {
					choose(s + 1)
				}
			}
			return
		}
		f(p, must.Get(mdp.Generate(mdp.Definition{States: len(p), Actions: 1}, func(s, _ int, row *mdp.Row) {
			next, prob := m.Transition(s, p[s])
			for k, u := range next {
				row.Add(int(u), prob[k])
			}
			row.Reward(m.Reward(s, p[s]))
		}))(t))
	}
	choose(0)
}

// What solvers say of a model whose states lack actions is the best of its policies, found
// by trying all of them.
func TestMissingActionsDoNotExist(t *testing.T) {
	for seed := range uint64(20) {
		m := ragged(t, rand.New(rand.NewPCG(seed, 1)), 4, 3)
		const gamma = 0.9
		value, gain, finite := make([]float64, 4), math.Inf(-1), make([]float64, 4)
		for s := range value {
			value[s], finite[s] = math.Inf(-1), math.Inf(-1)
		}
		policies(t, m, func(_ mdp.Deterministic, alone *mdp.Tabular) {
			c := must.Get(mdp.Induce(alone, mdp.Uniform{}))(t)
			for s, x := range must.Get(c.EvaluateDiscounted(gamma))(t) {
				value[s] = max(value[s], x)
			}
			g, _, err := c.EvaluateAverage()
			must.Do(t, err)
			gain = max(gain, slices.Max(g))
		})
		for h := range 5 { // backward, over the actions that exist
			before := slices.Clone(finite)
			if h == 0 {
				before = make([]float64, 4)
			}
			for s := range finite {
				finite[s] = math.Inf(-1)
				for a := range 3 {
					if !m.Available(s, a) {
						continue
					}
					q := m.Reward(s, a)
					next, prob := m.Transition(s, a)
					for k, u := range next {
						q += prob[k] * before[u]
					}
					finite[s] = max(finite[s], q)
				}
			}
		}
		exists := func(name string, p mdp.Deterministic) {
			for s, a := range p {
				if !m.Available(s, a) {
					t.Errorf("seed %d: %s takes action %d in state %d, which lacks it", seed, name, a, s)
				}
			}
		}
		for _, method := range []mdp.Method{mdp.Automatic, mdp.ValueIteration, mdp.PolicyIteration, mdp.ModifiedPolicyIteration} {
			sol := must.Get(mdp.SolveDiscounted(m, gamma, mdp.SolverConfig{Method: method}))(t)
			exists(fmt.Sprint("discounted ", method), sol.Policy)
			for s, x := range sol.Value {
				if !near(x, value[s], 1e-7) {
					t.Errorf("seed %d: value %v of state %d, the best policy has %v", seed, x, s, value[s])
				}
			}
		}
		for _, method := range []mdp.Method{mdp.PolicyIteration, mdp.ValueIteration} {
			sol := must.Get(mdp.SolveAverage(m, mdp.SolverConfig{Method: method}))(t)
			exists(fmt.Sprint("average ", method), sol.Policy)
			if !near(sol.Gain[0], gain, 1e-7) {
				t.Errorf("seed %d: gain %v, the best policy has %v", seed, sol.Gain[0], gain)
			}
		}
		var solver mdp.DiscountedSolver
		v, pi := make([]float64, 4), make(mdp.Deterministic, 4)
		for s := range pi {
			pi[s] = m.StandIn(s, 0)
		}
		must.Get(solver.Solve(v, pi, m, gamma, 1e-9))(t)
		exists("DiscountedSolver", pi)
		x, p, err := mdp.SolveHorizon(m, 5)
		must.Do(t, err)
		exists("horizon", p)
		for s := range x {
			if !near(x[s], finite[s], 1e-12) || !near(v[s], value[s], 1e-7) {
				t.Errorf("seed %d: horizon %v, want %v; discounted %v, want %v", seed, x[s], finite[s], v[s], value[s])
			}
		}
	}
}

// three has actions 0, 1 and 2 in state 0, only 2 in state 1, and 1 and 2 in state 2.
const three = `{"S": 3, "A": 3,
 "transitions": [[0,0,1,1], [0,1,2,1], [0,2,0,0.3333333], [0,2,1,0.3333333], [0,2,2,0.3333333],
                 [1,2,0,1], [2,1,0,1], [2,2,2,0.5], [2,2,1,0.5]],
 "rewards": [[0,0,-1], [0,1,-1], [0,2,-1], [1,2,-2], [2,1,-4], [2,2,-3]]}`

func TestStandIns(t *testing.T) {
	m := must.Get(mdp.ParseModel(strings.NewReader(three)))(t)
	for s, want := range []string{"[0 1 2]", "[2 2 2]", "[1 1 2]"} {
		got := []int{}
		for a := range 3 {
			got = append(got, m.StandIn(s, a))
			if m.Reward(s, a) != m.Reward(s, got[a]) {
				t.Errorf("action %d in state %d is not paid as its stand-in", a, s)
			}
		}
		if fmt.Sprint(got) != want {
			t.Errorf("state %d: stand-ins %v, want %s", s, got, want)
		}
	}
	if m.NumTransitions() != 9 {
		t.Errorf("%d transitions of 9", m.NumTransitions())
	}
	uniform := must.Get(mdp.Induce(m, mdp.Uniform{}))(t)
	if r := uniform.Reward(2); !near(r, -3.5, 1e-15) {
		t.Errorf("the mean reward of state 2 is %v, want -3.5", r)
	}
	for _, p := range []mdp.Policy{mdp.Constant(3, 1), mdp.Randomised{{1, 0, 0}, {0, .5, .5}, {0, 0, 1}}} {
		if _, err := mdp.Induce(m, p); err == nil || !strings.Contains(err.Error(), "state 1 has no action 1") {
			t.Errorf("a policy that takes a missing action: %v", err)
		}
	}
	if _, err := mdp.SolveAverage(m, mdp.SolverConfig{Policy: mdp.Constant(3, 0)}); err == nil {
		t.Error("a solver begins with a missing action")
	}
	if _, err := mdp.Forgetting(m, mdp.Constant(3, 2), 1, 0, 3); err == nil {
		t.Error("the deviation to a missing action is answered")
	}
	notes := strings.Join(m.Notes(), "\n")
	for _, want := range []string{
		"divided by their sum: state 0, action 2 (0.9999999)",
		"3 of 9 pairs of state and action do not exist, and the action's number stands for another action of that state (agents at random take it more often than the policy uniform): action 0 in state 1, action 1 in state 1, action 0 in state 2",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q is not in the notes:\n%s", want, notes)
		}
	}
	again := must.Get(mdp.ParseModel(bytes.NewReader(must.Get(json.Marshal(m))(t))))(t)
	if fmt.Sprint(again.Notes()) != fmt.Sprint(m.Notes()) || again.Available(2, 0) || !again.Available(2, 1) {
		t.Errorf("written and read again, missing actions or notes differ: %q", again.Notes())
	}
	swapped := must.Get(m.Reordered("swapped", []int{2, 1, 0}))(t)
	if !swapped.Available(1, 0) || swapped.Available(1, 2) || swapped.Available(2, 2) {
		t.Error("reordered actions exist where they did not")
	}
}

// Mixing times of missing actions are 0, and the mean is over those that exist.
func TestMixingOfMissingActions(t *testing.T) {
	m := must.Get(mdp.ParseModel(strings.NewReader(three)))(t)
	x := must.Get(mdp.MixingTime(m, mdp.Constant(3, 2), mdp.MixingConfig{Eta: 0.01}))(t)
	others, deviates := 0.0, 0.0
	for s, mu := range x.Stationary {
		times, n := 0.0, 0.0
		for a, time := range x.T[s] {
			if m.Available(s, a) != (time > 0) {
				t.Errorf("T of action %d in state %d is %d", a, s, time)
			}
			if m.Available(s, a) {
				times, n = times+float64(time), n+1
			}
		}
		if n > 1 {
			others, deviates = others+mu*(times-float64(x.T[s][2]))/(n-1), deviates+mu
		}
	}
	if !near(x.MeanNonGreedy, others/deviates, 1e-9) {
		t.Errorf("mean %v, want %v", x.MeanNonGreedy, others/deviates)
	}
}
