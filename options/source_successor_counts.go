package options

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// SuccessorCounts goes to the state whose successor representation has the least norm, by the shortest way that was seen. By this
// norm the state was visited least (Machado, Bellemare & Bowling 2020). There the option takes the action that was tried least, as
// the way to it has only actions that were tried. The representation is (I − γP̂)⁻¹, where P̂ has n(s,s')/(n(s)+1).
var SuccessorCounts = NamedSource{
	Name: "successor-counts",
	Doc:  "the shortest way that was seen to the state of the least successor representation; from there, the action tried least",
	Make: func(x *Experience) ([]DeclaredOption, error) {
		g := newGraph(x)
		norms := g.successors(x, successorDiscount)
		if norms == nil {
			return nil, nil
		}
		goal := g.seen[floats.MinIdx(norms)]
		o, tried := g.to("to the least counted", []int{goal}), make([]int, x.Actions)
		for _, t := range x.Seen {
			if t.State == goal {
				tried[t.Action] += t.Count
			}
		}
		o.act(goal, slices.Index(tried, slices.Min(tried)))
		o.End[goal] = 1
		return offered(o), nil
	},
}

const successorDiscount = 0.95

// successors are the norms of the states that were left, in their order; nil if they are too many.
func (g *graph) successors(x *Experience, gamma float64) []float64 {
	n := len(g.seen)
	if n == 0 || n > mostSeen {
		return nil
	}
	number, visits := map[int]int{}, make([]float64, n)
	for i, s := range g.seen {
		number[s] = i
	}
	for _, t := range x.Seen {
		visits[number[t.State]] += float64(t.Count)
	}
	m, norms := mat.NewDense(n, n, nil), mat.NewVecDense(n, nil)
	for i := range n {
		m.Set(i, i, 1)
		norms.SetVec(i, 1)
	}
	for _, t := range x.Seen {
		if to, seen := number[t.Next]; seen {
			i := number[t.State]
			m.Set(i, to, m.At(i, to)-gamma*float64(t.Count)/(visits[i]+1))
		}
	}
	if err := norms.SolveVec(m, norms); err != nil { // the rows are substochastic
		return nil
	}
	return norms.RawVector().Data
}
