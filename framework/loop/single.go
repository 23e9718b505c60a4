package loop

import (
	"fmt"

	"github.com/rlrun/rlrun/framework"
)

// single steps the lanes one after the other, where environment and agent are able to:
// what is one lane's stays in the processor's cache, and nothing goes through columns.
type single struct {
	environment framework.LaneEnvironment
	agent       framework.LaneAgent
}

// newSingle returns nil if they are not able to.
func newSingle(b *Batch) *single {
	e, _ := b.Environment.(framework.LaneEnvironment)
	a, _ := b.Agent.(framework.LaneAgent)
	if e == nil || a == nil {
		return nil
	}
	return &single{e, a}
}

// goOn reports whether every lane is within an episode, on both sides, or idle.
func goOn(actions, feedback []framework.Signal) bool {
	for i, s := range actions {
		if s != feedback[i] || s != framework.Continue && s != framework.Idle {
			return false
		}
	}
	return true
}

// step makes up to most steps of every lane that is not idle, fewer where its run or
// episode ends first. The columns are left as by calls for all lanes. It returns how
// many of these it would have taken, from call on, and the sum of the lanes' steps.
func (x *single) step(r *recorder, actions *framework.Actions, feedback *framework.Feedback, call, most int) (calls, sum int, err error) {
	for i, s := range actions.Signals {
		if s != framework.Continue {
			continue
		}
		n, err := x.lane(r, i, min(most, r.batch.Steps-r.hot[i].steps), call, actions, feedback)
		if err != nil {
			return 0, 0, err
		}
		calls, sum = max(calls, n), sum+n
	}
	return calls, sum, nil
}

// lane makes n steps of lane i, fewer if its episode ends, and returns how many. What
// the last one yielded is left in the columns, and for the caller to record if it ends
// the run or an episode.
func (x *single) lane(r *recorder, i, n, call int, actions *framework.Actions, feedback *framework.Feedback) (made int, err error) {
	var action int64
	observation, reward := feedback.Observations.Int64[i], feedback.Rewards[i]
	terminated, truncated := false, false
	l, gaps := &r.hot[i], r.laneGaps(i)
	for made < n && !terminated && !truncated {
		if action, err = x.agent.StepLane(i, observation, reward); err != nil {
			return made, fmt.Errorf("agent, call %d: %w", call+made, err)
		}
		if observation, reward, terminated, truncated, err = x.environment.StepLane(i, action); err != nil {
			return made, fmt.Errorf("environment, call %d: %w", call+made, err)
		}
		l.add(reward, r.discount)
		if gaps != nil {
			l.compare(gaps[action-r.first])
		}
		made++
		if l.steps++; l.steps == l.nextAt && !terminated && !truncated {
			r.flush(i)
		}
	}
	actions.Actions.Int64[i] = action
	feedback.Observations.Int64[i], feedback.Rewards[i] = observation, reward
	feedback.Terminated[i], feedback.Truncated[i] = terminated, truncated
	return made, nil
}
