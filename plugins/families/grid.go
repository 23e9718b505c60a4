package families

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// compass are the actions on grids, and the rows and columns that they move by.
var (
	compass = []string{"up", "right", "down", "left"}
	moves   = [4][2]int{{-1, 0}, {0, 1}, {1, 0}, {0, -1}}
)

// square is a grid of n × n cells without walls.
type square struct {
	n    int
	slip float64 // probability that a move goes to one of the two sides, half each
}

// move adds the cells that a move in a direction leads to; the border blocks.
func (g square) move(s, direction int, row *mdp.Row) {
	for turn, p := range [4]float64{1 - g.slip, g.slip / 2, 0, g.slip / 2} {
		m := moves[(direction+turn)%4]
		y, x := s/g.n+m[0], s%g.n+m[1]
		if y < 0 || y >= g.n || x < 0 || x >= g.n {
			y, x = s/g.n, s%g.n
		}
		row.Add(y*g.n+x, p)
	}
}

// layout places the cells, and further states nowhere.
func (g square) layout(states int) *catalog.Layout {
	l := &catalog.Layout{Rows: g.n, Cols: g.n, Wall: make([]bool, g.n*g.n), Cell: make([]int, states)}
	for s := range l.Cell {
		l.Cell[s] = s
		if s >= g.n*g.n {
			l.Cell[s] = -1
		}
	}
	return l
}

// grid is a slippery grid. The goal in the corner opposite to the start pays 1 and
// leads back; four other cells pay 0.02.
func grid(rng *rand.Rand) (*catalog.Task, error) {
	g := square{between(rng, 5, 8), uniform(rng, 0.05, 0.3)}
	states := g.n * g.n
	pays := map[int]float64{}
	for range 4 {
		pays[between(rng, g.n, states-2)] = 0.02
	}
	d := mdp.Definition{Name: "Grid", States: states, Actions: 4, Initial: from(0)}
	t, err := generate(d, func(s, a int, row *mdp.Row) {
		if s == states-1 {
			row.Add(0, 1)
			row.Reward(1)
			return
		}
		g.move(s, a, row)
		row.Reward(pays[s])
	}, compass...)
	if err == nil {
		t.Layout = g.layout(states)
	}
	return t, err
}
