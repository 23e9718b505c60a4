package plugin

import (
	"context"
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/rlrun/rlrun/framework"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/plugin/internal/subprocess"
	"github.com/rlrun/rlrun/framework/plugin/internal/wire"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// madeUp carries an answer that no plugin need have given.
type madeUp struct{ data []byte }

func (c madeUp) exchange(request proto.Message, reply stepReply) error {
	m, ok := request.(*pb.AheadRequest)
	if !ok {
		return fmt.Errorf("%w: there are only steps ahead", ErrProtocol)
	}
	if err := proto.Unmarshal(c.data, reply); err != nil {
		return err
	}
	reply.(*pb.AheadReply).Step = m.Agent.Step
	return nil
}

func (madeUp) abandon(error) {}
func (madeUp) close(bool)    {}

// Whatever a process says of steps that it made ahead, what the clients answer with is in the spaces,
// of as many steps as were asked for, or an error.
func FuzzAhead(f *testing.F) {
	const lanes, most = 2, 3
	two := func(m *pb.AheadReply) {
		f.Add(must.Get(proto.Marshal(m))(f))
	}
	numbers := func(x ...float64) []byte { return space.AppendNumbers(nil, x) }
	fine := pb.AheadReply{Steps: 2, Actions: []byte{1, 0, 1, 2, 0}, Observations: numbers(1, 0, 0, 1), Rewards: numbers(1, 2, 3, 4), Terminated: []byte{0, 0, 1, 0}}
	two(&fine)
	two(&pb.AheadReply{})
	two(&pb.AheadReply{Steps: most + 1})
	two(&pb.AheadReply{Steps: 1 << 31, Actions: []byte{1}})
	two(&pb.AheadReply{Steps: 2, Actions: []byte{1, 0, 1, 2, 9}, Observations: numbers(1, 0, 0, 1), Rewards: numbers(1, 2, 3, 4), Terminated: []byte{0, 0, 1, 2}})
	two(&pb.AheadReply{Steps: 1, Actions: []byte{8, 0}, Observations: numbers(7), Error: &pb.Error{Message: "no"}})
	spec := framework.Spec{ID: "test/fuzz@1", Observation: space.Box{Low: []float64{0}, High: []float64{1}}, Action: space.Discrete{N: 3}, RewardLow: -9, RewardHigh: 9}
	f.Fuzz(func(t *testing.T, data []byte) {
		p := newProcess(LaunchConfig{Name: "made-up"}, nil, subprocess.NewTail(1))
		p.socket = &wire.Socket{}
		guest := newProcess(LaunchConfig{Name: "guest"}, nil, subprocess.NewTail(1))
		guest.host = p
		env := &environmentClient{session: &session{process: guest, lanes: lanes, carrier: madeUp{data}}, spec: spec, scratch: vector.NewTimeSteps(spec, lanes)}
		agent := &agentClient{session: &session{process: p, lanes: lanes, carrier: madeUp{data}}, spec: spec, scratch: space.NewColumn(spec.Action, lanes)}
		seeds := func(lane, episode int) uint64 { return uint64(100*lane + episode) }
		announce := agent.join(env)
		feedback, actions, begun := vector.NewFeedback(spec, lanes), vector.NewActions(spec, lanes), make([]int, lanes)
		for lane := range lanes {
			feedback.Signals[lane], actions.Signals[lane] = vector.Continue, vector.Continue
		}
		for k := range most {
			announce(most-k, 1, seeds)
			if err := agent.Step(context.Background(), feedback, &actions.Actions); err != nil {
				return
			}
			must.Do(t, feedback.CheckActions(&spec, &actions.Actions))
			if err := env.Step(context.Background(), actions, &feedback.TimeSteps); err != nil {
				return
			}
			must.Do(t, feedback.TimeSteps.Check(&spec, actions.Signals))
			for lane := range lanes {
				feedback.Signals[lane] = actions.Signals[lane]
				actions.Signals[lane] = vector.Continue
				if feedback.Terminated[lane] || feedback.Truncated[lane] {
					actions.Signals[lane], actions.Seeds[lane] = vector.NewEpisode, seeds(lane, begun[lane])
					begun[lane]++
				}
			}
		}
	})
}
