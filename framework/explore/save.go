package explore

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/snapshot"
)

// saved is the state of a lane: the agent's, and what the host knows of its run.
type saved struct {
	agent []byte
	lane  *lane
}

// of describes how the host decides. Only a host that decides alike can go on. The
// horizon may be another, as it is that of the run.
func (a *explorer) of() snapshot.Of {
	c := &a.config
	theirs := ""
	if c.Rule != nil {
		theirs = fmt.Sprintf(", rule of a plugin %s", c.RuleName)
	}
	for _, s := range c.Sources {
		theirs += ", options of " + s.File
	}
	task := fmt.Sprintf("%d states, %d actions, observations of %d numbers", a.finite.states, a.finite.actions, a.lanes[0].series.width)
	return snapshot.Of{{Name: "task", Value: task}, {Name: "exploration", Value: fmt.Sprintf("rule %s, bound %s, common %t, lower bound %v, options %v, estimator %d, window %+v, quantile %v, mean %t",
		c.Decider.Rule, c.Decider.Bound, c.Decider.Common, c.Decider.LowerBound, c.Kinds, a.estimator, c.Commitment, c.quantile(), c.Mean) + theirs}}
}

// save implements AgentAbilities.Save.
func (a *explorer) save(ctx context.Context, i int) ([]byte, error) {
	state, err := vector.Save(ctx, a.agent, i)
	if err != nil {
		return nil, err
	}
	return a.of().Save(&saved{state, &a.lanes[i]}, &saved{lane: &lane{}})
}

// load implements AgentAbilities.Load. If the state is refused, the lane is as it was.
func (a *explorer) load(ctx context.Context, i int, state []byte) error {
	if err := snapshot.Lane(i, len(a.lanes)); err != nil {
		return err
	}
	s := saved{lane: &lane{}}
	if err := a.of().Load(&s, state); err != nil {
		return err
	}
	if a.declares != nil {
		if err := a.declares.Declare(ctx, i, s.lane.list); err != nil {
			return err
		}
	}
	if err := vector.Load(ctx, a.agent, i, s.agent); err != nil {
		return err
	}
	a.lanes[i] = *s.lane
	a.lanes[i].rng, a.lanes[i].log.most = rand.New(&a.lanes[i].pcg), a.config.Log
	return nil
}
