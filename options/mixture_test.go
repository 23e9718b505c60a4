package options

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

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
		c := newRepeats(actions, longest)
		gain := must.Get(evaluateRepeats(m, &c, 0))(t)[n-1]
		values := must.Get(evaluateRepeats(m, &c, 0.9))(t)
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
			average, v := 0.0, v/(1-0.9)
			for a := range actions {
				average += discounted[place(s, a, 0)] / float64(actions)
			}
			if math.Abs(v-average) > 1e-10*(1+math.Abs(v)) {
				t.Fatalf("V(%d) = %v, want %v", s, v, average)
			}
		}
	})
}
