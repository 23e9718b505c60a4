package modelbased

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/options"
)

// candidateExecutor acts by the candidate of a reduction that the host chose.
type candidateExecutor struct {
	policy    mdp.Deterministic // of a candidate that is nothing but one
	repeats   []options.Option  // that are drawn, one after the other
	execution options.Execution // of other candidates
	rng       *rand.Rand
	scratch   []float64
}

// follow follows a candidate from state s on.
func (x *candidateExecutor) follow(c options.Candidate, s int) {
	x.policy, x.repeats = nil, c.Repeats()
	if pi, ok := c.Policy.(mdp.Deterministic); ok && c.Option == nil {
		x.policy = pi
		return
	}
	switch {
	case x.repeats != nil:
		x.draw(s)
	case c.Option != nil:
		x.execution = options.Start(c.Option, s)
	default:
		x.execution = options.Start(options.Markov{Policy: c.Policy}, s)
	}
}

func (x *candidateExecutor) draw(s int) {
	x.execution = options.Start(x.repeats[x.rng.IntN(len(x.repeats))], s)
}

// action returns the candidate's action in s.
func (x *candidateExecutor) action(s int) int {
	if x.policy != nil {
		return x.policy[s]
	}
	return x.execution.SelectAction(s, x.scratch, x.rng)
}

// advance records that the last action led to next.
func (x *candidateExecutor) advance(next int) {
	if x.policy == nil && x.execution.Step(next, x.rng) && x.repeats != nil {
		x.draw(next)
	}
}
