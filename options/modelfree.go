package options

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// ValueTables makes decision problems for an agent that learns K tables of action
// values Q_k instead of models (docs/theory.md §3.4). In state s, where action j
// has the largest mean value, an option whose first action is a is worth
//
//	v_k = (1−γ)Q_k(s,a)
//
// in member k, and one that begins with a random action the mean of that over a.
// The greedy option begins with j, the option of member l, which follows
// argmax Q_l for as long as it is held, with its action here. For k = l this is
// the value of following l, exactly; for the others it supposes that each goes on
// as it believes best, which is more than following l is worth to it.
//
// Directed options that begin alike have equal values, so that one of them stands
// for all: that of the kind listed first and, of the members, the one with the
// largest lead over j in its own values, which has most to gain. It is the one to
// be followed.
//
// As Q_k(s,j) supposes that what follows j is optimal for the member, the leads
// over the greedy option come out too small. With one state they are those of the
// bandit times 1−γ: exact for γ = 0 only. PolicyTables are without that flaw.
//
// The memory of a ValueTables is reused; it is not safe for concurrent use.
type ValueTables struct {
	arms     tableArms
	actions  int
	members  int
	gamma    float64
	values   []float64 // (1−γ)Q_k(s,a) at a*K+k, then their means over a
	first    []int     // the action of each member
	champion []int     // for each action, the member that stands for it, or -1
	taken    []bool    // actions that an option begins with
}

// TableOption says what an arm of a problem made of tables does.
type TableOption struct {
	Kind Kind
	// Of is the member of Members, the action of Constants and Deviations, and the
	// first action of Greedy, Overdue and Novelty.
	Of int
}

// TableOptions say which options are made of tables.
type TableOptions struct {
	// Kinds of options to explore with; default Members and Constants.
	Kinds []Kind
	// Reveal is ζ of the uninformed options, in (0,1]; default 1.
	Reveal float64
	// Evaluated is, of PolicyTables, the number of members, the first ones, whose
	// policies have values of their own; at most all.
	Evaluated int
}

func (o *TableOptions) complete() error {
	if o.Kinds == nil {
		o.Kinds = []Kind{Members, Constants}
	}
	if o.Reveal == 0 {
		o.Reveal = 1
	}
	return o.Check()
}

// Check returns an error if a kind is unknown or occurs twice, if Reveal is neither
// 0 nor in (0,1], or Evaluated is negative.
func (o *TableOptions) Check() error {
	if o.Evaluated < 0 {
		return fmt.Errorf("options: %d evaluated members", o.Evaluated)
	}
	if !(o.Reveal >= 0 && o.Reveal <= 1) {
		return fmt.Errorf("options: probability %v of revealing outside (0,1]", o.Reveal)
	}
	for n, k := range o.Kinds {
		if k < Greedy || k > Repeats {
			return fmt.Errorf("options: unknown kind of option %d", int(k))
		}
		if slices.Contains(o.Kinds[:n], k) {
			return fmt.Errorf("options: kind of option %s twice", k)
		}
	}
	return nil
}

// NewValueTables returns what makes problems of members' values of actions at
// discount 0 ≤ γ < 1.
func NewValueTables(actions, members int, gamma float64, o TableOptions) (*ValueTables, error) {
	if actions < 1 || members < 1 || !(gamma >= 0 && gamma < 1) {
		return nil, fmt.Errorf("options: no values of %d actions in %d members at discount %v", actions, members, gamma)
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	return &ValueTables{
		arms: newTableArms(actions, members, o), actions: actions, members: members, gamma: gamma,
		values: make([]float64, (actions+1)*members), first: make([]int, members),
		champion: make([]int, actions), taken: make([]bool, actions),
	}, nil
}

// At sets p to the decision to be made where member k holds action a to be worth
// q[a*K+k]. Option 0 is the greedy one; Option says what the others are. bonus
// returns the action that options of kind Overdue or Novelty take in the present
// state, and may be nil if there are none. p shares the memory of t until the next
// call, which is also when Option changes. The caller sets Step, Hold and what
// else p has.
func (t *ValueTables) At(p *Problem, q []float64, bonus func(Kind) int) error {
	if len(q) != t.actions*t.members {
		return errors.New("options: the values are not one for each action and member")
	}
	for i, v := range q {
		t.values[i] = (1 - t.gamma) * v
	}
	greedy := t.prefer()
	t.stand(greedy)
	t.arms.reset(t.first, t.values)
	clear(t.taken)
	t.add(Greedy, greedy, greedy)
	for _, kind := range t.arms.Kinds {
		switch kind {
		case Members:
			for a, l := range t.champion {
				if l >= 0 && !t.taken[a] {
					t.add(kind, l, a)
				}
			}
		case Constants, Deviations:
			for a := range t.taken {
				if !t.taken[a] {
					t.add(kind, a, a)
				}
			}
		case Overdue:
			if a := bonus(kind); !t.taken[a] {
				t.add(kind, a, a)
			}
		case Novelty:
			a := bonus(kind)
			copy(t.arms.add(kind, a), t.row(a))
		case Uniform, Repeats:
			copy(t.arms.add(kind, 0), t.mixed())
		}
	}
	t.arms.problem(p)
	return nil
}

// Option says what an arm of the last problem does.
func (t *ValueTables) Option(arm int) TableOption { return t.arms.options[arm] }

func (t *ValueTables) row(a int) []float64 { return t.values[a*t.members : (a+1)*t.members] }

// add offers a directed option that begins with an action.
func (t *ValueTables) add(kind Kind, of, action int) {
	t.taken[action] = true
	copy(t.arms.add(kind, of), t.row(action))
}

// prefer finds the greedy action and that of each member, the first of equal ones.
func (t *ValueTables) prefer() (greedy int) {
	best := math.Inf(-1)
	clear(t.first)
	for a := range t.actions {
		row := t.row(a)
		if m := mean(row); m > best {
			best, greedy = m, a
		}
		for k, v := range row {
			if v > t.values[t.first[k]*t.members+k] {
				t.first[k] = a
			}
		}
	}
	return greedy
}

// stand finds the members that stand for an action.
func (t *ValueTables) stand(greedy int) {
	for a := range t.champion {
		t.champion[a] = -1
	}
	for l, a := range t.first {
		if c := t.champion[a]; c < 0 || t.lead(l, a, greedy) > t.lead(c, a, greedy) {
			t.champion[a] = l
		}
	}
}

// mixed returns the means of the values of all actions, by member.
func (t *ValueTables) mixed() []float64 {
	mixed := t.row(t.actions)
	clear(mixed)
	for a := range t.actions {
		for k, v := range t.row(a) {
			mixed[k] += v
		}
	}
	for k := range mixed {
		mixed[k] /= float64(t.actions)
	}
	return mixed
}

// lead returns by how much member l prefers action a to b.
func (t *ValueTables) lead(l, a, b int) float64 {
	return t.values[a*t.members+l] - t.values[b*t.members+l]
}

// tableArms collects the arms of a problem without allocating.
type tableArms struct {
	TableOptions
	members int
	member  []string // names
	action  [2][]string
	options []TableOption
	arms    []Arm
	values  []float64
	optimal []float64
}

func newTableArms(actions, members int, o TableOptions) tableArms {
	t := tableArms{TableOptions: o, members: members, optimal: make([]float64, members)}
	for l := range members {
		t.member = append(t.member, "member "+strconv.Itoa(l))
	}
	for a := range actions {
		t.action[0] = append(t.action[0], "action "+strconv.Itoa(a))
		t.action[1] = append(t.action[1], "deviation "+strconv.Itoa(a))
	}
	return t
}

// reset begins a problem in which member k holds its action first[k] to be the
// best, and its value is among those of all actions.
func (t *tableArms) reset(first []int, values []float64) {
	t.options, t.arms, t.values = t.options[:0], t.arms[:0], t.values[:0]
	for k, a := range first {
		t.optimal[k] = values[a*t.members+k]
	}
}

// add adds an arm and returns its values, to be filled in.
func (t *tableArms) add(kind Kind, of int) []float64 {
	arm := Arm{Name: kind.String()}
	switch kind {
	case Members:
		arm.Name = t.member[of]
	case Constants:
		arm.Name = t.action[0][of]
	case Deviations:
		arm.Name = t.action[1][of]
	case Uniform, Novelty, Repeats:
		arm.Class, arm.Reveal = Uninformed, t.Reveal
	}
	t.options = append(t.options, TableOption{kind, of})
	t.arms = append(t.arms, arm)
	n := len(t.values)
	t.values = slices.Grow(t.values, t.members)[:n+t.members]
	return t.values[n:]
}

func (t *tableArms) problem(p *Problem) {
	p.Arms, p.Greedy, p.Values, p.Optimal = t.arms, 0, t.values, t.optimal
}
