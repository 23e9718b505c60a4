package mdp

import (
	"math"
	"slices"
)

// Reachable returns the model without the states that no policy reaches from the
// initial distribution (state 0 when there is none). The others keep their order.
// Values, gains and distances from the start are the same in both. It returns m
// itself when m has no such state.
func (m *Tabular) Reachable() (*Tabular, error) {
	starts, prob := m.initial, m.initialProb
	if starts == nil {
		starts, prob = []int32{0}, []float64{1}
	}
	seen, queue := make([]bool, m.states), slices.Clone(starts)
	for _, s := range starts {
		seen[s] = true
	}
	for len(queue) > 0 {
		s := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for a := range m.actions {
			next, _ := m.Transition(int(s), a)
			for _, t := range next {
				if !seen[t] {
					seen[t] = true
					queue = append(queue, t)
				}
			}
		}
	}
	var states []int // of m, by their number in the result
	number := make([]int, m.states)
	for s, reached := range seen {
		number[s] = len(states)
		if reached {
			states = append(states, s)
		}
	}
	if len(states) == m.states {
		return m, nil
	}
	d := Definition{Name: m.name, Description: m.description, States: len(states), Actions: m.actions, ActionNames: m.actionNames, Notes: m.notes}
	for k, s := range starts {
		d.Initial = append(d.Initial, Weight{number[s], prob[k]})
	}
	for i, s := range states {
		if m.Terminal(s) {
			d.Terminal = append(d.Terminal, i)
		}
	}
	return Generate(d, func(i, a int, row *Row) {
		s := states[i]
		if m.Terminal(s) || !m.Available(s, a) {
			return
		}
		next, p := m.Transition(s, a)
		rewards := m.SuccessorRewards(s, a)
		row.Noise = m.Noise(s, a)
		for k, t := range next {
			if rewards != nil {
				row.AddRewarded(number[t], p[k], rewards[k])
			} else {
				row.Add(number[t], p[k])
			}
		}
		if rewards == nil {
			row.Reward(m.Reward(s, a))
		}
	})
}

// StartGain returns the gain of a run: gain has the reward per step in the long run
// from every state of m. ok is false if it differs between states in which a run may
// begin.
func (m *Tabular) StartGain(gain []float64) (from float64, ok bool) {
	starts := m.initial
	if starts == nil {
		starts = []int32{0}
	}
	low, high := gain[starts[0]], gain[starts[0]]
	for _, s := range starts {
		low, high = min(low, gain[s]), max(high, gain[s])
	}
	return gain[starts[0]], high-low <= 1e-9*max(1, math.Abs(gain[starts[0]]))
}

// solvable is up to how many states OptimalGain solves a model: more would take minutes.
const solvable = 2000

// OptimalGain returns the best reward per step in the long run. It is NaN if that differs between
// states in which a run may begin, or takes too long to find: with more than 2,000 states.
func (m *Tabular) OptimalGain() float64 {
	if m.NumStates() > solvable {
		return math.NaN()
	}
	s, err := SolveAverage(m, Options{MaxIterations: 100_000})
	if err != nil {
		return math.NaN()
	}
	gain, ok := m.StartGain(s.Gain)
	if !ok {
		return math.NaN()
	}
	return gain
}
