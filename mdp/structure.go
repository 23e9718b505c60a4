package mdp

import (
	"fmt"
	"slices"
	"strings"
)

// Structure is the class structure of a chain (Kemeny & Snell 1960): its
// communicating classes, which of them are closed, and how each closed class
// cycles through its phases.
type Structure struct {
	Classes [][]int // communicating classes, each in increasing order, ordered by first state
	ClassOf []int   // class of each state
	Closed  []int   // the closed (recurrent) classes
	Period  []int   // of each class; 0 for the classes that are not closed
	Phase   []int   // cyclic phase, 0..period-1, of each recurrent state; -1 of a transient one
	order   []int   // classes such that successors come first
	closed  []bool  // by class
}

// Structure finds the communicating classes of the chain, which of them are
// closed, and the periods of those.
func (c *Chain) Structure() *Structure {
	n := c.NumStates()
	component := make([]int, n)
	count := new(tarjan).components(component, func(s int) []int32 { next, _ := c.Row(s); return next })
	st := &Structure{ClassOf: make([]int, n), Phase: make([]int, n),
		Period: make([]int, count), closed: make([]bool, count), order: make([]int, count)}
	rename := make([]int, count)
	for i := range rename {
		rename[i] = -1
	}
	for s, k := range component {
		if rename[k] < 0 {
			rename[k] = len(st.Classes)
			st.Classes = append(st.Classes, nil)
		}
		st.ClassOf[s] = rename[k]
		st.Classes[rename[k]] = append(st.Classes[rename[k]], s)
	}
	copy(st.order, rename) // components come in reverse topological order
	for i, class := range st.Classes {
		st.closed[i] = !slices.ContainsFunc(class, func(s int) bool {
			next, _ := c.Row(s)
			return slices.ContainsFunc(next, func(t int32) bool { return st.ClassOf[t] != i })
		})
		if st.closed[i] {
			st.Closed = append(st.Closed, i)
		}
	}
	for s := range st.Phase {
		st.Phase[s] = -1
	}
	for _, i := range st.Closed {
		st.Period[i] = c.phases(st.Classes[i][0], st.Phase)
	}
	return st
}

// phases labels the closed class of root with its cyclic phases and returns its
// period: the greatest common divisor of level(s)+1−level(t) over its
// transitions, levels being breadth-first distances from root.
func (c *Chain) phases(root int, phase []int) int {
	queue := []int{root}
	phase[root] = 0
	period := 0
	for i := 0; i < len(queue); i++ {
		s := queue[i]
		next, _ := c.Row(s)
		for _, t := range next {
			if phase[t] < 0 {
				phase[t] = phase[s] + 1
				queue = append(queue, int(t))
			} else {
				period = gcd(period, phase[s]+1-phase[t])
			}
		}
	}
	for _, s := range queue {
		phase[s] %= period
	}
	return period
}

func gcd(a, b int) int {
	if b < 0 {
		b = -b
	}
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Irreducible reports whether every state is reached from every other.
func (st *Structure) Irreducible() bool { return len(st.Classes) == 1 }

// Unichain reports whether there is a single closed class.
func (st *Structure) Unichain() bool { return len(st.Closed) == 1 }

// Aperiodic reports whether every closed class has period one.
func (st *Structure) Aperiodic() bool {
	return !slices.ContainsFunc(st.Closed, func(i int) bool { return st.Period[i] > 1 })
}

// Ergodic reports whether the chain is irreducible and aperiodic.
func (st *Structure) Ergodic() bool { return st.Irreducible() && st.Aperiodic() }

// Recurrent reports whether s is in a closed class.
func (st *Structure) Recurrent(s int) bool { return st.Phase[s] >= 0 }

// MissingError says which property a computation needs that the chain or model
// does not have, and shows the states that witness it.
type MissingError struct {
	Need string // "irreducible", "unichain", "aperiodic", "communicating" or "weakly communicating"
	Why  string // the witnesses
}

// Error names the property and the witnesses.
func (e *MissingError) Error() string { return fmt.Sprintf("mdp: not %s: %s", e.Need, e.Why) }

// RequireUnichain returns nil or a MissingError that shows two closed classes.
func (st *Structure) RequireUnichain() error {
	if st.Unichain() {
		return nil
	}
	return &MissingError{"unichain", fmt.Sprintf("%d closed classes, among them %s and %s", len(st.Closed),
		showStates(st.Classes[st.Closed[0]]), showStates(st.Classes[st.Closed[1]]))}
}

// RequireIrreducible returns nil or a MissingError that shows a class that is
// left for good.
func (st *Structure) RequireIrreducible() error {
	if st.Irreducible() {
		return nil
	}
	if err := st.RequireUnichain(); err != nil {
		return &MissingError{"irreducible", err.(*MissingError).Why}
	}
	var transient []int
	for s := range st.Phase {
		if st.Phase[s] < 0 {
			transient = append(transient, s)
		}
	}
	return &MissingError{"irreducible", fmt.Sprintf("transient states %s lead into the closed class %s",
		showStates(transient), showStates(st.Classes[st.Closed[0]]))}
}

// RequireAperiodic returns nil or a MissingError that shows a periodic class.
func (st *Structure) RequireAperiodic() error {
	for _, i := range st.Closed {
		if st.Period[i] > 1 {
			return &MissingError{"aperiodic", fmt.Sprintf("the closed class %s has period %d", showStates(st.Classes[i]), st.Period[i])}
		}
	}
	return nil
}

// showStates writes a set of states, cut to the first few.
func showStates(states []int) string {
	const shown = 8
	var b strings.Builder
	for i, s := range states {
		if i == shown {
			return fmt.Sprintf("{%s, … %d states}", &b, len(states))
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, s)
	}
	return fmt.Sprintf("{%s}", &b)
}
