package options

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// modelsOf returns the models of options.
func modelsOf(t interface{ Fatal(...any) }, m mdp.Model, gamma float64, options ...Option) []*Model {
	models := make([]*Model, len(options))
	for i, o := range options {
		var err error
		if models[i], err = NewModel(m, o, gamma); err != nil {
			t.Fatal(err)
		}
	}
	return models
}

func primitives(m mdp.Model) []Option {
	options := make([]Option, m.NumActions())
	for a := range options {
		options[a] = Primitive(a)
	}
	return options
}

// With the primitive options, planning is value iteration. Other options change
// nothing, since they consist of primitive ones. Without them it finds no more.
func TestPlanningWithPrimitives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := garnet(t)
		gamma := rapid.SampledFrom([]float64{0, 0.5, 0.95}).Draw(t, "γ")
		want := must.Get(mdp.SolveDiscounted(m, gamma, mdp.Options{}))(t)
		options := []Option{drawOption(t, m, 0), drawOption(t, m, 0)}
		for _, with := range []bool{true, false} {
			if with {
				options = append(options, primitives(m)...)
			} else {
				options = options[:2]
			}
			models := modelsOf(t, m, gamma, options...)
			sol := must.Get(SolveSMDP(models, PlanConfig{}))(t)
			for s, v := range sol.Value {
				slack := sol.Bound + want.Bound + 1e-10
				if v > want.Value[s]+slack || with && v < want.Value[s]-slack {
					t.Fatalf("with primitives %v: V(%d) = %v, V* = %v", with, s, v, want.Value[s])
				}
				if q := models[sol.Option[s]].Backup(s, sol.Value); math.Abs(q-v) > 2*sol.Bound+1e-12 {
					t.Fatalf("option %d in state %d is worth %v, not %v", sol.Option[s], s, q, v)
				}
			}
		}
	})
}

// Longer options need fewer sweeps, and options are taken only where they
// initiate.
func TestPlanningWithInitiationSets(t *testing.T) {
	m := twoStates(t)
	here := Markov{Initiation: []bool{true, false}, Policy: mdp.Constant(2, 1), End: []float64{0, 1}} // move until in 1
	stay := Markov{Initiation: []bool{false, true}, Policy: mdp.Constant(2, 0), End: []float64{1, 1}}
	long := Timeout{Markov{Policy: mdp.Constant(2, 0)}, 50}
	sol := must.Get(SolveSMDP(modelsOf(t, m, 0.9, here, stay), PlanConfig{}))(t)
	// V(1) = 1/(1−γ); V(0) = −1/4 + γ(0.8V(1) + 0.2V(0)).
	want := []float64{(-0.25 + 0.9*0.8*10) / (1 - 0.9*0.2), 10}
	for s := range want {
		if math.Abs(sol.Value[s]-want[s]) > 1e-8 {
			t.Errorf("V(%d) = %v, want %v", s, sol.Value[s], want[s])
		}
	}
	if !slices.Equal(sol.Option, []int{0, 1}) {
		t.Errorf("options %v", sol.Option)
	}
	fast := must.Get(SolveSMDP(modelsOf(t, m, 0.9, here, stay, long), PlanConfig{}))(t)
	if fast.Sweeps >= sol.Sweeps {
		t.Errorf("%d sweeps with a long option, %d without", fast.Sweeps, sol.Sweeps)
	}
	again, err := SolveSMDP(modelsOf(t, m, 0.9, here, stay), PlanConfig{Value: sol.Value})
	if err != nil || again.Sweeps >= sol.Sweeps {
		t.Errorf("%d sweeps from the solution, %d from zero: %v", again.Sweeps, sol.Sweeps, err)
	}
	if _, err := SolveSMDP(modelsOf(t, m, 0.9, here, stay), PlanConfig{MaxSweeps: 2}); !errors.Is(err, mdp.ErrNotConverged) {
		t.Errorf("error %v after two sweeps", err)
	}
}

// An option is not taken where it does not initiate, however good it would be.
func TestPlanningKeepsToInitiationSets(t *testing.T) {
	m := twoStates(t)
	stay := Markov{Initiation: []bool{true, false}, Policy: mdp.Constant(2, 0), End: []float64{1, 1}}
	sol := must.Get(SolveSMDP(modelsOf(t, m, 0.9, stay, Primitive(1)), PlanConfig{}))(t)
	// In state 1 one can only move, which earns nothing; in state 0 only staying is free.
	if math.Abs(sol.Value[0])+math.Abs(sol.Value[1]) > 1e-8 || !slices.Equal(sol.Option, []int{0, 1}) {
		t.Errorf("%+v", sol)
	}
}

func TestPlanningRefuses(t *testing.T) {
	m := twoStates(t)
	here := Markov{Initiation: []bool{true, false}, Policy: mdp.Constant(2, 1), End: []float64{1, 1}}
	for want, models := range map[string][]*Model{
		"no options":                      nil,
		"no option initiates in state 1":  modelsOf(t, m, 0.9, here),
		"discount below one":              modelsOf(t, m, 1, Primitive(0)),
		"has 2 states and discount 0.5, ": append(modelsOf(t, m, 0.9, Primitive(0)), modelsOf(t, m, 0.5, Primitive(0))...),
	} {
		if _, err := SolveSMDP(models, PlanConfig{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	both := modelsOf(t, m, 1, Primitive(0), here)
	for want, c := range map[string]struct {
		models  []*Model
		weights []float64
	}{
		"1 weights for 2 options":     {both, []float64{1}},
		"weight 1 is -1":              {both, []float64{1, -1}},
		"weights sum to 0":            {both, []float64{0, 0}},
		"option 1 does not initiate":  {both, []float64{1, 1}},
		"needs models without discou": {modelsOf(t, m, 0.9, Primitive(0)), []float64{1}},
	} {
		if _, err := gain(c.models, c.weights); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if _, err := evaluate(modelsOf(t, m, 1, Primitive(0)), []float64{1}); err == nil {
		t.Error("a value without discount was found")
	}
	if _, err := SolveSMDP(modelsOf(t, m, 0.9, Primitive(0)), PlanConfig{Value: []float64{1}}); err == nil {
		t.Error("a start of the wrong size was taken")
	}
}

// Choosing among repeated actions has the gain and the value of the process whose
// states also say which action is being repeated, and for how long it has been.
func TestRepeatsAgreeWithTheLargerProcess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := garnet(t)
		// Leak a little to every state, so that there is a single class.
		n, actions := small.NumStates(), small.NumActions()
		m := must.Get(mdp.Generate(mdp.Definition{States: n, Actions: actions}, func(s, a int, row *mdp.Row) {
			next, prob := small.Transition(s, a)
			for i, x := range next {
				row.Add(int(x), 0.9*prob[i])
			}
			for x := range n {
				row.Add(x, 0.1/float64(n))
			}
			row.Reward(small.Reward(s, a))
		}))(t)
		longest := rapid.IntRange(1, 4).Draw(t, "longest")
		c := must.Get(newRepeats(actions, 1.3, longest, 1))(t)
		weights := slices.Repeat([]float64{1}, actions)
		gain := must.Get(gain(modelsOf(t, m, 1, c.Repeats()...), weights))(t)
		values := must.Get(evaluate(modelsOf(t, m, 0.9, c.Repeats()...), weights))(t)
		place := func(s, a, elapsed int) int { return (s*actions+a)*longest + elapsed }
		large := must.Get(mdp.Generate(mdp.Definition{States: n * actions * longest, Actions: 1}, func(i, _ int, row *mdp.Row) {
			s, a, elapsed := i/longest/actions, i/longest%actions, i%longest
			row.Reward(m.Reward(s, a))
			end := c.Repeats()[a].Termination(0, elapsed+1)
			next, prob := m.Transition(s, a)
			for i, x := range next {
				for b := range actions {
					row.Add(place(int(x), b, 0), prob[i]*end/float64(actions))
				}
				if end < 1 {
					row.Add(place(int(x), a, elapsed+1), prob[i]*(1-end))
				}
			}
		}))(t)
		chain := must.Get(mdp.Induce(large, mdp.Constant(large.NumStates(), 0)))(t)
		want, _ := must.Get2(chain.EvaluateAverage())(t)
		if math.Abs(gain-want[0]) > 1e-10*(1+math.Abs(gain)) {
			t.Fatalf("gain %v, want %v", gain, want[0])
		}
		discounted := must.Get(chain.EvaluateDiscounted(0.9))(t)
		for s, v := range values {
			average := 0.0
			for a := range actions {
				average += discounted[place(s, a, 0)] / float64(actions)
			}
			if math.Abs(v-average) > 1e-10*(1+math.Abs(v)) {
				t.Fatalf("V(%d) = %v, want %v", s, v, average)
			}
		}
	})
}
