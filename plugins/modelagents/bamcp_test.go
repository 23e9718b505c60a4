package modelagents

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
)

// bayes is the belief of a task with two states and two actions: counts of successors, and of
// the larger reward.
type bayes struct {
	next [2][2][2]float64
	high [2][2]float64
}

// value returns what the best and each action are worth with so many steps to go, by expanding
// all histories: Dirichlet(1/2) rows, Beta(1/2, 1/2) rewards in {0, 1}, and γ = 0.9.
func (b bayes) value(s, steps int) (best float64, q [2]float64) {
	if steps == 0 {
		return 0, q
	}
	for a := range 2 {
		n := b.next[s][a][0] + b.next[s][a][1]
		pays := (0.5 + b.high[s][a]) / (1 + n)
		for u := range 2 {
			for r := range 2 {
				p := (0.5 + b.next[s][a][u]) / (1 + n)
				c := b
				c.next[s][a][u]++
				c.high[s][a] += float64(r)
				v, _ := c.value(u, steps-1)
				p *= float64(1-r)*(1-pays) + float64(r)*pays
				q[a] += p * (float64(r) + 0.9*v)
			}
		}
	}
	return max(q[0], q[1]), q
}

// With many simulations the values at the root are those of the Bayes-adaptive optimum, which is
// computed by expanding all histories of four steps: for what was seen in several random plays
// of two states. UCT has an error of its own, which the last histories to be tried bring in.
func TestBAMCPIsBayesOptimal(t *testing.T) {
	spec := agenttest.Finite
	spec.Observation = space.Discrete{N: 2}
	for seed := range uint64(4) {
		x := newAgent(t, "bamcp", `{"depth":4,"simulations":60000,"gamma":0.9,"alpha":0.5,"weight":1,"exploration":1,"reward_low":0,"reward_high":1}`, spec)
		rng := rand.New(rand.NewPCG(seed, 1))
		var b bayes
		for range 4 * seed {
			s, a, u, r := rng.IntN(2), rng.IntN(2), rng.IntN(2), rng.IntN(2)
			x.Counts.Update(s, a, float64(r), u)
			b.next[s][a][u]++
			b.high[s][a] += float64(r)
		}
		m := x.Construction.(*bamcp)
		got := m.Action(0, 0)
		_, want := b.value(0, 4)
		for a := range 2 {
			if math.Abs(m.edges[a].q-want[a]) > 0.03 && a == got {
				t.Errorf("play %d, action %d: %v, want %v", seed, a, m.edges[a].q, want)
			}
		}
		if want[got] < max(want[0], want[1])-0.01 {
			t.Errorf("play %d: action %d of values %v", seed, got, want)
		}
	}
}

// Successors and rewards within a simulation are those of one row drawn from the posterior: by
// Pólya's urn the second draw of a pair repeats the first with probability (α + 1)/(3α + 1) for
// three states, and the second reward with (w/2 + 1)/(w + 1). In 20,000 simulations of two steps
// both are within 3.9 standard errors, at a fixed seed; a new simulation draws anew.
func TestBAMCPDrawsFromUrns(t *testing.T) {
	x := newAgent(t, "bamcp", `{"alpha":0.5,"weight":0.4}`, agenttest.Finite)
	x.Begin(0)
	m := x.Construction.(*bamcp)
	const n = 20_000
	states, rewards, firsts := 0.0, 0.0, 0.0
	for range n {
		m.path = m.path[:0]
		for range 2 {
			next, high := m.draw(1, 1)
			m.path = append(m.path, bamcpDraw{pair: 3, next: next, high: high})
		}
		a, b := m.path[0], m.path[1]
		if a.next == b.next {
			states++
		}
		if a.high == b.high {
			rewards++
		}
		if a.next == 0 {
			firsts++
		}
	}
	for what, x := range map[string][2]float64{"state repeated": {states, 1.5 / 2.5}, "reward repeated": {rewards, 1.2 / 1.4}, "state 0 first": {firsts, 1. / 3}} {
		if p := x[1]; math.Abs(x[0]-n*p) > 3.9*math.Sqrt(n*p*(1-p)) {
			t.Errorf("%s: %v of %v, want a share of %v", what, x[0], float64(n), p)
		}
	}
}

// In the double loop it learns the better loop in one run of 500 steps: a cycle of five steps pays 2.
func TestBAMCPFindsTheBetterLoop(t *testing.T) {
	if got := plugins.Earns(t, "doubleloop", `{"limit":0}`, "bamcp", `{"simulations":100}`, 2, 400, 500, "reward"); got < 0.25 {
		t.Errorf("a step earns %v, the easy loop pays 0.2 and the other 0.4", got)
	}
}
