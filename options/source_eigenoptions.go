package options

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Eigenoptions are those of the four smoothest eigenvectors e of the Laplacian of the learned graph
// and of their negatives (Machado, Bellemare & Bowling 2017). Each is optimal, by the transitions that were
// seen, for the intrinsic reward e(s') − e(s) at discount 0.9, and ends where nothing more is to be gained.
var Eigenoptions = NamedSource{
	Name: "eigenoptions",
	Doc:  "optimal for the directions of the learned graph (eigenoptions)",
	Make: func(x *Experience) ([]DeclaredOption, error) {
		g := newGraph(x)
		states, vectors := g.spectrum()
		var list []DeclaredOption
		for i := 1; i < min(len(states), 1+eigenvectors); i++ {
			e := make([]float64, g.states)
			sign := 0.0
			for j, v := range mat.Col(nil, i, vectors) {
				if sign == 0 && math.Abs(v) > 1e-9 { // which is arbitrary: the first state is below
					sign = -math.Copysign(1, v)
				}
				e[states[j]] = sign * v
			}
			list = append(list, g.along(fmt.Sprintf("eigenoption %d up", i), e, 1), g.along(fmt.Sprintf("eigenoption %d down", i), e, -1))
		}
		return offered(list...), nil
	},
}

const (
	eigenvectors  = 4
	eigenDiscount = 0.9
)

// along is the option that is optimal for the reward direction·(e(s') − e(s)).
func (g *graph) along(name string, e []float64, direction float64) DeclaredOption {
	value := make([]float64, g.states)
	best := func(s int) (a int, most float64) {
		a = -1
		for b, to := range g.next[s*g.actions : (s+1)*g.actions] {
			if to < 0 {
				continue
			}
			if v := direction*(e[to]-e[s]) + eigenDiscount*value[to]; v > most+1e-9 {
				a, most = b, v
			}
		}
		return a, most // ending is worth 0
	}
	for range 200 { // to within 0.9²⁰⁰
		for _, s := range g.seen {
			_, value[s] = best(s)
		}
	}
	o := g.closed(name)
	for _, s := range g.seen {
		if a, _ := best(s); a >= 0 {
			o.act(s, a)
		}
	}
	return o
}
