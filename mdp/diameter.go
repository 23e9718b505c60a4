package mdp

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// shortest returns the smallest expected number of steps to the target that a policy
// achieves from each state (policy iteration from a policy that can always get nearer;
// Bertsekas & Tsitsiklis 1991). The target must be within reach from every state.
func shortest(t *Tabular, target int, red *reduction) []float64 {
	n := t.states
	policy := approach(t, target)
	h := make([]float64, n)
	for improvements := 1; ; improvements++ {
		red.reset(n)
		for s := range n {
			if s == target {
				red.leave[s] = 1 // value 0
				continue
			}
			next, prob := t.Transition(s, policy[s])
			for k, u := range next {
				red.q[s*n+int(u)] = prob[k]
			}
			red.f[0][s] = 1
		}
		red.solve()
		copy(h, red.f[0])
		slack := patience(improvements) * 1e-12 * maxAbs(h)
		changed := false
		for s := range n {
			if s == target {
				continue
			}
			best := 1 + expectation(t, s, policy[s], h) - slack
			for a := range t.actions {
				if x := 1 + expectation(t, s, a, h); x < best {
					best, policy[s], changed = x, a, true
				}
			}
		}
		if !changed {
			return h
		}
	}
}

// approach returns a policy that steps nearer to the target from every state, counted in
// transitions, with the largest possible probability. Another action may also lead nearer,
// but rarely, as against a current; the likeliest action keeps the policy's times from
// overflowing there.
func approach(t *Tabular, target int) Deterministic {
	back := t.predecessors()
	distance := make([]int, t.states)
	for s := range distance {
		distance[s] = -1
	}
	distance[target] = 0
	for queue := []int{target}; len(queue) > 0; queue = queue[1:] {
		from, _ := back.Row(queue[0])
		for _, s := range from {
			if distance[s] < 0 {
				distance[s] = distance[queue[0]] + 1
				queue = append(queue, int(s))
			}
		}
	}
	policy := make(Deterministic, t.states)
	for s := range policy {
		best := 0.0
		for a := range t.actions {
			nearer := 0.0
			next, prob := t.Transition(s, a)
			for k, u := range next {
				if distance[u] < distance[s] {
					nearer += prob[k]
				}
			}
			if nearer > best {
				best, policy[s] = nearer, a
			}
		}
	}
	return policy
}

// Diameter returns the largest distance between two states and a pair of states that have
// it. The distance from one state to another is the smallest expected number of steps
// (Jaksch, Ortner & Auer 2010, Definition 1). The model must be communicating, else a
// MissingError. For models of up to 2000 states; targets are shared between processors.
func Diameter(m Model) (diameter float64, from, to int, err error) {
	t := tabular(m)
	n := t.states
	if n > denseLimit {
		return 0, 0, 0, fmt.Errorf("mdp: the diameter is for up to %d states, not %d", denseLimit, n)
	}
	if err := ModelStructure(t).RequireCommunicating(); err != nil {
		return 0, 0, 0, err
	}
	worst, farthest := make([]float64, n), make([]int, n)
	var target atomic.Int64
	var wg sync.WaitGroup
	for range min(n, 8) {
		wg.Go(func() {
			var red reduction
			for {
				goal := int(target.Add(1)) - 1
				if goal >= n {
					return
				}
				for s, x := range shortest(t, goal, &red) {
					if x > worst[goal] {
						worst[goal], farthest[goal] = x, s
					}
				}
			}
		})
	}
	wg.Wait()
	for goal, x := range worst {
		if x > diameter {
			diameter, from, to = x, farthest[goal], goal
		}
	}
	return diameter, from, to, nil
}
