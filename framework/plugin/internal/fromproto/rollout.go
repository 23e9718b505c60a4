package fromproto

import (
	"fmt"
	"math"

	"github.com/rlrun/rlrun/framework"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// Rollout reads a request for lanes of an environment with the given spec. What it
// asks for need not make sense.
func Rollout(m *pb.RolloutRequest, spec framework.Spec, lanes int) (*vector.Rollout, error) {
	if m.Steps < 1 || m.Episodes > m.Steps || int64(m.Steps)*int64(lanes) > math.MaxInt32 {
		return nil, fmt.Errorf("a rollout of %d steps of %d lanes, with seeds for %d episodes", m.Steps, lanes, m.Episodes)
	}
	in := &vector.Rollout{
		Steps: int(m.Steps), Signals: make([]vector.Signal, lanes),
		Observations: space.NewColumn(spec.Observation, lanes), Episodes: int(m.Episodes),
	}
	if err := Signals(in.Signals, m.Signals, vector.NewRun); err != nil {
		return nil, err
	}
	if err := Column(&in.Observations, m.Observations); err != nil {
		return nil, fmt.Errorf("observations: %w", err)
	}
	if err := numbers(&in.Seeds, "seeds", m.Seeds, 8, lanes*in.Episodes); err != nil {
		return nil, err
	}
	if err := numbers(&in.Draws, "draws", m.Draws, 8, lanes); err != nil {
		return nil, err
	}
	return in, numbers(&in.Policy, "policy", m.Policy, 8, len(m.Policy)/8)
}

// Trajectories fills out from a reply.
func Trajectories(out *vector.Trajectories, m *pb.RolloutReply) error {
	if err := length("signals", m.Signals, len(out.Signals)); err != nil {
		return err
	}
	if err := Signals(out.Signals, m.Signals, vector.NewRun); err != nil {
		return err
	}
	if err := Column(&out.Actions, m.Actions); err != nil {
		return fmt.Errorf("actions: %w", err)
	}
	return TimeSteps(&out.TimeSteps, m)
}
