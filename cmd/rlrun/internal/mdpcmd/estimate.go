package mdpcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
)

// estimateRuns is how many runs an estimated model rests on. They spread the cost of a call
// to another process.
const estimateRuns = 64

// sample is what was seen of an environment in which episodes follow each other: what ends
// one leads to the start of the next.
type sample struct {
	// counts has the steps of all runs. The last step of a run counts as the end of an
	// episode if it did end one, or if no step was seen to leave its next observation.
	// Then it leads to where the run began. So every observation that is reached is
	// also left.
	counts *mdp.Counts
	starts []mdp.Weight // the first observations of the runs
	steps  int          // taken in all; starts of episodes are none
	series map[[2]int]*series
}

// transition is a step.
type transition struct {
	s, a, next int
	reward     float64
	cut        bool // the episode was truncated there, or the run ended
}

// observed is what is known of one lane.
type observed struct {
	first   int         // index of the first observation
	at      int         // and of the last one
	last    *transition // not counted yet
	ending  bool        // last ended an episode; where it leads is not known yet
	episode uint64      // number of the next
}

// collect follows a policy for some steps, starts of episodes included, in every lane of
// env. The lanes have not been stepped. The policy and what is counted number
// observations and actions, which are Discrete, from 0.
func collect(ctx context.Context, env vector.Environment, lanes int, pi mdp.Policy, root uint64, steps int) (*sample, error) {
	spec := env.Spec()
	observation, action := spec.Observation.(space.Discrete), spec.Action.(space.Discrete)
	n, m := int(observation.N), int(action.N)
	counts, err := mdp.NewCounts(n, m)
	if err != nil {
		return nil, err
	}
	runs, out := make([]observed, lanes), &sample{counts: counts, series: map[[2]int]*series{}}
	seeds := seed.NewSource(root, spec.ID)
	draws := make([]uint64, lanes) // streams of actions
	for i := range lanes {
		draws[i] = seeds.Seed(i, seed.Agent, 0)
	}
	in, ts, row := vector.NewActions(spec, lanes), vector.NewTimeSteps(spec, lanes), make([]float64, m)
	for k := range steps {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		for i := range lanes {
			switch r := &runs[i]; {
			case k == 0:
				in.Signals[i] = vector.NewRun
			case r.ending:
				in.Signals[i] = vector.NewEpisode
			default:
				in.Signals[i] = vector.Continue
				pi.Distribution(row, r.at)
				if err := permit(row, ts.Mask(i)); err != nil {
					return nil, fmt.Errorf("observation %d: %w", r.at, err)
				}
				in.Actions.Int64[i] = action.Start + int64(drawn(row, seed.Draw(draws[i], k)))
				continue
			}
			in.Seeds[i] = seeds.Seed(i, seed.Environment, runs[i].episode)
		}
		if err := vector.Guard(func() error { return env.Step(ctx, in, &ts) }); err != nil {
			return nil, fmt.Errorf("step %d: %w", k, err)
		}
		if err := ts.Check(&spec, in.Signals); err != nil {
			return nil, fmt.Errorf("step %d: %w", k, err)
		}
		for i := range runs {
			out.see(&runs[i], i, in, &ts, int(observation.Start), int(action.Start))
		}
	}
	out.finish(runs, n, m)
	return out, nil
}

// permit takes from a policy what a mask does not allow.
func permit(row []float64, mask []bool) error {
	sum := 0.0
	for a, allowed := range mask {
		if !allowed {
			row[a] = 0
		}
		sum += row[a]
	}
	if mask != nil && sum == 0 {
		return errors.New("the policy takes none of the actions that the mask allows there")
	}
	for a := range mask {
		row[a] /= sum
	}
	return nil
}

// drawn returns the first action whose cumulative probability exceeds u. Rounding
// loses no draw: the last action with a positive probability takes what is left.
func drawn(distribution []float64, u float64) (action int) {
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

// see counts a step of run r in lane i. Observations and actions begin with the given numbers.
func (x *sample) see(r *observed, i int, in *vector.Actions, out *vector.TimeSteps, observation, action int) {
	next := int(out.Observations.Int64[i]) - observation
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
	x.steps++
	if r.last == nil {
		r.last = new(transition)
	} else {
		x.count(r.last, i)
	}
	*r.last = transition{s: r.at, a: int(in.Actions.Int64[i]) - action, next: next, reward: out.Rewards[i], cut: out.Truncated[i]}
	r.at, r.ending = next, out.Terminated[i] || out.Truncated[i]
}

func (x *sample) count(t *transition, lane int) {
	x.counts.Update(t.s, t.a, t.reward, t.next)
	if t.cut { // where it leads follows from the time
		return
	}
	at := [2]int{t.s, t.a}
	if x.series[at] == nil {
		x.series[at] = &series{last: map[int]outcome{}, counts: map[outcome]float64{}}
	}
	x.series[at].add(t, lane)
}

// left tells whether a step from an observation was counted.
func (x *sample) left(s, actions int) bool {
	for a := range actions {
		if x.counts.N(s, a) > 0 {
			return true
		}
	}
	return false
}

// finish counts the last steps, and where runs began.
func (x *sample) finish(runs []observed, observations, actions int) {
	left, starts := make([]bool, observations), make([]float64, observations)
	for s := range left {
		left[s] = x.left(s, actions)
	}
	for _, r := range runs {
		if r.last != nil {
			left[r.last.s] = true
			starts[r.first]++
		}
	}
	for i, r := range runs {
		if r.last == nil {
			continue
		}
		if r.ending || !left[r.last.next] {
			r.last.next = r.first
		}
		r.last.cut = true
		x.count(r.last, i)
	}
	for s, n := range starts {
		if n > 0 {
			x.starts = append(x.starts, mdp.Weight{S: s, P: n / float64(len(runs))})
		}
	}
}

// model is the one of observed frequencies and mean rewards. A state lacks the actions that
// did not occur in it; one that did not occur is terminal.
func (x *sample) model(name string, observations, actions int, notes []string) (*mdp.Tabular, error) {
	d := mdp.Definition{Name: name, States: observations, Actions: actions, Initial: x.starts, Notes: notes}
	for s := range observations {
		if !x.left(s, actions) {
			d.Terminal = append(d.Terminal, s)
		}
		for a := range actions {
			next, count := x.counts.Row(s, a)
			for k, t := range next {
				d.Transitions = append(d.Transitions, mdp.Transition{S: s, A: a, Next: int(t), P: count[k] / x.counts.N(s, a)})
			}
			if len(next) > 0 {
				d.Rewards = append(d.Rewards, mdp.Reward{S: s, A: a, R: x.counts.Rewards(s, a).Mean})
			}
		}
	}
	return mdp.NewModel(d)
}

// half is a policy that takes any action half of the time.
type half struct{ mdp.Policy }

// Distribution implements mdp.Policy.
func (h half) Distribution(dst []float64, s int) {
	h.Policy.Distribution(dst, s)
	for a := range dst {
		dst[a] = dst[a]/2 + 0.5/float64(len(dst))
	}
}

// estimate takes the model of an environment that tells none from what is seen in runs.
// Actions are random; half of them are those of the policy, if one is given.
func (p *process) estimate(ctx context.Context, plugin vector.Plugin, params []byte, f *mdpFlags) error {
	if f.length < 2 {
		return cli.Usagef("--steps must be at least 2, not %d", f.length)
	}
	env, err := plugin.OpenEnvironment(ctx, params, estimateRuns)
	if err != nil {
		return fmt.Errorf("%s: %w", f.env, err)
	}
	defer env.Close()
	spec := env.Spec()
	observation, ok := spec.Observation.(space.Discrete)
	action, discrete := spec.Action.(space.Discrete)
	if !ok || !discrete {
		return cli.Usagef("%s has no known model, and one can be estimated only where observations and actions are discrete", f.env)
	}
	if observation.N > exactStates || action.N > exactStates {
		return cli.Usagef("%s has no known model, and its %d observations and %d actions are too many to count: at most %d", f.env, observation.N, action.N, exactStates)
	}
	n, m := int(observation.N), int(action.N)
	var pi mdp.Policy = mdp.Uniform{}
	how := "random actions"
	if f.policy != "optimal" && f.policy != "uniform" {
		names := make([]string, m)
		for a := range names {
			names[a] = fmt.Sprint(a)
		}
		given, err := namedPolicy(f.policy, n, names, p.stderr)
		if err != nil {
			return err
		}
		pi, how = half{given}, "actions of which half are random"
	}
	x, err := collect(ctx, env, estimateRuns, pi, f.root, f.length)
	if err != nil {
		return fmt.Errorf("%s: %w", f.env, err)
	}
	p.counts = x.counts
	notes := []string{fmt.Sprintf("the model is estimated from %d steps in %d runs with %s (--steps, --seed)", x.steps, estimateRuns, how)}
	if x.differs() {
		notes = append(notes, "the outcomes of an action in a state differ between runs or episodes more than chance explains: the task is drawn anew, or observations do not show all of its state, and the model is a mean that no agent meets")
	}
	p.model, err = x.model(f.env+", estimated", n, m, notes)
	return err
}
