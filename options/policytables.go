package options

import (
	"errors"
	"fmt"
	"slices"
)

// PolicyTables makes decision problems for an agent that learns, besides K tables
// of action values Q_k, what policies are worth to each member: E_pk(s,a), the
// value of action a followed by policy p for ever (docs/theory.md §3.1). With a the
// action that option x takes in s, options are then worth what they are,
//
//	v_k(x) = (1−γ)E_xk(s,a),
//
// the greedy option y among them, which ValueTables overrates where its members
// would not remain greedy. A deviation is worth its action, followed by y; so are
// options of kind Overdue and Novelty, which are no fixed policies. Repeats are
// valued like Uniform. With one state the values of constants are those of the
// bandit at every γ.
//
// To value the policies of all members takes K² tables. Those of the first
// TableOptions.Evaluated have values of their own, each an option. The others are
// represented: for each first action a by the one that gains most over the greedy
// option in its own values, max_b Q_l(s,b) − E_yl(s,j). A member that would begin
// with a, too, is taken to agree with it, and holds the option to be worth its own
// best, Q_k(s,a), which for k = l is exact; to one that would not it is worth a
// deviation, E_yk(s,a).
//
// The memory of a PolicyTables is reused; it is not safe for concurrent use.
type PolicyTables struct {
	ValueTables
	policies []TableOption
	constant int       // where the policies of Constants begin among them
	uniform  int       // which is Uniform
	lead     []float64 // scratch: of the members over the greedy option
}

// NewPolicyTables returns what makes problems of members' values of policies at
// discount 0 ≤ γ < 1.
func NewPolicyTables(actions, members int, gamma float64, o TableOptions) (*PolicyTables, error) {
	v, err := NewValueTables(actions, members, gamma, o)
	if err != nil {
		return nil, err
	}
	if v.arms.Evaluated > members {
		return nil, fmt.Errorf("options: %d evaluated members of %d", v.arms.Evaluated, members)
	}
	t := &PolicyTables{ValueTables: *v, policies: []TableOption{{Kind: Greedy}}, lead: make([]float64, members)}
	has := func(k Kind) bool { return slices.Contains(t.arms.Kinds, k) }
	if has(Members) {
		for l := range t.arms.Evaluated {
			t.policies = append(t.policies, TableOption{Members, l})
		}
	}
	t.constant = len(t.policies)
	if has(Constants) {
		for a := range actions {
			t.policies = append(t.policies, TableOption{Constants, a})
		}
	}
	t.uniform = len(t.policies)
	if has(Uniform) || has(Repeats) {
		t.policies = append(t.policies, TableOption{Kind: Uniform})
	}
	return t, nil
}

// Policies returns the policies whose values are needed: kinds Greedy, Members,
// Constants and Uniform. The slice belongs to t.
func (t *PolicyTables) Policies() []TableOption { return t.policies }

// At is ValueTables.At with, besides, e[(a*P+p)*K+k], the value to member k of
// action a followed by policy number p of P.
func (t *PolicyTables) At(p *Problem, q, e []float64, bonus func(Kind) int) error {
	if len(q) != t.actions*t.members || len(e) != len(q)*len(t.policies) {
		return errors.New("options: the values are not one for each action, policy and member")
	}
	for i, v := range q {
		t.values[i] = (1 - t.gamma) * v
	}
	greedy := t.prefer()
	t.arms.reset(t.first, t.values)
	t.offer(Greedy, greedy, e, greedy, 0)
	for _, kind := range t.arms.Kinds {
		switch kind {
		case Members:
			for l, a := range t.first[:t.arms.Evaluated] {
				t.offer(kind, l, e, a, 1+l)
			}
			t.elect(e, greedy)
			for a, l := range t.champion {
				if l >= 0 {
					t.represent(l, e, a)
				}
			}
		case Constants:
			for a := range t.actions {
				t.offer(kind, a, e, a, t.constant+a)
			}
		case Deviations:
			for a := range t.actions {
				if a != greedy {
					t.offer(kind, a, e, a, 0)
				}
			}
		case Overdue, Novelty:
			if a := bonus(kind); kind == Novelty || a != greedy {
				t.offer(kind, a, e, a, 0)
			}
		case Uniform, Repeats:
			row := t.arms.add(kind, 0)
			clear(row)
			for a := range t.actions {
				for k := range row {
					row[k] += t.value(e, a, k, t.uniform) / float64(t.actions)
				}
			}
		}
	}
	t.arms.problem(p)
	return nil
}

// value returns (1−γ)E_pk(s,a).
func (t *PolicyTables) value(e []float64, action, member, policy int) float64 {
	return (1 - t.gamma) * e[(action*len(t.policies)+policy)*t.members+member]
}

// offer adds an option that takes an action first.
func (t *PolicyTables) offer(kind Kind, of int, e []float64, action, policy int) {
	row, i := t.arms.add(kind, of), (action*len(t.policies)+policy)*t.members
	for k, v := range e[i : i+t.members] {
		row[k] = (1 - t.gamma) * v
	}
}

// elect finds, of the members that are not evaluated, the one for each action that
// has most to gain over the greedy option by its own policy.
func (t *PolicyTables) elect(e []float64, greedy int) {
	for a := range t.champion {
		t.champion[a] = -1
	}
	lead := t.lead
	for l := t.arms.Evaluated; l < t.members; l++ {
		lead[l] = t.arms.optimal[l] - t.value(e, greedy, l, 0)
		if c := &t.champion[t.first[l]]; *c < 0 || lead[l] > lead[*c] {
			*c = l
		}
	}
}

// represent offers to follow a member that is not evaluated and begins with an
// action.
func (t *PolicyTables) represent(l int, e []float64, action int) {
	row := t.arms.add(Members, l)
	for k, a := range t.first {
		if a == action {
			row[k] = t.arms.optimal[k]
		} else {
			row[k] = t.value(e, action, k, 0)
		}
	}
}
