package policy

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/must"
)

var unit = Task{Arms: 5, Low: 0, High: 1}

func TestSpecErrors(t *testing.T) {
	inf := math.Inf(1)
	unbounded := Task{Arms: 5, Low: -inf, High: inf}
	for _, c := range []struct {
		spec   Spec
		belief BeliefSpec
		task   Task
		want   string // what the error must say
	}{
		{Spec{}, BeliefSpec{}, unit, "policy: kind must be given: one of greedy, uniform, epsilon-greedy"},
		{Spec{Kind: "thomson"}, BeliefSpec{}, unit, `policy: kind is "thomson", must be one of greedy`},
		{Spec{Kind: "greedy"}, BeliefSpec{}, Task{Arms: 0, High: 1}, "arms is 0, must be between 1 and"},
		{Spec{Kind: "greedy"}, BeliefSpec{}, Task{Arms: 1, Low: 1, High: 0}, "range of rewards [1, 0] is empty"},
		{Spec{Kind: "greedy"}, BeliefSpec{}, Task{Arms: 1, Low: math.NaN(), High: 0}, "is empty"},
		{Spec{Kind: "greedy", Epsilon: new(0.1)}, BeliefSpec{}, unit, "policy: epsilon does not apply to greedy, which has no parameters"},
		{Spec{Kind: "thompson", Gamma: new(0.5)}, BeliefSpec{}, unit, "policy: gamma does not apply to thompson, which takes draw"},
		{Spec{Kind: "epsilon-greedy", Epsilon: new(1.5)}, BeliefSpec{}, unit, "policy: epsilon is 1.5, must be in [0,1]"},
		{Spec{Kind: "epsilon-greedy", Epsilon: new(math.NaN())}, BeliefSpec{}, unit, "epsilon is NaN"},
		{Spec{Kind: "epsilon-greedy", Decay: new(-1.0)}, BeliefSpec{}, unit, "decay is -1, must be at least 0"},
		{Spec{Kind: "softmax", Temperature: new(0.0)}, BeliefSpec{}, unit, "temperature is 0, must be more than 0"},
		{Spec{Kind: "softmax", Temperature: new(inf)}, BeliefSpec{}, unit, "temperature is +Inf"},
		{Spec{Kind: "optimistic-stochastic", Gamma: new(1.0)}, BeliefSpec{}, unit, "policy: gamma is 1, must be in [0,1) as the horizon is infinite; for an undiscounted problem give horizon, the number of pulls"},
		{Spec{Kind: "index", Gamma: new(-0.1)}, BeliefSpec{}, unit, "gamma is -0.1, must be in [0,1]"},
		{Spec{Kind: "index", Gamma: new(1.1), Horizon: new(10)}, BeliefSpec{}, unit, "gamma is 1.1, must be in [0,1]"},
		{Spec{Kind: "optimistic", Horizon: new(0)}, BeliefSpec{}, unit, "horizon is 0, must be in [1,"},
		{Spec{Kind: "optimistic", Hold: new(0)}, BeliefSpec{}, unit, "hold is 0, must be in [1,"},
		{Spec{Kind: "optimistic", Bound: "W"}, BeliefSpec{}, unit, `bound is "W", must be U, U+ or V`},
		{Spec{Kind: "optimistic", Bound: "V", LowerBound: new(0.0)}, BeliefSpec{}, unit, "lower_bound applies to bound U only"},
		{Spec{Kind: "index", LowerBound: new(0.0)}, BeliefSpec{}, unit, "lower_bound applies to bound U only"},
		{Spec{Kind: "optimistic", Order: "phi"}, BeliefSpec{}, unit, `order is "phi", must be advantage or gamma`},
		{Spec{Kind: "optimistic", Order: "gamma", Compare: "pairs"}, BeliefSpec{}, unit, "order gamma needs bound U and compare mean"},
		{Spec{Kind: "optimistic", Compare: "pair"}, BeliefSpec{}, unit, `compare is "pair", must be mean, pairs or all-pairs`},
		{Spec{Kind: "optimistic-stochastic", Compare: "pairs"}, BeliefSpec{Kind: "beta"}, unit, "compare: pairs needs a belief of kind population, not beta"},
		{Spec{Kind: "optimistic-stochastic", Choice: "program"}, BeliefSpec{Kind: "beta"}, unit, "choice: program needs a belief of kind population"},
		{Spec{Kind: "thompson", Draw: "common"}, BeliefSpec{Kind: "gaussian"}, unit, "draw: common needs a belief of kind population"},
		{Spec{Kind: "optimistic-stochastic"}, BeliefSpec{}, unbounded, "lower_bound must be given, as the rewards of this task have none"},
		{Spec{Kind: "optimistic-stochastic", LowerBound: new(-inf)}, BeliefSpec{}, unbounded, "lower_bound is -Inf, must be finite"},
		{Spec{Kind: "ucb1"}, BeliefSpec{}, unbounded, "policy: ucb1 needs rewards in a bounded range, not in [-Inf, +Inf]"},
		{Spec{Kind: "kl-ucb"}, BeliefSpec{}, Task{Arms: 2, Low: 1, High: 1}, "kl-ucb needs rewards in a bounded range"},
		{Spec{Kind: "ucb1", Confidence: new(-1.0)}, BeliefSpec{}, unit, "confidence is -1"},
		{Spec{Kind: "bayes-ucb", Confidence: new(5.0)}, BeliefSpec{}, unit, "horizon must be given if confidence is not 0"},
		{Spec{Kind: "bayes-ucb", Horizon: new(5)}, BeliefSpec{}, unit, "horizon matters only if confidence is not 0"},
		{Spec{Kind: "gittins"}, BeliefSpec{Kind: "population"}, unit, "belief: policy gittins works with beta, not with population"},
		{Spec{Kind: "gittins", Gamma: new(1.0)}, BeliefSpec{}, unit, "gamma is 1, must be in [0,1)"},
		{Spec{Kind: "gittins"}, BeliefSpec{}, unbounded, "belief: kind beta needs rewards in [0,1], not in [-Inf, +Inf]"},
		{Spec{Kind: "knowledge-gradient"}, BeliefSpec{Kind: "population"}, unit, "works with beta, gaussian, normal-gamma, not with population"},
		{Spec{Kind: "ids", Samples: new(1)}, BeliefSpec{Kind: "beta"}, unit, "samples is 1, must be in [2,"},
		{Spec{Kind: "ids", Samples: new(10)}, BeliefSpec{}, unit, "samples does not apply to a belief of kind population"},
		{Spec{Kind: "median-elimination", Failure: new(1.0)}, BeliefSpec{}, unit, "failure is 1, must be in (0,1)"},
		{Spec{Kind: "successive-elimination", Accuracy: new(0.0)}, BeliefSpec{}, unit, "accuracy is 0, must be more than 0"},
		{Spec{Kind: "e3-overflow"}, BeliefSpec{}, unbounded, "e3-overflow needs a largest reward to be optimistic about"},
		{Spec{Kind: "e3"}, BeliefSpec{Kind: "beta"}, unit, "belief: policy e3 keeps no beliefs: leave it out"},
		{Spec{Kind: "budgeted"}, BeliefSpec{}, unit, "budget must be given"},
		{Spec{Kind: "budgeted", Budget: new(0)}, BeliefSpec{}, unit, "budget is 0, must be in [1,"},
		{Spec{Kind: "budgeted", Budget: new(9), Allocation: "lookahead"}, BeliefSpec{}, unit, "allocation lookahead needs a belief of kind beta, not population"},
		{Spec{Kind: "budgeted", Budget: new(9), Allocation: "biased-robin"}, BeliefSpec{}, unbounded, "allocation biased-robin needs rewards in a bounded range"},
		{Spec{Kind: "backward-induction"}, BeliefSpec{}, unit, "horizon must be given"},
		{Spec{Kind: "backward-induction", Horizon: new(1000)}, BeliefSpec{}, unit, "policy: a plan of 1000 pulls of 5 arms takes"},

		{Spec{Kind: "thompson"}, BeliefSpec{Kind: "populace"}, unit, `belief: kind is "populace", must be one of ` + strings.Join(BeliefKinds(), ", ")},
		{Spec{Kind: "thompson"}, BeliefSpec{Members: new(0)}, unit, "belief: members is 0, must be in [1,"},
		{Spec{Kind: "thompson"}, BeliefSpec{Members: new(1_000_000)}, Task{Arms: 3000, High: 1}, "members is 1000000, too many for 3000 arms"},
		{Spec{Kind: "thompson"}, BeliefSpec{Kind: "point", Members: new(16)}, unit, "members does not apply to point"},
		{Spec{Kind: "thompson"}, BeliefSpec{Kind: "beta", Members: new(16)}, unit, "members does not apply to beta, which takes a, b"},
		{Spec{Kind: "thompson"}, BeliefSpec{Step: new(0.0)}, unit, "step is 0, must be in (0,1]"},
		{Spec{Kind: "thompson"}, BeliefSpec{Step: new(1.5)}, unit, "step is 1.5"},
		{Spec{Kind: "thompson"}, BeliefSpec{Mask: new(0.5)}, unit, "mask applies to update bernoulli only"},
		{Spec{Kind: "thompson"}, BeliefSpec{Update: "bernoulli", Mask: new(0.0)}, unit, "mask is 0"},
		{Spec{Kind: "thompson"}, BeliefSpec{Update: "some"}, unit, `update is "some", must be all, drawn, bernoulli, exponential, poisson or independent`},
		{Spec{Kind: "thompson"}, BeliefSpec{Schedule: "linear"}, unit, `schedule is "linear", must be constant or harmonic`},
		{Spec{Kind: "thompson"}, BeliefSpec{Schedule: "harmonic", Step: new(0.1)}, unit, "step does not apply to schedule harmonic"},
		{Spec{Kind: "thompson"}, BeliefSpec{Weight: new(2.0)}, unit, "prior_weight applies to schedule harmonic only"},
		{Spec{Kind: "thompson"}, BeliefSpec{Schedule: "harmonic", Weight: new(-2.0)}, unit, "prior_weight is -2"},
		{Spec{Kind: "thompson"}, BeliefSpec{Prior: "gamma"}, unit, `prior is "gamma", must be uniform, beta or normal`},
		{Spec{Kind: "thompson"}, BeliefSpec{Low: new(1.0), High: new(0.0)}, unit, "low is 1, above high, 0"},
		{Spec{Kind: "thompson"}, BeliefSpec{A: new(1.0)}, unit, "a does not apply to population"},
		{Spec{Kind: "thompson"}, BeliefSpec{Prior: "beta", A: new(-1.0)}, unit, "a is -1, must be more than 0"},
		{Spec{Kind: "thompson"}, BeliefSpec{Kind: "beta", B: new(0.0)}, unit, "b is 0, must be more than 0"},
		{Spec{Kind: "thompson"}, BeliefSpec{Kind: "gaussian", SD: new(0.0)}, unit, "sd is 0, must be more than 0"},
		{Spec{Kind: "thompson"}, BeliefSpec{Kind: "normal-gamma", Alpha: new(0.5)}, unit, "alpha is 0.5, must be more than 0.5"},
		{Spec{Kind: "thompson"}, BeliefSpec{Kind: "particles", Members: new(0)}, unit, "members is 0"},
		{Spec{Kind: "thompson"}, BeliefSpec{Kind: "particles", Likelihood: "bernoulli"}, unbounded, "likelihood bernoulli needs rewards in [0,1], not in [-Inf, +Inf]"},
		{Spec{Kind: "thompson"}, BeliefSpec{Kind: "particles", High: new(2.0)}, unit, "prior must lie in [0,1] for likelihood bernoulli"},
		{Spec{Kind: "thompson"}, BeliefSpec{Kind: "particles", Noise: new(2.0)}, unit, "noise does not apply to particles"},
	} {
		p, err := New(c.spec, c.belief, c.task, newRNG(1))
		if err == nil {
			t.Errorf("%+v with %+v made a %T, want an error that says %q", c.spec, c.belief, p, c.want)
		} else if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s with %+v: error %q does not say %q", c.spec.Kind, c.belief, err, c.want)
		}
	}
}

// variants are specifications of every kind, with what its options change.
func variants() []Spec {
	var all []Spec
	for _, k := range Kinds() {
		s := Spec{Kind: k}
		switch k {
		case "budgeted":
			s.Budget = new(40)
			for _, a := range []string{"", "biased-robin", "vpi"} {
				s.Allocation = a
				all = append(all, s)
			}
			continue
		case "backward-induction":
			s.Horizon = new(8)
		case "bayes-ucb":
			all = append(all, Spec{Kind: k, Confidence: new(1.0), Horizon: new(100)})
		case "gittins":
			s.Gamma = new(0.6)
		case "optimistic", "index":
			for _, bound := range []string{"U", "U+", "V"} {
				all = append(all, Spec{Kind: k, Bound: bound, Horizon: new(50)}, Spec{Kind: k, Bound: bound, Gamma: new(0.9), Hold: new(3)})
			}
			if k == "optimistic" {
				all = append(all, Spec{Kind: k, Order: "gamma"})
			}
		case "optimistic-stochastic":
			all = append(all, Spec{Kind: k, Gamma: new(0.9), Horizon: new(50)})
		case "epsilon-greedy", "softmax":
			s.Decay = new(0.1)
		}
		all = append(all, s)
	}
	return all
}

// populationVariants are those that only populations have.
func populationVariants() []Spec {
	all := []Spec{{Kind: "thompson", Draw: "common"}}
	for _, compare := range []string{"pairs", "all-pairs"} {
		for _, bound := range []string{"U", "U+", "V"} {
			all = append(all, Spec{Kind: "optimistic", Compare: compare, Bound: bound})
		}
	}
	for _, compare := range []string{"", "pairs", "all-pairs"} {
		for _, draw := range []string{"", "common"} {
			for _, choice := range []string{"", "program"} {
				all = append(all, Spec{Kind: "optimistic-stochastic", Compare: compare, Draw: draw, Choice: choice})
			}
		}
	}
	return all
}

// eachCombination calls visit with every variant and every belief it works with.
func eachCombination(t *testing.T, task Task, visit func(name string, m *Maker)) {
	t.Helper()
	try := func(s Spec, b BeliefSpec) {
		m, err := NewMaker(s, b, task)
		if err != nil {
			t.Fatalf("%+v with %+v: %v", s, b, err)
		}
		visit(fmt.Sprintf("%s/%s%s%s%s%s%s on %s %s", s.Kind, s.Bound, s.Compare, s.Draw, s.Choice, s.Order, s.Allocation, b.Kind, b.Update), m)
	}
	for _, s := range variants() {
		k := must.Get(kindOf(s.Kind))(t)
		if k.beliefs == nil {
			try(s, BeliefSpec{})
		}
		for _, b := range k.beliefs {
			spec := BeliefSpec{Kind: b}
			if b == "particles" {
				spec.Members = new(10)
			}
			try(s, spec)
		}
	}
	for _, s := range populationVariants() {
		for _, update := range []string{"all", "drawn", "bernoulli", "exponential", "poisson"} {
			try(s, BeliefSpec{Update: update, Members: new(6), Step: new(0.2)})
		}
		try(s, BeliefSpec{Kind: "point", Schedule: "harmonic"})
	}
	try(Spec{Kind: "budgeted", Budget: new(20), Allocation: "lookahead"}, BeliefSpec{Kind: "beta"})
}

// TestEveryCombinationPlays runs everything that New accepts, on one arm, two and
// some, and checks that selections are arms and depend on the generator alone.
func TestEveryCombinationPlays(t *testing.T) {
	for _, arms := range []int{1, 2, 5} {
		eachCombination(t, Task{Arms: arms, Low: 0, High: 1}, func(name string, m *Maker) {
			p, twin := m.New(newRNG(1)), m.New(newRNG(1))
			rng, same := newRNG(2), newRNG(2)
			for step := range 70 {
				arm := p.SelectArm(rng)
				if arm < 0 || arm >= arms {
					t.Fatalf("%s: selected arm %d of %d", name, arm, arms)
				}
				if other := twin.SelectArm(same); other != arm {
					t.Fatalf("%s: the same seed selected arms %d and %d in step %d", name, arm, other, step)
				}
				reward := float64((step / 3) % 2)
				p.Update(arm, reward, rng)
				twin.Update(arm, reward, same)
				if g, ok := p.(Greedier); ok && (g.Greedy() < 0 || g.Greedy() >= arms) {
					t.Fatalf("%s: greedy arm %d of %d", name, g.Greedy(), arms)
				}
			}
		})
	}
}

// plain hides what the policies know of a belief but its methods.
type plain struct{ bandit.Learner }

// TestNewOn: policies play on beliefs that are given to them as on those that they
// make, and on any other.
func TestNewOn(t *testing.T) {
	for _, s := range variants() {
		k := must.Get(kindOf(s.Kind))(t)
		given, others := make([]bandit.Learner, unit.Arms), make([]bandit.Learner, unit.Arms)
		for i := range given {
			given[i] = &bandit.Gaussian{Mu: 0.5, Sigma: 1, Noise: 1}
			others[i] = plain{&bandit.Gaussian{Mu: 0.5, Sigma: 1, Noise: 1}}
		}
		p, err := NewOn(s, given, unit)
		if takes := slices.Contains(k.beliefs, "particles"); takes != (err == nil) {
			t.Errorf("%s: %v", s.Kind, err)
		}
		if err != nil {
			continue
		}
		q := must.Get(NewOn(s, others, unit))(t)
		twin := must.Get(New(s, BeliefSpec{Kind: "gaussian"}, unit, nil))(t)
		rng, same, other := newRNG(2), newRNG(2), newRNG(2)
		for step := range 40 {
			reward := float64((step / 3) % 2)
			arm, want := p.SelectArm(rng), twin.SelectArm(same)
			if arm != want {
				t.Fatalf("%+v: selected arm %d in step %d, want %d", s, arm, step, want)
			}
			p.Update(arm, reward, rng)
			twin.Update(arm, reward, same)
			if arm := q.SelectArm(other); arm < 0 || arm >= unit.Arms {
				t.Fatalf("%+v: selected arm %d", s, arm)
			} else {
				q.Update(arm, reward, other)
			}
		}
	}
	for want, err := range map[string]error{
		"there are 1 beliefs about 5 arms": second(NewOn(Spec{Kind: "greedy"}, []bandit.Learner{&bandit.Beta{A: 1, B: 1}}, unit)),
		"gittins does not work with every": second(NewOn(Spec{Kind: "gittins"}, make([]bandit.Learner, 5), unit)),
		"e3 does not work with every":      second(NewOn(Spec{Kind: "e3"}, make([]bandit.Learner, 5), unit)),
		"policy: kind is \"foo\"":          second(NewOn(Spec{Kind: "foo"}, make([]bandit.Learner, 5), unit)),
		"policy: epsilon is 2":             second(NewOn(Spec{Kind: "epsilon-greedy", Epsilon: new(2.0)}, make([]bandit.Learner, 5), unit)),
		"population, not one of your own":  second(NewOn(Spec{Kind: "thompson", Draw: "common"}, make([]bandit.Learner, 5), unit)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}

func second[A any](_ A, err error) error { return err }

// TestStepsDoNotAllocate: no policy's do.
func TestStepsDoNotAllocate(t *testing.T) {
	eachCombination(t, unit, func(name string, m *Maker) {
		rng := newRNG(3)
		p := m.New(rng)
		step := 0
		play := func() {
			arm := p.SelectArm(rng)
			p.Update(arm, float64(step%2), rng)
			step++
		}
		if _, ok := p.(*gittins); ok {
			// Remembers each index that it has to compute, with all policies of its
			// maker, and allocates for nothing else: another takes the steps first.
			for range 300 {
				play()
			}
			p, step = m.New(rng), 0
		}
		for range 100 {
			play()
		}
		// The average over runs, rounded down, leaves out what the runtime allocates
		// now and then, but not what a policy does in each tenth step.
		run := func() {
			for range 10 {
				play()
			}
		}
		if n := testing.AllocsPerRun(10, run); n > 0 {
			t.Errorf("%s: %v allocations in 10 steps", name, n)
		}
	})
}

func TestUnboundedTasks(t *testing.T) {
	inf := math.Inf(1)
	task := Task{Arms: 4, Low: -inf, High: inf}
	for _, s := range []Spec{
		{Kind: "thompson"}, {Kind: "vpi"}, {Kind: "index"}, {Kind: "knowledge-gradient"}, {Kind: "bayes-ucb"}, {Kind: "ids"},
		{Kind: "optimistic", LowerBound: new(-3.0)}, {Kind: "optimistic-stochastic", LowerBound: new(-3.0)},
	} {
		for _, b := range []BeliefSpec{{Kind: "gaussian"}, {Kind: "normal-gamma"}, {Kind: "particles", Prior: "normal", Members: new(30)}, {Kind: "population", Prior: "normal", SD: new(2.0)}} {
			k, _ := kindOf(s.Kind)
			if !slices.Contains(k.beliefs, b.Kind) {
				continue
			}
			rng := newRNG(4)
			p, err := New(s, b, task, rng)
			if err != nil {
				t.Fatalf("%+v with %+v: %v", s, b, err)
			}
			pulls := make([]int, 4)
			for range 300 {
				arm := p.SelectArm(rng)
				pulls[arm]++
				p.Update(arm, float64(arm)+rng.NormFloat64(), rng)
			}
			explores := s.Kind == "thompson" || s.Kind == "bayes-ucb" || s.Kind == "index"
			if explores && b.Kind != "population" && pulls[3] < 100 {
				t.Errorf("%s on %s: the best arm got %d of 300 pulls: %v", s.Kind, b.Kind, pulls[3], pulls)
			}
		}
	}
}

func TestTaskCheck(t *testing.T) {
	for _, c := range []struct {
		task   Task
		reward float64
		ok     bool
	}{
		{unit, 0, true}, {unit, 1, true}, {unit, 1.5, false}, {unit, math.NaN(), false},
		{Task{Low: math.Inf(-1), High: math.Inf(1)}, -1e9, true},
		{Task{Low: math.Inf(-1), High: math.Inf(1)}, math.Inf(1), false},
		{Task{Low: math.Inf(-1), High: math.Inf(1)}, math.NaN(), false},
	} {
		if err := c.task.Check(c.reward); (err == nil) != c.ok {
			t.Errorf("Check(%v) in [%v, %v]: %v", c.reward, c.task.Low, c.task.High, err)
		}
	}
}

// TestSchemaTagsAgree: the names in the tags are those that the code knows.
func TestSchemaTagsAgree(t *testing.T) {
	known := map[string]bool{}
	for _, spec := range []any{Spec{}, BeliefSpec{}} {
		for f := range reflect.TypeOf(spec).Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			known[name] = true
			if f.Tag.Get("jsonschema_description") == "" {
				t.Errorf("%s has no description", name)
			}
		}
	}
	used := map[string]bool{}
	for _, name := range Kinds() {
		k := must.Get(kindOf(name))(t)
		for field := range strings.FieldsSeq(k.fields) {
			if used[field] = true; !known[field] {
				t.Errorf("%s takes %s, which is no field", name, field)
			}
		}
	}
	for field := range reflect.TypeFor[Spec]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "kind" && !used[name] {
			t.Errorf("no policy takes %s", name)
		}
	}
}
