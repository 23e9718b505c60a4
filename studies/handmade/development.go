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

// market has three regimes, which change with probability 0.05, and 25 positions. In each
// regime the payments of positions have other means; each is paid with noise.
func market(rng *rand.Rand) (*mdp.Tabular, error) {
	const regimes, positions = 3, 25
	var pay [regimes][positions]float64
	for s := range regimes {
		for a := range positions {
			pay[s][a] = 0.25 + 0.5*rng.Float64()
		}
	}
	return mdp.Generate(define(regimes, positions, 0), func(s, a int, row *mdp.Row) {
		row.Noise.Bernoulli = true
		row.Reward(pay[s][a])
		row.Add(s, 0.95)
		row.Add((s+1)%regimes, 0.025)
		row.Add((s+2)%regimes, 0.025)
	})
}

// delivery is a cart on a street of 12 houses. It loads at house 0 and delivers at house 6 for
// 0.3 or at house 11 for 1. In each step a loaded cart loses its load with probability 0.02.
func delivery(*rand.Rand) (*mdp.Tabular, error) {
	const houses = 12
	return mdp.Generate(define(2*houses, 3, 2), func(s, a int, row *mdp.Row) {
		house, loaded := s%houses, s >= houses
		to := house
		switch {
		case a < 2:
			to = within(house+2*a-1, houses-1)
		case !loaded && house == 0:
			row.Add(houses, 1)
			return
		case loaded && house == 6:
			row.Add(house, 1)
			row.Reward(0.3)
			return
		case loaded && house == houses-1:
			row.Add(house, 1)
			row.Reward(1)
			return
		}
		row.Reward(-0.01)
		if loaded {
			row.Add(to+houses, 0.98)
			row.Add(to, 0.02)
		} else {
			row.Add(to, 1)
		}
	})
}

// gambler has up to 31 coins and stakes up to 15 of them on a coin that falls well with
// probability 0.4. An episode begins with 8 coins and ends without any or, which pays 1, with
// 31.
func gambler(*rand.Rand) (*mdp.Tabular, error) {
	const goal = 31
	return mdp.Generate(define(goal+1, 15, 8, 0, goal), func(s, a int, row *mdp.Row) {
		if s == 0 || s == goal {
			return
		}
		stake := min(a+1, s, goal-s)
		won := 0.0
		if s+stake == goal {
			won = 1
		}
		row.AddRewarded(s+stake, 0.4, won)
		row.AddRewarded(s-stake, 0.6, 0)
	})
}

// repair is a machine of ten degrees of wear. To work pays less the more it is worn; to mend
// costs 0.3 and takes off up to three degrees; a new machine costs 1.5. A machine that breaks
// stands still until it is replaced.
func repair(*rand.Rand) (*mdp.Tabular, error) {
	const broken = 10
	return mdp.Generate(define(broken+1, 3, 0), func(s, a int, row *mdp.Row) {
		switch {
		case a == 2:
			row.Reward(-1.5)
			row.Add(0, 1)
		case s == broken:
			row.Add(s, 1)
		case a == 1:
			row.Reward(-0.3)
			row.Add(within(s-3, broken), 0.7)
			row.Add(s, 0.3)
		default:
			row.Reward(1 - 0.08*float64(s))
			row.Add(s, 0.6)
			row.Add(s+1, 0.35)
			row.Add(broken, 0.05*float64(s)/broken)
			row.Add(s, 0.05-0.05*float64(s)/broken)
		}
	})
}

// keyRing is a ring of 14 places. A key lies at place 5, and a chest at place 10 pays 1 with
// it, which uses it up. One may walk both ways, reach out, or sit down for 0.03.
func keyRing(*rand.Rand) (*mdp.Tabular, error) {
	const places = 14
	return mdp.Generate(define(2*places, 4, 0), func(s, a int, row *mdp.Row) {
		place, key := s%places, s/places
		switch {
		case a == 0:
			row.Add((place+1)%places+key*places, 0.9)
			row.Add(s, 0.1)
		case a == 1:
			row.Add((place+places-1)%places+key*places, 0.9)
			row.Add(s, 0.1)
		case a == 2 && place == 5:
			row.Add(place+places, 1)
		case a == 2 && place == 10 && key == 1:
			row.Add(place, 1)
			row.Reward(1)
		case a == 3:
			row.Add(s, 1)
			row.Reward(0.03)
		default:
			row.Add(s, 1)
		}
	})
}

// tandem is two queues in a row for up to eight customers each. Customers arrive with
// probability 0.4. An action is a speed of each server; speed and waiting cost.
func tandem(*rand.Rand) (*mdp.Tabular, error) {
	const room = 8
	speed := []float64{0.1, 0.5, 0.9}
	return mdp.Generate(define((room+1)*(room+1), 9, 0), func(s, a int, row *mdp.Row) {
		x, y := s/(room+1), s%(room+1)
		first, second := speed[a/3], speed[a%3]
		row.Reward(-0.05*float64(x+y) - 0.4*(first*first+second*second))
		for arrive, p := range []float64{0.6, 0.4} {
			for served, q := range []float64{1 - first, first} {
				for left, r := range []float64{1 - second, second} {
					moved := min(served, x)
					row.AddRewarded(within(x-moved+arrive, room)*(room+1)+within(y-min(left, y)+moved, room), p*q*r, float64(min(left, y)))
				}
			}
		}
	})
}

// cards is a game of one player against a bank. Drawing adds 1 to 10; above 21
// the game is lost. Standing wins if the bank, which shows one of five cards,
// has less.
func cards(*rand.Rand) (*mdp.Tabular, error) {
	const sums, shown = 22, 5
	d := mdp.Definition{States: sums*shown + 1, Actions: 2, Terminal: []int{sums * shown}}
	for k := range shown {
		d.Initial = append(d.Initial, mdp.Weight{S: k * sums, P: 1.0 / shown})
	}
	return mdp.Generate(d, func(s, a int, row *mdp.Row) {
		if s == sums*shown {
			return
		}
		sum, bank := s%sums, s/sums
		if a == 0 {
			win := float64(within(sum-10-2*bank, 11)) / 11
			row.Add(sums*shown, 1)
			row.Reward(2*win - 1)
			return
		}
		for card := 1; card <= 10; card++ {
			if sum+card >= sums {
				row.AddRewarded(sums*shown, 0.1, -1)
			} else {
				row.Add(s+card, 0.1)
			}
		}
	})
}

// scree is a slope of 25 places that pays its height. One of three paths, another in every
// place, leads up in 7 of 10 cases; the others slide down by one to three. To camp stays and
// pays the height.
func scree(rng *rand.Rand) (*mdp.Tabular, error) {
	const top = 24
	path := make([]int, top+1)
	for s := range path {
		path[s] = rng.IntN(3)
	}
	return mdp.Generate(define(top+1, 4, 0), func(s, a int, row *mdp.Row) {
		switch {
		case a == 3:
			row.Add(s, 1)
			row.Reward(float64(s) / top)
		case a == path[s]:
			row.Add(within(s+1, top), 0.7)
			row.Add(s, 0.3)
		default:
			for k := 1; k <= 3; k++ {
				row.Add(within(s-k, top), 1.0/3)
			}
		}
	})
}

// twoGoods is a store of two goods, up to five items each, with nine orders. Demands are Poisson.
// What is there too long rots.
func twoGoods(*rand.Rand) (*mdp.Tabular, error) {
	const room = 5
	return mdp.Generate(define((room+1)*(room+1), 9, 0), func(s, a int, row *mdp.Row) {
		x, y := min(room, s/(room+1)+2*(a/3)), min(room, s%(room+1)+2*(a%3))
		row.Reward(-0.1*float64(x+y) - 0.3*float64(a/3+a%3))
		poisson(1, x, func(soldX int, p float64) {
			poisson(2, y, func(soldY int, q float64) {
				row.AddRewarded(max(0, x-soldX)*(room+1)+max(0, y-soldY-1), p*q, 1.5*float64(soldX)+0.6*float64(soldY))
			})
		})
	})
}

// ice is a slippery square of nine by nine cells with holes that end the episode, and a goal in
// the far corner that pays 1.
func ice(rng *rand.Rand) (*mdp.Tabular, error) {
	const side, cells = 9, 81
	terminal := []int{cells - 1}
	for _, s := range rng.Perm(cells - 1) {
		if row, column := s/side, s%side; row != column && row != column+1 && len(terminal) < 11 {
			terminal = append(terminal, s)
		}
	}
	ends := map[int]bool{}
	for _, s := range terminal {
		ends[s] = true
	}
	return mdp.Generate(define(cells, 4, 0, terminal...), func(s, a int, row *mdp.Row) {
		if ends[s] {
			return
		}
		for k, p := range []float64{0.8, 0.1, 0, 0.1} {
			y, reward := step(s, (a+k)%4, side), 0.0
			if y == cells-1 {
				reward = 1
			}
			row.AddRewarded(y, p, reward)
		}
	})
}

// orchard has three trees of four degrees of ripeness. To pick a tree pays the square of its
// degree and takes all; trees ripen at different speeds. To wait waters all.
func orchard(*rand.Rand) (*mdp.Tabular, error) {
	const ripe, trees = 3, 3
	speed := [trees]float64{0.1, 0.3, 0.6}
	return mdp.Generate(define(64, trees+1, 0), func(s, a int, row *mdp.Row) {
		degree := [trees]int{s % 4, s / 4 % 4, s / 16}
		if a < trees {
			row.Reward(float64(degree[a]*degree[a]) / 9)
			degree[a] = 0
		}
		for grown := range 1 << trees {
			p, y := 1.0, 0
			for k, weight := range [trees]int{1, 4, 16} {
				q := speed[k]
				if a == trees {
					q = min(1, 1.5*q)
				}
				if grown>>k&1 == 1 {
					p *= q
					y += weight * within(degree[k]+1, ripe)
				} else {
					p *= 1 - q
					y += weight * degree[k]
				}
			}
			row.Add(y, p)
		}
	})
}

// roomsOfArms is a hall and eight rooms with seven arms each. Action a of the hall leads to room a,
// or by mistake to the next one; a room is left by its last action.
func roomsOfArms(rng *rand.Rand) (*mdp.Tabular, error) {
	const rooms, actions = 8, 8
	var pay [rooms][actions]float64
	for s := range rooms {
		best := 0.2 + 0.6*rng.Float64()
		for a := range actions - 1 {
			pay[s][a] = best * rng.Float64()
		}
	}
	return mdp.Generate(define(rooms+1, actions, rooms), func(s, a int, row *mdp.Row) {
		switch {
		case s == rooms:
			row.Add(a, 0.8)
			row.Add((a+1)%rooms, 0.2)
		case a == actions-1:
			row.Add(rooms, 1)
		default:
			row.Noise.Bernoulli = true
			row.Reward(pay[s][a])
			row.Add(s, 1)
		}
	})
}
