package mdp

import (
	"cmp"
	"fmt"
	"math"
)

// fate says where mass ends up in the long run: in which closed class, and
// there in which cyclic phase, counted back to the time it started
// (docs/theory.md §2.1). A slot is a class with a phase.
type fate struct {
	st    *Structure
	slots int
	first []int       // first slot of each class
	share [][]float64 // of each transient state in each slot; nil when there is one slot
}

// fate computes where each state's mass ends up, by one linear system for every
// transient class and closed class. A class that is left too slowly is an error.
func (c *Chain) fate(st *Structure) (*fate, error) {
	f := &fate{st: st, first: make([]int, len(st.Classes))}
	for _, i := range st.Closed {
		f.first[i] = f.slots
		f.slots += st.Period[i]
	}
	if f.slots == 1 {
		return f, nil
	}
	var err error
	f.share = make([][]float64, c.NumStates())
	place := make([]int, c.NumStates())
	for i := range place {
		place[i] = -1
	}
	var red reduction
	for _, i := range st.order { // successors first
		if st.closed[i] {
			continue
		}
		class := st.Classes[i]
		for k, s := range class {
			place[s] = k
			f.share[s] = make([]float64, f.slots)
		}
		for _, target := range st.Closed {
			err = cmp.Or(err, c.absorb(f, class, target, place, &red))
		}
		for _, s := range class {
			place[s] = -1
		}
	}
	return f, err
}

// absorb finds the share of each state of a transient class in the slots of a
// closed class. Mass that ends in phase r, counted from now, is in phase r+1,
// counted from the next step.
func (c *Chain) absorb(f *fate, class []int, target int, place []int, red *reduction) error {
	d, first := f.st.Period[target], f.first[target]
	n := len(class) * d
	if n > 2*denseLimit {
		return c.absorbLarge(f, class, target, mostSweeps)
	}
	red.reset(n)
	for k, s := range class {
		next, prob := c.Row(s)
		for r := range d {
			i := k*d + r
			after := (r + 1) % d
			for j, t := range next {
				if place[t] >= 0 {
					red.q[i*n+place[t]*d+after] = prob[j]
				} else {
					red.leave[i] += prob[j]
					red.f[0][i] += prob[j] * f.of(int(t), first+after)
				}
			}
		}
	}
	red.solve()
	for k, s := range class {
		copy(f.share[s][first:first+d], red.f[0][k*d:(k+1)*d])
	}
	return nil
}

// absorbLarge is absorb by at most limit Gauss-Seidel sweeps, to roundoff.
func (c *Chain) absorbLarge(f *fate, class []int, target, limit int) error {
	d, first := f.st.Period[target], f.first[target]
	for range limit {
		change := 0.0
		for _, s := range class {
			next, prob := c.Row(s)
			for r := range d {
				x := 0.0
				for j, t := range next {
					x += prob[j] * f.of(int(t), first+(r+1)%d)
				}
				change = max(change, math.Abs(x-f.share[s][first+r]))
				f.share[s][first+r] = x
			}
		}
		if change <= 1e-15 {
			return nil
		}
	}
	return errShares
}

// mostSweeps is the most sweeps of absorbLarge.
const mostSweeps = 1_000_000

var errShares = fmt.Errorf("mdp: the probabilities to end in each closed class have not converged after %d sweeps", mostSweeps)

// of returns the share of a state's mass that ends in a slot.
func (f *fate) of(s, slot int) float64 {
	if f.slots == 1 {
		return 1
	}
	if phase := f.st.Phase[s]; phase >= 0 {
		if f.first[f.st.ClassOf[s]]+phase == slot {
			return 1
		}
		return 0
	}
	return f.share[s][slot]
}

// norm returns lim ‖νP^t‖₁ of a signed measure ν of sum zero, and the net mass
// per slot.
func (f *fate) norm(states []int32, nu []float64) (limit float64, perSlot []float64) {
	if f.slots == 1 {
		return 0, nil
	}
	perSlot = make([]float64, f.slots)
	for k, s := range states {
		if f.st.Recurrent(int(s)) {
			perSlot[f.first[f.st.ClassOf[s]]+f.st.Phase[s]] += nu[k]
			continue
		}
		for slot, x := range f.share[s] {
			perSlot[slot] += nu[k] * x
		}
	}
	for _, x := range perSlot {
		limit += math.Abs(x)
	}
	return limit, perSlot
}

// explain says why a deviation with these net masses is never forgotten.
func (f *fate) explain(perSlot []float64) *MissingError {
	plus, minus := -1, -1
	noise := 1e-6 * maxAbs(perSlot)
	for _, i := range f.st.Closed {
		net := 0.0
		for r := range f.st.Period[i] {
			net += perSlot[f.first[i]+r]
		}
		if net > noise {
			plus = i
		} else if net < -noise {
			minus = i
		}
	}
	if plus >= 0 && minus >= 0 {
		return &MissingError{"unichain", fmt.Sprintf("it changes the probability of ending in the closed class %s rather than %s",
			showStates(f.st.Classes[plus]), showStates(f.st.Classes[minus]))}
	}
	for _, i := range f.st.Closed {
		for r := range f.st.Period[i] {
			if math.Abs(perSlot[f.first[i]+r]) > noise {
				return &MissingError{"aperiodic", fmt.Sprintf("it shifts the phase in the closed class %s of period %d",
					showStates(f.st.Classes[i]), f.st.Period[i])}
			}
		}
	}
	return nil
}
