package vector

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
)

// Lanes of agents that are Savers and Loaders. A state is the SHA-256 of the rest; the
// names of agent and task; what the agent saved, each after its length as a varint; a
// byte that is 1 if the lane follows an option of the host's; and the lane's last
// observation and action.

var errDamaged = errors.New("the state of the lane is damaged")

// of names the agent that a state is of, by its plugin or its type, and the task.
func (v *vectorAgent) of() (id, task string, err error) {
	if id = v.id; id == "" {
		id = fmt.Sprintf("%T", v.probe)
	}
	observations, err := space.Marshal(v.spec.Observation)
	if err != nil {
		return "", "", err
	}
	actions, err := space.Marshal(v.spec.Action)
	return id, fmt.Sprintf("observations %s, actions %s", observations, actions), err
}

// save returns what the lane's agent saves, with what the lane knows besides.
func (v *vectorAgent) save(ctx context.Context, lane int) (state []byte, err error) {
	l, err := v.begun(lane)
	if err != nil {
		return nil, err
	}
	agent, ok := l.agent.(framework.Saver)
	if !ok {
		return nil, fmt.Errorf("the agent cannot be saved: %w", framework.ErrUnsupported)
	}
	id, task, err := v.of()
	if err != nil {
		return nil, err
	}
	var saved []byte
	if err := Guard(func() (err error) { saved, err = agent.Save(ctx); return err }); err != nil {
		return nil, err
	}
	state = make([]byte, sha256.Size)
	for _, part := range []string{id, task, string(saved)} {
		state = append(binary.AppendUvarint(state, uint64(len(part))), part...)
	}
	follows := byte(0)
	if l.follows != nil || l.lost {
		follows = 1
	}
	state = l.action.AppendBinary(l.observation.AppendBinary(append(state, follows)))
	sum := sha256.Sum256(state[sha256.Size:])
	copy(state, sum[:])
	return state, nil
}

// cut takes a part with its length off the front of a state.
func cut(b []byte) (part, rest []byte, err error) {
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)-k) {
		return nil, nil, errDamaged
	}
	return b[k : k+int(n)], b[k+int(n):], nil
}

// load restores what save returned. If the state is refused, the lane is as it was.
func (v *vectorAgent) load(ctx context.Context, lane int, state []byte) error {
	if lane < 0 || lane >= len(v.lanes) {
		return fmt.Errorf("no lane %d of %d", lane, len(v.lanes))
	}
	if len(state) < sha256.Size {
		return errDamaged
	}
	rest := state[sha256.Size:]
	if sum := sha256.Sum256(rest); !bytes.Equal(sum[:], state[:sha256.Size]) {
		return errDamaged
	}
	id, task, err := v.of()
	if err != nil {
		return err
	}
	for _, is := range []struct{ what, name string }{{"agent", id}, {"task", task}} {
		var name []byte
		if name, rest, err = cut(rest); err != nil {
			return err
		}
		if string(name) != is.name {
			return fmt.Errorf("the state is of another %s: %s, where this is %s", is.what, name, is.name)
		}
	}
	saved, rest, err := cut(rest)
	if err != nil || len(rest) == 0 {
		return errDamaged
	}
	next := agentLane{lost: rest[0] == 1}
	if next.observation, rest, err = space.ReadValue(rest[1:]); err == nil {
		next.action, rest, err = space.ReadValue(rest)
	}
	if err != nil || len(rest) > 0 {
		return errDamaged
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
		if err := loader.Load(ctx, saved); err != nil {
			return errors.Join(err, closeCopy(agent))
		}
		l := &v.lanes[lane]
		if err := l.end(); err != nil {
			return err
		}
		next.agent = agent
		*l = next
		return nil
	})
}
