package loop

import (
	"context"
	"errors"
	"fmt"

	"github.com/rlrun/rlrun/framework/vector"
)

// laneRunner steps the lanes one after the other, where environment and agent are able to:
// what is one lane's stays in the processor's cache, and nothing goes through columns. The
// plain version is batchRun.stepBatch, which makes the same steps.
type laneRunner struct {
	*batchRun
	play     func(lane int, agent vector.LaneAgent, last vector.LaneStep, actions []int64, rewards []float64) (int, vector.LaneStep, error)
	agent    vector.LaneAgent
	selected []int64 // actions of steps that are not added up yet
	paid     []float64
}

// newLaneRunner returns nil if they are not able to.
func newLaneRunner(b *batchRun) *laneRunner {
	play := b.batch.Environment.Abilities().PlayLane
	a := b.batch.Agent.Abilities().Lane
	if play == nil || a == nil || b.actors > 1 {
		return nil
	}
	return &laneRunner{b, play, a, make([]int64, stretch), make([]float64, stretch)}
}

// allContinuing reports whether every lane is within an episode, on both sides, or idle.
func allContinuing(actions, feedback []vector.Signal) bool {
	for i, s := range actions {
		if s != feedback[i] || s != vector.Continue && s != vector.Idle {
			return false
		}
	}
	return true
}

// step makes up to most steps of every lane that is not idle, fewer where its run or
// episode ends first. The columns are left as by calls for all lanes. It returns how
// many of these it would have taken, from call on.
func (x *laneRunner) step(ctx context.Context, call, most int) (calls int, err error) {
	for i, s := range x.actions.Signals {
		if s != vector.Continue {
			continue
		}
		n, err := x.lane(ctx, i, min(most, x.batch.Steps-x.hot[i].steps), call)
		if err != nil {
			return 0, err
		}
		calls = max(calls, n)
	}
	return calls, nil
}

// stretch is up to how many steps are made before they are added up.
const stretch = 64

// lane makes n steps of lane i, fewer if its episode ends, and returns how many. The
// result of the last step is left in the columns. The caller records it if it ends the
// run or an episode, or if a snapshot is to be taken.
func (x *laneRunner) lane(ctx context.Context, i, n, call int) (made int, err error) {
	r, feedback := x.recorder, x.feedback
	last := vector.LaneStep{Observation: feedback.Observations.Int64[i], Reward: feedback.Rewards[i]}
	l := &r.hot[i]
	for made < n && !last.Terminated && !last.Truncated {
		most := min(n-made, l.nextAt-l.steps, stretch)
		var k int
		if k, last, err = x.play(i, x.agent, last, x.selected[:most], x.paid[:most]); err != nil {
			l.steps += k
			return made, blame(err, call+made+k)
		}
		r.stretch(i, x.selected[:k], x.paid[:k])
		x.history.stretch(i, x.selected[:k], x.paid[:k])
		made += k
		x.actions.Actions.Int64[i] = x.selected[k-1]
		if last := l.steps == r.batch.Steps; l.steps == l.nextAt && (r.batch.kept(l.steps, last) || r.batch.evaluated(l.steps, last)) {
			break // the caller records the point and takes the snapshot
		}
		if l.steps == l.nextAt && !last.Terminated && !last.Truncated {
			err := r.flush(ctx, i)
			if err == nil {
				err = r.measure(ctx)
			}
			if err != nil {
				return made, fmt.Errorf("call %d: %w", call+made, err)
			}
		}
	}
	feedback.Observations.Int64[i], feedback.Rewards[i] = last.Observation, last.Reward
	feedback.Terminated[i], feedback.Truncated[i] = last.Terminated, last.Truncated
	return made, nil
}

// blame says who failed, and when.
func blame(err error, call int) error {
	var agent *vector.AgentError
	if errors.As(err, &agent) {
		return fmt.Errorf("agent, call %d: %w", call+1, agent.Err)
	}
	return fmt.Errorf("environment, call %d: %w", call+1, err)
}
