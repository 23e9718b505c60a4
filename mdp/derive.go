package mdp

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// This file makes models of a model: with other numbers of its actions or states, or with episodes
// that follow each other.

// definition returns what m says besides its rows.
func (m *Tabular) definition() Definition {
	d := Definition{Name: m.name, Description: m.description, States: m.states, Actions: m.actions, ActionNames: m.actionNames, EpisodeSteps: m.episodeSteps, Notes: m.notes}
	for k, s := range m.initial {
		d.Initial = append(d.Initial, Weight{S: int(s), P: m.initialProb[k]})
	}
	for s := range m.states {
		if m.Terminal(s) {
			d.Terminal = append(d.Terminal, s)
		}
	}
	return d
}

// starts returns the initial distribution, that of state 0 if there is none.
func (m *Tabular) starts() ([]int32, []float64) {
	if m.initial == nil {
		return []int32{0}, []float64{1}
	}
	return m.initial, m.initialProb
}

// copyRow makes row that of (s,a): add is called for every successor with its probability and
// reward. The row of an action that the state lacks stays empty.
func (m *Tabular) copyRow(row *Row, s, a int, add func(next int, p, reward float64)) {
	if !m.Available(s, a) {
		return
	}
	row.Noise = m.Noise(s, a)
	next, p := m.Transition(s, a)
	rewards := m.SuccessorRewards(s, a)
	for k, t := range next {
		r := m.Reward(s, a)
		if rewards != nil {
			r = rewards[k]
		}
		add(int(t), p[k], r)
	}
}

// Reordered returns a new model. In every state its action a is action order[a]
// of m, with the name of that action if m has names. order must have every
// action of m once. name is the new model's name; the description is that of m.
func (m *Tabular) Reordered(name string, order []int) (*Tabular, error) {
	sorted := slices.Sorted(slices.Values(order))
	for a := range m.actions {
		if len(sorted) != m.actions || sorted[a] != a {
			return nil, fmt.Errorf("order %v has not each of the actions 0 to %d once", order, m.actions-1)
		}
	}
	d := m.definition()
	d.Name, d.ActionNames = name, nil
	for _, a := range order[:len(m.actionNames)] {
		d.ActionNames = append(d.ActionNames, m.actionNames[a])
	}
	return Generate(d, func(s, a int, row *Row) { m.copyRow(row, s, order[a], row.AddRewarded) })
}

// Reachable returns the model without the states that no policy reaches from the
// initial distribution (state 0 when there is none). The others keep their order.
// Values, gains and distances from the start are the same in both. It returns m
// itself when m has no such state.
func (m *Tabular) Reachable() (*Tabular, error) {
	starts, _ := m.starts()
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
	d := m.definition()
	d.States = len(states)
	for k := range d.Initial {
		d.Initial[k].S = number[d.Initial[k].S]
	}
	d.Terminal = slices.DeleteFunc(d.Terminal, func(s int) bool { return !seen[s] })
	for k, s := range d.Terminal {
		d.Terminal[k] = number[s]
	}
	return Generate(d, func(i, a int, row *Row) {
		m.copyRow(row, states[i], a, func(t int, p, r float64) { row.AddRewarded(number[t], p, r) })
	})
}

// Restarting returns the model in which episodes follow each other without a
// gap. A transition into a terminal state leads to the initial distribution
// instead (state 0 when there is none). So does every action in the terminal
// states, which are no longer reached. The optimal gain of the result is the
// best reward per step. It returns m itself when m has no terminal state, and an
// error when an episode may begin in one.
func (m *Tabular) Restarting() (*Tabular, error) {
	if m.terminal == nil {
		return m, nil
	}
	starts, prob := m.starts()
	for _, s := range starts {
		if m.terminal[s] {
			return nil, fmt.Errorf("mdp: an episode cannot restart in the terminal state %d", s)
		}
	}
	d := m.definition()
	d.Terminal, d.EpisodeSteps = nil, 0
	return Generate(d, func(s, a int, row *Row) {
		m.copyRow(row, s, a, func(t int, p, r float64) {
			if !m.terminal[t] {
				row.AddRewarded(t, p, r)
				return
			}
			for j, u := range starts {
				row.AddRewarded(int(u), p*prob[j], r)
			}
		})
	})
}

// StartGain returns the gain of a run: gain has the reward per step in the long run
// from every state of m. ok is false if it differs between states in which a run may
// begin.
func (m *Tabular) StartGain(gain []float64) (from float64, ok bool) {
	starts, _ := m.starts()
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
	s, err := SolveAverage(m, SolverConfig{MaxIterations: 100_000})
	if err != nil {
		return math.NaN()
	}
	gain, ok := m.StartGain(s.Gain)
	if !ok {
		return math.NaN()
	}
	return gain
}

// TruncatedGains returns the best reward per step, and that of a policy, if each
// episode is truncated after EpisodeSteps ≥ 1 steps and the next one begins. By renewal it is the expected
// return of an episode over its expected length. The best ratio is found by Dinkelbach's method (1967): it is
// the g at which an episode in which each step costs g is worth 0. An action may depend on the step of the
// episode. Both are NaN if the computation would take minutes: EpisodeSteps times the number of transitions above 10⁸.
func (m *Tabular) TruncatedGains(pi Policy) (best, own float64) {
	if m.episodeSteps*m.NumTransitions() > 1e8 {
		return math.NaN(), math.NaN()
	}
	_, own = m.truncated(0, func(dst []float64, s int, _ []float64) { Distribution(dst, m, pi, s) })
	best = own
	for range 100 { // a few do
		worth, next := m.truncated(best, func(dst []float64, _ int, q []float64) {
			clear(dst)
			dst[floats.MaxIdx(q)] = 1
		})
		if best = next; worth <= 1e-12*max(1, math.Abs(best)) {
			break
		}
	}
	return best, own
}

// truncated returns the value of a truncated episode in which each step costs g, and its reward per
// step. choose writes the probabilities of the actions in a state, given their values.
func (m *Tabular) truncated(g float64, choose func(dst []float64, s int, q []float64)) (worth, gain float64) {
	value, length := make([]float64, m.states), make([]float64, m.states)
	after, longer := slices.Clone(value), slices.Clone(length)
	q, n, pi := make([]float64, m.actions), make([]float64, m.actions), make([]float64, m.actions)
	for range m.episodeSteps {
		for s := range value {
			if m.Terminal(s) {
				continue
			}
			for a := range q {
				q[a], n[a] = m.Reward(s, a)-g, 1
				next, p := m.Transition(s, a)
				for k, t := range next {
					q[a] += float64(p[k] * value[t])
					n[a] += float64(p[k] * length[t])
				}
			}
			choose(pi, s, q)
			after[s], longer[s] = floats.Dot(pi, q), floats.Dot(pi, n)
		}
		value, after = after, value
		length, longer = longer, length
	}
	starts, p := m.starts()
	steps := 0.0
	for k, s := range starts {
		worth += float64(p[k] * value[s])
		steps += float64(p[k] * length[s])
	}
	return worth, g + worth/steps
}

// OptimalReturn returns the largest expected sum of the rewards of an episode, from the initial distribution. The sum
// is over EpisodeSteps steps (Puterman 1994, §4.5). If episodes are not truncated, it is until a terminal state
// (stochastic shortest paths, Bertsekas & Tsitsiklis 1991). The result is NaN if the sum is not finite, if value iteration has
// not found it after 10,000 sweeps, or with more than 2,000 states.
func (m *Tabular) OptimalReturn() float64 {
	const sweeps = 10_000
	horizon := m.episodeSteps
	if horizon == 0 {
		horizon = sweeps
	}
	if m.NumStates() > solvable {
		return math.NaN()
	}
	v, _, err := SolveHorizon(m, horizon)
	if err != nil {
		return math.NaN()
	}
	if m.episodeSteps == 0 {
		longer := make([]float64, len(v))
		m.induct(longer, make(Deterministic, len(v)), v)
		for s, x := range longer {
			if math.Abs(x-v[s]) > 1e-9*max(1, math.Abs(x)) {
				return math.NaN()
			}
		}
	}
	starts, p := m.starts()
	sum := 0.0
	for k, s := range starts {
		sum += float64(p[k] * v[s])
	}
	return sum
}
