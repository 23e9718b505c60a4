package options

import (
	"fmt"
	"math"
)

// LearnerOptions govern the learners of this package. The zero value is useful.
type LearnerOptions struct {
	Step    float64 // constant step size in (0,1]; 0 means 1/n at the n-th update of a pair
	Initial float64 // value of every pair at first
}

// table holds the values of options in states.
type table struct {
	options    []Option
	states     int
	initiation []bool    // [s*O+o]
	value      []float64 // likewise
	weight     []float64 // seen so far; nil with a constant step
	step       float64
	gamma      float64
}

func newTable(options []Option, states int, gamma float64, o LearnerOptions) (table, error) {
	switch {
	case len(options) == 0 || states < 1:
		return table{}, fmt.Errorf("options: no values for %d options in %d states", len(options), states)
	case !(gamma >= 0 && gamma <= 1):
		return table{}, fmt.Errorf("options: discount %v outside [0,1]", gamma)
	case !(o.Step >= 0 && o.Step <= 1):
		return table{}, fmt.Errorf("options: step size %v outside [0,1]", o.Step)
	case math.IsNaN(o.Initial) || math.IsInf(o.Initial, 0):
		return table{}, fmt.Errorf("options: initial value %v", o.Initial)
	}
	size := states * len(options)
	t := table{options: options, states: states, gamma: gamma, step: o.Step,
		initiation: make([]bool, size), value: make([]float64, size)}
	if o.Step == 0 {
		t.weight = make([]float64, size)
	}
	for s := range states {
		startable := false
		for i, option := range options {
			ok := option.Initiates(s)
			t.initiation[s*len(options)+i], t.value[s*len(options)+i] = ok, o.Initial
			startable = startable || ok
		}
		if !startable {
			return table{}, fmt.Errorf("options: no option initiates in state %d", s)
		}
	}
	return t, nil
}

// Value returns Q(s,o), for the o-th option.
func (t *table) Value(s, o int) float64 { return t.value[s*len(t.options)+o] }

// Best returns the option of largest value among those that initiate in s, the
// first of equal ones, and its value.
func (t *table) Best(s int) (option int, value float64) {
	n := len(t.options)
	value = math.Inf(-1)
	for o, q := range t.value[s*n : (s+1)*n] {
		if q > value && t.initiation[s*n+o] {
			option, value = o, q
		}
	}
	return option, value
}

// size returns the step size of an update with importance weight w > 0.
func (t *table) size(i int, w float64) float64 {
	if t.weight == nil {
		return min(1, t.step*w)
	}
	t.weight[i] += w
	return w / t.weight[i]
}

// move moves a value towards a target, with importance weight w > 0.
func (t *table) move(i int, target, w float64) {
	t.value[i] += t.size(i, w) * (target - t.value[i])
}

// markovOnly refuses semi-Markov options.
func markovOnly(options []Option) error {
	for i, o := range options {
		if o.Stages() > 0 {
			return fmt.Errorf("options: option %d is semi-Markov, which intra-option learning cannot do", i)
		}
	}
	return nil
}

// QLearner is SMDP Q-learning over options (Bradtke & Duff 1995; Sutton, Precup &
// Singh 1999), which learns from an option when it has ended:
//
//	Q(s,o) ← Q(s,o) + α[r + γ^k max_o' Q(s',o') − Q(s,o)]
//
// with r the discounted return of its k steps and o' among the options that
// initiate in s'.
type QLearner struct{ table }

// NewQLearner returns a learner of the values of options in a number of states at
// discount 0 ≤ γ ≤ 1. Some option must initiate in every state.
func NewQLearner(options []Option, states int, gamma float64, o LearnerOptions) (*QLearner, error) {
	t, err := newTable(options, states, gamma, o)
	return &QLearner{t}, err
}

// Update takes in that option o, started in s, had the discounted return r over
// duration ≥ 1 steps and ended, or was cut short, in next. terminated says that
// the episode ended there, so that nothing follows. An
// Execution supplies Origin, Return and Elapsed.
func (l *QLearner) Update(s, o int, r float64, duration, next int, terminated bool) {
	if !terminated {
		_, v := l.Best(next)
		r += math.Pow(l.gamma, float64(duration)) * v
	}
	l.move(s*len(l.options)+o, r, 1)
}

// IntraLearner learns the values of all options from every single step, whichever
// option took it (intra-option learning; Sutton, Precup & Singh 1998, 1999):
//
//	Q(s,o) ← Q(s,o) + α w [r + γU(s',o) − Q(s,o)]
//	U(s',o) = (1−β(s'))Q(s',o) + β(s') max_o' Q(s',o')
//
// where w = π_o(a|s)/μ(a|s), μ being the probability with which the action was
// taken. The paper states it for options with deterministic policies, where a
// constant μ = 1 will do: w is then 1 for the options that agree with the action
// and 0 for the others. Values of an option are also learned where it does not
// initiate but may continue.
type IntraLearner struct {
	table
	probs []float64
}

// NewIntraLearner returns a learner for Markov options over a number of states
// and actions at discount 0 ≤ γ ≤ 1.
func NewIntraLearner(options []Option, states, actions int, gamma float64, o LearnerOptions) (*IntraLearner, error) {
	t, err := newTable(options, states, gamma, o)
	if err != nil {
		return nil, err
	}
	if err := markovOnly(options); err != nil {
		return nil, err
	}
	return &IntraLearner{t, make([]float64, actions)}, nil
}

// Update takes in one step: action a, taken in s with probability behaviour > 0,
// had a reward and led to next, where the episode ended if terminated.
func (l *IntraLearner) Update(s, a int, reward float64, next int, terminated bool, behaviour float64) {
	if !(behaviour > 0) {
		panic("options: an action was taken with probability zero")
	}
	best := 0.0
	if !terminated {
		_, best = l.Best(next)
	}
	n := len(l.options)
	for o, option := range l.options {
		option.Distribution(l.probs, s, 0)
		w := l.probs[a] / behaviour
		if w == 0 {
			continue
		}
		target := reward
		if !terminated {
			end := option.Termination(next, 1)
			target += l.gamma * ((1-end)*l.value[next*n+o] + end*best)
		}
		l.move(s*n+o, target, w)
	}
}
