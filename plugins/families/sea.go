package families

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// sea is a deep sea (Osband et al. 2020) whose actions are swapped at random in
// every cell and whose moves right fail sometimes. The diver sinks a row per step. A
// move right costs 0.01 divided by the depth, and pays 1 at the end of the
// diagonal.
func sea(rng *rand.Rand) (*catalog.Task, error) {
	n, fail := between(rng, 6, 10), uniform(rng, 0, 0.1)
	end := n * n
	right := make([]int, end)
	for s := range right {
		right[s] = rng.IntN(2)
	}
	d := mdp.Definition{Name: "Sea", States: end + 1, Actions: 2, Initial: from(0), Terminal: []int{end}}
	t, err := generate(d, func(s, a int, row *mdp.Row) {
		if s == end {
			return
		}
		y, x := s/n, s%n
		sink := func(x int, p float64) {
			if y == n-1 {
				row.Add(end, p)
			} else {
				row.Add((y+1)*n+min(max(x, 0), n-1), p)
			}
		}
		if a != right[s] {
			sink(x-1, 1)
			return
		}
		sink(x+1, 1-fail)
		sink(x-1, fail)
		row.Reward(-0.01 / float64(n))
		if s == end-1 {
			row.Reward(1)
		}
	})
	if err == nil {
		t.Layout = square{n: n}.layout(end + 1)
	}
	return t, err
}
