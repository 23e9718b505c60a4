package loop

import (
	"context"
	"errors"
	"fmt"

	"github.com/rlrun/rlrun/framework/vector"
)

// single steps the lanes one after the other, where environment and agent are able to:
// what is one lane's stays in the processor's cache, and nothing goes through columns.
type single struct {
	play    func(lane int, agent vector.LaneAgent, last vector.LaneStep, actions []int64, rewards []float64) (int, vector.LaneStep, error)
	agent   vector.LaneAgent
	actions []int64 // of steps that are not added up yet
	rewards []float64
}

// newSingle returns nil if they are not able to.
func newSingle(b *Batch) *single {
	play := b.Environment.Abilities().PlayLane
	a := b.Agent.Abilities().Lane
	if play == nil || a == nil {
		return nil
	}
	return &single{play, a, make([]int64, stretch), make([]float64, stretch)}
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
// many of these it would have taken, from call on, and the sum of the lanes' steps.
func (x *single) step(ctx context.Context, r *recorder, actions *vector.Actions, feedback *vector.Feedback, call, most int) (calls, sum int, err error) {
	for i, s := range actions.Signals {
		if s != vector.Continue {
			continue
		}
		n, err := x.lane(ctx, r, i, min(most, r.batch.Steps-r.hot[i].steps), call, actions, feedback)
		if err != nil {
			return 0, 0, err
		}
		calls, sum = max(calls, n), sum+n
	}
	return calls, sum, nil
}

// stretch is up to how many steps are made before they are added up.
const stretch = 64

// lane makes n steps of lane i, fewer if its episode ends, and returns how many. The
// result of the last step is left in the columns. The caller records it if it ends the
// run or an episode, or if a snapshot is to be taken.
func (x *single) lane(ctx context.Context, r *recorder, i, n, call int, actions *vector.Actions, feedback *vector.Feedback) (made int, err error) {
	last := vector.LaneStep{Observation: feedback.Observations.Int64[i], Reward: feedback.Rewards[i]}
	l := &r.hot[i]
	for made < n && !last.Terminated && !last.Truncated {
		most := min(n-made, l.nextAt-l.steps, stretch)
		var k int
		if k, last, err = x.play(i, x.agent, last, x.actions[:most], x.rewards[:most]); err != nil {
			l.steps += k
			return made, blame(err, call+made+k)
		}
		r.stretch(i, x.actions[:k], x.rewards[:k])
		made += k
		actions.Actions.Int64[i] = x.actions[k-1]
		if l.steps == l.nextAt && r.batch.snapshotAt(l.steps) {
			break // the caller records the point and takes the snapshot
		}
		if l.steps == l.nextAt && !last.Terminated && !last.Truncated {
			r.flush(i)
			if err := r.measure(ctx); err != nil {
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
