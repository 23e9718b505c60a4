package options

import (
	"fmt"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// riverSwim draws models of RiverSwim from a belief after some random steps.
func riverSwim(t testing.TB, members, steps int) []*mdp.Tabular {
	task := must.Get(catalog.RiverSwim(6))(t)
	belief := must.Get(mdp.NewDirichlet(mdp.DirichletPrior{States: 6, Actions: 2, Rewards: mdp.BetaReward{A: 0.004, B: 0.996}}))(t)
	rng := newRNG(1)
	s := 0
	for range steps {
		a := rng.IntN(2)
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

// lanes are problems of one size as a batch of lanes has them, each with values of
// its own.
func lanes(t testing.TB) []Problem {
	problems := make([]Problem, 8)
	for i := range problems {
		red := must.Get(reduce(posterior(t, 6, 2, 16, 100, uint64(i)), ReduceConfig{Kinds: []Kind{Constants, Uniform}}))(t)
		red.At(&problems[i], i%6)
	}
	return problems
}

var benchRules = []DeciderConfig{
	{Rule: RuleCommonModel}, {Rule: RuleCommonModel, Bound: bandit.V}, {Rule: RuleOptimistic}, {Rule: RuleIndex, Bound: bandit.V}, {Rule: RuleOptimisticStochastic},
}

// A decision allocates nothing, from one lane to the next.
func TestDecideAllocatesNothing(t *testing.T) {
	problems := lanes(t)
	tables := must.Get(NewTables(2, 16, 0.99, TableConfig{}))(t)
	q := make([]float64, 16*2)
	rng := newRNG(1)
	for i := range q {
		q[i] = rng.Float64()
	}
	for _, rule := range benchRules {
		for _, h := range []bandit.Horizon{bandit.Discounted(0.99), bandit.Finite(100_000)} {
			rule.Horizon = h
			d := must.Get(NewDecider(rule))(t)
			run := func() {
				for i := range problems {
					must.Get(d.Decide(&problems[i], rng))(t)
				}
				p := Problem{Hold: 3}
				q[3] = -q[3]
				must.Do(t, tables.At(&p, q, nil, nil))
				must.Get(d.Decide(&p, rng))(t)
			}
			run()
			if n := testing.AllocsPerRun(20, run); n > 0 {
				t.Errorf("%v %v: %v allocations", rule.Rule, rule.Bound, n)
			}
		}
	}
}

func TestAtAllocatesNothing(t *testing.T) {
	red := must.Get(reduce(riverSwim(t, 4, 100), ReduceConfig{Discount: 0.9}))(t)
	var p Problem
	if n := testing.AllocsPerRun(20, func() { red.At(&p, 3) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkDecide decides between 4 options of 16 members, other values each time.
func BenchmarkDecide(b *testing.B) {
	problems := lanes(b)
	for _, rule := range benchRules {
		b.Run(fmt.Sprint(rule.Rule, " ", rule.Bound), func(b *testing.B) {
			rule.Horizon = bandit.Discounted(0.99)
			d, err := NewDecider(rule)
			if err != nil {
				b.Fatal(err)
			}
			rng := newRNG(1)
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Decide(&problems[i&7], rng); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

// BenchmarkDecideModelFree makes a problem of 16 tables of values and decides.
func BenchmarkDecideModelFree(b *testing.B) {
	tables := must.Get(NewTables(2, 16, 0.99, TableConfig{}))(b)
	q := make([]float64, 1024)
	rng := newRNG(1)
	for i := range q {
		q[i] = rng.Float64()
	}
	d := must.Get(NewDecider(DeciderConfig{Rule: RuleCommonModel, Horizon: bandit.Discounted(0.99)}))(b)
	p := Problem{Hold: 20}
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		at := i * 32 % 992
		if err := tables.At(&p, q[at:at+32], nil, nil); err != nil {
			b.Fatal(err)
		}
		if _, err := d.Decide(&p, rng); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// BenchmarkReduce solves and evaluates K = 10 models of RiverSwim anew each time.
func BenchmarkReduce(b *testing.B) {
	beliefs := [][]*mdp.Tabular{riverSwim(b, 10, 1000), riverSwim(b, 10, 1001)}
	var r Reducer
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Reduce(beliefs[i&1], ReduceConfig{Mean: beliefs[0][0]}); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// BenchmarkModel computes the model of holding a policy for 50 steps in Four Rooms.
func BenchmarkModel(b *testing.B) {
	task := must.Get(catalog.FourRooms(true))(b)
	o := hold(mdp.Uniform{}, 50)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewModel(task.Model, o, 0.9); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReduceLearning is the cost of a decision of an agent that learns, from 2,500
// steps on. It has K = 10 bootstrap models. 25 steps of one of the options take turns
// with the reduction, which has all members' policies and the constant actions.
func BenchmarkReduceLearning(b *testing.B) {
	for _, tt := range []struct {
		name string
		make func() (*catalog.Task, error)
	}{
		{"states=6", func() (*catalog.Task, error) { return catalog.RiverSwim(6) }},
		{"states=104", func() (*catalog.Task, error) { return catalog.FourRooms(true) }},
		{"states=500", catalog.Taxi},
	} {
		b.Run(tt.name, func(b *testing.B) {
			task, err := tt.make()
			if err != nil {
				b.Fatal(err)
			}
			m := task.Model
			prior, err := mdp.NewDirichlet(mdp.DirichletPrior{States: m.NumStates(), Actions: m.NumActions()})
			if err != nil {
				b.Fatal(err)
			}
			belief, err := mdp.NewBootstrap(prior, 10, 1, mdp.Poisson, 1)
			if err != nil {
				b.Fatal(err)
			}
			rng := newRNG(1)
			s := m.Start(rng)
			step := func(a int) {
				next, r := m.Step(s, a, rng)
				belief.Update(s, a, r, next)
				if s = next; m.Terminal(s) {
					s = m.Start(rng)
				}
			}
			for range 2500 {
				step(rng.IntN(m.NumActions()))
			}
			var reducer Reducer
			members := make([]*mdp.Tabular, belief.Len())
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				for k := range members {
					members[k] = belief.Latest(k)
				}
				red, err := reducer.Reduce(members, ReduceConfig{Mean: belief.LatestMean(), Discount: 0.99})
				if err != nil {
					b.Fatal(err)
				}
				pi := red.Candidates[i%len(red.Candidates)].Policy.(mdp.Deterministic)
				for range 25 {
					step(pi[s])
				}
				i++
			}
		})
	}
}

// Decisions of 20 options in 16 members.
func BenchmarkTwentyOptions(b *testing.B) {
	problems := lanes(b)
	rng := newRNG(2)
	for i := range problems {
		p := &problems[i]
		p.Arms, p.Values, p.Optimal = make([]Arm, 20), make([]float64, 20*16), nil
		for j := range p.Values {
			p.Values[j] = rng.Float64()
		}
	}
	for _, c := range benchRules {
		b.Run(fmt.Sprint(c.Rule, " ", c.Bound), func(b *testing.B) {
			c.Horizon = bandit.Finite(100_000)
			d := must.Get(NewDecider(c))(b)
			for i := 0; b.Loop(); i++ {
				must.Get(d.Decide(&problems[i%len(problems)], rng))(b)
			}
		})
	}
}
