package tabularagents

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/explore"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
)

// newPolicyQ returns a started learner that evaluates policies.
func newPolicyQ(t testing.TB, params string, states, actions int, kinds []options.Kind) *bootstrapQ {
	t.Helper()
	x := newBootstrapQ(t, params, agenttest.Finite, states, actions, kinds)
	x.Start(5)
	if x.evaluation == nil {
		t.Fatal("policies are not evaluated")
	}
	return x
}

// A step moves the value of every policy to every member by the member's own step
// size towards what the policy would do next, and nothing else.
func TestEvaluationSteps(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		update := rapid.SampledFrom([]string{"all", "drawn", "bernoulli", "exponential", "poisson"}).Draw(rt, "update")
		states, actions, k := rapid.IntRange(1, 3).Draw(rt, "states"), rapid.IntRange(1, 3).Draw(rt, "actions"), rapid.IntRange(1, 4).Draw(rt, "members")
		evaluated := rapid.IntRange(0, k).Draw(rt, "evaluated")
		kinds := []options.Kind{options.Members, options.Constants, options.Uniform}
		x := newPolicyQ(t, fmt.Sprintf(`{"members":%d,"update":%q,"gamma":0.5,"evaluated":%d}`, k, update, evaluated), states, actions, kinds)
		e := x.evaluation
		n := len(e.policies)
		if n != 1+evaluated+actions+1 {
			rt.Fatalf("%d policies", n)
		}
		for i, v := range e.values {
			if v != x.q[i/(n*k)*k+i%k] {
				rt.Fatal("policies do not begin with the values of the actions")
			}
		}
		value := func(values []float64, s, a, m, p int) float64 { return values[((s*actions+a)*n+p)*k+m] }
		for range rapid.IntRange(1, 10).Draw(rt, "steps") {
			i, next := rapid.IntRange(0, states*actions-1).Draw(rt, "pair"), rapid.IntRange(0, states-1).Draw(rt, "next")
			r, gamma := rapid.Float64Range(-1, 1).Draw(rt, "reward"), rapid.SampledFrom([]float64{0, 0.5}).Draw(rt, "gamma")
			before := slices.Clone(e.values)
			x.last = i
			x.learnFrom(r, gamma, next)
			for p, o := range x.executor.EvaluatedPolicies() {
				for m := range k {
					after := 0.0
					switch o.Kind {
					case options.Greedy:
						after = value(before, next, x.greedy(next), m, p)
					case options.Members:
						after = value(before, next, x.prefers(o.Of, next), m, p)
					case options.Constants:
						after = value(before, next, o.Of, m, p)
					case options.Uniform:
						for a := range actions {
							after += value(before, next, a, m, p) / float64(actions)
						}
					}
					at := (i*n+p)*k + m
					old := before[at]
					if want := old + x.size[m]*(r+gamma*after-old); math.Abs(e.values[at]-want) > 1e-12 {
						rt.Fatalf("policy %v, member %d: %v, want %v", o, m, e.values[at], want)
					}
					before[at] = e.values[at]
				}
			}
			if !slices.Equal(before, e.values) {
				rt.Fatal("another pair has changed")
			}
		}
	})
}

// After many uniform steps in RiverSwim the options are worth what their policies
// are: in every state, to every member, within 4% of the largest value at a fixed
// seed.
func TestEvaluationFindsTheValues(t *testing.T) {
	task := must.Get(catalog.RiverSwim(6))(t)
	m := task.Model
	const gamma = 0.8
	kinds := []options.Kind{options.Members, options.Constants, options.Uniform}
	x := newPolicyQ(t, `{"members":3,"gamma":0.8,"update":"exponential","schedule":"harmonic","power":0.8,"low":0,"high":1,"evaluated":2}`, m.NumStates(), m.NumActions(), kinds)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 8_000 {
		for i := range x.mean { // every pair as often
			s, a := i/m.NumActions(), i%m.NumActions()
			next, prob := m.Transition(s, a)
			u, k := rng.Float64(), 0
			for ; k < len(next)-1 && u >= prob[k]; k++ {
				u -= prob[k]
			}
			x.last = i
			x.Learn(m.Reward(s, a), int(next[k]))
		}
	}
	best := must.Get(mdp.SolveDiscounted(m, gamma, mdp.SolverConfig{}))(t)
	size := (1 - gamma) * slices.Max(best.Value)
	for s := range m.NumStates() {
		var p options.Problem
		x.SetObservation(s)
		must.Do(t, x.DescribeDecision(&p))
		for o, arm := range p.Arms {
			var pi mdp.Policy = best.Policy
			switch option := x.executor.Option(o); option.Kind {
			case options.Constants:
				pi = mdp.Constant(m.NumStates(), option.Of)
			case options.Uniform:
				pi = mdp.Uniform{}
			}
			c := must.Get(mdp.Induce(m, pi))(t)
			v := must.Get(c.EvaluateDiscounted(gamma))(t)
			for k, got := range p.Values[o*3 : (o+1)*3] {
				if want := (1 - gamma) * v[s]; math.Abs(got-want) > 0.04*size {
					t.Errorf("state %d, option %s, member %d: %.4f, want %.4f", s, arm.Name, k, got, want)
				}
			}
		}
	}
}

// One state at any γ: the constants are worth what the bandit's populations hold
// that learn with step α(1−γ) and begin with (1−γ) times the initial values.
func TestOneStateConstantsAreTheBandit(t *testing.T) {
	const gamma = 0.9
	x := newPolicyQ(t, `{"members":9,"update":"all","gamma":0.9,"step":0.2}`, 1, 4, []options.Kind{options.Constants})
	arms := make([]*bandit.Population, 4)
	for a := range arms {
		members := make([]float64, 9)
		for k := range members {
			members[k] = (1 - gamma) * x.values(0)[a*9+k]
		}
		var err error
		if arms[a], err = bandit.NewPopulation(members, bandit.PopulationConfig{Step: 0.2 * (1 - gamma)}); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(4, 4))
	for range 500 {
		a := rng.IntN(4)
		r := math.Tanh(rng.NormFloat64() + float64(a)/4)
		arms[a].Update(r, nil)
		x.last = a
		x.Learn(r, 0)
	}
	var p options.Problem
	x.SetObservation(0)
	must.Do(t, x.DescribeDecision(&p))
	seen := 0
	for o := range p.Arms {
		option := x.executor.Option(o)
		if option.Kind != options.Constants {
			continue
		}
		seen++
		for k, got := range p.Values[o*9 : (o+1)*9] {
			if want := arms[option.Of].Identified(k); math.Abs(got-want) > 1e-12 {
				t.Errorf("action %d, member %d: %v, want %v", option.Of, k, got, want)
			}
		}
	}
	if seen != 4 {
		t.Errorf("%d actions are offered", seen)
	}
}

// With the values of policies an agent finds the far end of RiverSwim. With the
// same rules and horizons, the values of first actions keep it at the small
// reward nearby. 4 runs, the last half of 20,000 steps; the optimum is 0.429.
func TestPolicyValuesExplore(t *testing.T) {
	late := func(params string, rule options.DeciderConfig) (sum float64) {
		rule.Horizon = bandit.Discounted(0.99)
		for _, o := range playHosted(t, "riverswim", `{"limit":0}`, "bootstrap-q", plain(params), &explore.Config{Decider: rule}, 0, 4, 20_000, []int{10_000, 20_000}, result.Reward) {
			sum += o.Curves[result.Reward][1] / 4
		}
		return sum
	}
	for _, rule := range []options.DeciderConfig{{Rule: options.RuleCommonModel}, {Rule: options.RuleIndex, Bound: bandit.V}} {
		policies, actions := late(`{"high":20}`, rule), late(`{"high":20,"values":"actions"}`, rule)
		t.Logf("%v: %.3f, %.3f", rule.Rule, policies, actions)
		if policies < 0.35 || actions > 0.3 {
			t.Errorf("%v: reward per step %.3f, with the values of first actions %.3f", rule.Rule, policies, actions)
		}
	}
}

func TestEvaluationIsNotTooLarge(t *testing.T) {
	wide := agenttest.Finite
	wide.Observation, wide.Action = space.Discrete{N: 1 << 12}, space.Discrete{N: 1 << 8}
	a := must.Get(BootstrapQ().OpenAgent(t.Context(), []byte(plain(``)), wide, 1))(t)
	if err := a.Abilities().Options.SetOptionKinds(t.Context(), nil); !errors.Is(err, framework.ErrUnsupported) {
		t.Errorf("tables of 2^32 values: %v", err)
	}
}
