package fromproto_test

import (
	"math"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin/internal/fromproto"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/plugin/internal/toproto"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/options"
)

// fuzzSpec is the spec of an environment that answers nonsense.
var fuzzSpec = framework.Spec{
	ID: "a/b@1", Observation: space.Box{Shape: []int{2}, Low: []float64{0}, High: []float64{1}}, Action: space.Discrete{N: 3, Start: 1}, RewardHigh: 1,
}

// Whatever bytes a plugin or a host sends, they are read or refused; nothing panics. What
// is read passes the checks of what it stands for.
func FuzzMessages(f *testing.F) {
	const lanes = 2
	spec := must.Get(toproto.Spec(fuzzSpec))(f)
	steps := vector.NewTimeSteps(fuzzSpec, lanes)
	for kind, m := range []proto.Message{
		spec,
		&pb.DescribeReply{Id: "a/b@1", Kind: "agent", Params: []byte("{}")},
		&pb.Error{Code: 1, Message: "no", Lane: new(uint32(1))},
		&pb.EnvironmentReply{Observations: toproto.Column(nil, &steps.Observations), Rewards: make([]byte, 8*lanes), Terminated: make([]byte, lanes), Truncated: make([]byte, lanes)},
		&pb.EnvironmentRequest{Signals: []byte{3, 2}, Seeds: make([]byte, 8*lanes), Actions: make([]byte, 8*lanes)},
		&pb.ModelsReply{Models: [][]byte{[]byte(`{"S":1,"A":1,"transitions":[[0,0,0,1]]}`)}, Lanes: []uint32{0, 0}},
		&pb.AgentReply{Names: []string{"greedy", "uniform"}, Actions: make([]byte, 8*lanes)},
		&pb.OpenAgentReply{Metrics: []*pb.Metric{{Name: "x", Unit: "steps"}}},
	} {
		data := must.Get(proto.Marshal(m))(f)
		f.Add(byte(kind), data)
	}
	f.Fuzz(func(t *testing.T, kind byte, data []byte) {
		read := func(m proto.Message) bool { return proto.Unmarshal(data, m) == nil }
		switch kind % 8 {
		case 0:
			var m pb.Spec
			if !read(&m) {
				return
			}
			s, err := fromproto.Spec(&m)
			if err != nil {
				return
			}
			if err := s.Validate(); err != nil {
				t.Fatalf("a spec that was read: %v", err)
			}
			if back, err := toproto.Spec(s); err != nil || back.Id != m.Id {
				t.Fatalf("a spec that was read cannot be written: %v", err)
			}
		case 1:
			var m pb.DescribeReply
			if read(&m) {
				_, _ = fromproto.Description(&m)
			}
		case 2:
			var m pb.Error
			if read(&m) {
				if err := fromproto.Error(&m); err != nil && err.Error() == "" {
					t.Fatal("an error without a text")
				}
			}
		case 3:
			var m pb.EnvironmentReply
			out := vector.NewTimeSteps(fuzzSpec, lanes)
			if read(&m) && fromproto.Column(&out.Observations, m.Observations) == nil && fromproto.Numbers(out.Rewards, "rewards", m.Rewards) == nil &&
				fromproto.Flags(out.Terminated, "terminated", m.Terminated) == nil && fromproto.Flags(out.Truncated, "truncated", m.Truncated) == nil {
				if out.Check(&fuzzSpec, []vector.Signal{vector.Continue, vector.Continue}) == nil {
					for _, r := range out.Rewards {
						if math.IsNaN(r) || r < -1e-6 || r > 1+1e-6 {
							t.Fatalf("reward %v", r)
						}
					}
				}
			}
		case 4:
			var m pb.EnvironmentRequest
			signals := make([]vector.Signal, lanes)
			if read(&m) && fromproto.Signals(signals, m.Signals, vector.NewRun) == nil {
				_ = fromproto.Seeds(make([]uint64, lanes), m.Seeds, signals, vector.NewEpisode)
			}
		case 5:
			var m pb.ModelsReply
			if !read(&m) {
				return
			}
			if models, err := fromproto.Models(&m, lanes); err == nil && (len(models) != lanes || models[0] == nil || models[1] == nil) {
				t.Fatalf("models %v", models)
			}
		case 6:
			var m pb.AgentReply
			if !read(&m) {
				return
			}
			var d fromproto.Decisions
			problems := make([]options.Problem, lanes)
			if err := d.Problems(problems, []bool{true, true}, &m); err == nil {
				for i := range problems {
					if err := problems[i].Check(); err != nil {
						t.Fatalf("a problem that was read: %v", err)
					}
				}
			}
			_, _ = fromproto.Int32s(nil, "x", m.Actions, lanes)
		case 7:
			var m pb.OpenAgentReply
			if read(&m) {
				_, _ = fromproto.Metrics(m.Metrics)
			}
		}
	})
}
