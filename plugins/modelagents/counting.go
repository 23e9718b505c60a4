package modelagents

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/finite"
)

// counting is what agents have in common whose model is what they have counted.
type counting struct {
	endings
	t             finite.Task
	pcg           rand.PCG
	rng           *rand.Rand // over pcg
	counts        *mdp.Counts
	state, action int // of the last step
}

// init prepares for a task, at the address that it keeps.
func (x *counting) init(t finite.Task) {
	x.t, x.endings = t, newEndings(t.States)
	x.rng = rand.New(&x.pcg)
}

// start begins a run.
func (x *counting) start(s uint64) {
	x.pcg.Seed(s, uint64(seed.Exploration))
	x.counts = newCounts(x.t.States, x.t.Actions)
	x.forget()
}
