package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/each"
)

// Evaluation plays with copies of agents that do not learn, in lanes of its own. Agents
// with the ability Greedy act greedily, the others as they do when they learn. The
// agents that learn, and their environments, do not notice.
type Evaluation struct {
	Environment vector.Environment // opened as the batch's, with a lane for each of its runs
	Agent       vector.Agent       // opened as the batch's, with as many lanes and one actor
	Every       int                // steps of a run between evaluations, with Batch.Episodes episodes, at least 1; the last is at its end
	// Episodes is the number of episodes of an evaluation, at most Limit steps each,
	// where episodes end. Its value is their mean return.
	Episodes, Limit int
	// Steps is the number of steps of an evaluation where Episodes is 0 or episodes do
	// not end. Its value is the mean reward of a step.
	Steps int
}

// byEpisodes says whether an evaluation in environments of a spec counts episodes.
func (e *Evaluation) byEpisodes(spec framework.Spec) bool { return e.Episodes > 0 && !spec.Continuing }

// metric is what an evaluation in environments of a spec records.
func (e *Evaluation) metric(spec framework.Spec) result.Metric {
	if e.byEpisodes(spec) {
		return result.EvaluationReturn
	}
	return result.EvaluationReward
}

type evaluationJob struct {
	lane  int // of the evaluation, and place in Batch.Runs
	from  *Snapshot
	point int // see evaluated
}

// evaluated is the value of the evaluation after a step. point is the number of the step; with
// Batch.Episodes, the number of the step's episode.
type evaluated struct {
	point int
	value float64
}

// onGrid returns a curve: at each grid point the latest of the evaluations since the
// one before, NaN if there was none.
func onGrid(list []evaluated, grid []int) []float64 {
	curve := make([]float64, len(grid))
	for k, step := range grid {
		curve[k] = math.NaN()
		for ; len(list) > 0 && list[0].point <= step; list = list[1:] {
			curve[k] = list[0].value
		}
	}
	return curve
}

// known returns the curve of an unfinished run, up to the grid point before its next evaluation.
func (e *Evaluation) known(list []evaluated, grid []int) []float64 {
	last := 0
	if n := len(list); n > 0 {
		last = list[n-1].point
	}
	before, _ := slices.BinarySearch(grid, (last/e.Every+1)*e.Every)
	return onGrid(list, grid[:before])
}

// tally is what a lane has earned in an evaluation.
type tally struct {
	steps, episodes int
	inEpisode       int // steps
	total           float64
}

// play evaluates agents, one per lane, and returns the value of each.
func (e *Evaluation) play(ctx context.Context, b *Batch, jobs []evaluationJob) ([]float64, error) {
	spec, n := e.Environment.Spec(), len(b.Runs)
	from := each.Of(jobs, func(j evaluationJob) *Snapshot { return j.from })
	blame := func(who string, err error) error {
		var lane *vector.LaneError
		if errors.As(err, &lane) && lane.Lane >= 0 && lane.Lane < len(jobs) {
			return fmt.Errorf("%s: %w", who, &vector.LaneError{Lane: jobs[lane.Lane].lane * max(b.Actors, 1), Err: lane.Err})
		}
		return fmt.Errorf("%s: %w", who, err)
	}
	if err := Restore(ctx, e.Agent, spec, n, 1, from); err != nil {
		return nil, blame("agent", err)
	}
	begin := vector.NewEpisode
	if e.Agent.Abilities().Greedy {
		begin = vector.EvaluateEpisode
	}
	actions, feedback := vector.NewActions(spec, n), vector.NewFeedback(spec, n)
	tallies := make([]tally, len(jobs))
	for k, j := range jobs {
		actions.Signals[k], actions.Seeds[k] = vector.NewRun, e.seed(b, &spec, j, 0)
	}
	for call, live := 0, len(jobs); live > 0; call++ {
		if call%64 == 0 {
			if err := context.Cause(ctx); err != nil {
				return nil, err
			}
		}
		if err := stepEnvironment(ctx, e.Environment, &spec, actions, &feedback.TimeSteps); err != nil {
			return nil, blame("environment", err)
		}
		for k, j := range jobs {
			t := &tallies[k]
			switch actions.Signals[k] {
			case vector.NewRun, vector.NewEpisode:
				feedback.Signals[k], actions.Signals[k] = begin, vector.Continue
			case vector.Continue:
				feedback.Signals[k] = vector.Evaluate
				over := t.add(feedback.Rewards[k], feedback.Terminated[k] || feedback.Truncated[k], e.byEpisodes(spec), e.Limit)
				switch {
				case e.over(t, &spec):
					actions.Signals[k], feedback.Signals[k] = vector.Idle, vector.Idle
					live--
				case over:
					actions.Signals[k], actions.Seeds[k] = vector.NewEpisode, e.seed(b, &spec, j, t.episodes)
				}
			}
		}
		if live == 0 {
			break
		}
		if err := stepAgent(ctx, e.Agent, &spec, feedback, &actions.Actions); err != nil {
			return nil, blame("agent", err)
		}
	}
	values := make([]float64, len(jobs))
	for k, t := range tallies {
		if values[k] = t.total / float64(t.steps); e.byEpisodes(spec) {
			values[k] = t.total / float64(t.episodes)
		}
	}
	return values, nil
}

// add counts a step and says whether an episode is over.
func (t *tally) add(reward float64, ended, limited bool, limit int) (over bool) {
	t.total += reward
	t.steps++
	t.inEpisode++
	if !ended && !(limited && t.inEpisode == limit) {
		return false
	}
	t.episodes++
	t.inEpisode = 0
	return true
}

// over says whether the evaluation of a lane is.
func (e *Evaluation) over(t *tally, spec *framework.Spec) bool {
	if e.byEpisodes(*spec) {
		return t.episodes == e.Episodes
	}
	return t.steps == e.Steps
}

// seed returns the seed of an episode. A task that continues begins with the seed of the
// run, which may draw the task itself, such as the arms of a bandit, or with Batch.Task.
func (e *Evaluation) seed(b *Batch, spec *framework.Spec, j evaluationJob, episode int) uint64 {
	run := b.Runs[j.lane]
	switch {
	case spec.Continuing && b.Task != nil:
		return b.Task(run)
	case spec.Continuing:
		return b.Seeds.Seed(run, seed.Environment, 0)
	}
	const episodes = 24 // bits
	return b.Seeds.Seed(run, seed.Evaluation, uint64(j.from.Step)<<episodes+uint64(episode))
}
