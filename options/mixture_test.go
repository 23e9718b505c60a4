package options

import (
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

// What is no choice among options has no gain and no value.
func TestMixtureRefuses(t *testing.T) {
	m := twoStates(t)
	here := Markov{Initiation: []bool{true, false}, Policy: mdp.Constant(2, 1), End: []float64{1, 1}}
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
