// Package transitions learns about an environment with an unknown model. It follows a
// policy in many runs at once and counts the transitions. It imports the contract,
// its seeds, and mdp.
package transitions

import (
	"context"
	"fmt"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
)

// Config says how to look at an environment.
type Config struct {
	Root  uint64 // root seed, as of an experiment
	First int    // number of the first run; lane i is run First+i and meets its draws
	Steps int    // of every run, starts of episodes included; at least 1
}

// Sample is what was seen of an environment in which episodes follow each other:
// what ends one leads to the start of the next.
type Sample struct {
	// Counts has the steps of all runs. The last step of a run counts as the end of an
	// episode if it did end one, or if no step was seen to leave its next observation.
	// Then it leads to where the run began. So every observation that is reached is
	// also left.
	Counts *mdp.Counts
	// Rewards is the mean reward per step of each run, over its later half; NaN in a run
	// that took no step there.
	Rewards []float64
	// Visits[i][s] is the share of run i's steps, of its later half, that were taken in
	// observation s; NaN as in Rewards.
	Visits [][]float64
	Steps  int // taken in all; starts of episodes are none
}

// transition is a step.
type transition struct {
	s, a, next int
	reward     float64
}

// run is what is known of one lane.
type run struct {
	first   int         // index of the first observation
	at      int         // and of the last one
	last    *transition // not counted yet
	ending  bool        // last ended an episode; where it leads is not known yet
	episode uint64      // number of the next
}

// Collect follows a policy in every lane of env, which have not been stepped. The
// policy and what is counted number observations and actions from 0. The error
// wraps framework.ErrUnsupported where these are not Discrete.
func Collect(ctx context.Context, env vector.Environment, lanes int, pi mdp.Policy, o Config) (*Sample, error) {
	spec := env.Spec()
	observation, ok := spec.Observation.(space.Discrete)
	action, discrete := spec.Action.(space.Discrete)
	if !ok || !discrete {
		return nil, fmt.Errorf("%s: observations and actions must be discrete to be counted: %w", spec.ID, framework.ErrUnsupported)
	}
	if lanes < 1 || o.Steps < 1 {
		return nil, fmt.Errorf("there must be at least 1 step and 1 run, not %d and %d", o.Steps, lanes)
	}
	n, m := int(observation.N), int(action.N)
	counts, err := mdp.NewCounts(n, m)
	if err != nil {
		return nil, err
	}
	t := &collector{
		observation: observation, action: action, options: o, runs: make([]run, lanes),
		sample: &Sample{Counts: counts, Rewards: make([]float64, lanes), Visits: make([][]float64, lanes)},
		taken:  make([]float64, lanes),
	}
	seeds := seed.NewSource(o.Root, spec.ID)
	draws := make([]uint64, lanes) // streams of actions
	for i := range lanes {
		draws[i] = seeds.Seed(o.First+i, seed.Agent, 0)
		t.sample.Visits[i] = make([]float64, n)
	}
	in, out, row := vector.NewActions(spec, lanes), vector.NewTimeSteps(spec, lanes), make([]float64, m)
	for k := range o.Steps {
		for i := range lanes {
			switch r := &t.runs[i]; {
			case k == 0:
				in.Signals[i] = vector.NewRun
			case r.ending:
				in.Signals[i] = vector.NewEpisode
			default:
				in.Signals[i] = vector.Continue
				pi.Distribution(row, r.at)
				in.Actions.Int64[i] = action.Start + int64(draw(row, seed.Draw(draws[i], k)))
				continue
			}
			in.Seeds[i] = seeds.Seed(o.First+i, seed.Environment, t.runs[i].episode)
		}
		if err := vector.Guard(func() error { return env.Step(ctx, in, &out) }); err != nil {
			return nil, fmt.Errorf("step %d: %w", k, err)
		}
		if err := out.Check(&spec, in.Signals); err != nil {
			return nil, fmt.Errorf("step %d: %w", k, err)
		}
		for i := range lanes {
			t.see(i, k, in, &out)
		}
	}
	t.finish()
	return t.sample, nil
}

// draw returns the first action whose cumulative probability exceeds u. Rounding
// loses no draw: the last action with a positive probability takes what is left.
func draw(distribution []float64, u float64) (action int) {
	sum := 0.0
	for a, p := range distribution {
		if sum += p; u < sum {
			return a
		}
		if p > 0 {
			action = a
		}
	}
	return action
}

type collector struct {
	observation, action space.Discrete
	options             Config
	runs                []run
	sample              *Sample
	taken               []float64 // steps of each run in its later half
}

// see counts step k of run i.
func (t *collector) see(i, k int, in *vector.Actions, out *vector.TimeSteps) {
	r, next := &t.runs[i], int(out.Observations.Int64[i]-t.observation.Start)
	if in.Signals[i] != vector.Continue {
		if r.episode == 0 {
			r.first = next
		}
		if r.ending {
			r.last.next, r.ending = next, false
		}
		r.at = next
		r.episode++
		return
	}
	step := transition{s: r.at, a: int(in.Actions.Int64[i] - t.action.Start), next: next, reward: out.Rewards[i]}
	t.sample.Steps++
	if 2*k >= t.options.Steps {
		t.taken[i]++
		t.sample.Rewards[i] += step.reward
		t.sample.Visits[i][step.s]++
	}
	if r.last == nil {
		r.last = new(transition)
	} else {
		t.count(r.last)
	}
	*r.last, r.at, r.ending = step, next, out.Terminated[i] || out.Truncated[i]
}

func (t *collector) count(x *transition) { t.sample.Counts.Update(x.s, x.a, x.reward, x.next) }

// finish counts the last steps and makes means of sums.
func (t *collector) finish() {
	left := make([]bool, t.observation.N) // observations that a step leaves
	for s := range left {
		for a := range int(t.action.N) {
			left[s] = left[s] || t.sample.Counts.N(s, a) > 0
		}
	}
	for _, r := range t.runs {
		if r.last != nil {
			left[r.last.s] = true
		}
	}
	for _, r := range t.runs {
		if r.last == nil {
			continue
		}
		if r.ending || !left[r.last.next] {
			r.last.next = r.first
		}
		t.count(r.last)
	}
	for i, n := range t.taken {
		t.sample.Rewards[i] /= n
		for s := range t.sample.Visits[i] {
			t.sample.Visits[i][s] /= n
		}
	}
}
