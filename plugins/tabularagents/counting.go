package tabularagents

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/mdp"
)

// counting is what agents have in common whose model is what they have counted.
type counting struct {
	endings
	t             task
	pcg           rand.PCG
	rng           *rand.Rand // over pcg
	counts        *mdp.Counts
	state, action int // of the last step
}

// init prepares for a task, at the address that it keeps.
func (x *counting) init(t task) {
	x.t, x.endings = t, newEndings(t.states)
	x.rng = rand.New(&x.pcg)
}

// start begins a run.
func (x *counting) start(s uint64) {
	x.pcg.Seed(s, uint64(seed.Exploration))
	x.counts = newCounts(x.t.states, x.t.actions)
	x.forget()
}
