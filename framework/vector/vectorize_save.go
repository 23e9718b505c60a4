package vector

import (
	"context"
	"errors"
	"fmt"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/internal/snapshot"
)

// Lanes of agents that are Savers and Loaders.

// savedLane is what a lane knows besides what its agent saves.
type savedLane struct {
	agent               []byte
	lost                bool // the lane follows an option of the host's
	observation, action space.Value
}

// of names the agent that a state is of, by its plugin or its type, and the task.
func (v *vectorAgent) of() (snapshot.Of, error) {
	id := v.id
	if id == "" {
		id = fmt.Sprintf("%T", v.probe)
	}
	observations, err := space.Marshal(v.spec.Observation)
	if err != nil {
		return nil, err
	}
	actions, err := space.Marshal(v.spec.Action)
	return snapshot.Of{{Name: "agent", Value: id}, {Name: "task", Value: fmt.Sprintf("observations %s, actions %s", observations, actions)}}, err
}

// save returns what the lane's agent saves, with what the lane knows besides.
func (v *vectorAgent) save(ctx context.Context, lane int) ([]byte, error) {
	l, err := v.begun(lane)
	if err != nil {
		return nil, err
	}
	agent, ok := l.agent.(framework.Saver)
	if !ok {
		return nil, fmt.Errorf("the agent cannot be saved: %w", framework.ErrUnsupported)
	}
	of, err := v.of()
	if err != nil {
		return nil, err
	}
	s := savedLane{lost: l.lost || l.follows != nil, observation: l.observation, action: l.action}
	if err := Guard(func() (err error) { s.agent, err = agent.Save(ctx); return err }); err != nil {
		return nil, err
	}
	return of.Save(&s, &savedLane{})
}

// load restores what save returned. If the state is refused, the lane is as it was.
func (v *vectorAgent) load(ctx context.Context, lane int, state []byte) error {
	if err := snapshot.Lane(lane, len(v.lanes)); err != nil {
		return err
	}
	of, err := v.of()
	if err != nil {
		return err
	}
	var s savedLane
	if err := of.Load(&s, state); err != nil {
		return err
	}
	return Guard(func() error {
		agent, err := v.newAgent(0)
		if err != nil {
			return err
		}
		loader, ok := agent.(framework.Loader)
		if !ok {
			return errors.Join(fmt.Errorf("the agent cannot be loaded: %w", framework.ErrUnsupported), closeCopy(agent))
		}
		if err := loader.Load(ctx, s.agent); err != nil {
			return errors.Join(err, closeCopy(agent))
		}
		l := &v.lanes[lane]
		if err := l.end(); err != nil {
			return err
		}
		*l = agentLane{agent: agent, lost: s.lost, observation: s.observation, action: s.action}
		return nil
	})
}
