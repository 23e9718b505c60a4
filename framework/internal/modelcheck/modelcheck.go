// Package modelcheck compares what an environment does with the model that it declares.
package modelcheck

import (
	"fmt"
	"math"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/mdp"
)

// Enumerates says whether the observations and actions of an environment are the states and actions of a
// model. The first observation and the first action are state 0 and action 0.
func Enumerates(spec *framework.Spec, m *mdp.Tabular) (firstState, firstAction int64, ok bool) {
	states, finite := spec.Observation.(space.Discrete)
	actions, finitely := spec.Action.(space.Discrete)
	ok = finite && finitely && states.N == int64(m.NumStates()) && actions.N == int64(m.NumActions())
	return states.Start, actions.Start, ok
}

// Start returns an error if no episode of a model begins in state s.
func Start(m *mdp.Tabular, s int) error {
	states, _ := m.Initial()
	if states == nil { // it does not say
		return nil
	}
	if _, ok := slices.BinarySearch(states, int32(s)); !ok {
		return fmt.Errorf("an episode began in state %d, in which none of the model begins", s)
	}
	return nil
}

// Step returns an error if a model does not allow a step. It returns which successor the next state is.
func Step(m *mdp.Tabular, s, a, next int, reward float64, terminated bool) (successor int, err error) {
	if s < 0 || s >= m.NumStates() || a < 0 || a >= m.NumActions() {
		return 0, fmt.Errorf("the model has no state %d or no action %d", s, a)
	}
	states, _ := m.Transition(s, a)
	k, ok := slices.BinarySearch(states, int32(next))
	switch {
	case !ok:
		return k, fmt.Errorf("action %d in state %d led to state %d, which has the probability 0 in the model", a, s, next)
	case terminated != m.Terminal(next):
		return k, fmt.Errorf("action %d in state %d led to state %d and terminated is %v, but in the model terminal is %v", a, s, next, terminated, m.Terminal(next))
	case m.Noise(s, a).Bernoulli && reward != 0 && reward != 1:
		return k, fmt.Errorf("action %d in state %d paid %v, and the model pays 0 or 1 (Bernoulli)", a, s, reward)
	}
	return k, nil
}

// Limit returns an error if a model does not say when an episode is truncated. It is called after each of
// its steps.
func Limit(m *mdp.Tabular, steps int, terminated, truncated bool) error {
	switch limit := m.EpisodeSteps(); {
	case limit == 0 && truncated:
		return fmt.Errorf("an episode was truncated after %d steps, and the model has no limit: give it episode_steps", steps)
	case limit > 0 && (truncated && steps != limit || !truncated && !terminated && steps >= limit):
		return fmt.Errorf("truncated is %v after %d steps, and episodes of the model are truncated after %d", truncated, steps, limit)
	}
	return nil
}

// Evidence is what was seen of a model.
type Evidence struct {
	Model *mdp.Tabular
	// Seen is by state, action and next state. Starts have the state and action −1.
	Seen map[[3]int]*Outcome
}

// Outcome is a transition that was seen.
type Outcome struct {
	N                            int
	Least, Most, Total, Deviance float64 // of its rewards; Deviance is the sum of (reward − mean)² of the model
}

// New returns no evidence yet.
func New(m *mdp.Tabular) *Evidence { return &Evidence{m, map[[3]int]*Outcome{}} }

// Start adds the first state of an episode. One in which none of the model begins is an error.
func (e *Evidence) Start(s int) error {
	if err := Start(e.Model, s); err != nil {
		return err
	}
	e.of([3]int{-1, -1, s}).N++
	return nil
}

func (e *Evidence) of(key [3]int) *Outcome {
	o := e.Seen[key]
	if o == nil {
		o = &Outcome{Least: math.Inf(1), Most: math.Inf(-1)}
		e.Seen[key] = o
	}
	return o
}

// Step adds a step. What the model does not allow is an error.
func (e *Evidence) Step(s, a, next int, reward float64, terminated bool) error {
	m := e.Model
	k, err := Step(m, s, a, next, reward, terminated)
	if err != nil {
		return err
	}
	mean := m.Reward(s, a)
	if by := m.SuccessorRewards(s, a); by != nil {
		mean = by[k]
	}
	o := e.of([3]int{s, a, next})
	o.N++
	o.Total += reward
	o.Least, o.Most = min(o.Least, reward), max(o.Most, reward)
	o.Deviance += (reward - mean) * (reward - mean)
	return nil
}

// enough is after how many visits a reward that was always the same counts as fixed.
const enough = 20

// slack is how far, relative to its size, a reward may be from the model's: it may have been
// computed in float32.
const slack = 1e-5

// Rewards compares rewards without noise in the model. A model may give the expected reward alone: one that
// varies is not judged, and one of several successors is if the reward of each is known.
func (e *Evidence) Rewards() error {
	m := e.Model
	for pair := range m.NumStates() * m.NumActions() {
		s, a := pair/m.NumActions(), pair%m.NumActions()
		if m.Terminal(s) || m.Noise(s, a) != (mdp.Noise{}) {
			continue
		}
		states, prob := m.Transition(s, a)
		by := m.SuccessorRewards(s, a)
		paid, model, known := 0.0, m.Reward(s, a), true
		for k, next := range states {
			o := e.Seen[[3]int{s, a, int(next)}]
			fixed := o != nil && o.N >= enough && o.Least == o.Most
			if fixed && by != nil && math.Abs(o.Least-by[k]) > slack*max(1, math.Abs(by[k])) {
				return fmt.Errorf("action %d in state %d paid %v each of %d times that it led to state %d, and the model pays %v", a, s, o.Least, o.N, next, by[k])
			}
			if known = known && fixed; known {
				paid += float64(prob[k] * o.Least)
			}
		}
		if known && math.Abs(paid-model) > slack*max(1, math.Abs(model)) {
			return fmt.Errorf("action %d in state %d pays %v, and the model pays %v", a, s, paid, model)
		}
	}
	return nil
}
