package voi

import (
	"math/rand/v2"
	"testing"
)

// The work of a run is paid for by its steps, first visits and first tries, but for what was begun last, on
// credit. A large task does not get all the work that a small one gets.
func TestWorkIsPaidFor(t *testing.T) {
	const actions, steps = 3, 3_000
	for _, states := range []int{6, 400} {
		rng := rand.New(rand.NewPCG(41, 1))
		next := make([]int, states*actions*2)
		for k := range next {
			next[k] = rng.IntN(states)
		}
		p := NewPlanner(NewBelief(actions, 0, 1), Sup)
		number := make([]int, states) // by state: the planner's plus 1
		visit := func(s int) int {
			if number[s] == 0 {
				number[s] = p.AddState() + 1
			}
			return number[s] - 1
		}
		s, waited := 0, 0
		at, dear := visit(s), [kinds]int{}
		for k := range steps {
			before := p.credit
			a, _ := p.Action(at, float64(steps-k))
			for kind := range kinds {
				dear[kind] = max(dear[kind], before[kind]+allowance-p.credit[kind]) // of a step
				if least := -granted - dear[kind]; p.credit[kind] < least {
					t.Fatalf("%d states, step %d: the credit of kind %d is %d, less than %d", states, k, kind, p.credit[kind], least)
				}
			}
			if p.due {
				waited++
			}
			i := s*actions + a
			s = next[2*i+rng.IntN(2)]
			y := visit(s)
			p.Learn(at, a, float64(i%7)/6, y)
			at = y
		}
		if small := states == 6; small != (waited == 0) {
			t.Errorf("%d states: %d steps with a model that was out of date", states, waited)
		}
	}
}
