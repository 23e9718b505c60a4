package catalog

import (
	"errors"
	"fmt"

	"github.com/rlrun/rlrun/mdp"
)

// floor is a map of open cells, numbered row by row.
type floor struct {
	rows, cols int
	wall       []bool // per cell, row*cols+column
	number     []int  // of each open cell, -1 of a wall
	cells      []int  // the open cells
	mark       string // the map's characters, row after row
}

// The directions of movement, in the order in which the grid tasks number their
// actions unless they say otherwise.
const (
	up = iota
	down
	left
	right
)

var errNoGoal = errors.New("the map needs a start S and a goal G")

var directions = []string{"up", "down", "left", "right"}

// perpendicular are the directions at right angles to each.
var perpendicular = [4][2]int{up: {left, right}, down: {left, right}, left: {up, down}, right: {up, down}}

// read parses a map; '#' and 'w' are walls.
func read(rows []string) (*floor, error) {
	if len(rows) == 0 || len(rows[0]) == 0 {
		return nil, errors.New("the map is empty")
	}
	f := &floor{rows: len(rows), cols: len(rows[0])}
	for i, row := range rows {
		if len(row) != f.cols {
			return nil, fmt.Errorf("row %d of the map has %d cells, the first %d", i, len(row), f.cols)
		}
		f.mark += row
	}
	for i, c := range []byte(f.mark) {
		f.wall = append(f.wall, c == '#' || c == 'w')
		f.number = append(f.number, -1)
		if !f.wall[i] {
			f.number[i] = len(f.cells)
			f.cells = append(f.cells, i)
		}
	}
	if len(f.cells) == 0 {
		return nil, errors.New("the map has no open cell")
	}
	return f, nil
}

// find returns the numbers of the open cells with a mark.
func (f *floor) find(mark byte) (cells []int) {
	for k, i := range f.cells {
		if f.mark[i] == mark {
			cells = append(cells, k)
		}
	}
	return cells
}

// move returns the cell one step from a cell; walls and the border block.
func (f *floor) move(cell, direction int) int {
	i := f.cells[cell]
	row, col := i/f.cols, i%f.cols
	switch direction {
	case up:
		row--
	case down:
		row++
	case left:
		col--
	case right:
		col++
	}
	if row < 0 || row >= f.rows || col < 0 || col >= f.cols || f.wall[row*f.cols+col] {
		return cell
	}
	return f.number[row*f.cols+col]
}

// task makes a task on the map of a definition and the rows of its model. State s is in open cell
// s modulo their number.
func (f *floor) task(d mdp.Definition, fill func(s, a int, row *mdp.Row)) (*Task, error) {
	t, err := task(d, fill)
	if err != nil {
		return nil, err
	}
	t.Layout = &Layout{Rows: f.rows, Cols: f.cols, Wall: f.wall, Cell: make([]int, d.States)}
	for s := range d.States {
		t.Layout.Cell[s] = f.cells[s%len(f.cells)]
	}
	return t, nil
}

// Grid describes a GridWorld. Its fields have the names of the keys in a config.
type Grid struct {
	// Map has one string per row: '#' wall, 'S' start, 'G' goal, anything else
	// open. When it is empty the grid is Rows × Cols without walls, starts in the
	// upper left corner and has its goal in the lower right.
	Map  []string `json:"map,omitempty" jsonschema:"minItems=1" jsonschema_description:"A string per row: # wall, S start, G goal, anything else open. Replaces rows and cols."`
	Rows int      `json:"rows,omitempty" when:"map=none" jsonschema:"minimum=1,maximum=10000,default=5" jsonschema_description:"Rows."`
	Cols int      `json:"cols,omitempty" when:"map=none" jsonschema:"minimum=1,maximum=10000,default=5" jsonschema_description:"Columns."`
	// Slip is the probability that a move goes to one of the two sides instead,
	// half each.
	Slip float64 `json:"slip,omitempty" jsonschema:"minimum=0,maximum=1,default=0" jsonschema_description:"Probability that a move goes to one of the two sides, half each."`
	// StepReward is paid on every step, GoalReward in addition on entering a goal;
	// GoalReward is 1 when both are zero.
	StepReward float64 `json:"step_reward,omitempty" jsonschema:"default=0" jsonschema_description:"Paid on every step."`
	GoalReward float64 `json:"goal_reward,omitempty" jsonschema:"default=1" jsonschema_description:"Paid in addition on entering a goal."`
	// Continuing makes a goal a cell like any other that, whatever the action,
	// leads to the start; otherwise entering one ends the episode.
	Continuing bool `json:"continuing,omitempty" jsonschema:"default=false" jsonschema_description:"Any action in a goal leads to the start, in place of ending the episode."`
}

// GridWorld is a grid whose actions, up, down, left and right, move one cell and
// are blocked by walls and the border. States are the open cells, row by row.
func GridWorld(g Grid) (*Task, error) {
	rows := g.Map
	if len(rows) == 0 {
		if g.Rows < 1 || g.Cols < 1 || g.Rows*g.Cols < 2 {
			return nil, fmt.Errorf("a grid of %d × %d has no two cells", g.Rows, g.Cols)
		}
		open := make([]byte, g.Cols)
		for i := range open {
			open[i] = '.'
		}
		for range g.Rows {
			rows = append(rows, string(open))
		}
		rows[0] = "S" + rows[0][1:]
		rows[g.Rows-1] = rows[g.Rows-1][:g.Cols-1] + "G"
	}
	if !(g.Slip >= 0 && g.Slip <= 1) {
		return nil, fmt.Errorf("slip %v is outside [0,1]", g.Slip)
	}
	f, err := read(rows)
	if err != nil {
		return nil, err
	}
	starts, goals := f.find('S'), f.find('G')
	if len(starts) == 0 || len(goals) == 0 {
		return nil, errNoGoal
	}
	if g.StepReward == 0 && g.GoalReward == 0 {
		g.GoalReward = 1
	}
	goal := make([]bool, len(f.cells))
	for _, k := range goals {
		goal[k] = true
	}
	d := mdp.Definition{Name: "GridWorld", States: len(f.cells), Actions: 4, ActionNames: directions}
	for _, k := range starts {
		d.Initial = append(d.Initial, mdp.Weight{S: k, P: 1 / float64(len(starts))})
	}
	if !g.Continuing {
		d.Terminal = goals
	}
	return f.task(d, func(s, a int, row *mdp.Row) {
		if goal[s] {
			if g.Continuing {
				for _, k := range starts {
					row.Add(k, 1/float64(len(starts)))
				}
				row.Reward(g.StepReward)
			}
			return
		}
		add := func(direction int, p float64) {
			next, r := f.move(s, direction), g.StepReward
			if goal[next] {
				r += g.GoalReward
			}
			row.AddRewarded(next, p, r)
		}
		add(a, 1-g.Slip)
		for _, side := range perpendicular[a] {
			add(side, g.Slip/2)
		}
	})
}

// FourRooms is the task of Sutton, Precup & Singh (1999): 104 cells, row by row,
// in four rooms. An action moves in its direction with probability 2/3 and in
// each other direction with 1/9. Episodes start in cell (1,1) and end with
// reward 1 on entering the goal in (7,9). In the continuing variant any action
// in the goal pays 1 and leads to the start.
func FourRooms(continuing bool) (*Task, error) {
	f, err := read([]string{
		"wwwwwwwwwwwww",
		"wS    w     w",
		"w     w     w",
		"w           w",
		"w     w     w",
		"w     w     w",
		"ww wwww     w",
		"w     wwwGwww",
		"w     w     w",
		"w     w     w",
		"w           w",
		"w     w     w",
		"wwwwwwwwwwwww",
	})
	if err != nil {
		return nil, err
	}
	start, goal := f.find('S')[0], f.find('G')[0]
	d := mdp.Definition{Name: "FourRooms", Description: "Four rooms (Sutton, Precup & Singh 1999)",
		States: len(f.cells), Actions: 4, ActionNames: directions, Initial: []mdp.Weight{{S: start, P: 1}}}
	if !continuing {
		d.Terminal = []int{goal}
	}
	return f.task(d, func(s, a int, row *mdp.Row) {
		if s == goal {
			if continuing {
				row.Add(start, 1)
				row.Reward(1)
			}
			return
		}
		for direction := range 4 {
			p, r := 1.0/9, 0.0
			if direction == a {
				p = 2.0 / 3
			}
			next := f.move(s, direction)
			if next == goal && !continuing {
				r = 1
			}
			row.AddRewarded(next, p, r)
		}
	})
}
