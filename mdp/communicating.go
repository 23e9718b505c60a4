package mdp

import (
	"fmt"
	"slices"

	"github.com/rlrun/rlrun/internal/each"
)

// Communication is how the states of a model are connected when the actions may
// be chosen (Puterman 1994, §8.3).
type Communication struct {
	// Classes are the classes of states that reach each other under some policy,
	// ordered by first state.
	Classes [][]int
	// Closed are the indices in Classes of those that no action leaves.
	Closed []int
	// EndComponents are the largest sets of states that some policy connects and never
	// leaves. States in none are transient under every policy.
	EndComponents [][]int
	avoidable     func(state int) []int
	states        int
}

// ModelStructure analyses how the states of m are connected.
func ModelStructure(m Model) *Communication {
	n, actions := m.NumStates(), m.NumActions()
	union := &Chain{start: make([]int, 1, n+1), reward: make([]float64, n)}
	row := newScatter(n)
	for s := range n {
		for a := range actions {
			next, _ := m.Transition(s, a)
			for _, t := range next {
				row.add(t, 1)
			}
		}
		union.next, union.prob = row.drain(union.next, union.prob)
		union.start = append(union.start, len(union.next))
	}
	st := union.Structure()
	c := &Communication{Classes: st.Classes, Closed: st.Closed, states: n}
	c.EndComponents = endComponents(m)
	c.avoidable = func(state int) []int { return avoiding(m, func(s int) bool { return s == state }) }
	return c
}

// endComponents finds the maximal end components (de Alfaro 1997): split into
// strongly connected components, drop actions that leave theirs and states
// without actions, and repeat until nothing changes.
func endComponents(m Model) [][]int {
	n, actions := m.NumStates(), m.NumActions()
	allowed := make([]bool, n*actions)
	for i := range allowed {
		allowed[i] = true
	}
	component := make([]int, n)
	successors := func(s int) (out []int32) {
		for a := range actions {
			if allowed[s*actions+a] {
				next, _ := m.Transition(s, a)
				if out == nil {
					out = next
				} else {
					out = append(slices.Clip(out), next...)
				}
			}
		}
		return out
	}
	var t tarjan
	for changed := true; changed; {
		changed = false
		t.components(component, successors)
		for s := range n {
			for a := range actions {
				if !allowed[s*actions+a] {
					continue
				}
				next, _ := m.Transition(s, a)
				if slices.ContainsFunc(next, func(u int32) bool { return component[u] != component[s] }) {
					allowed[s*actions+a] = false
					changed = true
				}
			}
		}
	}
	members := map[int][]int{}
	var order []int
	for s := range n {
		if slices.Contains(allowed[s*actions:(s+1)*actions], true) {
			if members[component[s]] == nil {
				order = append(order, component[s])
			}
			members[component[s]] = append(members[component[s]], s)
		}
	}
	return each.Of(order, func(i int) []int { return members[i] })
}

// avoiding returns the states from which some policy never enters the bad
// states: the largest set in which each state has an action that keeps to it.
func avoiding(m Model, bad func(s int) bool) []int {
	n, actions := m.NumStates(), m.NumActions()
	in := make([]bool, n)
	for s := range in {
		in[s] = !bad(s)
	}
	for changed := true; changed; {
		changed = false
		for s := range n {
			if !in[s] {
				continue
			}
			keeps := false
			for a := range actions {
				next, _ := m.Transition(s, a)
				if !slices.ContainsFunc(next, func(t int32) bool { return !in[t] }) {
					keeps = true
					break
				}
			}
			if !keeps {
				in[s], changed = false, true
			}
		}
	}
	var out []int
	for s, ok := range in {
		if ok {
			out = append(out, s)
		}
	}
	return out
}

// Communicating reports whether every state is reached from every other under
// some policy.
func (c *Communication) Communicating() bool { return len(c.Classes) == 1 }

// WeaklyCommunicating reports whether the model is communicating when states
// that are transient under every policy are ignored. Its optimal gain is then
// constant.
func (c *Communication) WeaklyCommunicating() bool { return c.RequireWeaklyCommunicating() == nil }

// RequireWeaklyCommunicating returns nil or a MissingError that shows two sets of
// states that do not reach each other.
func (c *Communication) RequireWeaklyCommunicating() error {
	if len(c.Closed) > 1 {
		return &MissingError{"weakly communicating", fmt.Sprintf("no action leaves %s, nor %s",
			showStates(c.Classes[c.Closed[0]]), showStates(c.Classes[c.Closed[1]]))}
	}
	closed := c.Classes[c.Closed[0]]
	for _, e := range c.EndComponents {
		if _, inside := slices.BinarySearch(closed, e[0]); !inside {
			return &MissingError{"weakly communicating", fmt.Sprintf("a policy can stay in %s, which is not reached from %s",
				showStates(e), showStates(closed))}
		}
	}
	return nil
}

// RequireCommunicating returns nil or a MissingError that shows a class that
// cannot be left.
func (c *Communication) RequireCommunicating() error {
	if c.Communicating() {
		return nil
	}
	closed := c.Classes[c.Closed[0]]
	for i := range c.Classes {
		if i != c.Closed[0] {
			return &MissingError{"communicating", fmt.Sprintf("%s cannot be reached from %s",
				showStates(c.Classes[i]), showStates(closed))}
		}
	}
	panic("mdp: unreachable")
}

// Unavoidable returns the first state that every policy enters from everywhere,
// or -1. If there is one, every policy is unichain. It takes time S times the
// size of the model in the worst case.
func (c *Communication) Unavoidable() int {
	for s := range c.states {
		if len(c.avoidable(s)) == 0 {
			return s
		}
	}
	return -1
}

// EveryPolicyIrreducible reports whether every policy leads from every state to
// every other; with aperiodicity of each that is what "ergodic MDP" means. If
// not, it returns a state and those from which a policy can avoid it for ever.
func (c *Communication) EveryPolicyIrreducible() (ok bool, state int, avoiders []int) {
	for s := range c.states {
		if from := c.avoidable(s); len(from) > 0 {
			return false, s, from
		}
	}
	return true, -1, nil
}
