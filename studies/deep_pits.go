package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
)

const (
	pitsSize   = 5
	pitsLength = 12     // steps of an episode
	pitsStep   = -0.005 // reward of a step
	pitsNear   = 0.2    // a small goal
	pitsFar    = 1.0    // a large goal, in half of the grids
)

// pits are what the cells of a grid pay, by row; 0 does not end the episode.
type pits [pitsSize][pitsSize]float64

// deepGrids is a study of four grids with pits, in which pits cost little or much.
func deepGrids(steps, runs int) deepStudy {
	cells := func() (cells []deepCell, err error) {
		for _, pit := range []float64{0.1, 0.5} {
			c := deepCell{name: fmt.Sprintf("pits cost %v", pit)}
			const grids = 4
			for seed := range uint64(grids) {
				g := drawPits(seed, pit)
				m, err := g.model()
				if err != nil {
					return nil, err
				}
				s, err := episodeScale(m)
				if err != nil {
					return nil, err
				}
				c.scale.zero += s.zero / grids
				c.scale.one += s.one / grids
				c.tasks = append(c.tasks, task{name: fmt.Sprintf("%s, grid %d", c.name, seed), environment: map[string]any{
					"plugin": "./studies/pits.py", "params": map[string]any{"cells": g, "step_reward": pitsStep, "length": pitsLength}}})
			}
			cells = append(cells, c)
		}
		return cells, nil
	}
	return deepStudy{
		what: fmt.Sprintf("Grids with pits, %d steps", steps), steps: steps, runs: runs, seed: 9002,
		measure: "Return per episode, the mean of four grids", perEpisode: true, decimals: 3,
		cells: cells, ways: deepWays(steps),
	}
}

// drawPits draws a grid. A cell is a pit with probability 0.15. A small goal is two or three steps from the
// start, and in grids of even seeds a large one is six or more. Goals can be reached. Grids of the same seed
// differ only in what pits cost.
func drawPits(seed uint64, pit float64) (g pits) {
	rng := rand.New(rand.NewPCG(seed, 39))
	for {
		g = pits{}
		var near, far [][2]int
		for i := range pitsSize {
			for j := range pitsSize {
				if i+j > 0 && rng.Float64() < 0.15 {
					g[i][j] = -pit
				}
				if d := i + j; d == 2 || d == 3 {
					near = append(near, [2]int{i, j})
				} else if d >= 6 {
					far = append(far, [2]int{i, j})
				}
			}
		}
		a, b := near[rng.IntN(len(near))], far[rng.IntN(len(far))]
		g[a[0]][a[1]] = pitsNear
		g[b[0]][b[1]] = 0
		if seed%2 == 0 {
			g[b[0]][b[1]] = pitsFar
		}
		if reached := g.reached(); reached[a] && reached[b] {
			return g
		}
	}
}

// reached are the cells that can be reached from the start.
func (g *pits) reached() map[[2]int]bool {
	seen, todo := map[[2]int]bool{{}: true}, [][2]int{{}}
	for len(todo) > 0 {
		c := todo[0]
		todo = todo[1:]
		for a := range 4 {
			next := g.after(c, a)
			if !seen[next] {
				seen[next] = true
				if g[next[0]][next[1]] == 0 {
					todo = append(todo, next)
				}
			}
		}
	}
	return seen
}

// after is the cell after an action: up, right, down or left.
func (g *pits) after(c [2]int, a int) [2]int {
	move := [4][2]int{{-1, 0}, {0, 1}, {1, 0}, {0, -1}}[a]
	for k := range c {
		c[k] = min(max(c[k]+move[k], 0), pitsSize-1)
	}
	return c
}

// model has a state for each cell and time, and a terminal one.
func (g *pits) model() (*mdp.Tabular, error) {
	const cells = pitsSize * pitsSize
	end := cells * pitsLength
	d := mdp.Definition{States: end + 1, Actions: 4, Initial: []mdp.Weight{{P: 1}}, Terminal: []int{end}}
	return mdp.Generate(d, func(s, a int, row *mdp.Row) {
		if s == end {
			return
		}
		c := g.after([2]int{s % cells / pitsSize, s % pitsSize}, a)
		pay, next := g[c[0]][c[1]], (s/cells+1)*cells+c[0]*pitsSize+c[1]
		if pay != 0 {
			next = end
		}
		row.Add(min(next, end), 1)
		row.Reward(pay + pitsStep)
	})
}
