package options

import (
	"slices"

	"github.com/rlrun/rlrun/mdp"
)

// Class says what holding an option is for (docs/theory.md §3.1).
type Class int

const (
	// Directed options (class A) are policies worth keeping if they turn out well: their
	// reward during the trial is also their reward afterwards.
	Directed Class = iota
	// Uninformed options (class B) are held to find out which policy is best, and
	// given up for it thereafter.
	Uninformed
)

// Arm is an option as the bandit sees it.
type Arm struct {
	Name  string // of the option, for logs
	Class Class  // Directed or Uninformed
	// RevealProbability is ζ in [0,1], the probability that holding an uninformed
	// option reveals the model; directed options do not use it.
	RevealProbability float64
	// Steps is the number of steps after which the option has shown what it promises
	// (docs/theory.md §3.2); 0 if the agent does not say. The option is held for at
	// least as long.
	Steps int
	// Ends says that the option ends by itself: Steps is its expected duration.
	Ends bool
}

// Candidate is an option that the reduction considers.
type Candidate struct {
	Arm
	// Policy is the stationary policy that a directed option keeps if it turns out
	// well, and by which options are valued. It is nil for repeated actions.
	Policy mdp.Policy
	// Option is what is done while exploring, without end. Nil means
	// following Policy.
	Option Option

	repeats []Option // the options that follow each other, by equal chances
	drawn   bool     // offered only if a member with this policy is drawn
}

// Repeats returns the options of a candidate of that kind, else nil. Whenever an
// option has ended, one of them is drawn uniformly, until the commitment is over.
func (c *Candidate) Repeats() []Option { return c.repeats }

// directed makes a candidate of a stationary policy.
func directed(name string, pi mdp.Policy) Candidate {
	return Candidate{Arm: Arm{Name: name}, Policy: pi}
}

// distinct collects deterministic policies, each once.
type distinct struct {
	candidates []Candidate
	seen       []mdp.Deterministic
}

// add adds a policy, or returns the number of the candidate that has it.
func (d *distinct) add(name string, pi mdp.Deterministic) int {
	if i := slices.IndexFunc(d.seen, func(p mdp.Deterministic) bool { return slices.Equal(p, pi) }); i >= 0 {
		return i
	}
	d.seen = append(d.seen, pi)
	d.candidates = append(d.candidates, directed(name, pi))
	return len(d.seen) - 1
}
