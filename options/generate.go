package options

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/rlrun/rlrun/mdp"
)

// candidates returns the greedy option and those of the kinds asked for.
func (o *ReduceOptions) candidates(mean *mdp.Tabular, y mdp.Deterministic, members []mdp.Deterministic) ([]Candidate, error) {
	n, actions := mean.NumStates(), mean.NumActions()
	d := distinct{}
	d.add(Greedy.String(), y)
	var others []Candidate // that are not deterministic
	for _, kind := range o.Kinds {
		switch kind {
		case Greedy:
		case Members:
			for k, pi := range members {
				d.add("member "+strconv.Itoa(k), pi)
			}
		case Constants:
			for a := range actions {
				d.add("action "+strconv.Itoa(a), mdp.Constant(n, a))
			}
		case Uniform:
			c := directed(kind.String(), mdp.Uniform{})
			c.Class, c.Reveal = Uninformed, o.Reveal
			others = append(others, c)
		case Overdue, Novelty:
			c, err := o.bonus(kind, mean)
			if err != nil {
				return nil, err
			}
			if kind == Overdue {
				d.add(c.Name, c.Policy.(mdp.Deterministic))
			} else {
				others = append(others, c)
			}
		case Deviations:
			for a := range actions {
				pi := slices.Clone(y)
				pi[o.State] = a
				before := len(d.candidates)
				d.add("deviation "+strconv.Itoa(a), pi)
				if len(d.candidates) > before {
					d.candidates[before].Option = Deviation{a, y}
				}
			}
		case Repeats:
			c, err := NewRepeats(actions, o.Exponent, o.Longest, o.Reveal)
			if err != nil {
				return nil, err
			}
			others = append(others, c)
		default:
			return nil, fmt.Errorf("options: unknown kind of option %d", int(kind))
		}
	}
	others = append(others, o.Extra...)
	for _, c := range others {
		if c.Policy == nil && c.repeats == nil {
			return nil, fmt.Errorf("options: option %s has no policy to be valued by", c.Name)
		}
	}
	return append(d.candidates, others...), nil
}

// bonus returns the policy that is optimal with a bonus.
func (o *ReduceOptions) bonus(kind Kind, mean *mdp.Tabular) (Candidate, error) {
	if o.Visits == nil {
		return Candidate{}, fmt.Errorf("options: options of kind %s need the visits", kind)
	}
	bonus := o.Visits.Overdue(o.Kappa)
	if kind == Novelty {
		bonus = o.Visits.Rare(1)
	}
	m, err := Bonus(mean, bonus, kind == Novelty)
	if err != nil {
		return Candidate{}, err
	}
	var sol *mdp.Solution
	if o.Discount == 0 {
		sol, err = mdp.SolveAverage(m, mdp.Options{})
	} else {
		sol, err = mdp.SolveDiscounted(m, o.Discount, mdp.Options{})
	}
	if err != nil {
		return Candidate{}, fmt.Errorf("mean model with bonus: %w", err)
	}
	c := directed(kind.String(), sol.Policy)
	if kind == Novelty {
		c.Class, c.Reveal = Uninformed, o.Reveal
	}
	return c, nil
}
