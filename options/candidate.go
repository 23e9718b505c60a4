package options

import (
	"fmt"
	"slices"

	"github.com/rlrun/rlrun/mdp"
)

// Class says what holding an option is for (docs/theory.md §3.1).
type Class int

const (
	// Directed options (class A) are policies worth keeping if they turn out well:
	// what one earns while trying is what one would earn thereafter.
	Directed Class = iota
	// Uninformed options (class B) are held to find out which policy is best, and
	// given up for it thereafter.
	Uninformed
)

// Arm is an option as the bandit sees it.
type Arm struct {
	Name  string
	Class Class
	// RevealProbability is ζ in [0,1], the probability that holding an uninformed
	// option reveals the model; directed options do not use it.
	RevealProbability float64
}

// Candidate is an option that the reduction considers.
type Candidate struct {
	Arm
	// Policy is the stationary policy that a directed option keeps if it turns out
	// well, and by which options are valued. It is nil for repeated actions.
	Policy mdp.Policy
	// Option is what is done while exploring, without end; see Hold. Nil means
	// following Policy.
	Option Option

	repeats []Option // the options that follow each other, by equal chances
}

// Hold returns the option of exploring for a number of steps ≥ 1. It is nil for
// repeated actions, which are drawn one after the other: see Repeats.
func (c *Candidate) Hold(steps int) Option {
	switch {
	case c.Option != nil:
		return Timeout{c.Option, steps}
	case c.Policy != nil:
		return Hold(c.Policy, steps)
	}
	return nil
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

func (d *distinct) add(name string, pi mdp.Deterministic) {
	for _, p := range d.seen {
		if slices.Equal(p, pi) {
			return
		}
	}
	d.seen = append(d.seen, pi)
	d.candidates = append(d.candidates, directed(name, pi))
}

// Reveal returns the probability that a policy, followed for a number of steps
// from s, takes at least once an action in a state that is unknown. For one
// model this is the chance of an uninformed option to reveal it, if the unknown
// pairs have to be seen (docs/theory.md §3.6, DeepSea). It takes steps times the
// size of the model.
func Reveal(m mdp.Model, pi mdp.Policy, s, steps int, unknown func(s, a int) bool) (float64, error) {
	n, actions := m.NumStates(), m.NumActions()
	if s < 0 || s >= n || steps < 0 {
		return 0, fmt.Errorf("options: no %d steps from state %d", steps, s)
	}
	if _, err := mdp.Induce(m, pi); err != nil {
		return 0, err
	}
	here, there := make([]float64, n), make([]float64, n)
	probs := make([]float64, actions)
	here[s] = 1
	revealed := 0.0
	for range steps {
		clear(there)
		for x, mass := range here {
			if mass == 0 {
				continue
			}
			pi.Distribution(probs, x)
			for a, q := range probs {
				switch {
				case q == 0:
				case unknown(x, a):
					revealed += mass * q
				default:
					next, prob := m.Transition(x, a)
					for i, t := range next {
						there[t] += mass * q * prob[i]
					}
				}
			}
		}
		here, there = there, here
	}
	return min(revealed, 1), nil
}

// ReturnDiscount returns γ_s = E γ^τ, where τ is the time until π returns to s.
// It is the discount per pull if deviations in s are arms that are pulled on
// visits to s (docs/theory.md §3.2). With one state it is γ.
func ReturnDiscount(m mdp.Model, pi mdp.Policy, s int, gamma float64) (float64, error) {
	if s < 0 || s >= m.NumStates() {
		return 0, fmt.Errorf("options: there is no state %d", s)
	}
	end := make([]float64, m.NumStates())
	end[s] = 1
	model, err := NewModel(m, Markov{Policy: pi, End: end}, gamma)
	if err != nil {
		return 0, err
	}
	return model.Transition(s)[s], nil
}
