package plugin

import (
	"context"
	"fmt"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin/internal/fromproto"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// ahead has the steps that an environment and an agent of one process have made against each
// other, and that their clients have not answered with yet. The clients answer the same as step by
// step.
type ahead struct {
	environment *environmentClient
	agent       *agentClient
	refused     bool // the process makes no steps ahead
	most        int  // steps that the caller allows
	episodes    int  // that a lane may begin in them
	seed        func(lane, episode int) uint64
	seeds       []uint64
	begun       []int // episodes that each lane has begun in the steps answered with
	request     pb.AheadRequest
	reply       pb.AheadReply
	steps       int // that were made
	acted, made int // how many of them the agent's client and the environment's have answered with
	actions     space.Column
	out         vector.TimeSteps
	action      space.Column     // of a step: entries of actions
	step        vector.TimeSteps // of a step: entries of out
}

// mostAhead bounds the steps that are made ahead, of all lanes together, and episodesAhead the episodes
// of a lane that begin in them.
const mostAhead, episodesAhead = 512, 32

// join lets an environment and the agent, of one process, make steps without an exchange each: see
// vector.AgentAbilities.
func (c *agentClient) join(environment vector.Environment) vector.Ahead {
	e, ok := environment.(*environmentClient)
	if !ok || e.session.process.host != c.session.process || c.session.process.socket == nil || c.options != nil || c.spec.Masks {
		return nil
	}
	n := max(mostAhead, e.session.lanes)
	h := &ahead{environment: e, agent: c, begun: make([]int, e.session.lanes),
		actions: space.NewColumn(c.spec.Action, n), out: vector.NewTimeSteps(c.spec, n)}
	e.ahead, c.ahead = h, h
	return func(steps, episodes int, seed func(lane, episode int) uint64) {
		h.most, h.episodes, h.seed = steps, min(episodes, episodesAhead), seed
	}
}

// idle says whether no lane is stepped.
func idle(signals []vector.Signal) bool {
	return !slices.ContainsFunc(signals, func(s vector.Signal) bool { return s != vector.Idle })
}

// expected checks that the caller asks the environment for the step that was made.
func (h *ahead) expected(in *vector.Actions) error {
	for i, got := range in.Signals {
		want := vector.Continue
		if before := (h.made-1)*len(in.Signals) + i; h.made > 0 && (h.out.Terminated[before] || h.out.Truncated[before]) {
			want = vector.NewEpisode
			if n := len(h.seeds) / len(in.Signals); h.begun[i] == n || in.Seeds[i] != h.seeds[i*n+h.begun[i]] {
				return fmt.Errorf("lane %d: a seed that was not announced", i)
			}
			h.begun[i]++
		}
		if got != want {
			return fmt.Errorf("lane %d: signal %d, announced was %d", i, got, want)
		}
	}
	return nil
}

// fetch has steps made that begin with one of the agent.
func (h *ahead) fetch(ctx context.Context, in *vector.Feedback) error {
	s := h.agent.session
	h.agent.fill(in, nil)
	h.request.Agent, h.request.Environment = &h.agent.request, h.environment.session.instance
	h.request.Steps = uint32(min(h.most, len(h.out.Rewards)/s.lanes))
	h.seeds = h.seeds[:0]
	for lane := range s.lanes {
		for k := range h.episodes {
			h.seeds = append(h.seeds, h.seed(lane, k))
		}
	}
	h.request.Seeds = space.AppendNumbers(h.request.Seeds[:0], h.seeds)
	reply := &h.reply
	if err := s.exchange(ctx, &h.request, reply); err != nil {
		return err
	}
	if reply.Steps == 0 {
		h.refused = true
		s.steps-- // it was none
		return nil
	}
	if reply.Steps > h.request.Steps {
		return s.fail(fmt.Errorf("%w: %d steps, want at most %d", ErrProtocol, reply.Steps, h.request.Steps))
	}
	n := int(reply.Steps) * s.lanes
	actions, out := rows(&h.actions, 0, n), h.rows(0, n)
	err := fromproto.Column(&actions, reply.Actions)
	if err == nil {
		err = fromproto.TimeSteps(&out, reply)
	}
	if err != nil {
		return s.fail(fmt.Errorf("%w: %w", framework.ErrInvalidAnswer, err))
	}
	h.steps, h.acted, h.made = int(reply.Steps), 0, 0
	clear(h.begun)
	return nil
}

// act answers a step of the agent. Without steps that were made ahead, and where that cannot be, it
// returns false.
func (h *ahead) act(ctx context.Context, in *vector.Feedback, actions *space.Column) (answered bool, err error) {
	if h == nil || h.refused || idle(in.Signals) {
		return false, nil
	}
	s := h.agent.session
	if h.acted < h.steps {
		s.steps++
	} else {
		if h.most < 2 {
			return false, nil
		}
		if err := h.fetch(ctx, in); err != nil || h.refused {
			return err != nil, err
		}
	}
	h.action = rows(&h.actions, h.acted*s.lanes, s.lanes)
	h.acted++
	if err := in.CheckActions(&h.agent.spec, &h.action); err != nil {
		return true, s.fail(err)
	}
	copyColumn(actions, &h.action)
	return true, nil
}

// answer answers a step of the environment, after one of the agent that was.
func (h *ahead) answer(in *vector.Actions, out *vector.TimeSteps) (answered bool, err error) {
	if h == nil || h.made == h.acted || idle(in.Signals) {
		return false, nil
	}
	s := h.environment.session
	if err := h.expected(in); err != nil {
		return true, s.fail(err)
	}
	s.steps++
	h.step = h.rows(h.made*s.lanes, s.lanes)
	row := &h.step
	h.made++
	if err := row.Check(&h.environment.spec, in.Signals); err != nil {
		return true, s.fail(err)
	}
	copyColumn(&out.Observations, &row.Observations)
	copy(out.Rewards, row.Rewards)
	copy(out.Terminated, row.Terminated)
	copy(out.Truncated, row.Truncated)
	return true, nil
}

// rows returns n entries of what the environment answered.
func (h *ahead) rows(from, n int) vector.TimeSteps {
	return vector.TimeSteps{Observations: rows(&h.out.Observations, from, n), Rewards: h.out.Rewards[from : from+n],
		Terminated: h.out.Terminated[from : from+n], Truncated: h.out.Truncated[from : from+n]}
}

// rows returns n entries of a column, which it shares with it.
func rows(c *space.Column, from, n int) space.Column {
	out := *c
	i, j := from*c.Width, (from+n)*c.Width
	switch c.Type {
	case space.Int64:
		out.Int64 = c.Int64[i:j]
	case space.Float64:
		out.Float64 = c.Float64[i:j]
	case space.Float32:
		out.Float32 = c.Float32[i:j]
	default:
		out.Uint8 = c.Uint8[i:j]
	}
	return out
}

// copyColumn copies all entries of a column.
func copyColumn(to, from *space.Column) {
	copy(to.Int64, from.Int64)
	copy(to.Float64, from.Float64)
	copy(to.Float32, from.Float32)
	copy(to.Uint8, from.Uint8)
}
