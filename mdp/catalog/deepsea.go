package catalog

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext/prng"

	"github.com/rlrun/rlrun/mdp"
)

// Sea describes a DeepSea. Its fields have the names of the keys in a config.
type Sea struct {
	// Size is N ≥ 2.
	Size int `json:"size,omitempty" jsonschema:"minimum=2,maximum=1000,default=10" jsonschema_description:"N: rows, columns, and steps of an episode."`
	// Stochastic lets a move to the right fail with probability 1/N and adds
	// standard normal noise to the reward in the last row's two outer columns.
	Stochastic bool `json:"stochastic,omitempty" jsonschema:"default=false" jsonschema_description:"A move right fails with probability 1/N, and the last row's outer columns have noisy rewards."`
	// Mapped permutes the two actions independently in every cell, by bsuite's
	// mapping for MappingSeed (its sweep uses 42); otherwise action 0 is left and
	// 1 right everywhere.
	Mapped      bool   `json:"mapped,omitempty" jsonschema:"default=false" jsonschema_description:"Swap the actions at random in every cell, as bsuite does."`
	MappingSeed uint32 `json:"mapping_seed,omitempty" when:"mapped=true" jsonschema:"default=42" jsonschema_description:"Seed of the swaps; bsuite uses 42."`
	// Cost is what N moves to the right cost together, at least 0; nil is bsuite's 0.01.
	Cost *float64 `json:"cost,omitempty" jsonschema:"minimum=0" jsonschema_description:"What N moves to the right cost together. Default: bsuite's 0.01."`
	// Empty takes the treasure away: then it is best never to move right.
	Empty bool `json:"empty,omitempty" jsonschema:"default=false" jsonschema_description:"There is no treasure, so the move that would reach it pays nothing."`
	// Continuing starts the next episode in place of ending one; otherwise there
	// is a terminal state after the others.
	Continuing bool `json:"continuing,omitempty" jsonschema:"default=false" jsonschema_description:"Start the next dive in place of ending the episode."`
}

// DeepSea is bsuite's deep sea (Osband et al. 2020): N × N cells. The diver starts
// in the upper left, sinks one row per step, and can reach the cells with column ≤
// row. State row·(row+1)/2+column. A move to the right costs Cost/N, also when it
// fails; being in the last column, that is at the end of the diagonal, and moving
// right pays 1. An episode takes N steps. Cost and Empty are not of bsuite.
func DeepSea(sea Sea) (*Task, error) {
	n := sea.Size
	if n < 2 || n > 10_000 {
		return nil, fmt.Errorf("DeepSea has a size of 2 to 10000, not %d", n)
	}
	cost := 0.01
	if sea.Cost != nil {
		cost = *sea.Cost
	}
	if !(cost >= 0) || math.IsInf(cost, 0) {
		return nil, fmt.Errorf("the cost of DeepSea is a number of at least 0, not %g", cost)
	}
	var isRight []bool // by cell: action 1 is right
	if sea.Mapped {
		isRight = coins(sea.MappingSeed, n*n)
	}
	index := func(row, col int) int { return row*(row+1)/2 + col }
	cells := index(n, 0)
	d := mdp.Definition{Name: "DeepSea", Description: "Deep sea (bsuite)", States: cells, Actions: 2, Initial: []mdp.Weight{{S: 0, P: 1}}}
	if !sea.Mapped {
		d.ActionNames = leftRight
	}
	after := 0 // the state after the last row
	if !sea.Continuing {
		d.States, d.Terminal = cells+1, []int{cells}
		after = cells
	}
	fail := 0.0
	if sea.Stochastic {
		fail = 1 / float64(n)
	}
	m, err := mdp.Generate(d, func(s, a int, out *mdp.Row) {
		if s == cells {
			return
		}
		row := int((math.Sqrt(8*float64(s)+1) - 1) / 2)
		col := s - index(row, 0)
		last := row == n-1
		move := func(col int, p float64) {
			if last {
				out.Add(after, p)
			} else {
				out.Add(index(row+1, max(col, 0)), p)
			}
		}
		right := a == 1
		if isRight != nil {
			right = right == isRight[row*n+col]
		}
		if right {
			move(col+1, 1-fail)
			move(col, fail)
			out.Reward(-cost / float64(n))
			if col == n-1 && !sea.Empty {
				out.Reward(1)
			}
		} else {
			move(col-1, 1)
		}
		if sea.Stochastic && last && (col == 0 || col == n-1) {
			out.Noise.SD = 1
		}
	})
	if err != nil {
		return nil, err
	}
	layout := &Layout{Rows: n, Cols: n, Wall: make([]bool, n*n), Cell: make([]int, d.States)}
	for row := range n {
		for col := range n {
			if col <= row {
				layout.Cell[index(row, col)] = row*n + col
			} else {
				layout.Wall[row*n+col] = true
			}
		}
	}
	if !sea.Continuing {
		layout.Cell[cells] = -1
	}
	t := &Task{Model: m, Layout: layout}
	if sea.Empty || sea.Continuing {
		return t, nil
	}
	t.Dives = &Dives{Way: slices.Repeat([]int{-1}, d.States), MostBad: 0.9, From: 1}
	if sea.Stochastic { // where luck solves more, as bsuite's deep_sea_stochastic says
		t.Dives.MostBad, t.Dives.From = 0.8, 100
	}
	for row := range n {
		t.Dives.Way[index(row, row)] = 1
		if isRight != nil && !isRight[row*n+row] {
			t.Dives.Way[index(row, row)] = 0
		}
	}
	return t, nil
}

// coins returns n fair coin flips as NumPy's RandomState(seed).binomial(1, .5, n)
// makes them: true when a 53-bit uniform of the Mersenne twister exceeds a half.
func coins(seed uint32, n int) []bool {
	twister := prng.NewMT19937()
	twister.Seed(uint64(seed))
	out := make([]bool, n)
	for i := range out {
		out[i] = uniform53(twister) > 0.5
	}
	return out
}

// uniform53 is NumPy's double in [0,1): 27 and 26 bits of two outputs.
func uniform53(twister *prng.MT19937) float64 {
	a, b := twister.Uint32()>>5, twister.Uint32()>>6
	return (float64(a)*(1<<26) + float64(b)) / (1 << 53)
}
