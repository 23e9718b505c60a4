package modelbased

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/finite"
)

// Experience is what an agent has seen of a task in a run.
type Experience struct {
	Task      finite.Task // its states, actions and range of rewards
	Counts    *mdp.Counts // of steps and rewards, by pair
	Terminals TerminalSet // states in which episodes ended
	State     int         // in which the last action was taken
	Action    int         // the last one
	Seed      uint64      // of the run
	Rand      *rand.Rand  // the agent's stream of random numbers
	pcg       rand.PCG
}

// init prepares for a task, at the address that it keeps.
func (x *Experience) init(t finite.Task) {
	x.Task, x.Terminals = t, NewTerminalSet(t.States)
	x.Rand = rand.New(&x.pcg)
}

// start begins a run.
func (x *Experience) start(s uint64) {
	x.Seed = s
	x.pcg.Seed(s, uint64(seed.Exploration))
	counts, err := mdp.NewCounts(x.Task.States, x.Task.Actions)
	if err != nil {
		panic("modelbased: a task without states or actions") // which spaces exclude
	}
	x.Counts = counts
	x.Terminals.Clear()
}

// Pair returns the index of the last state and action.
func (x *Experience) Pair() int { return x.State*x.Task.Actions + x.Action }

// Noisy reports whether (s,a) has had more than one outcome: successors or rewards.
func (x *Experience) Noisy(s, a int) bool {
	next, _ := x.Counts.Row(s, a)
	return len(next) > 1 || x.Counts.Rewards(s, a).M2 > 0
}

// Sum returns v + Σ_u N(s,a,u) value(u).
func (x *Experience) Sum(v float64, s, a int, value []float64) float64 {
	next, count := x.Counts.Row(s, a)
	count = count[:len(next)]
	for k, u := range next {
		v += count[k] * value[u]
	}
	return v
}

// TerminalSet holds the states in which an episode terminated and in which no action
// was taken since.
type TerminalSet struct {
	Is  []bool // by state
	len int
}

// NewTerminalSet returns an empty set.
func NewTerminalSet(states int) TerminalSet { return TerminalSet{Is: make([]bool, states)} }

// Clear empties the set.
func (t *TerminalSet) Clear() {
	clear(t.Is)
	t.len = 0
}

// Len returns the number of terminal states.
func (t *TerminalSet) Len() int { return t.len }

// Add adds a state and reports whether it was missing.
func (t *TerminalSet) Add(s int) bool {
	if t.Is[s] {
		return false
	}
	t.Is[s] = true
	t.len++
	return true
}

// Remove removes a state and reports whether it was there.
func (t *TerminalSet) Remove(s int) bool {
	if !t.Is[s] {
		return false
	}
	t.Is[s] = false
	t.len--
	return true
}

// Model returns m with the terminal states never left and paying nothing, m itself if
// there are none. It is valid as long as m and until the set changes.
func (t *TerminalSet) Model(m *mdp.Tabular) mdp.Model {
	if t.len == 0 {
		return m
	}
	return terminating{m, t.Is}
}

type terminating struct {
	*mdp.Tabular
	terminal []bool
}

func (m terminating) Transition(s, a int) ([]int32, []float64) {
	if m.terminal[s] {
		return []int32{int32(s)}, []float64{1}
	}
	return m.Tabular.Transition(s, a)
}

func (m terminating) Reward(s, a int) float64 {
	if m.terminal[s] {
		return 0
	}
	return m.Tabular.Reward(s, a)
}
