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
	Starts    []float64   // how often episodes began in each state
	Episodes  float64     // begun
	Plans     int         // made, the present one among them
	State     int         // in which the last action was taken
	Action    int         // the last one
	Seed      uint64      // of the run
	Rand      *rand.Rand  // the agent's stream of random numbers
	pcg       rand.PCG
}

// init prepares for a task, at the address that it keeps.
func (x *Experience) init(t finite.Task) {
	x.Task, x.Terminals, x.Starts = t, NewTerminalSet(t.States), make([]float64, t.States)
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
	clear(x.Starts)
	x.Episodes, x.Plans = 0, 0
}

// begin counts an episode that begins in s.
func (x *Experience) begin(s int) {
	x.Starts[s]++
	x.Episodes++
}

// Data is embedded by constructions. It has what the agent has seen, and is an Optimism
// for which an end is worth nothing.
type Data struct {
	*Experience `snapshot:"-"`
}

// Start implements Construction.
func (d *Data) Start(x *Experience) { d.Experience = x }

// EndValue implements Optimism.
func (d *Data) EndValue([]float64) float64 { return 0 }

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
