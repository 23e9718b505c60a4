package loop

import "math"

// EveryGrid returns the grid every, 2·every, …, and steps itself.
func EveryGrid(every, steps int) []int {
	grid := make([]int, 0, steps/every+1)
	for t := every; t < steps; t += every {
		grid = append(grid, t)
	}
	return append(grid, steps)
}

// LogGrid returns at most points step numbers from 1 to steps, evenly spaced in
// log steps where integers allow it, steps itself last.
func LogGrid(points, steps int) []int {
	var grid []int
	last := 0
	for k := range points {
		t := steps
		if points > 1 {
			t = int(math.Round(math.Pow(float64(steps), float64(k)/float64(points-1))))
		}
		if t = min(t, steps); t > last {
			grid = append(grid, t)
			last = t
		}
	}
	if last < steps {
		grid = append(grid, steps)
	}
	return grid
}
