package options

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// ValueTables makes decision problems for an agent that learns K tables of action
// values Q_k instead of models (docs/theory.md §3.4). In state s the options are
//
//   - greedy: the action j of largest mean value, worth (1−γ)Q_k(s,j);
//   - each action a, worth (1−γ)Q_k(s,a);
//   - member: following one member's greedy policy, worth (1−γ)max_a Q_k(s,a).
//
// As Q_k(s,j) supposes that what follows j is optimal for the member, the leads
// over the greedy option come out too small, except with one state, where they are
// exact. The memory of a ValueTables is reused; it is not safe for concurrent use.
type ValueTables struct {
	arms    []Arm
	actions int
	gamma   float64
	values  []float64
}

// NewValueTables returns what makes problems from tables of values at discount
// 0 ≤ γ < 1.
func NewValueTables(actions int, gamma float64) (*ValueTables, error) {
	if actions < 1 || !(gamma >= 0 && gamma < 1) {
		return nil, fmt.Errorf("options: no values of %d actions at discount %v", actions, gamma)
	}
	t := &ValueTables{actions: actions, gamma: gamma, arms: []Arm{{Name: Greedy.String()}}}
	for a := range actions {
		t.arms = append(t.arms, Arm{Name: "action " + strconv.Itoa(a)})
	}
	t.arms = append(t.arms, Arm{Name: "member"})
	return t, nil
}

// At sets p to the decision to be made where the members hold the actions to be
// worth q[k*A+a], and returns the greedy action, the first of equal ones. Option
// 0 is greedy, 1+a is action a and A+1 is member. p shares the memory of t until
// the next call. The caller sets Step, Hold and what else p has.
func (t *ValueTables) At(p *Problem, q []float64) (greedy int, err error) {
	if len(q) == 0 || len(q)%t.actions != 0 {
		return 0, errors.New("options: the values are not as many for each member")
	}
	k := len(q) / t.actions
	if len(t.values) != len(t.arms)*k {
		t.values = make([]float64, len(t.arms)*k)
	}
	best := math.Inf(-1)
	member := t.values[(t.actions+1)*k:]
	for a := range t.actions {
		row := t.values[(1+a)*k : (2+a)*k]
		for i := range row {
			v := (1 - t.gamma) * q[i*t.actions+a]
			row[i] = v
			if a == 0 || v > member[i] {
				member[i] = v
			}
		}
		if m := mean(row); m > best {
			best, greedy = m, a
		}
	}
	copy(t.values[:k], t.values[(1+greedy)*k:(2+greedy)*k])
	p.Arms, p.Greedy, p.Values, p.Optimal = t.arms, 0, t.values, member
	return greedy, nil
}
