package voi

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Rows and kinds that are computed where something was shown are those that are computed anew.
func TestUpdatesReadWhatHasChanged(t *testing.T) {
	for _, x := range []struct {
		name      string
		low, high float64
		hazard    float64
	}{
		{"rewards of known bounds", 0, 2, 0},
		{"rewards of unknown bounds", math.Inf(-1), math.Inf(1), 0},
		{"a task that changes", 0, 2, -1},
	} {
		const states, actions, steps = 6, 3, 600
		rng := rand.New(rand.NewPCG(5, 12))
		b := NewBelief(actions, x.low, x.high)
		if x.hazard != 0 {
			b.Watch(x.hazard, steps)
		}
		p := NewPlanner(b, Sup)
		for range states {
			p.AddState()
		}
		for k, s := 0, 0; k < steps; k++ {
			a, _ := p.Action(s, float64(steps-k))
			if k%7 == 0 {
				a = rng.IntN(actions)
			}
			next := (s*(a+2) + a + rng.IntN(1+a)) % states
			reward := 2 * rng.Float64() // more of them than are told apart
			if a > 0 {
				reward = float64((s + a*(1+k/300)) % 3) // it changes
			}
			p.Learn(s, a, reward, next)
			s = next
			if rng.IntN(5) > 0 {
				continue
			}
			m := &p.model
			m.update(0.99)
			anew := meanModel{belief: b}
			anew.update(0.99)
			for name, rows := range map[string][2][]float64{
				"reward": {m.reward, anew.reward}, "fresh": {m.fresh, anew.fresh}, "freshR": {m.freshR, anew.freshR},
				"suspect": {m.suspect, anew.suspect}, "planned": {m.planned, anew.planned},
			} {
				if !slices.Equal(rows[0], rows[1]) {
					t.Fatalf("%s, step %d: %s is %v, computed anew %v", x.name, k, name, rows[0], rows[1])
				}
			}
			for i := range b.pairs {
				if got, want := b.kindsOf(i / actions)[i%actions], b.kind(i/actions, i%actions); got != want {
					t.Fatalf("%s, step %d: pair %d has kind %v, computed anew %v", x.name, k, i, got, want)
				}
			}
		}
		if changed := len(b.changes.noticed) > 0; changed != (x.hazard != 0) {
			t.Errorf("%s: a change was noticed: %v", x.name, changed)
		}
	}
}

// The policy does not take a pair. Then the model learns what the pair has shown without being solved, and is the
// same as if it had been. Values change if the policy takes the pair, or takes another action now.
func TestLearningAPairIsSolving(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 13))
	const states, actions, gamma = 8, 3, 0.98
	stayed, shifted := 0, 0
	for range 200 {
		b := NewBelief(actions, 0, 1)
		for range states {
			b.addState()
		}
		for s := range states {
			for a := range actions {
				for range 1 + rng.IntN(4) {
					b.learn(s, a, float64(rng.IntN(3))/2, rng.IntN(states))
				}
			}
		}
		m := meanModel{belief: b}
		m.update(gamma)
		m.solve()
		i := rng.IntN(states * actions)
		s, a, p := i/actions, i%actions, &b.pairs[i]
		taken := int(m.policy[s])
		for range 1 + rng.IntN(3) { // what it has shown before
			b.learn(s, a, p.values[rng.IntN(len(p.values))], int(p.next[rng.IntN(len(p.next))]))
		}
		shifts := m.learn(i)
		if want := a == taken || int(m.policy[s]) != taken; shifts != want {
			t.Fatalf("values move: %v, want %v", shifts, want)
		}
		if shifts {
			shifted++
			continue
		}
		stayed++
		solved := meanModel{belief: b}
		solved.update(gamma)
		solved.solve()
		if !slices.Equal(m.policy, solved.policy) || !slices.Equal(m.next, solved.next) {
			t.Fatalf("policies %v and %v", m.policy, solved.policy)
		}
		for name, x := range map[string][2][]float64{
			"gap": {m.gap, solved.gap}, "action value": {m.actionValues, solved.actionValues},
			"successors": {m.prob, solved.prob}, "cost of leaving": {m.leaveCost, solved.leaveCost},
		} {
			for k := range x[0] {
				if math.Abs(x[0][k]-x[1][k]) > 1e-6*(1+math.Abs(x[1][k])) {
					t.Fatalf("%s %d of pair %d is %v, solved %v", name, k, i, x[0][k], x[1][k])
				}
			}
		}
	}
	if stayed < 50 || shifted < 50 {
		t.Errorf("values moved %d times and stayed %d times", shifted, stayed)
	}
}
