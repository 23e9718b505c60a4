package catalog

import (
	"math/bits"

	"github.com/rlrun/rlrun/mdp"
)

// MazeGoal is what happens in the goal of the Maze.
type MazeGoal int

const (
	// MazeAbsorbing ends the episode on entering the goal with reward 0, 1, 3 or
	// 15 for 0 to 3 flags (Asadi & Littman 2017, and MushroomRL).
	MazeAbsorbing MazeGoal = iota
	// MazeRestart makes any action in the goal pay one per flag and lead to the
	// start without flags (Dearden, Friedman & Russell 1998).
	MazeRestart
	// MazeTeleport pays the same on entering the goal and leads to the start in
	// the same step.
	MazeTeleport
)

// Maze is Dearden, Friedman & Russell's maze with three flags: 33 cells × 8 sets
// of flags held, state flags·33+cell. A move succeeds with probability 0.9 and
// goes to either side with 0.05. Entering a cell with a flag takes the flag.
func Maze(goal MazeGoal) (*Task, error) {
	f, err := read([]string{
		"S#F.#.G",
		".#..#..",
		".......",
		"##...##",
		"......F",
		"F.....#",
	})
	if err != nil {
		return nil, err
	}
	const slip = 0.1
	cells := len(f.cells)
	start, exit, flags := f.find('S')[0], f.find('G')[0], f.find('F')
	d := mdp.Definition{Name: "Maze", Description: "Maze with flags (Dearden, Friedman & Russell 1998)",
		States: 8 * cells, Actions: 4, ActionNames: directions, Initial: []mdp.Weight{{S: start, P: 1}}}
	worth := [4]float64{0, 1, 2, 3}
	if goal == MazeAbsorbing {
		worth = [4]float64{0, 1, 3, 15}
		for held := range 8 {
			d.Terminal = append(d.Terminal, held*cells+exit)
		}
	}
	pay := func(held int) float64 { return worth[bits.OnesCount(uint(held))] }
	return f.task(d, func(s, a int, row *mdp.Row) {
		held, cell := s/cells, s%cells
		if cell == exit {
			if goal != MazeAbsorbing {
				row.Add(start, 1)
				row.Reward(pay(held))
			}
			return
		}
		add := func(direction int, p float64) {
			next, now := f.move(cell, direction), held
			for i, k := range flags {
				if next == k {
					now |= 1 << i
				}
			}
			switch {
			case next != exit || goal == MazeRestart:
				row.Add(now*cells+next, p)
			case goal == MazeTeleport:
				row.AddRewarded(start, p, pay(now))
			default:
				row.AddRewarded(now*cells+next, p, pay(now))
			}
		}
		add(a, 1-slip)
		for _, side := range perpendicular[a] {
			add(side, slip/2)
		}
	})
}
