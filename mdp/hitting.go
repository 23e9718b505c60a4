package mdp

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
)

// HittingTimes returns the expected number of steps of the chain from each state
// to the target, 0 from there. States from which the target is missed with
// positive probability have +Inf, and so have those from which it takes longer
// than a float64 holds. For chains of up to 2000 states.
func (c *Chain) HittingTimes(target int) ([]float64, error) {
	n := c.NumStates()
	if target < 0 || target >= n {
		return nil, fmt.Errorf("mdp: target %d is outside 0..%d", target, n-1)
	}
	if n > denseLimit {
		return nil, fmt.Errorf("mdp: hitting times are for up to %d states, not %d", denseLimit, n)
	}
	h := make([]float64, n)
	// States that may miss the target: those that reach one which cannot reach it.
	reach := c.reaching(func(s int) bool { return s == target }, -1)
	miss := c.reaching(func(s int) bool { return !reach[s] }, target)
	place := make([]int, n)
	var states []int
	for s := range n {
		place[s] = -1
		switch {
		case s == target:
		case miss[s]:
			h[s] = math.Inf(1)
		default:
			place[s] = len(states)
			states = append(states, s)
		}
	}
	var red reduction
	red.reset(len(states))
	for i, s := range states {
		next, prob := c.Row(s)
		for k, t := range next {
			if int(t) == target {
				red.leave[i] = prob[k]
			} else {
				red.q[i*red.n+place[t]] = prob[k]
			}
		}
		red.f[0][i] = 1
	}
	red.solve()
	for i, s := range states {
		h[s] = red.f[0][i]
	}
	return h, nil
}

// reaching returns which states reach a good one, good ones included, without
// passing through the barrier (-1: none).
func (c *Chain) reaching(good func(s int) bool, barrier int) []bool {
	n := c.NumStates()
	in := make([]bool, n)
	for s := range n {
		in[s] = good(s)
	}
	for changed := true; changed; {
		changed = false
		for s := range n {
			if in[s] || s == barrier {
				continue
			}
			next, _ := c.Row(s)
			for _, t := range next {
				if in[t] {
					in[s], changed = true, true
					break
				}
			}
		}
	}
	return in
}

// ShortestTimes returns the smallest expected number of steps to the target that
// a policy achieves from each state, and that policy (policy iteration from one
// that can always get nearer; Bertsekas & Tsitsiklis 1991). The target must be
// within reach from every state, else a MissingError. For models of up to 2000
// states.
func ShortestTimes(m Model, target int) ([]float64, Deterministic, error) {
	t := tabular(m)
	if target < 0 || target >= t.states {
		return nil, nil, fmt.Errorf("mdp: target %d is outside 0..%d", target, t.states-1)
	}
	if t.states > denseLimit {
		return nil, nil, fmt.Errorf("mdp: shortest times are for up to %d states, not %d", denseLimit, t.states)
	}
	var red reduction
	return shortest(t, target, &red)
}

func shortest(t *Tabular, target int, red *reduction) ([]float64, Deterministic, error) {
	n := t.states
	policy, far := approach(t, target)
	if len(far) > 0 {
		return nil, nil, &MissingError{"communicating", fmt.Sprintf("%s cannot be reached from %s", showStates([]int{target}), showStates(far))}
	}
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
			return h, policy, nil
		}
	}
}

// approach returns a policy and the states that cannot reach the target. From
// every state the policy steps nearer to the target, counted in transitions,
// with the largest possible probability. Another action may also lead nearer,
// but rarely, as against a current; the likeliest action keeps the policy's
// times from overflowing there.
func approach(t *Tabular, target int) (policy Deterministic, far []int) {
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
	policy = make(Deterministic, t.states)
	for s := range policy {
		if distance[s] < 0 {
			far = append(far, s)
			continue
		}
		best := 0.0
		for a := range t.actions {
			nearer := 0.0
			next, prob := t.Transition(s, a)
			for k, u := range next {
				if distance[u] >= 0 && distance[u] < distance[s] {
					nearer += prob[k]
				}
			}
			if nearer > best {
				best, policy[s] = nearer, a
			}
		}
	}
	return policy, far
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
				h, _, _ := shortest(t, goal, &red) // communicating: no error
				for s, x := range h {
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
