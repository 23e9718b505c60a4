package catalog

import (
	"fmt"

	"github.com/rlrun/rlrun/mdp"
)

// The actions of Gymnasium's grid tasks are numbered as Gymnasium does.
var (
	frozenActions = []string{"left", "down", "right", "up"}
	frozenMoves   = [4]int{left, down, right, up}
	cliffActions  = []string{"up", "right", "down", "left"}
	cliffMoves    = [4]int{up, right, down, left}
)

// FrozenLakeMap returns Gymnasium's map of size 4 or 8.
func FrozenLakeMap(size int) ([]string, error) {
	switch size {
	case 4:
		return []string{"SFFF", "FHFH", "FFFH", "HFFG"}, nil
	case 8:
		return []string{"SFFFFFFF", "FFFFFFFF", "FFFHFFFF", "FFFFFHFF", "FFFHFFFF", "FHHFFFHF", "FHFFHFHF", "FFFHFFFG"}, nil
	}
	return nil, fmt.Errorf("there is a FrozenLake map of size 4 and 8, not %d", size)
}

// FrozenLake is Gymnasium's FrozenLake-v1 on a map of S(tart), F(rozen), H(ole)
// and G(oal) cells. A move goes in the intended direction with probability
// success (1/3 on Gymnasium's slippery ice) and to each side with half the rest.
// Entering H or G ends the episode, G pays 1. Episodes are cut off after 100
// steps, or 200 when there are more than 16 cells.
func FrozenLake(rows []string, success float64) (*Task, error) {
	f, err := read(rows)
	if err != nil {
		return nil, err
	}
	if !(success >= 0 && success <= 1) {
		return nil, fmt.Errorf("success rate %v is outside [0,1]", success)
	}
	starts := f.find('S')
	if len(starts) == 0 || len(f.find('G')) == 0 {
		return nil, errNoGoal
	}
	d := mdp.Definition{Name: "FrozenLake", States: len(f.cells), Actions: 4, ActionNames: frozenActions, Terminal: append(f.find('H'), f.find('G')...)}
	for _, s := range starts {
		d.Initial = append(d.Initial, mdp.Weight{S: s, P: 1 / float64(len(starts))})
	}
	t, err := f.task(d, func(s, a int, row *mdp.Row) {
		if c := f.mark[f.cells[s]]; c == 'H' || c == 'G' {
			return
		}
		add := func(direction int, p float64) {
			next, r := f.move(s, direction), 0.0
			if f.mark[f.cells[next]] == 'G' {
				r = 1
			}
			row.AddRewarded(next, p, r)
		}
		add(frozenMoves[a], success)
		for _, side := range perpendicular[frozenMoves[a]] {
			add(side, (1-success)/2)
		}
	})
	if err != nil {
		return nil, err
	}
	t.Limit = 100
	if len(f.cells) > 16 {
		t.Limit = 200
	}
	return t, nil
}

// CliffWalking is Gymnasium's CliffWalking-v1 (Sutton & Barto 2018, Example 6.6):
// 4 × 12 cells, −1 per step. Stepping into the cliff between start and goal costs
// 100 instead and leads to the start without ending the episode. The cliff's own
// cells are never entered.
func CliffWalking() (*Task, error) {
	f, err := read([]string{"............", "............", "............", "SCCCCCCCCCCG"})
	if err != nil {
		return nil, err
	}
	start, goal := f.find('S')[0], f.find('G')[0]
	return f.task(mdp.Definition{Name: "CliffWalking", Description: "Cliff walking (Sutton & Barto)",
		States: len(f.cells), Actions: 4, ActionNames: cliffActions, Initial: []mdp.Weight{{S: start, P: 1}}, Terminal: []int{goal}},
		func(s, a int, row *mdp.Row) {
			if s == goal {
				return
			}
			next := f.move(s, cliffMoves[a])
			if f.mark[f.cells[next]] == 'C' {
				row.Add(start, 1)
				row.Reward(-100)
			} else {
				row.Add(next, 1)
				row.Reward(-1)
			}
		})
}

// Taxi is Gymnasium's Taxi-v3 (Dietterich 2000), with the wall that version has
// between the first two columns of the second row. State ((row·5+column)·5+
// passenger)·4+destination; places 0..3 are R, G, Y, B and passenger 4 is in the
// taxi. Actions south, north, east, west, pickup, dropoff; −1 per step, −10 for
// picking up or dropping off where that is not possible, 20 for the delivery,
// which ends the episode. Episodes start uniformly among the 300 states with the
// passenger waiting elsewhere than at the destination and are cut off after 200
// steps.
func Taxi() (*Task, error) {
	rows := []string{
		"|R: | : :G|",
		"| : | : : |",
		"| : : : : |",
		"| | : | : |",
		"|Y| : |B: |",
	}
	places := [4][2]int{{0, 0}, {0, 4}, {4, 0}, {4, 3}}
	const inTaxi = 4
	encode := func(row, col, passenger, destination int) int {
		return ((row*5+col)*5+passenger)*4 + destination
	}
	d := mdp.Definition{Name: "Taxi", Description: "Taxi (Dietterich 2000)", States: 500, Actions: 6,
		ActionNames: []string{"south", "north", "east", "west", "pickup", "dropoff"}}
	for s := range 500 {
		switch passenger, destination := s/4%5, s%4; {
		case passenger == destination:
			d.Terminal = append(d.Terminal, s)
		case passenger < inTaxi:
			d.Initial = append(d.Initial, mdp.Weight{S: s, P: 1.0 / 300})
		}
	}
	m, err := mdp.Generate(d, func(s, a int, r *mdp.Row) {
		row, col, passenger, destination := s/100, s/20%5, s/4%5, s%4
		if passenger == destination {
			return
		}
		reward := -1.0
		at := -1
		for k, p := range places {
			if p == [2]int{row, col} {
				at = k
			}
		}
		switch a {
		case 0:
			row = min(row+1, 4)
		case 1:
			row = max(row-1, 0)
		case 2:
			if rows[row][2*col+2] == ':' {
				col++
			}
		case 3:
			if rows[row][2*col] == ':' {
				col--
			}
		case 4:
			if passenger < inTaxi && at == passenger {
				passenger = inTaxi
			} else {
				reward = -10
			}
		case 5:
			switch {
			case passenger == inTaxi && at == destination:
				passenger, reward = destination, 20
			case passenger == inTaxi && at >= 0:
				passenger = at
			default:
				reward = -10
			}
		}
		r.Add(encode(row, col, passenger, destination), 1)
		r.Reward(reward)
	})
	if err != nil {
		return nil, err
	}
	layout := &Layout{Rows: 5, Cols: 5, Wall: make([]bool, 25), Cell: make([]int, 500)}
	for s := range layout.Cell {
		layout.Cell[s] = s / 20
	}
	return &Task{Model: m, Layout: layout, Limit: 200}, nil
}
