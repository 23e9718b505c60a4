package handmade

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
)

func expNeg(x float64) float64 { return math.Exp(-x) }

// tower is a tower of 30 floors. To climb succeeds in 8 of 10 cases and else loses a floor. To
// rest pays the square of the height. To leap leads to the ground and pays 0.1.
func tower(*rand.Rand) (*mdp.Tabular, error) {
	const top = 29
	return mdp.Generate(define(top+1, 3, 0), func(s, a int, row *mdp.Row) {
		switch a {
		case 0:
			row.Add(within(s+1, top), 0.8)
			row.Add(within(s-1, top), 0.2)
		case 1:
			row.Add(s, 1)
			row.Reward(math.Pow(float64(s)/top, 2))
		default:
			row.Add(0, 1)
			row.Reward(0.1)
		}
	})
}

// stock is a store for 14 items. A third of them perishes each day. Orders of
// up to 13 items arrive before the Poisson demand of the day.
func stock(*rand.Rand) (*mdp.Tabular, error) {
	const room, demand = 14, 5.0
	return mdp.Generate(define(room+1, room, 0), func(s, a int, row *mdp.Row) {
		have := min(room, s+a)
		row.Reward(-0.05*float64(have) - 0.5*float64(a))
		poisson(demand, have, func(sold int, p float64) {
			row.AddRewarded((have-sold)*2/3, p, float64(sold))
		})
	})
}

// ads has five kinds of visitors, who come at random, and 20 ads. Each ad is
// liked by some kinds.
func ads(rng *rand.Rand) (*mdp.Tabular, error) {
	const kinds, ads = 5, 20
	var click [kinds][ads]float64
	for s := range kinds {
		for a := range ads {
			click[s][a] = 0.1 * rng.Float64()
			if rng.IntN(5) == 0 {
				click[s][a] = 0.5 * rng.Float64()
			}
		}
	}
	return mdp.Generate(define(kinds, ads, 0), func(s, a int, row *mdp.Row) {
		row.Noise.Bernoulli = true
		row.Reward(click[s][a])
		for y := range kinds {
			row.Add(y, 1.0/kinds)
		}
	})
}

// doses is a patient in six states and 30 doses. The best dose grows with how ill the patient is; a
// wrong one makes the illness worse.
func doses(*rand.Rand) (*mdp.Tabular, error) {
	const worst, doses = 5, 30
	return mdp.Generate(define(worst+1, doses, 3), func(s, a int, row *mdp.Row) {
		miss := math.Abs(float64(a)-(4+4*float64(s))) / doses
		better := 0.8 * math.Exp(-20*miss*miss)
		row.Add(within(s-1, worst), better)
		row.Add(s, 0.9*(1-better))
		row.Add(within(s+1, worst), 0.1*(1-better))
		row.Reward(1 - float64(s)/worst - 0.3*float64(a)/doses)
	})
}

// prices sells up to five seats at 40 prices. The fewer customers come the dearer the seat is.
// The seats are full again when the last is sold or, in one of ten days, anyway.
func prices(*rand.Rand) (*mdp.Tabular, error) {
	const seats, prices = 5, 40
	return mdp.Generate(define(seats+1, prices, seats), func(s, a int, row *mdp.Row) {
		price := float64(a+1) / prices
		sell := math.Pow(1-price, 1.5)
		if s == 0 {
			row.Add(seats, 0.5)
			row.Add(0, 0.5)
			return
		}
		row.AddRewarded(s-1, sell*0.9, price)
		row.AddRewarded(s, (1-sell)*0.9, 0)
		row.Add(seats, 0.1)
	})
}

// taxi drives on five by five cells. A passenger waits in one of two corners. A pickup in
// an empty corner costs 0.1. The passenger pays 1 at the destination.
func taxi(*rand.Rand) (*mdp.Tabular, error) {
	const side, cells = 4, 16
	wait := [2]int{0, cells - 1}
	goal := [2]int{side - 1, cells - side}
	// State: cell, and whether passenger 0 or 1 waits or is aboard.
	return mdp.Generate(define(cells*4, 5, 5), func(s, a int, row *mdp.Row) {
		cell, who, aboard := s%cells, s/cells%2, s/cells/2
		if a < 4 {
			row.Reward(-0.02)
			row.Add(step(cell, a, side)+s/cells*cells, 1)
			return
		}
		switch {
		case aboard == 0 && cell == wait[who]:
			row.Add(cell+cells*(who+2), 1)
		case aboard == 1 && cell == goal[who]:
			row.Reward(1)
			row.Add(cell, 0.5)
			row.Add(cell+cells, 0.5)
		default:
			row.Reward(-0.1)
			row.Add(s, 1)
		}
	})
}

// step moves on a square: up, right, down or left.
func step(cell, a, side int) int {
	row, column := cell/side, cell%side
	switch a {
	case 0:
		row = within(row-1, side-1)
	case 1:
		column = within(column+1, side-1)
	case 2:
		row = within(row+1, side-1)
	default:
		column = within(column-1, side-1)
	}
	return row*side + column
}

// twoRooms is a room of five by five cells and another with a door between them, and
// slippery floors. A corner of the first pays 0.2, the far corner of the second 1; both lead back.
func twoRooms(*rand.Rand) (*mdp.Tabular, error) {
	const side, room, door = 5, 25, 12
	return mdp.Generate(define(2*room, 4, 6), func(s, a int, row *mdp.Row) {
		if s == side-1 || s == 2*room-1 {
			row.Add(6, 1)
			row.Reward(0.2 + 0.8*float64(s/room))
			return
		}
		move := func(a int, p float64) {
			switch cell := s % room; {
			case cell == door+2 && s < room && a == 1:
				row.Add(room+door-2, p)
			case cell == door-2 && s >= room && a == 3:
				row.Add(door+2, p)
			default:
				row.Add(s/room*room+step(cell, a, side), p)
			}
		}
		move(a, 0.8)
		move((a+1)%4, 0.1)
		move((a+3)%4, 0.1)
	})
}

// lock has 14 stages with three actions each. The right one opens the next stage in 9 of 10
// cases, the others lead back to the first. The first stage pays 0.02, the last 1.
func lock(rng *rand.Rand) (*mdp.Tabular, error) {
	const stages, actions = 14, 3
	right := make([]int, stages)
	for s := range right {
		right[s] = rng.IntN(actions)
	}
	return mdp.Generate(define(stages, actions, 0), func(s, a int, row *mdp.Row) {
		switch {
		case a != right[s]:
			row.Add(0, 1)
			if s == 0 {
				row.Reward(0.02)
			}
		case s == stages-1:
			row.Add(s, 1)
			row.Reward(1)
		default:
			row.Add(s+1, 0.9)
			row.Add(s, 0.1)
		}
	})
}

// maze is a random maze of eight by eight cells with a goal in a corner that pays 1 and leads
// back to the start. One step of ten fails.
func maze(rng *rand.Rand) (*mdp.Tabular, error) {
	const side, cells = 8, 64
	open := carve(rng, side)
	return mdp.Generate(define(cells, 4, 0), func(s, a int, row *mdp.Row) {
		if s == cells-1 {
			row.Add(0, 1)
			row.Reward(1)
			return
		}
		y := step(s, a, side)
		if !open[[2]int{min(s, y), max(s, y)}] {
			y = s
		}
		row.Add(y, 0.9)
		row.Add(s, 0.1)
	})
}

// carve returns the openings between cells of a random maze without rounds, and a few more.
func carve(rng *rand.Rand, side int) map[[2]int]bool {
	open, seen := map[[2]int]bool{}, make([]bool, side*side)
	var visit func(int)
	visit = func(s int) {
		seen[s] = true
		for _, a := range rng.Perm(4) {
			if y := step(s, a, side); y != s && (!seen[y] || rng.IntN(12) == 0) {
				open[[2]int{min(s, y), max(s, y)}] = true
				if !seen[y] {
					visit(y)
				}
			}
		}
	}
	visit(0)
	return open
}

// exits is a corridor of 20 cells that costs 0.3 a step. The exits at its ends pay 1 and 8; a side
// door in every cell pays nothing and opens in half of the cases.
func exits(*rand.Rand) (*mdp.Tabular, error) {
	const n = 20
	return mdp.Generate(define(n+1, 3, 5, n), func(s, a int, row *mdp.Row) {
		if s == n {
			return
		}
		row.Reward(-0.3)
		switch {
		case a == 2:
			row.Add(n, 0.5)
			row.Add(s, 0.5)
		case a == 0 && s == 0:
			row.Add(n, 1)
			row.Reward(1)
		case a == 1 && s == n-1:
			row.Add(n, 1)
			row.Reward(8)
		default:
			row.Add(s+2*a-1, 0.9)
			row.Add(s, 0.1)
		}
	})
}

// twoEnds is a chain of 16 states. To stay pays 0.4 at the near end and 1 at the far
// one. To walk costs 0.01 and goes wrong in two of ten cases.
func twoEnds(*rand.Rand) (*mdp.Tabular, error) {
	const n = 16
	return mdp.Generate(define(n, 3, 4), func(s, a int, row *mdp.Row) {
		switch a {
		case 2:
			row.Add(s, 1)
			switch s {
			case 0:
				row.Reward(0.4)
			case n - 1:
				row.Reward(1)
			}
		default:
			row.Reward(-0.01)
			row.Add(within(s+2*a-1, n-1), 0.8)
			row.Add(within(s-2*a+1, n-1), 0.2)
		}
	})
}

// swamp is a path of eight places with four directions each. One goes on, and one rests for 0.3 at
// most. Two lead into a swamp with probability 0.2. In the swamp every step leads out with
// probability 0.01. The last place pays 0.9.
func swamp(rng *rand.Rand) (*mdp.Tabular, error) {
	const places, actions = 8, 4
	role := make([][]int, places)
	rest := make([]float64, places)
	for s := range role {
		role[s], rest[s] = rng.Perm(actions), 0.3*rng.Float64()
	}
	rest[places-1] = 0.9
	return mdp.Generate(define(places+1, actions, 0), func(s, a int, row *mdp.Row) {
		switch {
		case s == places:
			row.Add(0, 0.01)
			row.Add(s, 0.99)
		case role[s][a] == 0:
			row.Add((s+1)%places, 1)
		case role[s][a] == 1:
			row.Add(s, 1)
			row.Reward(rest[s])
		default:
			row.Add(places, 0.2)
			row.Add(s, 0.8)
			row.Reward(0.15)
		}
	})
}
