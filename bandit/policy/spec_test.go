package policy

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/internal/tags"
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
		{nil, nil, unit, "policy: none is given"},
		{(*Greedy)(nil), nil, unit, "policy: none is given"},
		{Greedy{}, nil, Task{Arms: 0, High: 1}, "arms is 0, must be between 1 and"},
		{Greedy{}, nil, Task{Arms: 1, Low: 1, High: 0}, "range of rewards [1, 0] is empty"},
		{Greedy{}, nil, Task{Arms: 1, Low: math.NaN(), High: 0}, "is empty"},
		{EpsilonGreedy{Epsilon: new(1.5)}, nil, unit, "policy: epsilon is 1.5, must be in [0,1]"},
		{EpsilonGreedy{Epsilon: new(math.NaN())}, nil, unit, "epsilon is NaN"},
		{EpsilonGreedy{Decay: new(-1.0)}, nil, unit, "decay is -1, must be at least 0"},
		{Softmax{Temperature: new(0.0)}, nil, unit, "temperature is 0, must be more than 0"},
		{Softmax{Temperature: new(inf)}, nil, unit, "temperature is +Inf"},
		{OptimisticStochastic{Horizon: Horizon{Gamma: new(1.0)}}, nil, unit, "policy: gamma is 1, must be in [0,1) as the horizon is infinite; for an undiscounted problem give horizon, the number of pulls"},
		{Index{Horizon: Horizon{Gamma: new(-0.1)}}, nil, unit, "gamma is -0.1, must be in [0,1]"},
		{Index{Horizon: Horizon{Gamma: new(1.1), Pulls: new(10)}}, nil, unit, "gamma is 1.1, must be in [0,1]"},
		{Optimistic{Horizon: Horizon{Pulls: new(0)}}, nil, unit, "horizon is 0, must be in [1,"},
		{Optimistic{Hold: new(0)}, nil, unit, "hold is 0, must be in [1,"},
		{Optimistic{Bound: "W"}, nil, unit, `bound is "W", must be U, U+ or V`},
		{Optimistic{Bound: "V", LowerBound: new(0.0)}, nil, unit, "policy: lower_bound has no effect with bound V: leave it out, or give it with bound U"},
		{Index{LowerBound: new(0.0)}, nil, unit, "policy: lower_bound has no effect with bound V: leave it out, or give it with bound U"},
		{Optimistic{Order: "phi"}, nil, unit, `order is "phi", must be advantage or gamma`},
		{Optimistic{Order: "gamma", Compare: "pairs"}, nil, unit, "order has no effect with compare pairs: leave it out, or give it with bound U and compare mean"},
		{Optimistic{Compare: "pair"}, nil, unit, `compare is "pair", must be mean, pairs or all-pairs`},
		{OptimisticStochastic{Compare: "pairs"}, BetaBelief{}, unit, "compare: pairs needs a belief of kind population, not beta"},
		{OptimisticStochastic{Choice: "program"}, BetaBelief{}, unit, "choice: program needs a belief of kind population"},
		{Thompson{Draw: "common"}, GaussianBelief{}, unit, "draw: common needs a belief of kind population"},
		{OptimisticStochastic{}, nil, unbounded, "lower_bound must be given, as the rewards of this task have none"},
		{OptimisticStochastic{LowerBound: new(1.1)}, nil, unit, "policy: lower_bound is 1.1, and no reward is above 1"},
		{OptimisticStochastic{LowerBound: new(-inf)}, nil, unbounded, "lower_bound is -Inf, must be finite"},
		{UCB1{}, nil, unbounded, "policy: ucb1 needs rewards in a bounded range, not in [-Inf, +Inf]"},
		{KLUCB{}, nil, Task{Arms: 2, Low: 1, High: 1}, "kl-ucb needs rewards in a bounded range"},
		{UCB1{Confidence: new(-1.0)}, nil, unit, "confidence is -1"},
		{BayesUCB{Confidence: new(5.0)}, nil, unit, "horizon must be given if confidence is not 0"},
		{BayesUCB{Horizon: new(5)}, nil, unit, "horizon has no effect with confidence 0: leave it out, or give it with a confidence other than 0"},
		{Gittins{}, PopulationBelief{}, unit, "belief: policy gittins works with beta, not with population"},
		{Gittins{Gamma: new(1.0)}, nil, unit, "gamma is 1, must be in [0,1)"},
		{Gittins{}, nil, unbounded, "belief: kind beta needs rewards in [0,1], not in [-Inf, +Inf]"},
		{KnowledgeGradient{}, PopulationBelief{}, unit, "works with beta, gaussian, normal-gamma, not with population"},
		{IDS{Samples: new(1)}, BetaBelief{}, unit, "samples is 1, must be in [2,"},
		{IDS{Samples: new(10)}, nil, unit, "samples has no effect with a belief of kind population"},
		{MedianElimination{Failure: new(1.0)}, nil, unit, "failure is 1, must be in (0,1)"},
		{SuccessiveElimination{Accuracy: new(0.0)}, nil, unit, "accuracy is 0, must be more than 0"},
		{E3Overflow{}, nil, unbounded, "e3-overflow needs a largest reward to be optimistic about"},
		{E3{}, BetaBelief{}, unit, "belief: policy e3 keeps no beliefs: leave it out"},
		{Budgeted{}, nil, unit, "budget must be given"},
		{Budgeted{Budget: new(0)}, nil, unit, "budget is 0, must be in [1,"},
		{Budgeted{Budget: new(9), Cost: new(0.1)}, nil, unit, "cost has no effect with allocation round-robin: leave it out, or choose lookahead or vpi"},
		{Budgeted{Budget: new(9), Allocation: "lookahead"}, nil, unit, "allocation lookahead needs a belief of kind beta, not population"},
		{Budgeted{Budget: new(9), Allocation: "biased-robin"}, nil, unbounded, "allocation biased-robin needs rewards in a bounded range"},
		{BackwardInduction{}, nil, unit, "horizon must be given"},
		{BackwardInduction{Horizon: Horizon{Pulls: new(1000)}}, nil, unit, "policy: a plan of 1000 pulls of 5 arms takes"},

		{Thompson{}, PointBelief{}, unit, "policy thompson works with population, beta, gaussian, normal-gamma, gamma-poisson, forgetting, not with point"},
		{BayesUCB{}, PopulationBelief{Members: new(1)}, unit, "members is 1, must be at least 2: without a spread policy bayes-ucb is greedy"},
		{Index{Horizon: Horizon{Pulls: new(1)}}, BetaBelief{}, unit, "policy: exploring never pays, as no reward after it counts"},
		{Optimistic{Horizon: Horizon{Gamma: new(0.0)}, Bound: "V"}, nil, unit, "policy: exploring never pays, as no reward after it counts"},
		{Optimistic{Horizon: Horizon{Pulls: new(3)}, Bound: "U+", Hold: new(3)}, nil, unit, "policy: exploring never pays, as no reward after it counts"},
		{KnowledgeGradient{Horizon{Gamma: new(0.0)}}, nil, unit, "policy: exploring never pays, as no reward after it counts"},
		{Thompson{}, PopulationBelief{Members: new(0)}, unit, "belief: members is 0, must be in [1,"},
		{Thompson{}, PopulationBelief{Members: new(1_000_000)}, Task{Arms: 3000, High: 1}, "members is 1000000, too many for 3000 arms"},
		{Thompson{}, PopulationBelief{Steps: Steps{Step: new(0.0)}}, unit, "step is 0, must be in (0,1]"},
		{Thompson{}, PopulationBelief{Steps: Steps{Step: new(1.5)}}, unit, "step is 1.5"},
		{Thompson{}, PopulationBelief{Mask: new(0.5)}, unit, "belief: mask has no effect with update all: leave it out, or give it with update bernoulli"},
		{Thompson{}, PopulationBelief{Update: "bernoulli", Mask: new(0.0)}, unit, "mask is 0"},
		{Thompson{}, PopulationBelief{Update: "some"}, unit, `update is "some", must be all, drawn, bernoulli, exponential, poisson or independent`},
		{Thompson{}, PopulationBelief{Steps: Steps{Schedule: "linear"}}, unit, `schedule is "linear", must be constant or harmonic`},
		{Thompson{}, PopulationBelief{Steps: Steps{Step: new(0.1), Schedule: "harmonic"}}, unit, "step has no effect with schedule harmonic: leave it out, or give it with schedule constant"},
		{Thompson{}, PopulationBelief{Steps: Steps{Weight: new(2.0)}}, unit, "prior_weight has no effect with schedule constant"},
		{Thompson{}, PopulationBelief{Steps: Steps{Schedule: "harmonic", Weight: new(-2.0)}}, unit, "prior_weight is -2"},
		{Thompson{}, PopulationBelief{Prior: Prior{Distribution: "gamma"}}, unit, `prior is "gamma", must be uniform, beta or normal`},
		{Thompson{}, PopulationBelief{Prior: Prior{Low: new(1.0), High: new(0.0)}}, unit, "low is 1, above high, 0"},
		{Thompson{}, PopulationBelief{Prior: Prior{A: new(1.0)}}, unit, "a has no effect with prior uniform: leave it out, or give it with prior beta"},
		{Thompson{}, PopulationBelief{Prior: Prior{Distribution: "beta", A: new(-1.0)}}, unit, "a is -1, must be more than 0"},
		{Thompson{}, BetaBelief{B: new(0.0)}, unit, "b is 0, must be more than 0"},
		{Thompson{}, GaussianBelief{SD: new(0.0)}, unit, "sd is 0, must be more than 0"},
		{Thompson{}, NormalGammaBelief{Alpha: new(0.5)}, unit, "alpha is 0.5, must be more than 0.5"},
	} {
		p, err := New(c.spec, c.belief, c.task, newRNG(1))
		if err == nil {
			t.Errorf("%+v with %+v made a %T, want an error that says %q", c.spec, c.belief, p, c.want)
		} else if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%T with %+v: error %q does not say %q", c.spec, c.belief, err, c.want)
		}
	}
}

// variants are specifications of every kind, with what its options change.
func variants() (all []Spec) {
	for _, k := range Kinds() {
		switch k.Spec.(type) {
		case Budgeted:
			for _, a := range []string{"", "biased-robin", "vpi"} {
				all = append(all, Budgeted{Budget: new(40), Allocation: a})
			}
		case BackwardInduction:
			all = append(all, BackwardInduction{Horizon{Pulls: new(8)}})
		case BayesUCB:
			all = append(all, BayesUCB{Confidence: new(1.0), Horizon: new(100)}, BayesUCB{})
		case Gittins:
			all = append(all, Gittins{Gamma: new(0.6)})
		case Optimistic, Index:
			far, near := Horizon{Pulls: new(50)}, Horizon{Gamma: new(0.9)}
			for _, bound := range []string{"U", "U+", "V"} {
				all = append(all, Optimistic{Bound: bound, Horizon: far}, Optimistic{Bound: bound, Horizon: near, Hold: new(3)},
					Index{Bound: bound, Horizon: far}, Index{Bound: bound, Horizon: near, Hold: new(3)})
			}
			all = append(all, Optimistic{Order: "gamma"}, k.Spec)
		case OptimisticStochastic:
			all = append(all, OptimisticStochastic{Horizon: Horizon{Gamma: new(0.9), Pulls: new(50)}}, k.Spec)
		case EpsilonGreedy:
			all = append(all, EpsilonGreedy{Decay: new(0.1)})
		case Softmax:
			all = append(all, Softmax{Decay: new(0.1)})
		default:
			all = append(all, k.Spec)
		}
	}
	return all
}

// populationVariants are those that only populations have.
func populationVariants() []Spec {
	all := []Spec{Thompson{Draw: "common"}}
	for _, compare := range []string{"pairs", "all-pairs"} {
		for _, bound := range []string{"U", "U+", "V"} {
			all = append(all, Optimistic{Compare: compare, Bound: bound})
		}
	}
	for _, compare := range []string{"", "pairs", "all-pairs"} {
		for _, draw := range []string{"", "common"} {
			for _, choice := range []string{"", "program"} {
				all = append(all, OptimisticStochastic{Compare: compare, Draw: draw, Choice: choice})
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
		visit(fmt.Sprintf("%T%s on %T%s", s, must.Get(json.Marshal(s))(t), b, must.Get(json.Marshal(b))(t)), m)
	}
	for _, s := range variants() {
		k := must.Get(kindOf(s))(t)
		if k.Beliefs == nil {
			try(s, nil)
		}
		for _, b := range BeliefKinds() {
			if slices.Contains(k.Beliefs, b.Name) {
				try(s, b.Spec)
			}
		}
	}
	for _, s := range populationVariants() {
		for _, update := range []string{"all", "drawn", "bernoulli", "exponential", "poisson"} {
			try(s, PopulationBelief{Update: update, Members: new(6), Steps: Steps{Step: new(0.2)}})
		}
	}
	try(Budgeted{Budget: new(20), Allocation: "lookahead"}, BetaBelief{})
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
		k := must.Get(kindOf(s))(t)
		given, others := make([]bandit.Learner, unit.Arms), make([]bandit.Learner, unit.Arms)
		for i := range given {
			given[i] = &bandit.Gaussian{Mu: 0.5, Sigma: 1, Noise: 1}
			others[i] = plain{&bandit.Gaussian{Mu: 0.5, Sigma: 1, Noise: 1}}
		}
		p, err := NewOn(s, given, unit)
		if takes := slices.Contains(k.Beliefs, "gamma-poisson"); takes != (err == nil) {
			t.Errorf("%s: %v", k.Name, err)
		}
		if err != nil {
			continue
		}
		q := must.Get(NewOn(s, others, unit))(t)
		twin := must.Get(New(s, GaussianBelief{}, unit, nil))(t)
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
		"there are 1 beliefs about 5 arms": second(NewOn(Greedy{}, []bandit.Learner{&bandit.Beta{A: 1, B: 1}}, unit)),
		"gittins does not work with every": second(NewOn(Gittins{}, make([]bandit.Learner, 5), unit)),
		"e3 does not work with every":      second(NewOn(E3{}, make([]bandit.Learner, 5), unit)),
		"policy: epsilon is 2":             second(NewOn(EpsilonGreedy{Epsilon: new(2.0)}, make([]bandit.Learner, 5), unit)),
		"population, not one of your own":  second(NewOn(Thompson{Draw: "common"}, make([]bandit.Learner, 5), unit)),
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
		Thompson{}, VPI{}, Index{}, KnowledgeGradient{}, BayesUCB{}, IDS{},
		Optimistic{LowerBound: new(-3.0)}, OptimisticStochastic{LowerBound: new(-3.0)},
	} {
		for _, b := range []BeliefSpec{GaussianBelief{}, NormalGammaBelief{}, PopulationBelief{Prior: Prior{Distribution: "normal", SD: new(2.0)}}} {
			k := must.Get(kindOf(s))(t)
			if !slices.Contains(k.Beliefs, nameOf(b)) {
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
			explores := slices.Contains([]string{"thompson", "bayes-ucb", "index"}, k.Name)
			if explores && nameOf(b) != "population" && pulls[3] < 100 {
				t.Errorf("%s on %s: the best arm got %d of 300 pulls: %v", k.Name, nameOf(b), pulls[3], pulls)
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

// TestParametersAreDescribed: each has a name, a description, and a default that can be read.
func TestParametersAreDescribed(t *testing.T) {
	specs := map[string]any{}
	for _, k := range Kinds() {
		specs[k.Name] = k.Spec
	}
	for _, k := range BeliefKinds() {
		specs[k.Name] = k.Spec
	}
	for name, spec := range specs {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(spec)) {
			if !f.Anonymous && (f.Tag.Get("json") == "" || f.Tag.Get("jsonschema_description") == "") {
				t.Errorf("%s: %s has no name or no description", name, f.Name)
			}
		}
		must.Get(tags.Complete(spec))(t)
	}
}
