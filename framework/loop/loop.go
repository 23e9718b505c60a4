// Package loop runs an agent in an environment, many runs at a time, and records
// curves. It knows the contract in framework and nothing of configs, files or
// plugins.
package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/vector"
)

// Batch is a group of runs that are stepped together, one per lane. The results
// of a run do not depend on the others in its batch.
type Batch struct {
	Environment vector.Environment // with a lane for each of Runs, or with Actors so many
	Agent       vector.Agent       // with as many lanes
	Runs        []int              // run index of each lane or, with Actors, of each so many lanes
	// Actors, if more than 1, is the number of actors of a run: see framework.Spec.Actors. Their steps count one after the
	// other, in the order of their lanes; a run ends within a call, and later actors' steps in it do not count. There
	// are no metrics of the environment's own then, and Ahead is nil.
	Actors int
	Seeds  seed.Source // of the environment
	Steps  int         // interactions a run, at least 1; 0 to evaluate the agents of Start alone
	// Episodes, if not 0, ends a run with its episode of this number, and Steps are the most that it may make.
	Episodes int
	// Grid holds the increasing step numbers in [1, Steps] at which curves get a point; with Episodes the
	// numbers of episodes, from 1 to Episodes, at whose ends they do.
	Grid     []int
	Discount float64         // γ of result.DiscountedReturn, in [0,1]
	Metrics  []result.Metric // to record; agent.* and environment.* are all that a plugin declares
	// Start, if not nil, returns the saved agent that a run begins with, in place of a
	// fresh one.
	Start func(run int) (*Snapshot, error)
	// Task, if not nil, returns the seed of a task that continues in which the agent of Start is
	// evaluated, in place of the run's own.
	Task func(run int) uint64
	// Keep, if not nil, is given the agent of a run after its last step, and after
	// every KeepEvery steps, with Episodes episodes. unit is the step, or the number of the episode that
	// ended, 0 within one. Its error ends the batch.
	Keep      func(run, unit int, s *Snapshot) error
	KeepEvery int // 0: it is called after the last step alone
	// Ahead, if not nil, is called before steps of the agent. Nothing else is asked in the steps that it
	// announces.
	Ahead vector.Ahead
	// Checkpoints, if not nil, keep runs under way, and go on with them.
	Checkpoints *Checkpoints
	// Evaluation, if not nil, plays with copies of the agents, which it does not change.
	Evaluation *Evaluation
	// Progress, if not nil, is called now and then with what all lanes together have made since
	// its last call. During the call, unfinished returns what the runs have yielded so far,
	// without decisions and evaluations. The slices in it belong to the loop.
	Progress func(made Work, unfinished func() []Outcome)
}

// Work is what runs have made.
type Work struct {
	Steps int
	// Units are the part of the budget: steps, or with Batch.Episodes the episodes that ended. A run
	// that ends before its last episode has made all of them.
	Units int
}

// Outcome is what one run yielded.
type Outcome struct {
	Run      int                         // number of the run
	Steps    int                         // that were made
	Episodes int                         // episodes that ended within the run
	Curves   map[result.Metric][]float64 // a value per grid point; NaN where there is none
	// Decisions of an agent that is an Explorer.
	Decisions []result.Decision
}

// Error is an error of environment or agent.
type Error struct {
	Steps []int // that each lane had made
	Err   error // of the environment or the agent
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e *Error) Unwrap() error { return e.Err }

// failed adds to an error what lanes had done.
func (r *recorder) failed(err error) error {
	e := &Error{Err: err}
	for i := range r.hot {
		e.Steps = append(e.Steps, r.hot[i].steps)
	}
	return e
}

// pace says at which calls to look at the context and to report progress. That is
// rarely enough to cost nothing, and a fraction of a second apart also if a call
// takes milliseconds.
type pace struct {
	next, every int
	last        time.Time
}

// looked says that call is one of them. The number of calls to the next one is as
// many as from the last. It doubles, up to 1,024, if they took almost no time, and
// halves if they took long.
func (p *pace) looked(call int, now time.Time) {
	switch took := now.Sub(p.last); {
	case took < 20*time.Millisecond:
		p.every = min(2*p.every, 1024)
	case took > 100*time.Millisecond:
		p.every = max(1, p.every/2)
	}
	p.next, p.last = call+p.every, now
}

// Run steps the batch until every lane has made its interactions, and returns an outcome a lane. If
// environment and agent can both step lanes by themselves, Run uses that. An error of environment
// or agent is returned with the number of the call, from 1. The first call begins the runs, and
// every other makes a step or begins an episode. It is an *Error, and wraps a *vector.LaneError if
// one lane caused it. A cancelled context ends the batch with its cause and no outcome.
func Run(ctx context.Context, b Batch) ([]Outcome, error) {
	x := newBatchRun(&b)
	lanes := newLaneRunner(x)
	x.alone = lanes != nil
	if err := b.start(ctx); err != nil {
		return nil, err
	}
	if b.Steps == 0 {
		return x.taken.evaluateStarts(ctx)
	}
	resumed, err := x.history.resume(ctx)
	if err != nil {
		return nil, x.failed(err)
	}
	var told Work
	progress := func() {
		if made := x.work(); b.Progress != nil && made.Steps > told.Steps {
			b.Progress(Work{made.Steps - told.Steps, made.Units - told.Units}, x.unfinished)
			told = made
		}
	}
	first := one(resumed > 0) // the call after that which began the runs
	looks := pace{every: 1, last: time.Now()}
	for call := first; x.live > 0; {
		if call >= looks.next {
			now := time.Now()
			looks.looked(call, now)
			if err := context.Cause(ctx); err != nil {
				return nil, err
			}
			within, err := x.history.look(ctx, now)
			if err != nil {
				return nil, x.failed(fmt.Errorf("call %d: %w", call, err))
			}
			if within > 0 {
				looks.next = min(looks.next, call+within)
			}
			progress()
		}
		calls, special := 1, true
		var err error
		if lanes != nil && allContinuing(x.actions.Signals, x.feedback.Signals) {
			calls, err = lanes.step(ctx, call, looks.next-call)
		} else {
			if b.Ahead != nil && call > 0 {
				steps, episodes := x.ahead(looks.next - call)
				b.Ahead(steps, episodes, x.nextSeed)
			}
			special, err = x.stepBatch(ctx, call)
		}
		if errors.Is(err, framework.ErrNeedsReset) && call == first && call > 0 {
			err = fmt.Errorf("%w: %w", ErrCheckpoint, err)
		}
		if call += calls; err == nil && special {
			err = x.turn(ctx, call)
		}
		if err != nil {
			return nil, x.failed(err)
		}
	}
	progress()
	if err := x.taken.evaluate(ctx); err != nil {
		return nil, err
	}
	return x.outcomes(), nil
}

// batchRun is a batch under way.
type batchRun struct {
	*recorder
	spec     framework.Spec // of the environment
	taken    snapshots
	history  *history         // nil without Batch.Checkpoints
	actions  *vector.Actions  // of the next call of the environment
	feedback *vector.Feedback // of the next call of the agent
	episode  []uint64         // of each lane: the number of its episode
	live     int              // runs that go on
}

func newBatchRun(b *Batch) *batchRun {
	n, spec := len(b.Runs)*max(b.Actors, 1), b.Environment.Spec()
	x := &batchRun{recorder: newRecorder(b), spec: spec, actions: vector.NewActions(spec, n), feedback: vector.NewFeedback(spec, n),
		episode: make([]uint64, n), live: len(b.Runs)}
	x.taken, x.history = snapshots{batch: b, record: x.recorder}, newHistory(x)
	for lane := range n {
		x.begin(lane, vector.NewRun)
		x.feedback.Seeds[lane] = x.seed(lane, seed.Agent, 0)
	}
	return x
}

// begin lets the environment begin a lane's episode, or its run, in the next call.
func (x *batchRun) begin(lane int, signal vector.Signal) {
	x.actions.Signals[lane], x.actions.Seeds[lane] = signal, x.seed(lane, seed.Environment, x.episode[lane])
}

func (x *batchRun) seed(lane int, purpose seed.Purpose, counter uint64) uint64 {
	return x.batch.Seeds.Actor(lane%x.actors).Seed(x.batch.Runs[lane/x.actors], purpose, counter)
}

// stepBatch makes a step of every lane that is not idle. See recorder.step for what it
// returns.
func (x *batchRun) stepBatch(ctx context.Context, call int) (special bool, err error) {
	b := x.batch
	if call > 0 {
		if err := stepAgent(ctx, b.Agent, &x.spec, x.feedback, &x.actions.Actions); err != nil {
			return false, fmt.Errorf("agent, call %d: %w", call+1, err)
		}
	}
	if x.watched != nil {
		x.states = append(x.states[:0], x.feedback.Observations.Int64...)
	}
	if err := stepEnvironment(ctx, b.Environment, &x.spec, x.actions, &x.feedback.TimeSteps); err != nil {
		return false, fmt.Errorf("environment, call %d: %w", call+1, err)
	}
	if call == 0 {
		if err := x.learnModels(ctx, b.Environment); err != nil {
			return false, err
		}
	}
	if err := x.follow(&x.spec, x.actions, &x.feedback.TimeSteps); err != nil {
		return false, fmt.Errorf("environment, call %d: %w", call+1, err)
	}
	copy(x.feedback.Signals, x.actions.Signals)
	x.history.step()
	if call == 0 && b.Start != nil { // the agents are there
		for i := range x.feedback.Signals {
			x.feedback.Signals[i] = vector.NewEpisode
		}
	}
	return x.step(x.actions, x.feedback), nil
}

// ahead returns for how many steps, up to most, every lane continues and nothing is recorded, and how many episodes a
// lane may begin in them.
func (x *batchRun) ahead(most int) (steps, episodes int) {
	episodes = math.MaxInt
	for i, s := range x.actions.Signals {
		if s != vector.Continue || x.feedback.Signals[i] != vector.Continue {
			return 0, 0
		}
		most = min(most, x.hot[i].nextAt-x.hot[i].steps)
		if l := &x.lanes[i]; x.batch.Episodes > 0 {
			next := x.batch.nextSnapshot(l.episodes, x.batch.Episodes)
			if l.point < len(x.batch.Grid) {
				next = min(next, x.batch.Grid[l.point])
			}
			episodes = min(episodes, next-l.episodes-1)
		}
	}
	return most, episodes
}

// nextSeed returns the seed of a lane's episode after the next so many.
func (x *batchRun) nextSeed(lane, episodes int) uint64 {
	return x.seed(lane, seed.Environment, x.episode[lane]+1+uint64(episodes))
}

// idle leaves the lanes of a run that is over alone.
func (x *batchRun) idle(i int) {
	for lane := i * x.actors; lane < (i+1)*x.actors; lane++ {
		x.actions.Signals[lane], x.feedback.Signals[lane] = vector.Idle, vector.Idle
	}
	x.live--
}

// turn gives every lane its next signal, after so many calls, and records episodes, grid
// points and runs that have ended.
func (x *batchRun) turn(ctx context.Context, calls int) error {
	b := x.batch
	for lane, s := range x.actions.Signals {
		i := lane / x.actors
		switch s {
		case vector.Continue:
			if x.actors > 1 {
				x.add(lane, x.actions, x.feedback)
			}
			ended := x.feedback.Terminated[lane] || x.feedback.Truncated[lane]
			if ended {
				x.endEpisode(i, x.feedback.Truncated[lane])
				x.episode[lane]++
				x.begin(lane, vector.NewEpisode)
			}
			x.returns[lane] = x.hot[i].sums.episode
			steps, over := x.hot[i].steps, x.over(i)
			if steps == x.hot[i].nextAt || ended && b.Episodes > 0 {
				if err := x.flush(ctx, i); err != nil {
					return fmt.Errorf("call %d: %w", calls, err)
				}
				if err := x.taken.take(ctx, lane, steps, ended, over, x.feedback); err != nil {
					return fmt.Errorf("call %d: %w", calls, err)
				}
			}
			if over {
				x.idle(i)
			}
		case vector.NewEpisode, vector.NewRun:
			x.actions.Signals[lane] = vector.Continue
		}
	}
	if err := x.measure(ctx); err != nil {
		return fmt.Errorf("call %d: %w", calls, err)
	}
	return nil
}
