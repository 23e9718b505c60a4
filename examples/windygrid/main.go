// Command windygrid is an environment for rlrun, the windy gridworld of Sutton &
// Barto (2018, Example 6.5 and Exercises 6.9 and 6.10). It shows all that the
// author of an environment writes, including a model and a picture.
package main

import (
	"context"
	"math/rand/v2"
	"strings"

	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/mdp"
)

func main() { plugin.ServeEnvironment(id, doc, params{}, newGrid) }

const (
	id  = "example/windygrid@1"
	doc = "The windy gridworld (Sutton & Barto 2018, Example 6.5): to the goal in as few steps as the wind allows."
)

type params struct {
	King  bool `json:"king" jsonschema_description:"Eight moves and the diagonals, in place of four."`
	Gusts bool `json:"gusts" jsonschema_description:"Wind blows one cell less or more, each with probability 1/3."`
}

const (
	rows, columns = 7, 10
	start, goal   = 3 * columns, 3*columns + 7
)

var (
	wind  = [columns]int{0, 0, 0, 1, 1, 1, 2, 2, 1, 0} // cells upwards
	moves = [][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}}
)

// grid is one copy. An observation is a cell, counted along the rows from the top
// left; every step costs 1.
type grid struct {
	params
	rng  *rand.Rand
	cell int
}

func newGrid(p params) (*grid, error) { return &grid{params: p}, nil }

func (g *grid) actions() int {
	if g.King {
		return 8
	}
	return 4
}

// gusts returns by how much the wind may differ from what it mostly is, all
// equally likely.
func (g *grid) gusts(cell int) []int {
	if g.Gusts && wind[cell%columns] > 0 {
		return []int{-1, 0, 1}
	}
	return []int{0}
}

// next returns where a move leads. The wind of the cell where the move starts
// applies.
func next(cell, action, gust int) int {
	row, column := cell/columns, cell%columns
	row += moves[action][0] - wind[column] - gust
	column += moves[action][1]
	return min(max(row, 0), rows-1)*columns + min(max(column, 0), columns-1)
}

// Spec implements plugin.Environment.
func (g *grid) Spec() plugin.Spec {
	return plugin.Spec{
		Observation: plugin.Discrete{N: rows * columns},
		Action:      plugin.Discrete{N: int64(g.actions())},
		RewardLow:   -1, RewardHigh: -1,
	}
}

// Reset implements plugin.Environment.
func (g *grid) Reset(_ context.Context, seed uint64) (plugin.Value, error) {
	g.rng, g.cell = rand.New(rand.NewPCG(seed, 0)), start
	return plugin.Value{Int: start}, nil
}

// Step implements plugin.Environment.
func (g *grid) Step(_ context.Context, action plugin.Value) (plugin.TimeStep, error) {
	gusts := g.gusts(g.cell)
	g.cell = next(g.cell, int(action.Int), gusts[g.rng.IntN(len(gusts))])
	return plugin.TimeStep{Observation: plugin.Value{Int: int64(g.cell)}, Reward: -1, Terminated: g.cell == goal}, nil
}

// Model implements framework.KnownModel: the host computes the optimum from it.
func (g *grid) Model(context.Context) (*mdp.Tabular, error) {
	d := mdp.Definition{States: rows * columns, Actions: g.actions(), Terminal: []int{goal}, Initial: []mdp.Weight{{S: start, P: 1}}}
	for s := range d.States {
		gusts := g.gusts(s)
		for a := 0; a < d.Actions && s != goal; a++ {
			ways := map[int]float64{}
			for _, gust := range gusts {
				ways[next(s, a, gust)] += 1 / float64(len(gusts))
			}
			for to, p := range ways {
				d.Transitions = append(d.Transitions, mdp.Transition{S: s, A: a, Next: to, P: p})
			}
			d.Rewards = append(d.Rewards, mdp.Reward{S: s, A: a, R: -1})
		}
	}
	return mdp.NewModel(d)
}

// Render implements framework.Renderer.
func (g *grid) Render(context.Context) (string, error) {
	cells := []byte(strings.Repeat(".", rows*columns))
	cells[goal], cells[g.cell] = 'G', 'x'
	var b strings.Builder
	for r := range rows {
		b.Write(cells[r*columns : (r+1)*columns])
		b.WriteByte('\n')
	}
	return b.String(), nil
}
