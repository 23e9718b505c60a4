package opinions

import (
	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// Tables make a host's problems of members' values of actions or, if they are
// learned, of policies. The zero value is before the host's offer.
type Tables struct {
	actions  *options.ValueTables
	policies *options.PolicyTables
	bonus    func(options.Kind) int
}

// Offer prepares tables, and the follower of an agent, for kinds of options. The
// errors wrap framework.ErrUnsupported.
func (t *Tables) Offer(p *Params, x *Follower, kinds []options.Kind) (err error) {
	if x.discount == 1 {
		return lanes.Unsupported("there are no values per step to decide by when gamma is 1")
	}
	o := options.TableOptions{Kinds: kinds, Reveal: p.Reveal, Evaluated: p.Evaluated}
	if p.Values == "policies" {
		t.policies, err = options.NewPolicyTables(x.actions, x.members, x.discount, o)
	} else {
		t.actions, err = options.NewValueTables(x.actions, x.members, x.discount, o)
	}
	if err != nil {
		return lanes.Unsupported("%v", err)
	}
	t.bonus = x.estimates.Bonus
	for _, k := range kinds {
		x.offer(k)
	}
	return nil
}

// Policies returns the policies whose values the agent is to learn.
func (t *Tables) Policies() []options.TableOption {
	if t.policies == nil {
		return nil
	}
	return t.policies.Policies()
}

// At sets p to the problem where the agent is: for q and e see
// options.ValueTables.At and options.PolicyTables.At.
func (t *Tables) At(p *options.Problem, q, e []float64) error {
	switch {
	case t.policies != nil:
		return t.policies.At(p, q, e, t.bonus)
	case t.actions != nil:
		return t.actions.At(p, q, t.bonus)
	}
	return lanes.Unsupported("no options have been offered")
}

// Option says what an arm of the last problem does.
func (t *Tables) Option(arm int) options.TableOption {
	if t.policies != nil {
		return t.policies.Option(arm)
	}
	return t.actions.Option(arm)
}
