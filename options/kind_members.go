package options

import "strconv"

// Members are the policies that are optimal in a member.
//
// If tables value options by their first actions, members with the same first action have
// equal values. So one member represents them: the one with the largest lead over the
// greedy action in its own values.
//
// With tables that value policies, the first TableConfig.Evaluated members have values
// of their own. The others are represented, for each first action a, by the member that
// gains most over the greedy option in its own values, max_b Q_l(s,b) − E_yl(s,j). A
// member that would also begin with a is assumed to agree with it. It values the option
// at its own best, Q_k(s,a), which for k = l is exact. To any other member it is worth
// a deviation, E_yk(s,a).
var Members Kind = membersKind{named{"members", "each member's policy"}}

type membersKind struct{ named }

func (membersKind) FromModels(b *Belief) error {
	for k, pi := range b.OptimalOf {
		b.Directed("member "+strconv.Itoa(k), pi)
	}
	return nil
}

func (membersKind) Prepare(t *Tables) error {
	t.NeedPolicies(t.Evaluated)
	return nil
}

func (membersKind) FromTables(t *Tables) {
	if !t.Policies {
		t.represent(0)
		for a, l := range t.champion {
			if l >= 0 {
				t.OwnPolicy("member", l, a)
			}
		}
		return
	}
	for l, a := range t.preferred[:t.Evaluated] {
		t.OwnPolicy("member", l, a)
	}
	t.represent(t.Evaluated)
	for a, l := range t.champion {
		if l < 0 {
			continue
		}
		row := t.add("member", l, Directed)
		t.begin(row, a, 0)
		optimal := t.optimal[:len(row)]
		for m, first := range t.preferred[:len(row)] {
			if first == a {
				row[m] = optimal[m]
			}
		}
	}
}

func (membersKind) Action(t *Tables) int { return t.agent.Prefers(t.Following().Of) }
