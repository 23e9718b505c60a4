// Package episodic generates finite tasks with episodes for the study "episodes". In most of them,
// the policy with the largest reward per step differs from the policy with the largest return per
// episode. As in package families, a task is drawn from its kind, split and seed, and the splits
// share no task.
package episodic

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
)

// Kinds are the kinds of tasks.
var Kinds = []string{"path", "cliff", "pig", "nim", "machine", "offers"}

var generators = map[string]func(*rand.Rand) (*mdp.Tabular, error){
	"path": path, "cliff": cliff, "pig": pig, "nim": nim, "machine": machine, "offers": offers,
}

// Model returns a task. Its actions are numbered in random order, the same in all states.
func Model(kind, split string, seed uint64) (*mdp.Tabular, error) {
	name := fmt.Sprintf("%s %s %d", kind, split, seed)
	h := sha256.Sum256([]byte("rlrun/episodic@1 " + name))
	rng := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(h[:8]), binary.LittleEndian.Uint64(h[8:16])))
	m, err := generators[kind](rng)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m.Reordered(name, rng.Perm(m.NumActions()))
}

func between(rng *rand.Rand, low, high int) int { return low + rng.IntN(high-low+1) }

func uniform(rng *rand.Rand, low, high float64) float64 { return low + (high-low)*rng.Float64() }

// generate makes a task with the given number of states before its end, which is the last state.
func generate(states, actions int, start []mdp.Weight, fill func(s, a int, row *mdp.Row)) (*mdp.Tabular, error) {
	d := mdp.Definition{States: states + 1, Actions: actions, Initial: start, Terminal: []int{states}}
	return mdp.Generate(d, func(s, a int, row *mdp.Row) {
		if s < states {
			fill(s, a, row)
		}
	})
}

func from(s int) []mdp.Weight { return []mdp.Weight{{S: s, P: 1}} }

// neighbour returns the cell beside one of a rectangle, or the cell itself at a border.
func neighbour(s, a, rows, columns int) int {
	row, column := s/columns, s%columns
	switch a {
	case 0:
		row = max(0, row-1)
	case 1:
		column = min(columns-1, column+1)
	case 2:
		row = min(rows-1, row+1)
	default:
		column = max(0, column-1)
	}
	return row*columns + column
}

// path is a slippery square from one corner to the other. A step costs 0.5 to 1.5, by the cell.
// A fifth action rests for 0.1, so the cheapest way to spend steps is never to arrive.
func path(rng *rand.Rand) (*mdp.Tabular, error) {
	n, slip := between(rng, 4, 7), uniform(rng, 0, 0.2)
	cost := make([]float64, n*n)
	for s := range cost {
		cost[s] = uniform(rng, 0.5, 1.5)
	}
	return generate(n*n, 5, from(0), func(s, a int, row *mdp.Row) {
		if a == 4 {
			row.Reward(-0.1)
			row.Add(s, 1)
			return
		}
		row.Reward(-cost[s])
		for k, p := range [4]float64{1 - slip, slip / 2, 0, slip / 2} {
			if s == n*n-1 {
				row.Add(n*n, p)
			} else {
				row.Add(neighbour(s, (a+k)%4, n, n), p)
			}
		}
	})
}

// cliff is the cliff walk of Sutton & Barto (2018, ex. 6.6) in other sizes, with slips. A step
// costs 1, and a fall 20 to 100 and the way.
func cliff(rng *rand.Rand) (*mdp.Tabular, error) {
	rows, columns := between(rng, 3, 5), between(rng, 6, 11)
	slip, fall := uniform(rng, 0, 0.1), uniform(rng, 20, 100)
	start, goal := (rows-1)*columns, rows*columns-1
	return generate(rows*columns, 4, from(start), func(s, a int, row *mdp.Row) {
		for k, p := range [4]float64{1 - slip, slip / 2, 0, slip / 2} {
			y := neighbour(s, (a+k)%4, rows, columns)
			switch {
			case p == 0:
			case s == goal || y == goal:
				row.AddRewarded(rows*columns, p, -1)
			case y > start:
				row.AddRewarded(start, p, -fall)
			default:
				row.AddRewarded(y, p, -1)
			}
		}
	})
}

// pig is a game with dice. Each throw adds points, or loses them all and ends the game. The player
// may stop and keep the points, as a share of the most. There are two dice; one is bolder.
func pig(rng *rand.Rand) (*mdp.Tabular, error) {
	most := between(rng, 16, 30)
	lose := [2]float64{uniform(rng, 0.05, 0.12), uniform(rng, 0.12, 0.25)}
	size := [2]int{between(rng, 2, 3), between(rng, 4, 7)}
	return generate(most+1, 3, from(0), func(s, a int, row *mdp.Row) {
		if a == 2 || s == most {
			row.AddRewarded(most+1, 1, float64(s)/float64(most))
			return
		}
		row.Add(most+1, lose[a])
		for k := range size[a] {
			row.Add(min(most, s+k+1), (1-lose[a])/float64(size[a]))
		}
	})
}

// nim is a game of two heaps against somebody who plays at random. A move takes up to three from a
// heap. Who takes the last wins. A game that is won pays 1, and one that is lost −1.
func nim(rng *rand.Rand) (*mdp.Tabular, error) {
	first, second := between(rng, 5, 8), between(rng, 4, 7)
	take := func(s, a int) int { // a/3 is the heap, a%3+1 the number, as far as there are so many
		heaps := [2]int{s / (second + 1), s % (second + 1)}
		h := a / 3
		if heaps[h] == 0 {
			h = 1 - h
		}
		heaps[h] = max(0, heaps[h]-a%3-1)
		return heaps[0]*(second+1) + heaps[1]
	}
	states := (first + 1) * (second + 1)
	return generate(states, 6, from(states-1), func(s, a int, row *mdp.Row) {
		y := take(s, a)
		if s == 0 || y == 0 {
			row.AddRewarded(states, 1, 1)
			return
		}
		for b := range 6 {
			if z := take(y, b); z == 0 {
				row.AddRewarded(states, 1.0/6, -1)
			} else {
				row.Add(z, 1.0/6)
			}
		}
	})
}

// machine is a machine that wears out in 4 to 8 degrees. Its speed is 0.4, 0.7 or 1, which is what
// a step pays. With speed and wear it breaks more often, and an episode is the life of a machine.
// An action mends it by a degree and pays nothing.
func machine(rng *rand.Rand) (*mdp.Tabular, error) {
	degrees := between(rng, 4, 8)
	wear, breaks := uniform(rng, 0.05, 0.15), uniform(rng, 0.005, 0.02)
	return generate(degrees, 4, from(0), func(s, a int, row *mdp.Row) {
		if a == 3 {
			row.Add(max(0, s-1), 0.98)
			row.Add(degrees, 0.02)
			return
		}
		speed := [3]float64{0.4, 0.7, 1}[a]
		row.Reward(speed)
		end := min(0.9, breaks*float64(s+1)*4*speed*speed)
		row.Add(degrees, end)
		row.Add(min(degrees-1, s+1), (1-end)*wear*(1+2*speed))
		row.Add(s, (1-end)*(1-wear*(1+2*speed)))
	})
}

// offers is the sale of a house. Each step costs a little and brings one of 12 to 20 offers, from 0
// to 1, good ones rarely. One may wait, advertise for better offers at a higher cost, or accept.
func offers(rng *rand.Rand) (*mdp.Tabular, error) {
	n := between(rng, 12, 20)
	wait, advertise := uniform(rng, 0.002, 0.02), uniform(rng, 0.01, 0.04)
	draw := func(row *mdp.Row, better float64) {
		sum := 0.0
		for k := range n {
			sum += 1 / (1 + float64(k)/better)
		}
		for k := range n {
			row.Add(k, 1/(1+float64(k)/better)/sum)
		}
	}
	return generate(n, 3, from(0), func(s, a int, row *mdp.Row) {
		switch a {
		case 0:
			row.Reward(-wait)
			draw(row, 2)
		case 1:
			row.Reward(-advertise)
			draw(row, 8)
		default:
			row.AddRewarded(n, 1, float64(s)/float64(n-1))
		}
	})
}
