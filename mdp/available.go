package mdp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A state may lack some of the actions. The number of a missing action then stands for
// another action of that state, and its row is a copy of that action's. A copy adds no
// choice, so optimal values, gains and distances are those of the actions that exist.
// Policies never take a missing action: solvers do not return it, Induce refuses it, and
// Uniform spreads over the actions that exist.

// StandIn returns the action of state s that number a stands for: a itself if the state
// has it. The missing numbers of a state stand for its actions in turn.
func (m *Tabular) StandIn(s, a int) int {
	if m.standIn == nil {
		return a
	}
	return int(m.standIn[s*m.actions+a])
}

// Available reports whether state s has action a.
func (m *Tabular) Available(s, a int) bool { return m.StandIn(s, a) == a }

// Missing is in the note about actions that states lack.
const Missing = "pairs of state and action do not exist"

// Complete reports whether every state has every action.
func (m *Tabular) Complete() bool { return m.standIn == nil }

// Notes returns sentences that a user of the model must know, without full stops: rows
// that were divided by their sum, and actions that states lack. The slice must not be
// written to.
func (m *Tabular) Notes() []string { return m.notes }

// addNote adds a sentence unless it is there, as it is after a model was written and read.
func (m *Tabular) addNote(text string) {
	if !slices.Contains(m.notes, text) {
		m.notes = append(m.notes, text)
	}
}

// Distribution writes π(·|s) in model m into dst. It differs from the policy's own method
// for Uniform, which does not know which actions a state has.
func Distribution(dst []float64, m Model, pi Policy, s int) {
	pi.Distribution(dst, s)
	t, ok := m.(*Tabular)
	if _, uniform := pi.(Uniform); !uniform || !ok || t.standIn == nil {
		return
	}
	has := 0.0
	for a := range dst {
		if t.Available(s, a) {
			has++
		}
	}
	for a := range dst {
		if dst[a] = 0; t.Available(s, a) {
			dst[a] = 1 / has
		}
	}
}

func available(m Model, s, a int) bool {
	t, ok := m.(*Tabular)
	return !ok || t.Available(s, a)
}

// existing replaces actions that their state lacks by those that stand in for them.
func (m *Tabular) existing(p Deterministic) {
	if m.standIn != nil {
		for s, a := range p {
			p[s] = m.StandIn(s, a)
		}
	}
}

// some counts things and keeps the first few in words.
type some struct {
	n     int
	words []string
}

func (x *some) add(format string, args ...any) {
	if x.n++; x.n <= 3 {
		x.words = append(x.words, fmt.Sprintf(format, args...))
	}
}

func (x *some) String() string {
	text := strings.Join(x.words, ", ")
	if more := x.n - len(x.words); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// noteRescaled says which rows were divided by their sum.
func (m *Tabular) noteRescaled(rows some) {
	if rows.n > 0 {
		m.addNote("Probabilities did not sum to 1 and were divided by their sum: " + rows.String())
	}
}

// exactly shows how a sum differs from one; those that do not by 1e-12 are not shown.
func exactly(x float64) string { return strconv.FormatFloat(x, 'g', 13, 64) }

// complete gives the missing actions their stand-ins: their rows are empty so far.
func (m *Tabular) complete() error {
	rows := m.states * m.actions
	standIn := make([]int32, rows)
	var missing some
	var has []int32
	size := len(m.next)
	for s := range m.states {
		row := s * m.actions
		has = has[:0]
		for a := range m.actions {
			if m.start[row+a] < m.start[row+a+1] {
				has = append(has, int32(a))
			}
		}
		if len(has) == 0 {
			return noAction(s)
		}
		turn := 0
		for a := range m.actions {
			i := row + a
			if standIn[i] = int32(a); m.start[i] == m.start[i+1] {
				b := has[turn%len(has)]
				turn++
				standIn[i] = b
				size += m.start[row+int(b)+1] - m.start[row+int(b)]
				missing.add("action %d in state %d", a, s)
			}
		}
	}
	if m.copies = size - len(m.next); m.copies > 1<<20 && m.copies/64 > len(m.next) {
		return whole("states lack %d actions, whose numbers stand for %d transitions of others: too many", missing.n, m.copies)
	}
	old := *m
	m.start, m.next, m.prob = make([]int, 1, rows+1), make([]int32, 0, size), make([]float64, 0, size)
	if old.successorReward != nil {
		m.successorReward = make([]float64, 0, size)
	}
	for i, b := range standIn {
		from := i - i%m.actions + int(b)
		lo, hi := old.start[from], old.start[from+1]
		m.next, m.prob = append(m.next, old.next[lo:hi]...), append(m.prob, old.prob[lo:hi]...)
		if old.successorReward != nil {
			m.successorReward = append(m.successorReward, old.successorReward[lo:hi]...)
		}
		m.reward[i] = m.reward[from]
		if m.noise != nil {
			m.noise[i] = m.noise[from]
		}
		m.start = append(m.start, len(m.next))
	}
	m.standIn = standIn
	m.addNote(fmt.Sprintf("%d of %d "+Missing+", and the action's number stands for another action of that state (agents at random take it more often than the policy uniform): %s", missing.n, rows, &missing))
	return nil
}
