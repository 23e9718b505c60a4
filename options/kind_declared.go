package options

import (
	"errors"
	"math"
)

// Declared are the options that files and sources of the config declare. The greedy policy is
// followed after them. In the value of option o of member k, with V that of the greedy policy,
//
//	v_k(o) = (1−γ) E[Σ_{t<d} γ^t r_{t+1} + γ^d V_k(s_d)]
//
// where d is its duration (Sutton, Precup & Singh 1999, eq. 9). Configurations name the files.
var Declared Kind = declaredKind{named{"declared", "options of a file or of a plugin"}}

type declaredKind struct{ named }

func (declaredKind) FromModels(b *Belief) error {
	if b.Discount == 0 && len(b.Declared) > 0 {
		return errors.New("options: declared options are valued with a discount, as they end and change no gain; use criterion discounted")
	}
	for i := range b.Declared {
		o := &b.Declared[i]
		b.others = append(b.others, Candidate{Arm: Arm{Name: o.Name, Ends: true}, Option: o})
	}
	return nil
}

func (declaredKind) Prepare(t *Tables) error {
	if !t.Policies || t.NoVisits {
		return errors.New("options of files and plugins need values of policies (values: policies) in states that are counted")
	}
	return nil
}

func (declaredKind) FromTables(t *Tables) {
	agent, s := t.agent.(DeclaredValuer), t.state()
	for i := range t.declared {
		o := &t.declared[i]
		if !o.Initiation[s] {
			continue
		}
		t.options, t.arms = append(t.options, TableOption{Declared, i}), append(t.arms, Arm{Name: o.Name, Ends: true})
		row := t.grow()
		steps := agent.DeclaredValues(row, i)
		for k := range row {
			row[k] *= 1 - t.gamma
		}
		t.arms[len(t.arms)-1].Steps = int(math.Ceil(steps))
	}
}

func (declaredKind) Action(t *Tables) int {
	return t.declared[t.Following().Of].Action(t.state(), t.RNG)
}

// DeclaredValuer is a TableAgent that values declared options.
type DeclaredValuer interface {
	// DeclaredValues writes into dst what it is worth to each member to follow option i of
	// Tables.DeclaredOptions where the agent is, and then the greedy policy. It returns the
	// mean duration that the members expect, 0 if they do not know.
	DeclaredValues(dst []float64, i int) (steps float64)
}
