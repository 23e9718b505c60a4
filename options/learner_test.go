package options

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// deterministic draws a process whose actions have certain outcomes.
func deterministic(t *rapid.T) *mdp.Tabular {
	task, err := catalog.Garnet(rapid.IntRange(1, 6).Draw(t, "states"), rapid.IntRange(1, 3).Draw(t, "actions"), 1, rapid.Uint64().Draw(t, "seed"))
	if err != nil {
		t.Fatal(err)
	}
	return task.Model
}

// fewOptions are the primitive options and one that follows a deterministic
// policy until it comes to certain states.
func fewOptions(m mdp.Model, rng *rand.Rand) []Option {
	pi, end := make(mdp.Deterministic, m.NumStates()), make([]float64, m.NumStates())
	for s := range pi {
		pi[s], end[s] = rng.IntN(m.NumActions()), float64(rng.IntN(2))
	}
	return append(primitives(m), Markov{Policy: pi, End: end})
}

// With certain outcomes and step size one, learning is asynchronous value
// iteration: both learners find the planner's values.
func TestLearnersFindTheValuesOfThePlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const gamma = 0.8
		m := deterministic(t)
		rng := newRNG(rapid.Uint64().Draw(t, "rng"))
		options := fewOptions(m, rng)
		models := modelsOf(t, m, gamma, options...)
		plan, err := SolveSMDP(models, PlanConfig{Tolerance: 1e-12})
		if err != nil {
			t.Fatal(err)
		}
		q, err := NewQLearner(options, m.NumStates(), gamma, LearnerOptions{Step: 1})
		if err != nil {
			t.Fatal(err)
		}
		intra, err := NewIntraLearner(options, m.NumStates(), m.NumActions(), gamma, LearnerOptions{Step: 1})
		if err != nil {
			t.Fatal(err)
		}
		learned, err := NewModelLearner(options, m.NumStates(), m.NumActions(), gamma, LearnerOptions{Step: 1})
		if err != nil {
			t.Fatal(err)
		}
		scratch := make([]float64, m.NumActions())
		for range 150 {
			for s := range m.NumStates() {
				for a := range m.NumActions() {
					next, _ := m.Transition(s, a)
					intra.Update(s, a, m.Reward(s, a), int(next[0]), false, 1)
					learned.Update(s, a, m.Reward(s, a), int(next[0]), false, 1)
				}
				for o, option := range options {
					e, x := Start(option, s, gamma), s
					for ended := false; !ended && e.Elapsed < 200; {
						a := e.SelectAction(x, scratch, rng)
						next, _ := m.Transition(x, a)
						ended = e.Step(m.Reward(x, a), int(next[0]), rng)
						x = int(next[0])
					}
					q.Update(s, o, e.Return, e.Elapsed, x, false)
				}
			}
		}
		for s := range m.NumStates() {
			for o, model := range models {
				want := model.Backup(s, plan.Value)
				if a, b := q.Value(s, o), intra.Value(s, o); math.Abs(a-want) > 1e-8 || math.Abs(b-want) > 1e-8 {
					t.Fatalf("Q(%d,%d) = %v after options and %v within, want %v", s, o, a, b, want)
				}
				if got := learned.Model(o); math.Abs(got.Reward[s]-model.Reward[s]) > 1e-8 || got.Initiation[s] != model.Initiation[s] {
					t.Fatalf("r(%d) = %v of option %d, want %v", s, got.Reward[s], o, model.Reward[s])
				}
				for x, p := range learned.Model(o).Transition(s) {
					if math.Abs(p-model.Transition(s)[x]) > 1e-8 {
						t.Fatalf("p(%d,%d) = %v of option %d, want %v", s, x, p, o, model.Transition(s)[x])
					}
				}
			}
			if o, v := intra.Best(s); math.Abs(v-plan.Value[s]) > 1e-8 || intra.Value(s, o) != v {
				t.Fatalf("V(%d) = %v by option %d, want %v", s, v, o, plan.Value[s])
			}
		}
	})
}

// With random outcomes and randomised options the planner's values are where the
// expected update of intra-option learning is zero, whatever the behaviour.
func TestIntraOptionFixedPoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const gamma = 0.8
		m := garnet(t)
		rng := newRNG(rapid.Uint64().Draw(t, "rng"))
		end := make([]float64, m.NumStates())
		for s := range end {
			end[s] = rng.Float64()
		}
		options := append(primitives(m), Markov{Policy: drawPolicy(t, m), End: end})
		models := modelsOf(t, m, gamma, options...)
		plan, err := SolveSMDP(models, PlanConfig{Tolerance: 1e-12})
		if err != nil {
			t.Fatal(err)
		}
		const step = 1e-6 // so small that importance weights are not clipped
		learner, err := NewIntraLearner(options, m.NumStates(), m.NumActions(), gamma, LearnerOptions{Step: step})
		if err != nil {
			t.Fatal(err)
		}
		reset := func() {
			for s := range m.NumStates() {
				for o, model := range models {
					learner.value[s*len(options)+o] = model.Backup(s, plan.Value)
				}
			}
		}
		behaviour := make([]float64, m.NumActions())
		total := 0.0
		for a := range behaviour {
			behaviour[a] = 0.1 + rng.Float64()
			total += behaviour[a]
		}
		for s := range m.NumStates() {
			drift := make([]float64, len(options))
			for a := range m.NumActions() {
				mu := behaviour[a] / total
				next, prob := m.Transition(s, a)
				for i, x := range next {
					reset()
					learner.Update(s, a, m.Reward(s, a), int(x), false, mu)
					for o := range options {
						drift[o] += mu * prob[i] * (learner.Value(s, o) - models[o].Backup(s, plan.Value)) / step
					}
				}
			}
			for o, d := range drift {
				if math.Abs(d) > 1e-7 {
					t.Fatalf("the value of option %d in state %d drifts by %v", o, s, d)
				}
			}
		}
	})
}

// The model of an option is where the expected update of intra-option model learning
// is zero.
func TestModelLearningFixedPoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const gamma, step = 0.8, 1e-6
		m := garnet(t)
		end := make([]float64, m.NumStates())
		rng := newRNG(rapid.Uint64().Draw(t, "rng"))
		for s := range end {
			end[s] = rng.Float64()
		}
		option := Markov{Policy: drawPolicy(t, m), End: end}
		want, err := NewModel(m, option, gamma)
		if err != nil {
			t.Fatal(err)
		}
		learner, err := NewModelLearner([]Option{option}, m.NumStates(), m.NumActions(), gamma, LearnerOptions{Step: step})
		if err != nil {
			t.Fatal(err)
		}
		got, mu := learner.Model(0), 1/float64(m.NumActions())
		for s := range m.NumStates() {
			drift := make([]float64, m.NumStates()+1)
			for a := range m.NumActions() {
				next, prob := m.Transition(s, a)
				for i, x := range next {
					copy(got.Reward, want.Reward)
					got.next.Copy(want.next)
					learner.Update(s, a, m.Reward(s, a), int(x), false, mu)
					for y := range m.NumStates() {
						drift[y] += mu * prob[i] * (got.Transition(s)[y] - want.Transition(s)[y]) / step
					}
					drift[m.NumStates()] += mu * prob[i] * (got.Reward[s] - want.Reward[s]) / step
				}
			}
			for y, d := range drift {
				if math.Abs(d) > 1e-7 {
					t.Fatalf("the model of state %d drifts by %v in place %d", s, d, y)
				}
			}
		}
	})
}

// The end of an episode ends every option.
func TestModelLearningOfTheEnd(t *testing.T) {
	l, err := NewModelLearner([]Option{Markov{Policy: mdp.Uniform{}}}, 2, 1, 0.5, LearnerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l.Update(0, 0, 3, 1, true, 1)
	if m := l.Model(0); m.Reward[0] != 3 || m.Transition(0)[1] != 0.5 || m.Transition(0)[0] != 0 {
		t.Errorf("reward %v and successors %v", m.Reward[0], m.Transition(0))
	}
}

// From 200,000 random steps of a process with random outcomes, all options' values
// are learned within options to 3 % of their range (fixed seed).
func TestIntraOptionLearningConverges(t *testing.T) {
	const gamma = 0.8
	task, err := catalog.Garnet(4, 2, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	m, rng := task.Model, newRNG(5)
	options := fewOptions(m, rng)
	models := modelsOf(t, m, gamma, options...)
	plan, err := SolveSMDP(models, PlanConfig{})
	if err != nil {
		t.Fatal(err)
	}
	learner, err := NewIntraLearner(options, 4, 2, gamma, LearnerOptions{Step: 0.005})
	if err != nil {
		t.Fatal(err)
	}
	s := 0
	for range 200_000 {
		a := rng.IntN(2)
		next, r := m.Step(s, a, rng)
		learner.Update(s, a, r, next, false, 1)
		s = next
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range plan.Value {
		low, high = min(low, v), max(high, v)
	}
	for s := range 4 {
		for o, model := range models {
			if got, want := learner.Value(s, o), model.Backup(s, plan.Value); math.Abs(got-want) > 0.03*(high-low) {
				t.Errorf("Q(%d,%d) = %v, want %v", s, o, got, want)
			}
		}
	}
}

// With its default step the learner averages, and nothing follows a terminated
// episode.
func TestAveragingAndTermination(t *testing.T) {
	q, err := NewQLearner([]Option{Primitive(0), Primitive(1)}, 2, 0.5, LearnerOptions{Initial: 8})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []float64{1, 2, 6} {
		q.Update(0, 1, r, 3, 1, true)
	}
	if got := q.Value(0, 1); math.Abs(got-3) > 1e-15 {
		t.Errorf("the mean of 1, 2 and 6 is %v", got)
	}
	q.Update(0, 0, 1, 2, 1, false) // 1 + 0.5²·8
	if got := q.Value(0, 0); got != 3 {
		t.Errorf("value %v of a truncated option, want 3", got)
	}
	if o, v := q.Best(0); o != 0 || v != 3 {
		t.Errorf("best is option %d with %v; of equal ones it is the first", o, v)
	}
	elsewhere := Markov{Initiation: []bool{false, true}, Policy: mdp.Constant(2, 0)}
	if q, err = NewQLearner([]Option{elsewhere, Primitive(0)}, 2, 0.5, LearnerOptions{}); err != nil {
		t.Fatal(err)
	}
	q.Update(0, 0, 9, 1, 1, true)
	if o, v := q.Best(0); o != 1 || v != 0 {
		t.Errorf("best is option %d with %v, which does not initiate", o, v)
	}
	intra, err := NewIntraLearner([]Option{Primitive(0)}, 1, 1, 0.5, LearnerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	intra.Update(0, 0, 7, 0, true, 0.5) // twice as likely as it was taken
	intra.Update(0, 0, 1, 0, true, 1)
	if got := intra.Value(0, 0); math.Abs(got-5) > 1e-15 {
		t.Errorf("the mean of 7, counted twice, and 1 is %v", got)
	}
	if intra, err = NewIntraLearner([]Option{Primitive(0)}, 1, 1, 0.5, LearnerOptions{}); err != nil {
		t.Fatal(err)
	}
	intra.Update(0, 0, 7, 0, true, 1)
	if got := intra.Value(0, 0); got != 7 {
		t.Errorf("value %v at the end of an episode, want 7", got)
	}
}

func TestLearnersRefuse(t *testing.T) {
	good := []Option{Primitive(0)}
	for want, c := range map[string]struct {
		options []Option
		states  int
		gamma   float64
		o       LearnerOptions
	}{
		"0 options":                  {nil, 1, 0.5, LearnerOptions{}},
		"in 0 states":                {good, 0, 0.5, LearnerOptions{}},
		"discount 2":                 {good, 1, 2, LearnerOptions{}},
		"step size 2":                {good, 1, 0.5, LearnerOptions{Step: 2}},
		"initial value NaN":          {good, 1, 0.5, LearnerOptions{Initial: math.NaN()}},
		"no option initiates in sta": {[]Option{Markov{Initiation: []bool{false}}}, 1, 0.5, LearnerOptions{}},
	} {
		if _, err := NewQLearner(c.options, c.states, c.gamma, c.o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if _, err := NewIntraLearner([]Option{Hold(mdp.Uniform{}, 3)}, 2, 2, 0.5, LearnerOptions{}); err == nil {
		t.Error("a semi-Markov option was taken for intra-option learning")
	}
	if _, err := NewModelLearner([]Option{Hold(mdp.Uniform{}, 3)}, 2, 2, 0.5, LearnerOptions{}); err == nil {
		t.Error("a semi-Markov option was taken for model learning")
	}
	if _, err := NewModelLearner([]Option{Primitive(0)}, 2, 2, 1, LearnerOptions{}); err == nil {
		t.Error("models were learned without discount")
	}
}
