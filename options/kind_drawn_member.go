package options

import "strconv"

// DrawnMember is the policy that is optimal in one member, which is drawn anew for every
// decision: posterior sampling (Strens 2000; Osband et al. 2016), which a rule may refuse to
// follow. An option that teaches nothing is offered no more often than it is the best of a
// member, so no rule can be caught in it (docs/theory.md §3.2).
//
// With tables that value policies, but cannot evaluate the policy that was drawn
// (TableConfig.Planned), a member that would begin with another action is assumed to lose
// at every step of the option what it loses by the first one.
var DrawnMember Kind = drawnMemberKind{named{"drawn-member", "the policy of one member, which is drawn anew for every decision"}}

type drawnMemberKind struct{ named }

func (drawnMemberKind) FromModels(b *Belief) error {
	for k, pi := range b.OptimalOf {
		b.Drawn("member "+strconv.Itoa(k), pi)
	}
	return nil
}

func (drawnMemberKind) Prepare(t *Tables) error {
	if t.Planned {
		t.NeedPolicies(1)
	}
	return nil
}

func (drawnMemberKind) FromTables(t *Tables) {
	l := t.drawn
	a := t.preferred[l]
	if t.Planned && t.Policies || !t.Policies {
		if t.Policies || a != t.greedy {
			t.begin(t.add("member", l, Directed), a, t.own[t.kind])
		}
		return
	}
	row := t.add("member", l, Directed)
	optimal, y := t.optimal[:len(row)], t.worth[:len(row)]
	first, greedy := t.policyRow(a, 0)[:len(row)], t.policyRow(t.greedy, 0)[:len(row)]
	for m, preferred := range t.preferred[:len(row)] {
		if preferred == a {
			row[m] = optimal[m]
		} else {
			row[m] = y[m] + first[m] - greedy[m]
		}
	}
}

func (drawnMemberKind) Action(t *Tables) int { return t.agent.Prefers(t.Following().Of) }
