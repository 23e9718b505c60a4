package handmade

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
)

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
