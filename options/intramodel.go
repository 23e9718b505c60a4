package options

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// ModelLearner learns the models of all options from every single step, whichever
// option took it (intra-option model learning; Sutton, Precup & Singh 1998, 1999):
// with w as in IntraLearner and β(s') the probability of ending in s',
//
//	r(s)   ← r(s)   + α w [reward + γ(1−β(s'))r(s') − r(s)]
//	p(s,x) ← p(s,x) + α w [γβ(s')1{x = s'} + γ(1−β(s'))p(s',x) − p(s,x)]
type ModelLearner struct {
	table  table // its values are not used
	probs  []float64
	models []*Model
}

// NewModelLearner returns a learner of the models, at first zero, of Markov
// options over a number of states, at most 2000, and actions at discount 0 ≤ γ < 1.
// Initial is not used.
func NewModelLearner(options []Option, states, actions int, gamma float64, o LearnerOptions) (*ModelLearner, error) {
	t, err := newTable(options, states, gamma, o)
	if err != nil {
		return nil, err
	}
	if states > largest {
		return nil, fmt.Errorf("options: models of options are for up to %d states, not %d", largest, states)
	}
	if !(gamma < 1) {
		return nil, fmt.Errorf("options: models are learned at a discount below one, not %v", gamma)
	}
	if err := markovOnly(options); err != nil {
		return nil, err
	}
	l := &ModelLearner{table: t, probs: make([]float64, actions)}
	for i := range options {
		m := &Model{Initiation: make([]bool, states), Reward: make([]float64, states), gamma: gamma, next: mat.NewDense(states, states, nil)}
		for s := range states {
			m.Initiation[s] = t.initiation[s*len(options)+i]
		}
		l.models = append(l.models, m)
	}
	return l, nil
}

// Model returns what has been learned of the o-th option. It belongs to the learner
// and changes with every update.
func (l *ModelLearner) Model(o int) *Model { return l.models[o] }

// Update takes in one step: action a, taken in s with probability behaviour > 0,
// had a reward and led to next, where the episode, and with it every option, ended
// if terminated. It takes O(S) for each option that may take the action.
func (l *ModelLearner) Update(s, a int, reward float64, next int, terminated bool, behaviour float64) {
	if !(behaviour > 0) {
		panic("options: an action was taken with probability zero")
	}
	for o, option := range l.table.options {
		option.Distribution(l.probs, s, 0)
		w := l.probs[a] / behaviour
		if w == 0 {
			continue
		}
		end := 1.0
		if !terminated {
			end = option.Termination(next, 1)
		}
		m := l.models[o]
		step, onward := l.table.size(s*len(l.table.options)+o, w), l.table.gamma*(1-end)
		m.Reward[s] += step * (reward + onward*m.Reward[next] - m.Reward[s])
		row, after := m.next.RawRowView(s), m.next.RawRowView(next)
		for x := range row {
			target := onward * after[x]
			if x == next {
				target += l.table.gamma * end
			}
			row[x] += step * (target - row[x])
		}
	}
}
