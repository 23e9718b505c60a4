package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// Snapshot is the agent of a run after some steps.
type Snapshot struct {
	Step    int                // number of steps made, at least 1
	Last    bool               // it is the last of its run
	State   []byte             // of the agent's lane after its last action, as the ability Save gives it
	Outcome framework.TimeStep // what that action led to; State has not learned it yet
	Mask    []bool             // the actions allowed there; empty unless Spec.Masks
	Actors  int                // if more than 1, State is of so many, and the outcomes of their last actions are lost
}

// Restarter is an agent that counts the steps of its run.
type Restarter interface {
	// Restart says that another run begins with what a lane has learned.
	Restart(lane int)
}

// Restore loads agents into lanes, one each or, with several actors, one into so many, and lets them
// learn from their outcomes, which cut their episodes short. Their next signal begins an episode.
// Lanes after the last snapshot stay as they are. With several actors, there or here, there is no outcome
// to learn from.
func Restore(ctx context.Context, agent vector.Agent, spec framework.Spec, lanes, actors int, from []*Snapshot) error {
	in, actions := vector.NewFeedback(spec, lanes), space.NewColumn(spec.Action, lanes)
	for i, s := range from {
		err := vector.Load(ctx, agent, i*actors, s.State)
		if err == nil && (actors > 1 || s.Actors > 1) {
			continue
		}
		if err == nil {
			err = in.Observations.Set(spec.Observation, i, s.Outcome.Observation)
		}
		if err != nil {
			return inLane(i*actors, fmt.Errorf("loading the agent: %w", err))
		}
		copy(in.Mask(i), s.Mask)
		in.Signals[i], in.Rewards[i] = vector.Continue, s.Outcome.Reward
		in.Terminated[i], in.Truncated[i] = s.Outcome.Terminated, !s.Outcome.Terminated
	}
	if err := agent.Step(ctx, in, &actions); err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	if counts, ok := agent.(Restarter); ok {
		for i := range from {
			counts.Restart(i)
		}
	}
	return nil
}

// inLane names the lane of an error that does not name one.
func inLane(lane int, err error) error {
	var named *vector.LaneError
	if errors.As(err, &named) {
		return err
	}
	return &vector.LaneError{Lane: lane, Err: err}
}

// start loads the agents that the runs begin with.
func (b *Batch) start(ctx context.Context) error {
	if b.Start == nil || b.Steps == 0 {
		return nil
	}
	from, err := b.starts()
	if err != nil {
		return err
	}
	actors := max(b.Actors, 1)
	return Restore(ctx, b.Agent, b.Environment.Spec(), len(b.Runs)*actors, actors, from)
}

func (b *Batch) starts() ([]*Snapshot, error) {
	from := make([]*Snapshot, len(b.Runs))
	for i, run := range b.Runs {
		var err error
		if from[i], err = b.Start(run); err != nil {
			return nil, inLane(i*max(b.Actors, 1), err)
		}
	}
	return from, nil
}

// nextSnapshot returns the next unit of the budget, a step or an episode, after which a snapshot is taken, or the last.
func (b *Batch) nextSnapshot(unit, last int) int {
	if b.Keep != nil && b.KeepEvery > 0 {
		last = min(last, (unit/b.KeepEvery+1)*b.KeepEvery)
	}
	if e := b.Evaluation; e != nil {
		last = min(last, (unit/e.Every+1)*e.Every)
	}
	return last
}

// kept says whether the agent is kept after a unit, 0 within an episode, or after the last step.
func (b *Batch) kept(unit int, last bool) bool {
	return b.Keep != nil && (last || b.KeepEvery > 0 && unit > 0 && unit%b.KeepEvery == 0)
}

// evaluated says whether the agent is evaluated then.
func (b *Batch) evaluated(unit int, last bool) bool {
	return b.Evaluation != nil && (last || unit > 0 && unit%b.Evaluation.Every == 0)
}

// snapshots takes them and collects those that are to be evaluated, up to one per lane:
// all of these play at the same time.
type snapshots struct {
	batch  *Batch
	record *recorder
	jobs   []evaluationJob
}

// take takes a snapshot of a run after a step of a lane, which may be its last, if one is due. ended says that the step
// ended an episode.
func (t *snapshots) take(ctx context.Context, lane, step int, ended, last bool, feedback *vector.Feedback) error {
	b, run, unit := t.batch, lane/t.record.actors, step
	if b.Episodes > 0 {
		unit = t.record.lanes[run].episodes * one(ended)
	}
	kept, evaluated := b.kept(unit, last), b.evaluated(unit, last)
	if !kept && !evaluated {
		return nil
	}
	state, err := vector.Save(ctx, b.Agent, run*t.record.actors)
	if err != nil {
		return fmt.Errorf("agent: %w", inLane(lane, fmt.Errorf("saving: %w", err)))
	}
	s := &Snapshot{Step: step, Last: last, State: state, Actors: b.Actors}
	if b.Actors <= 1 {
		s.Mask, s.Outcome = slices.Clone(feedback.Mask(lane)), framework.TimeStep{
			Reward: feedback.Rewards[lane], Terminated: feedback.Terminated[lane], Truncated: feedback.Truncated[lane],
		}
		s.Outcome.Observation.CopyFrom(feedback.Observations.Get(b.Environment.Spec().Observation, lane))
	}
	if kept {
		if err := b.Keep(b.Runs[run], unit, s); err != nil {
			return err
		}
	}
	if !evaluated {
		return nil
	}
	t.jobs = append(t.jobs, evaluationJob{run, s, t.record.pointAfter(run, ended)})
	if len(t.jobs) < len(b.Runs) {
		return nil
	}
	return t.evaluate(ctx)
}

// evaluate evaluates the snapshots that have been collected.
func (t *snapshots) evaluate(ctx context.Context) error {
	if len(t.jobs) == 0 {
		return nil
	}
	values, err := t.batch.Evaluation.play(ctx, t.batch, t.jobs)
	if err != nil {
		return fmt.Errorf("evaluation: %w", err)
	}
	for k, j := range t.jobs {
		l := &t.record.lanes[j.lane]
		l.evaluated = append(l.evaluated, evaluated{j.point, values[k]})
	}
	t.jobs = t.jobs[:0]
	return nil
}

// evaluateStarts evaluates the agents that runs begin with, which make no steps.
func (t *snapshots) evaluateStarts(ctx context.Context) ([]Outcome, error) {
	from, err := t.batch.starts()
	if err != nil {
		return nil, err
	}
	for i, s := range from {
		s.Step = 0
		t.jobs = append(t.jobs, evaluationJob{i, s, 0})
	}
	if err := t.evaluate(ctx); err != nil {
		return nil, err
	}
	return t.record.outcomes(), nil
}
