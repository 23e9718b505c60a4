package options

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// mostSeen bounds the states whose graph is decomposed, which takes the third power of time.
const mostSeen = 400

// CoveringOptions connect the two ends of the learned graph: the states in which the eigenvector of
// its second smallest eigenvalue, the Fiedler vector, is smallest and largest (Jinnai, Park, Abel & Konidaris
// 2019, algorithm 2). Each is the shortest way that was seen to one of the ends. They shorten the time in which
// a random walk sees all states.
var CoveringOptions = NamedSource{
	Name: "covering",
	Doc:  "the shortest ways that were seen to the two ends of the learned graph (covering options)",
	Make: func(x *Experience) ([]DeclaredOption, error) {
		g := newGraph(x)
		states, vectors := g.spectrum()
		if len(states) < 3 {
			return nil, nil
		}
		fiedler := mat.Col(nil, 1, vectors)
		order := func(i, j int) int { return cmp.Compare(fiedler[i], fiedler[j]) }
		index := make([]int, len(states))
		for i := range index {
			index[i] = i
		}
		low, high := slices.MinFunc(index, order), slices.MaxFunc(index, order)
		if states[low] > states[high] { // the sign of a vector is arbitrary
			low, high = high, low
		}
		return offered(g.to("to the near end", states[low:low+1]), g.to("to the far end", states[high:high+1])), nil
	},
}

// spectrum returns the states that are connected with the first one that was left, and the
// eigenvectors of the Laplacian of their graph, whose edges are transitions in either direction, in
// columns by increasing eigenvalues. It returns nothing of graphs that are too large.
func (g *graph) spectrum() (states []int, vectors *mat.Dense) {
	joined := make([][]int, g.states)
	for _, s := range g.seen {
		for _, to := range g.next[s*g.actions : (s+1)*g.actions] {
			if to >= 0 && to != s && !slices.Contains(joined[s], to) {
				joined[s], joined[to] = append(joined[s], to), append(joined[to], s)
			}
		}
	}
	if len(g.seen) == 0 {
		return nil, nil
	}
	number := map[int]int{g.seen[0]: 0}
	for queue := []int{g.seen[0]}; len(queue) > 0; queue = queue[1:] {
		for _, to := range joined[queue[0]] {
			if _, known := number[to]; !known {
				number[to] = 0
				queue = append(queue, to)
			}
		}
	}
	for s := range number {
		states = append(states, s)
	}
	if len(states) > mostSeen {
		return nil, nil
	}
	slices.Sort(states)
	for i, s := range states {
		number[s] = i
	}
	l := mat.NewSymDense(len(states), nil)
	for i, s := range states {
		neighbours := slices.Clone(joined[s])
		slices.Sort(neighbours)
		neighbours = slices.Compact(neighbours)
		l.SetSym(i, i, float64(len(neighbours)))
		for _, to := range neighbours {
			l.SetSym(i, number[to], -1)
		}
	}
	var e mat.EigenSym
	if !e.Factorize(l, true) {
		return nil, nil
	}
	vectors = new(mat.Dense)
	e.VectorsTo(vectors)
	return states, vectors
}
