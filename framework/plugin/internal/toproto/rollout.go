package toproto

import (
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// Rollout writes a request.
func Rollout(instance uint64, in *vector.Rollout) *pb.RolloutRequest {
	return &pb.RolloutRequest{
		Instance: instance, Steps: uint32(in.Steps), Episodes: uint32(in.Episodes),
		Signals:      Signals(nil, in.Signals),
		Observations: Column(nil, &in.Observations),
		Seeds:        space.AppendNumbers(nil, in.Seeds),
		Draws:        space.AppendNumbers(nil, in.Draws),
		Policy:       space.AppendNumbers(nil, in.Policy),
	}
}

// Trajectories writes a reply.
func Trajectories(out *vector.Trajectories) *pb.RolloutReply {
	signals := make([]byte, len(out.Signals))
	for k, s := range out.Signals {
		signals[k] = byte(s)
	}
	return &pb.RolloutReply{
		Signals: signals, Actions: Column(nil, &out.Actions),
		Observations: Column(nil, &out.Observations),
		Rewards:      space.AppendNumbers(nil, out.Rewards),
		Terminated:   Flags(nil, out.Terminated), Truncated: Flags(nil, out.Truncated),
	}
}
