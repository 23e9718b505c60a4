package options

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// posterior draws models of a random process from what a few hundred random steps
// tell of it.
func posterior(t testing.TB, states, actions, members, steps int, seed uint64) []*mdp.Tabular {
	task, err := catalog.Garnet(states, actions, min(2, states), seed)
	if err != nil {
		t.Fatal(err)
	}
	belief, err := mdp.NewDirichlet(mdp.DirichletPrior{States: states, Actions: actions, Rewards: mdp.NormalGammaReward{Kappa: 1, Alpha: 2, Beta: 1}})
	if err != nil {
		t.Fatal(err)
	}
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
var everyKind = []Kind{Members, Constants, Uniform, Overdue, Novelty, Deviations, Repeats}

func TestCandidates(t *testing.T) {
	members := posterior(t, 5, 3, 6, 300, 1)
	visits, err := NewVisits(5, 3)
	if err != nil {
		t.Fatal(err)
	}
	for s := range 5 {
		for a := range 3 {
			if s != 4 || a != 2 {
				visits.Update(s, a)
			}
		}
	}
	for _, gamma := range []float64{0, 0.9} {
		red, err := Reduce(members, ReduceOptions{Kinds: everyKind, Visits: visits, State: 2, Discount: gamma, Reveal: 0.5, Longest: 10})
		if err != nil {
			t.Fatal(err)
		}
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
			if c.Class == Uninformed && c.Reveal != 0.5 {
				t.Errorf("%s reveals with probability %v", c.Name, c.Reveal)
			}
			if hold := c.Hold(3); (hold == nil) != (c.Repeats() != nil) || hold != nil && hold.Termination(0, 3) != 1 {
				t.Errorf("%s is held as %v", c.Name, hold)
			}
			// Values by another route: the larger process for repeats is tested elsewhere.
			if c.Policy == nil {
				continue
			}
			for k, m := range members {
				chain, err := mdp.Induce(m, c.Policy)
				if err != nil {
					t.Fatal(err)
				}
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
		for _, name := range []string{"greedy", "uniform", "novelty", "repeats"} {
			if !seen[name] {
				t.Errorf("no option is called %s", name)
			}
		}
		var p Problem
		red.At(&p, 3, 17)
		if err := p.Check(); err != nil || p.Step != 17 || p.Hold != red.Window.Steps || len(p.Arms) != len(red.Candidates) {
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

// The bonuses of Dyna-Q+ and MBIE-EB, and what they lead to.
func TestVisits(t *testing.T) {
	v, err := NewVisits(2, 2)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		v.Update(0, 0)
	}
	v.Update(1, 1)
	if v.Count(0, 0) != 3 || v.Age(0, 0) != 1 || v.Count(1, 0) != 0 || v.Age(1, 0) != 4 || v.Age(1, 1) != 0 {
		t.Errorf("visits %+v", v)
	}
	if got := v.Overdue(0.5)(1, 0); got != 1 {
		t.Errorf("bonus %v of Dyna-Q+ after 4 steps, want 0.5·2", got)
	}
	if got, never := v.Rare(2)(0, 0), v.Rare(2)(0, 1); got != 2/math.Sqrt(3) || never != 2 {
		t.Errorf("bonus %v after 3 visits and %v without", got, never)
	}
	m := twoStates(t)
	both, err := Bonus(m, func(s, a int) float64 { return float64(10*s + a) }, false)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := Bonus(m, func(s, a int) float64 { return float64(10*s + a) }, true)
	if err != nil {
		t.Fatal(err)
	}
	for s := range 2 {
		for a := range 2 {
			bonus := float64(10*s + a)
			if both.Reward(s, a) != bonus+m.Reward(s, a) || alone.Reward(s, a) != bonus {
				t.Errorf("rewards %v and %v", both.Reward(s, a), alone.Reward(s, a))
			}
		}
	}
	if _, err := NewVisits(0, 1); err == nil {
		t.Error("visits of no state")
	}

	// In state 0 nothing is new but moving, in state 1 nothing but staying: the
	// policy for novelty moves there and stays.
	for range 100 {
		v.Update(0, 0)
		v.Update(1, 1)
	}
	red, err := Reduce([]*mdp.Tabular{m}, ReduceOptions{Kinds: []Kind{Novelty}, Visits: v})
	if err != nil {
		t.Fatal(err)
	}
	if pi := red.Candidates[1].Policy.(mdp.Deterministic); !slices.Equal(pi, mdp.Deterministic{1, 0}) {
		t.Errorf("novelty is sought by %v", pi)
	}
}

// A reducer makes what Reduce makes, however often it has been used, and estimates
// T only when it has to.
func TestReducerKeepsOnlyTime(t *testing.T) {
	for _, gamma := range []float64{0, 0.9} {
		r := NewReducer(WindowOptions{})
		for i := range 6 {
			members := posterior(t, 4, 2, 5, 50*(i+1), 2)
			o := ReduceOptions{Kinds: []Kind{Members, Constants, Uniform}, Discount: gamma, Steps: float64(50 * (i + 1))}
			got, err := r.Reduce(members, o)
			if err != nil {
				t.Fatal(err)
			}
			want, err := Reduce(members, o)
			if err != nil {
				t.Fatal(err)
			}
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
		if n := r.window.Recomputed(); n < 2 || n == 6 {
			t.Errorf("T was estimated %d times", n)
		}
	}
}

// An option whose value depends on the state is valued where one is.
func TestMultichainGains(t *testing.T) {
	// Two states that are never left.
	m, err := mdp.NewModel(mdp.Definition{States: 2, Actions: 2,
		Transitions: []mdp.Transition{{S: 0, A: 0, Next: 0, P: 1}, {S: 0, A: 1, Next: 0, P: 1}, {S: 1, A: 0, Next: 1, P: 1}, {S: 1, A: 1, Next: 1, P: 1}},
		Rewards:     []mdp.Reward{{S: 0, A: 0, R: 1}, {S: 1, A: 1, R: 5}}})
	if err != nil {
		t.Fatal(err)
	}
	red, err := Reduce([]*mdp.Tabular{m, m}, ReduceOptions{Window: WindowOptions{Fixed: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for s, want := range []float64{1, 5} {
		if got := red.Values(0, s)[1]; got != want {
			t.Errorf("greedy is worth %v in state %d, want %v", got, s, want)
		}
	}
}

func TestReduceRefuses(t *testing.T) {
	m := twoStates(t)
	one := oneState(t, [][]float64{{0, 1}})
	visits, err := NewVisits(3, 3)
	if err != nil {
		t.Fatal(err)
	}
	two := []*mdp.Tabular{m, m}
	for want, c := range map[string]struct {
		members []*mdp.Tabular
		o       ReduceOptions
	}{
		"at least one model":          {nil, ReduceOptions{}},
		"model 1 has 1 states":        {[]*mdp.Tabular{m, one[0]}, ReduceOptions{}},
		"discount 1 of values":        {two, ReduceOptions{Discount: 1}},
		"no state 2":                  {two, ReduceOptions{State: 2}},
		"probability 1.5 of reveal":   {two, ReduceOptions{Reveal: 1.5}},
		"mean model is not of the si": {two, ReduceOptions{Mean: one[0]}},
		"visits are not of the size":  {two, ReduceOptions{Visits: visits}},
		"need the visits":             {two, ReduceOptions{Kinds: []Kind{Overdue}}},
		"unknown kind of option 77":   {two, ReduceOptions{Kinds: []Kind{77}}},
		"option nothing has no polic": {two, ReduceOptions{Extra: []Candidate{{Arm: Arm{Name: "nothing"}}}}},
		"is repeated up to -1 times":  {two, ReduceOptions{Kinds: []Kind{Repeats}, Longest: -1}},
	} {
		if _, err := Reduce(c.members, c.o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func TestWindow(t *testing.T) {
	for _, c := range []struct {
		o      WindowOptions
		mixing int
		want   Window
	}{
		{WindowOptions{}, 7, Window{7, 7, false}},
		{WindowOptions{}, 1000, Window{1000, 1000, false}},
		{WindowOptions{}, 1001, Window{1000, 1001, true}},
		{WindowOptions{}, mdp.Never, Window{1000, mdp.Never, true}},
		{WindowOptions{Cap: 5}, 7, Window{5, 7, true}},
		{WindowOptions{Floor: 10}, 7, Window{10, 7, false}},
		{WindowOptions{Floor: 10, Cap: 5}, 70, Window{10, 70, true}},
		{WindowOptions{Scale: 0.125}, 7, Window{1, 7, false}},
		{WindowOptions{Scale: 2.5}, 7, Window{18, 7, false}},
		{WindowOptions{Scale: 1e300}, math.MaxInt - 1, Window{1000, math.MaxInt - 1, true}},
	} {
		if got := NewWindowEstimator(c.o).o.window(c.mixing); got != c.want {
			t.Errorf("%+v: T_ε = %d gives %+v, want %+v", c.o, c.mixing, got, c.want)
		}
	}
	// Staying or moving, whichever: after staying in two copies of state 0 and 1 the
	// difference is for ever if the policy stays.
	m := twoStates(t)
	stay := NewWindowEstimator(WindowOptions{Cap: 9})
	models := func() []*mdp.Tabular { return []*mdp.Tabular{m, m} }
	w, err := stay.Window(mdp.Constant(2, 0), 1, models)
	if err != nil || w != (Window{9, mdp.Never, true}) {
		t.Errorf("window %+v, %v, of a policy that stays for ever", w, err)
	}
	fixed, err := NewWindowEstimator(WindowOptions{Fixed: 3}).Window(nil, 0, nil)
	if err != nil || fixed != (Window{Steps: 3}) {
		t.Errorf("fixed window %+v, %v", fixed, err)
	}
	if _, err := NewWindowEstimator(WindowOptions{}).Window(mdp.Constant(2, 9), 1, models); err == nil {
		t.Error("a policy without such an action has a window")
	}
}

// Without the model's knowledge of the state, a one-state process is decided on V.
func TestLookaheadOfOneState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 8).Draw(t, "models")
		values := [][]float64{}
		for range 3 {
			values = append(values, rapid.SliceOfN(rapid.Float64Range(0, 1), k, k).Draw(t, "values"))
		}
		members := make([]*mdp.Tabular, k)
		for i := range members {
			var err error
			members[i], err = mdp.Generate(mdp.Definition{States: 1, Actions: 3}, func(_, a int, row *mdp.Row) {
				row.Add(0, 1)
				row.Reward(values[a][i])
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		red, err := Reduce(members, ReduceOptions{Kinds: []Kind{Constants, Uniform}})
		if err != nil {
			t.Fatal(err)
		}
		gamma := rapid.Float64Range(0, 0.99).Draw(t, "γ")
		var p Problem
		red.At(&p, 0, 0)
		p.Hold = rapid.IntRange(1, 20).Draw(t, "T")
		for x := 1; x < len(p.Arms); x++ {
			c := red.Candidates[x]
			got, err := Lookahead(members, c.Policy, red.Candidates[0].Policy, c.Class, 0, p.Hold, gamma)
			if err != nil {
				t.Fatal(err)
			}
			want := decide(t, Rule{Score: Paired, Kind: bandit.V}, gamma, p.two(x)).Advantage
			if math.Abs(got-want) > 1e-9 {
				t.Fatalf("%s has the advantage %v, want %v", c.Name, got, want)
			}
		}
	})
}

// The reduction forgets the state: what it loses vanishes as the horizon grows.
func TestLookaheadAgreesAtLongHorizons(t *testing.T) {
	members := posterior(t, 4, 2, 5, 60, 5)
	red, err := Reduce(members, ReduceOptions{Kinds: []Kind{Members, Uniform}})
	if err != nil {
		t.Fatal(err)
	}
	var p Problem
	red.At(&p, 0, 0)
	last := math.Inf(1)
	for _, gamma := range []float64{0.9, 0.99, 0.999, 0.9999} {
		worst := 0.0
		for x := 1; x < len(p.Arms); x++ {
			c := red.Candidates[x]
			for s := range 4 {
				got, err := Lookahead(members, c.Policy, red.Candidates[0].Policy, c.Class, s, p.Hold, gamma)
				if err != nil {
					t.Fatal(err)
				}
				worst = max(worst, math.Abs(got-decide(t, Rule{Score: Paired, Kind: bandit.V}, gamma, p.two(x)).Advantage))
			}
		}
		if worst > last/5 {
			t.Errorf("at γ = %v the reduction is off by %v, by %v at the horizon before", gamma, worst, last)
		}
		last = worst
	}
	if last > 0.01 {
		t.Errorf("the reduction is off by %v at the longest horizon", last)
	}
}

func TestLookaheadRefuses(t *testing.T) {
	m := []*mdp.Tabular{twoStates(t)}
	if _, err := Lookahead(m, mdp.Uniform{}, mdp.Uniform{}, Directed, 2, 1, 0.9); err == nil {
		t.Error("there is no state 2")
	}
	if _, err := Lookahead(m, mdp.Uniform{}, mdp.Uniform{}, Directed, 0, 0, 0.9); err == nil {
		t.Error("an option was held for no step")
	}
	if _, err := Lookahead(nil, mdp.Uniform{}, mdp.Uniform{}, Directed, 0, 1, 0.9); err == nil {
		t.Error("a belief without models was taken")
	}
	if _, err := Lookahead(m, mdp.Constant(1, 0), mdp.Uniform{}, Directed, 0, 1, 0.9); err == nil {
		t.Error("a policy of another size was taken")
	}
}

// DeepSea is revealed by uniform actions in an episode with probability 2^−N, by the
// diagonal surely (docs/theory.md §3.6).
func TestRevealDeepSea(t *testing.T) {
	for n := 2; n <= 12; n++ {
		task, err := catalog.DeepSea(catalog.Sea{Size: n, Continuing: true})
		if err != nil {
			t.Fatal(err)
		}
		corner := n*(n-1)/2 + n - 1
		unknown := func(s, a int) bool { return s == corner && a == 1 }
		if got, err := Reveal(task.Model, mdp.Uniform{}, 0, n, unknown); err != nil || got != math.Pow(2, -float64(n)) {
			t.Errorf("N = %d: uniform actions reveal with probability %v, %v", n, got, err)
		}
		right := mdp.Constant(task.Model.NumStates(), 1)
		if got, err := Reveal(task.Model, right, 0, n, unknown); err != nil || got != 1 {
			t.Errorf("N = %d: the diagonal reveals with probability %v, %v", n, got, err)
		}
		if got, err := Reveal(task.Model, right, 0, n-1, unknown); err != nil || got != 0 {
			t.Errorf("N = %d: a shorter window reveals with probability %v, %v", n, got, err)
		}
	}
	if _, err := Reveal(twoStates(t), mdp.Uniform{}, 5, 1, nil); err == nil {
		t.Error("there is no state 5")
	}
}

// A visit of s recurs after a random time τ: E γ^τ of a renewal with success
// probability q at every step is γq/(1−γ(1−q)).
func TestReturnDiscount(t *testing.T) {
	m, err := mdp.NewModel(mdp.Definition{States: 2, Actions: 1, Transitions: []mdp.Transition{
		{S: 0, Next: 1, P: 1}, {S: 1, Next: 0, P: 0.25}, {S: 1, Next: 1, P: 0.75}}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReturnDiscount(m, mdp.Constant(2, 0), 0, 0.9)
	if want := 0.9 * 0.9 * 0.25 / (1 - 0.9*0.75); err != nil || math.Abs(got-want) > 1e-14 {
		t.Errorf("γ_s = %v, %v, want %v", got, err, want)
	}
	one := oneState(t, [][]float64{{0}})[0]
	if got, err := ReturnDiscount(one, mdp.Constant(1, 0), 0, 0.9); err != nil || got != 0.9 {
		t.Errorf("with one state γ_s = %v, %v, want γ", got, err)
	}
	if _, err := ReturnDiscount(m, mdp.Constant(2, 0), 2, 0.9); err == nil {
		t.Error("there is no state 2")
	}
}

// The model-free problem is that of the tables' values, in any state.
func TestValueTables(t *testing.T) {
	tables, err := NewValueTables(2, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	p := Problem{Hold: 4, Step: 9}
	greedy, err := tables.At(&p, []float64{2, 4, 6, 2, 1, 4}) // three members of two actions
	if err != nil || greedy != 1 {
		t.Fatalf("greedy action %d, %v", greedy, err)
	}
	want := []float64{2, 1, 2, 1, 3, 0.5, 2, 1, 2, 2, 3, 2}
	if !slices.Equal(p.Values, want) || !slices.Equal(p.Optimal, []float64{2, 3, 2}) || p.Hold != 4 || p.Step != 9 || p.Greedy != 0 {
		t.Errorf("problem %+v, want values %v", p, want)
	}
	names := ""
	for _, a := range p.Arms {
		names += a.Name + ";"
	}
	if names != "greedy;action 0;action 1;member;" {
		t.Errorf("options %s", names)
	}
	// The greedy action's own option never has an advantage.
	p.Arms = p.Arms[:3]
	p.Values = p.Values[:9]
	for _, score := range []Score{Paired, MeanValue, Index} {
		d, err := Decide(Rule{Score: score, Horizon: bandit.Discounted(0)}, &p, nil)
		if err != nil || d.Choice == 2 {
			t.Errorf("%v: %+v, %v", score, d, err)
		}
	}
	for _, bad := range [][]float64{nil, {1}} {
		if _, err := tables.At(&p, bad); err == nil {
			t.Errorf("values %v were taken", bad)
		}
	}
	if _, err := NewValueTables(2, 1); err == nil {
		t.Error("a discount of one was taken")
	}
	if greedy, err := tables.At(&p, []float64{math.NaN(), 1}); err != nil || p.Check() == nil {
		t.Errorf("NaN passes for greedy action %d, %v", greedy, err)
	}
}
