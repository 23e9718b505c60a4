package vector

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
)

// Rollout asks for many steps of every lane under a policy that is a table, in one
// call. The result equals that of Steps calls of Environment.Step, bit for bit.
// The actions are drawn from streams of their own, which do not touch the
// environment's draws.
type Rollout struct {
	// Steps is the number of steps, T ≥ 1. Starting an episode is one of them.
	Steps int
	// Signals says, a lane an entry, what the first step is; every other one
	// continues, or starts the next episode after the end of one.
	Signals []Signal
	// Observations holds the last observation of lanes whose signal is Continue.
	Observations space.Column
	// Seeds holds Episodes seeds per lane, lane 0's first, for the episodes that it
	// starts, in order. A lane that would need another stops where it is.
	Seeds    []uint64
	Episodes int // number of seeds of a lane, at most T
	// Draws is the stream of a lane's actions: step t uses seed.Draw(Draws[i], t).
	Draws []uint64
	// Policy[s·A+a] is the probability of the a-th action in the s-th observation.
	// The action is the first whose cumulative probability exceeds the draw.
	Policy []float64
}

// Trajectories is what a rollout yields. Entry i·T+t of every column belongs to
// step t of lane i.
type Trajectories struct {
	Signals []Signal     // what the step was; Idle from where the lane stopped
	Actions space.Column // where the signal is Continue
	TimeSteps
}

// NewTrajectories returns zeroed columns for the given lanes and steps.
func NewTrajectories(spec framework.Spec, lanes, steps int) *Trajectories {
	return &Trajectories{
		Signals: make([]Signal, lanes*steps), Actions: space.NewColumn(spec.Action, lanes*steps),
		TimeSteps: NewTimeSteps(spec, lanes*steps),
	}
}

// RollOut makes a rollout: in env's own way if it has one, else step by step. Its
// error wraps ErrUnsupported if observations or actions are not Discrete.
func RollOut(ctx context.Context, env Environment, in *Rollout, out *Trajectories) error {
	if rollOut := env.Abilities().RollOut; rollOut != nil {
		if err := rollOut(ctx, in, out); !errors.Is(err, framework.ErrUnsupported) {
			return err
		}
	}
	spec := env.Spec()
	if err := in.Check(&spec); err != nil {
		return err
	}
	r := newRoller(&spec, in)
	for t := range in.Steps {
		if !r.prepare(t, out) {
			return nil
		}
		if err := Guard(func() error { return env.Step(ctx, r.in, &r.out) }); err != nil {
			return atStep(t, err)
		}
		r.keep(t, out)
	}
	return nil
}

// atStep says in which step of a rollout an error was.
func atStep(t int, err error) error {
	var lane *LaneError
	if !errors.As(err, &lane) {
		return fmt.Errorf("step %d of the rollout: %w", t, err)
	}
	lane.Err = fmt.Errorf("step %d of the rollout: %w", t, lane.Err)
	return err
}

// roller makes a rollout step by step.
type roller struct {
	*Rollout
	actions    int
	first      [2]int64  // observation and action with index 0
	cumulative []float64 // of the policy's rows
	in         *Actions
	out        TimeSteps
	episodes   []int // that lanes have started
}

func newRoller(spec *framework.Spec, in *Rollout) *roller {
	observation, action := spec.Observation.(space.Discrete), spec.Action.(space.Discrete)
	lanes := len(in.Signals)
	return &roller{
		Rollout: in, actions: int(action.N), first: [2]int64{observation.Start, action.Start},
		cumulative: cumulate(in.Policy, int(action.N)),
		in:         NewActions(*spec, lanes), out: NewTimeSteps(*spec, lanes), episodes: make([]int, lanes),
	}
}

// cumulate adds up the probabilities of every row, from left to right. From the
// last action with a positive one on it is infinite: rounding loses no draw.
func cumulate(policy []float64, actions int) []float64 {
	sums := make([]float64, len(policy))
	for row := 0; row < len(policy); row += actions {
		sum, last := 0.0, 0
		for a := range actions {
			if policy[row+a] > 0 {
				last = a
			}
			sum += policy[row+a]
			sums[row+a] = sum
		}
		for a := last; a < actions; a++ {
			sums[row+a] = math.Inf(1)
		}
	}
	return sums
}

// next says what step t ≥ 1 of a lane is, after a step that was prev and ended an
// episode or not; another episode needs another seed.
func (r *roller) next(i int, prev Signal, ended bool) Signal {
	switch {
	case prev == Idle || ended && r.episodes[i] == r.Episodes:
		return Idle
	case ended:
		return NewEpisode
	}
	return Continue
}

// action draws the action of step t of lane i after an observation.
func (r *roller) action(i, t int, observation int64) int64 {
	row, a := r.cumulative[int(observation-r.first[0])*r.actions:], 0
	for u := seed.Draw(r.Draws[i], t); u >= row[a]; {
		a++
	}
	return r.first[1] + int64(a)
}

// prepare says what step t is in every lane, and whether any lane makes it.
func (r *roller) prepare(t int, out *Trajectories) (any bool) {
	for i, signal := range r.Signals {
		observation := r.Observations.Int64[i]
		if t > 0 {
			signal = r.next(i, r.in.Signals[i], r.out.Terminated[i] || r.out.Truncated[i])
			observation = r.out.Observations.Int64[i]
		}
		switch signal {
		case Idle:
		case Continue:
			r.in.Actions.Int64[i] = r.action(i, t, observation)
		default:
			r.in.Seeds[i] = r.Seeds[i*r.Episodes+r.episodes[i]]
			r.episodes[i]++
		}
		r.in.Signals[i], out.Signals[i*r.Steps+t] = signal, signal
		any = any || signal != Idle
	}
	if !any { // nor will any in later steps
		for i := range r.Signals {
			clear(out.Signals[i*r.Steps+t : (i+1)*r.Steps])
		}
	}
	return any
}

// keep stores the result of step t. An observation outside its space has no row
// in the policy, so the lane must stop here. The caller of the rollout finds the
// fault with Trajectories.Check.
func (r *roller) keep(t int, out *Trajectories) {
	rows := int64(len(r.cumulative) / r.actions)
	for i, signal := range r.in.Signals {
		if signal == Idle {
			continue
		}
		k := i*r.Steps + t
		out.Actions.Int64[k] = r.in.Actions.Int64[i]
		out.Observations.Int64[k] = r.out.Observations.Int64[i]
		out.Rewards[k], out.Terminated[k], out.Truncated[k] = r.out.Rewards[i], r.out.Terminated[i], r.out.Truncated[i]
		if o := r.out.Observations.Int64[i] - r.first[0]; uint64(o) >= uint64(rows) {
			r.out.Observations.Int64[i], r.out.Terminated[i], r.episodes[i] = r.first[0], true, r.Episodes
		}
	}
}

// Check reports what is wrong with a request. The error wraps ErrUnsupported where
// a policy cannot be a table.
func (in *Rollout) Check(spec *framework.Spec) error {
	observation, ok := spec.Observation.(space.Discrete)
	action, discrete := spec.Action.(space.Discrete)
	if !ok || !discrete {
		return fmt.Errorf("%s: a policy that is a table needs discrete observations and actions: %w", spec.ID, framework.ErrUnsupported)
	}
	lanes := len(in.Signals)
	switch {
	case in.Steps < 1 || in.Episodes < 0 || in.Episodes > in.Steps:
		return fmt.Errorf("a rollout of %d steps with seeds for %d episodes", in.Steps, in.Episodes)
	case lanes == 0 || len(in.Observations.Int64) != lanes || len(in.Draws) != lanes || len(in.Seeds) != lanes*in.Episodes:
		return fmt.Errorf("a rollout of %d lanes with %d observations, %d streams of draws, %d seeds, %d a lane", lanes, len(in.Observations.Int64), len(in.Draws), len(in.Seeds), in.Episodes)
	case int64(len(in.Policy)) != observation.N*action.N:
		return fmt.Errorf("a policy of %d entries for %d observations and %d actions", len(in.Policy), observation.N, action.N)
	}
	for s := range int(observation.N) {
		sum := 0.0
		for _, p := range in.Policy[s*int(action.N) : (s+1)*int(action.N)] {
			if !(p >= 0) {
				return fmt.Errorf("the policy has the probability %v in observation %d", p, s)
			}
			sum += p
		}
		if !(math.Abs(sum-1) <= 1e-9) {
			return fmt.Errorf("the policy's probabilities in observation %d sum to %v, not 1", s, sum)
		}
	}
	for i, signal := range in.Signals {
		switch {
		case signal > NewRun:
			return fmt.Errorf("lane %d: an environment gets no signal %d", i, signal)
		case signal > Continue && in.Episodes == 0:
			return fmt.Errorf("lane %d is to start an episode and there is no seed", i)
		case signal == Continue && !observation.Contains(in.Observations.Int64[i]):
			return fmt.Errorf("lane %d: observation %d is not in %v", i, in.Observations.Int64[i], observation)
		}
	}
	return nil
}

// Check reports the first entry that is not what the request asked for, as
// TimeSteps.Check does. It requires a request that passes Check, and columns of
// the right length.
func (tr *Trajectories) Check(spec *framework.Spec, in *Rollout) error {
	if err := tr.TimeSteps.Check(spec, tr.Signals); err != nil {
		var lane *LaneError
		if !errors.As(err, &lane) {
			return err
		}
		t := lane.Lane % in.Steps
		lane.Lane /= in.Steps
		return atStep(t, err)
	}
	r := newRoller(spec, in)
	for i, signal := range in.Signals {
		last := in.Observations.Int64[i]
		for t := range in.Steps {
			k := i*in.Steps + t
			if t > 0 {
				signal = r.next(i, signal, tr.Terminated[k-1] || tr.Truncated[k-1])
				last = tr.Observations.Int64[k-1]
			}
			if tr.Signals[k] != signal {
				return invalid(i, "step %d of the rollout has signal %d, must have %d", t, tr.Signals[k], signal)
			}
			switch signal {
			case Idle:
			case Continue:
				if got, want := tr.Actions.Int64[k], r.action(i, t, last); got != want {
					return invalid(i, "step %d of the rollout takes action %d, must take %d", t, got, want)
				}
			default:
				r.episodes[i]++
			}
		}
	}
	return nil
}
