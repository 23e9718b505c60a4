package options

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// normalReward is the posterior of the mean of normal rewards of variance 1, at first N(0,1).
type normalReward struct{}

func (normalReward) Mean(seen mdp.Moments) float64 { return seen.N * seen.Mean / (1 + seen.N) }

func (p normalReward) Sample(seen mdp.Moments, rng *rand.Rand) float64 {
	return p.Mean(seen) + rng.NormFloat64()/math.Sqrt(1+seen.N)
}

// posterior draws models of a random process from what a few hundred random steps
// tell of it.
func posterior(t testing.TB, states, actions, members, steps int, seed uint64) []*mdp.Tabular {
	task := must.Get(catalog.Garnet(states, actions, min(2, states), seed))(t)
	belief := must.Get(mdp.NewDirichlet(mdp.DirichletPrior{States: states, Actions: actions, Rewards: normalReward{}}))(t)
	rng := newRNG(seed)
	s := 0
	for range steps {
		a := rng.IntN(actions)
		next, r := task.Model.Step(s, a, rng)
		belief.Update(s, a, r, next)
		s = next
	}
	models := make([]*mdp.Tabular, members)
	for k := range models {
		models[k] = belief.Sample(rng)
	}
	return models
}

// every kind of option but the greedy one.
// The class of a kind's options is what the kind says, and no declared option may have one of their names.
func TestKindsSayWhetherTheyDirect(t *testing.T) {
	members := posterior(t, 5, 3, 6, 300, 1)
	visits := must.Get(NewVisits(5, 3))(t)
	for n := range 50 { // action 2 was never tried, which bonuses are for
		visits.Update(n%5, n%2)
	}
	for _, k := range Kinds {
		if k == Greedy || k == Pairs { // these are the greedy option, and none of a model
			continue
		}
		red := must.Get(reduce(members, ReduceConfig{Kinds: []Kind{k}, Visits: visits, Kappa: 1, Discount: 0.9, RevealProbability: 0.5}))(t)
		for _, c := range red.Candidates[1:] {
			if err := CheckDeclared([]DeclaredOption{up(c.Name, 5, 3)}, 5, 2); err == nil || !strings.Contains(err.Error(), "rlrun's own kinds") {
				t.Errorf("%s makes %s, and a declared option of this name: %v", k, c.Name, err)
			}
			if (c.Class == Directed) != Directs(k) {
				t.Errorf("%s makes %s of class %d, and Directs is %v", k, c.Name, c.Class, Directs(k))
			}
		}
		if len(red.Candidates) < 2 {
			t.Errorf("%s made no option", k)
		}
	}
}

var everyKind = []Kind{Members, Constants, Uniform, RecencyBonus, CountBonus, Deviations, Repeats}

func TestCandidates(t *testing.T) {
	members := posterior(t, 5, 3, 6, 300, 1)
	visits := must.Get(NewVisits(5, 3))(t)
	for s := range 5 {
		for a := range 3 {
			if s != 4 || a != 2 {
				visits.Update(s, a)
			}
		}
	}
	for _, gamma := range []float64{0, 0.9} {
		red := must.Get(reduce(members, ReduceConfig{Kinds: everyKind, Visits: visits, State: 2, Discount: gamma, RevealProbability: 0.5}))(t)
		y := red.Candidates[0].Policy.(mdp.Deterministic)
		seen := map[string]bool{}
		for x, c := range red.Candidates {
			if seen[c.Name] {
				t.Errorf("two options are called %q", c.Name)
			}
			seen[c.Name] = true
			pi, ok := c.Policy.(mdp.Deterministic)
			if ok && c.Class == Directed {
				for _, d := range red.Candidates[:x] {
					if q, ok := d.Policy.(mdp.Deterministic); ok && slices.Equal(pi, q) {
						t.Errorf("%s and %s are the same policy", c.Name, d.Name)
					}
				}
			}
			if d, ok := c.Option.(Deviation); ok != strings.HasPrefix(c.Name, "deviation") {
				t.Errorf("%s is executed as %T", c.Name, c.Option)
			} else if ok {
				want := slices.Clone(y)
				want[2] = d.Action
				if !slices.Equal(pi, want) || d.Action == y[2] || !slices.Equal(d.Then.(mdp.Deterministic), y) {
					t.Errorf("%s is %v, greedy %v", c.Name, pi, y)
				}
			}
			if c.Class == Uninformed && c.RevealProbability != 0.5 {
				t.Errorf("%s reveals with probability %v", c.Name, c.RevealProbability)
			}
			// Values by another route: the larger process for repeats is tested elsewhere.
			if c.Policy == nil {
				continue
			}
			for k, m := range members {
				chain := must.Get(mdp.Induce(m, c.Policy))(t)
				want, _, err := chain.EvaluateAverage()
				if gamma > 0 {
					want, err = chain.EvaluateDiscounted(gamma)
				}
				if err != nil {
					t.Fatal(err)
				}
				for s := range 5 {
					w := want[s]
					if gamma > 0 {
						w *= 1 - gamma
					}
					if got := red.Values(x, s)[k]; math.Abs(got-w) > 1e-9 {
						t.Errorf("%s is worth %v in state %d of model %d, want %v", c.Name, got, s, k, w)
					}
					if got := red.Optimal(s)[k]; got < w-1e-9 {
						t.Errorf("%s is worth %v in state %d of model %d, the optimum %v", c.Name, w, s, k, got)
					}
				}
			}
		}
		for _, name := range []string{"greedy", "uniform", "count-bonus", "repeats"} {
			if !seen[name] {
				t.Errorf("no option is called %s", name)
			}
		}
		// In every model some member's policy is optimal: the member's own.
		for s := range 5 {
			for k, v := range red.Optimal(s) {
				best := math.Inf(-1)
				for x := range red.Candidates {
					best = max(best, red.Values(x, s)[k])
				}
				if math.Abs(v-best) > 1e-9 {
					t.Errorf("the optimum in state %d of model %d is %v, the best option's value %v", s, k, v, best)
				}
			}
		}
		var p Problem
		red.At(&p, 3)
		if err := p.Check(); err != nil || p.Hold != 1 || len(p.Arms) != len(red.Candidates) {
			t.Errorf("problem %+v: %v", p, err)
		}
		for x := range p.Arms {
			if !slices.Equal(p.row(x), red.Values(x, 3)) {
				t.Errorf("the problem's values of %s are %v, want %v", p.Arms[x].Name, p.row(x), red.Values(x, 3))
			}
		}
		if !slices.Equal(p.Optimal, red.Optimal(3)) {
			t.Errorf("the problem's optimal values are %v, want %v", p.Optimal, red.Optimal(3))
		}
	}
}

// A reducer makes what a new one makes, however often it has been used.
func TestReducerKeepsOnlyTime(t *testing.T) {
	for _, gamma := range []float64{0, 0.9} {
		r := new(Reducer)
		for i := range 6 {
			members := posterior(t, 4, 2, 5, 50*(i+1), 2)
			o := ReduceConfig{Kinds: []Kind{Members, Constants, Uniform}, Discount: gamma}
			got := must.Get(reduceBy(r, members, o))(t)
			want := must.Get(reduce(members, o))(t)
			if len(got.Candidates) != len(want.Candidates) {
				t.Fatalf("reduction %d has %d candidates, want %d", i, len(got.Candidates), len(want.Candidates))
			}
			for x := range got.Candidates {
				for k, v := range got.Values(x, 1) {
					if math.Abs(v-want.Values(x, 1)[k]) > 1e-9 {
						t.Errorf("reduction %d: value %v, want %v", i, v, want.Values(x, 1)[k])
					}
				}
			}
		}
	}
}

// An option whose value depends on the state is valued where one is.
func TestMultichainGains(t *testing.T) {
	// Two states that are never left.
	m := must.Get(mdp.NewModel(mdp.Definition{States: 2, Actions: 2,
		Transitions: []mdp.Transition{{S: 0, A: 0, Next: 0, P: 1}, {S: 0, A: 1, Next: 0, P: 1}, {S: 1, A: 0, Next: 1, P: 1}, {S: 1, A: 1, Next: 1, P: 1}},
		Rewards:     []mdp.Reward{{S: 0, A: 0, R: 1}, {S: 1, A: 1, R: 5}}}))(t)
	red := must.Get(reduce([]*mdp.Tabular{m, m}, ReduceConfig{}))(t)
	for s, want := range []float64{1, 5} {
		if got := red.Values(0, s)[1]; got != want {
			t.Errorf("greedy is worth %v in state %d, want %v", got, s, want)
		}
	}
}

// The optimum does not depend on the state, but an option's value does.
func TestGainsOfConstantActions(t *testing.T) {
	m := twoStates(t)
	red := must.Get(reduce([]*mdp.Tabular{m}, ReduceConfig{}))(t)
	x := slices.IndexFunc(red.Candidates, func(c Candidate) bool { return c.Name == "action 0" })
	for s, want := range []float64{0, 1} {
		if got := red.Values(x, s)[0]; got != want || math.Abs(red.Optimal(s)[0]-1) > 1e-12 {
			t.Errorf("staying in state %d is worth %v, the optimum %v", s, got, red.Optimal(s)[0])
		}
	}
}

func TestReduceRefuses(t *testing.T) {
	m := twoStates(t)
	one := oneState(t, [][]float64{{0, 1}})
	visits := must.Get(NewVisits(3, 3))(t)
	two := []*mdp.Tabular{m, m}
	for want, c := range map[string]struct {
		members []*mdp.Tabular
		o       ReduceConfig
	}{
		"at least one model":         {nil, ReduceConfig{Mean: m}},
		"the mean of its models":     {two, ReduceConfig{}},
		"model 1 has 1 states":       {[]*mdp.Tabular{m, one[0]}, ReduceConfig{Mean: m}},
		"discount 1 of values":       {two, ReduceConfig{Discount: 1}},
		"no state 2":                 {two, ReduceConfig{State: 2}},
		"probability 1.5 of reveal":  {two, ReduceConfig{RevealProbability: 1.5}},
		"the mean model 1 and 1":     {two, ReduceConfig{Mean: one[0]}},
		"visits are not of the size": {two, ReduceConfig{Visits: visits}},
		"need the visits":            {two, ReduceConfig{Kinds: []Kind{RecencyBonus}}},
		"a kind of option is nil":    {two, ReduceConfig{Kinds: []Kind{nil}}},
	} {
		if c.o.Mean == nil && want != "the mean of its models" {
			c.o.Mean = m
		}
		if _, err := new(Reducer).Reduce(c.members, c.o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// With many states values and optimal values are within the residual of those by
// elimination, from one belief to the next, whatever was solved before.
func TestReduceIterates(t *testing.T) {
	const n, gamma = Eliminated + 6, 0.95
	r := new(Reducer)
	for seed := range uint64(4) {
		members := posterior(t, n, 2, 3, 400*int(seed*seed), seed)
		for _, residual := range []float64{1e-3, 0} {
			red := must.Get(reduceBy(r, members, ReduceConfig{Discount: gamma, Residual: residual}))(t)
			if residual == 0 {
				residual = 1e-6
			}
			for k, m := range members {
				within := Residual(m, residual, gamma)
				best := must.Get(mdp.SolveDiscounted(m, gamma, mdp.SolverConfig{Method: mdp.PolicyIteration}))(t)
				for s, v := range best.Value {
					if got := red.Optimal(s)[k]; math.Abs(got-(1-gamma)*v) > within {
						t.Errorf("state %d is worth %v in model %d, want %v ± %v", s, got, k, (1-gamma)*v, within)
					}
				}
				for x, c := range red.Candidates {
					chain := must.Get(mdp.Induce(m, c.Policy))(t)
					want := must.Get(chain.EvaluateDiscounted(gamma))(t)
					for s, v := range want {
						if got := red.Values(x, s)[k]; math.Abs(got-(1-gamma)*v) > within {
							t.Errorf("%s in state %d is worth %v in model %d, want %v ± %v", c.Name, s, got, k, (1-gamma)*v, within)
						}
					}
				}
			}
		}
	}
	if _, err := reduceBy(r, posterior(t, 2, 2, 1, 1, 1), ReduceConfig{Discount: gamma, Residual: -1}); err == nil {
		t.Error("a negative residual is accepted")
	}
}
