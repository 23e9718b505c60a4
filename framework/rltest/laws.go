package rltest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/stat"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// The laws of agents: changes of how a task is shown that leave the task as it is.
// An agent that follows a law earns the same, in expectation. An agent may break laws
// by design; its description says so (vector.Description.Breaks).
const (
	// UnreachableStates: declaring states that are never reached changes nothing.
	UnreachableStates Rule = "unreachable-states"
	// DuplicatedActions: an agent earns no less if every action is there twice.
	DuplicatedActions Rule = "duplicated-actions"
	// RelabelledStates: the numbers of the states do not matter.
	RelabelledStates Rule = "relabelled-states"
	// RelabelledActions: the numbers of the actions do not matter, not even the
	// order in which they are tried first.
	RelabelledActions Rule = "relabelled-actions"
	// ScaledRewards: multiplying rewards and their bounds by a positive number
	// changes nothing.
	ScaledRewards Rule = "scaled-rewards"
	// ShiftedRewards: adding a number to rewards and their bounds changes nothing.
	// It is tried in tasks that continue: where episodes end, it changes the task.
	ShiftedRewards Rule = "shifted-rewards"
	// ContinuingForm: an agent earns the same per step if ends of episodes are not
	// shown and the last step leads to the next start. Agents that give the end of
	// an episode the value 0 break it: they maximise the reward of an episode, not the
	// reward per step.
	ContinuingForm Rule = "continuing-form"
)

// Laws returns the laws of agents.
func Laws() []Rule {
	return []Rule{UnreachableStates, DuplicatedActions, RelabelledStates, RelabelledActions, ScaledRewards, ShiftedRewards, ContinuingForm}
}

const (
	lawSteps = 300
	padding  = 40 // unreachable states
)

// looks are the t tests of each law and task, where actions cannot be compared exactly.
// The first finds what is broken clearly. Laws that it leaves open are tested again, with
// further runs. Half of the laws that are kept are left open by the first look, and a fifth of
// these by the second. So a law that is kept is found broken in a task with a probability of at
// most 1e-4 + 2e-4/2 + 1e-3/10 = 3e-4. The runs are fixed, so that a check that passes once
// passes always.
var looks = []struct {
	first, runs int
	broken      float64 // the law is broken if p is at most this
	kept        float64 // and kept if p is above this
}{
	{0, 24, 1e-4, 0.5},
	{24, 120, 2e-4, 0.2},
	{144, 720, 1e-3, 1e-3},
}

// CheckLaws plays an agent in small finite tasks and in other views of them, with the same
// draws, and compares runs.
//
//   - The agent follows the law if it takes the same actions in all runs.
//   - Rewards are scaled by a power of two, which changes no digit. All actions have to be the same.
//   - If unreachable states leave the actions of most runs as they are, the agent uses the same random
//     numbers. They have to leave all runs as they are.
//   - Otherwise t tests compare what it earns, in 24 runs of 300 steps. If these do not decide, there
//     are 120 more, and then 720 more. An agent that follows all laws fails by chance with a
//     probability below 1 %.
//
// The result is nil or a list of broken rules (see Broken). It has every
// law that the agent breaks but does not declare in its description, every law declared
// without a reason, and every declared name that is no law. Laws that are declared are not
// tried. The error wraps framework.ErrUnsupported if the agent accepts none of the tasks.
func CheckLaws(ctx context.Context, p vector.Plugin, params json.RawMessage) error {
	d, err := p.Describe(ctx)
	if err != nil {
		return &Violation{Rule: Described, Err: err}
	}
	broken, err := brokenLaws(ctx, p, params, d.Breaks)
	if err != nil {
		return err
	}
	var errs []error
	for _, law := range slices.Sorted(maps.Keys(d.Breaks)) {
		if !slices.Contains(Laws(), Rule(law)) || d.Breaks[law] == "" {
			errs = append(errs, &Violation{Rule: Described, Err: fmt.Errorf("it breaks %q for the reason %q: want one of %v, and a reason", law, d.Breaks[law], Laws())})
		}
	}
	for _, law := range Laws() {
		if broken[law] != nil {
			errs = append(errs, &Violation{Rule: law, Err: broken[law]})
		}
	}
	return errors.Join(errs...)
}

// brokenLaws returns the laws that are broken but not declared, each with what shows it.
func brokenLaws(ctx context.Context, p vector.Plugin, params json.RawMessage, declared map[string]string) (map[Rule]error, error) {
	tasks, err := lawTasks()
	if err != nil {
		return nil, err
	}
	broken, supported := map[Rule]error{}, false
	for _, task := range tasks {
		c := lawCheck{ctx: ctx, plugin: p, params: params, task: task, plain: make([]*played, len(looks))}
		_, err := c.asItIs(0)
		if errors.Is(err, framework.ErrUnsupported) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", task.Name(), err)
		}
		supported = true
		for _, law := range Laws() {
			v, applies := c.view(law)
			if _, is := declared[string(law)]; is || !applies || broken[law] != nil {
				continue
			}
			fault, err := c.fault(law, v)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", task.Name(), law, err)
			}
			if fault != nil {
				broken[law] = fmt.Errorf("%s: %w", task.Name(), fault)
			}
		}
	}
	if !supported {
		return nil, fmt.Errorf("rltest: the laws are for agents of finite tasks: %w", framework.ErrUnsupported)
	}
	return broken, nil
}

// fault returns what shows that the agent breaks a law in a view of the task, or nil.
func (c *lawCheck) fault(law Rule, v view) (fault, err error) {
	for k, look := range looks {
		want, err := c.asItIs(k)
		if err != nil {
			return nil, err
		}
		got, err := c.play(v, look.first, look.runs)
		if errors.Is(err, framework.ErrUnsupported) {
			return err, nil
		}
		if err != nil {
			return nil, err
		}
		d, other, first := make([]float64, look.runs), 0, 0
		for i := range d {
			d[i] = got.rewards[i] - want.rewards[i]
			if !slices.Equal(got.actions[i], want.actions[i]) {
				other++
				first = i
			}
		}
		switch {
		case other == 0:
			return nil, nil
		case law == ScaledRewards, law == UnreachableStates && 2*other < look.runs:
			step := 0
			for got.actions[first][step] == want.actions[first][step] {
				step++
			}
			return fmt.Errorf("%d of %d runs take other actions, run %d from step %d on", other, look.runs, look.first+first, step), nil
		}
		t := stat.PairedT(d, 0.95)
		switch {
		case t.P > look.kept || law == DuplicatedActions && t.T > 0:
			return nil, nil
		case t.P <= look.broken:
			return fmt.Errorf("a run of %d steps earns %.4g, and %.4g in the other view (difference %.3g, p = %.1g)",
				lawSteps, stat.Mean(want.rewards), stat.Mean(got.rewards), t.Value, t.P), nil
		}
	}
	return nil, nil
}

// lawTasks are two bandits, a task that continues, a random one, and two in episodes. The last of the
// two arms is the better one by far, so that it matters which arm is tried first.
func lawTasks() (models []*mdp.Tabular, err error) {
	for _, make := range []func() (*catalog.Task, error){
		func() (*catalog.Task, error) { return catalog.Bandit([]float64{0.25, 0.75, 0.5}) },
		func() (*catalog.Task, error) { return catalog.Bandit([]float64{0.125, 0.875}) },
		func() (*catalog.Task, error) { return catalog.RiverSwim(4) },
		func() (*catalog.Task, error) { return catalog.Garnet(5, 3, 2, 1) },
		func() (*catalog.Task, error) {
			return catalog.GridWorld(catalog.Grid{Map: []string{"S..", "..G"}, Slip: 0.2, StepReward: -0.125, GoalReward: 1})
		},
		func() (*catalog.Task, error) { return catalog.DeepSea(catalog.Sea{Size: 4}) },
	} {
		task, err := make()
		if err != nil {
			return nil, err
		}
		models = append(models, task.Model)
	}
	return models, nil
}

// view is how a task is shown. The zero value shows it as it is.
type view struct {
	padding         int     // states that are declared but never reached
	copies          int     // further copies of every action
	states, actions bool    // have other numbers, drawn for every run
	scale, shift    float64 // of rewards; no scale is 1
	continuing      bool    // ends are not shown
}

// lawCheck plays an agent in a task.
type lawCheck struct {
	ctx    context.Context
	plugin vector.Plugin
	params json.RawMessage
	task   *mdp.Tabular
	plain  []*played // the task as it is, for each look
}

// played is what an agent has done in each of some runs.
type played struct {
	rewards []float64 // the sum, in the task's units
	actions [][]int32 // the task's
}

// asItIs returns a look at the task as it is.
func (c *lawCheck) asItIs(look int) (p *played, err error) {
	if c.plain[look] == nil {
		c.plain[look], err = c.play(view{}, looks[look].first, looks[look].runs)
	}
	return c.plain[look], err
}

// view returns what a law compares the task with, and whether it applies.
func (c *lawCheck) view(law Rule) (v view, applies bool) {
	ends := c.task.HasTerminal()
	switch law {
	case UnreachableStates:
		return view{padding: padding}, c.task.NumStates() > 1 // a bandit has one state
	case DuplicatedActions:
		return view{copies: 1}, true
	case RelabelledStates:
		return view{states: true}, c.task.NumStates() > 1
	case RelabelledActions:
		return view{actions: true}, true
	case ScaledRewards:
		return view{scale: 64}, true // a power of two: rounding is the same
	case ShiftedRewards:
		return view{shift: 16}, !ends
	default: // ContinuingForm
		return view{continuing: true}, ends
	}
}

// run is one run of a task.
type run struct {
	env     *rand.Rand
	label   []int64 // of each state, -1 if it is not shown
	action  []int   // that each label means
	state   int
	steps   int
	episode bool // goes on
}

// play lets the agent play n runs.
func (c *lawCheck) play(v view, first, n int) (*played, error) {
	runs, spec := c.runs(v, first, n)
	agent, err := c.plugin.OpenAgent(c.ctx, c.params, spec, len(runs))
	if err != nil {
		return nil, err
	}
	defer agent.Close()
	in, actions := vector.NewFeedback(spec, len(runs)), space.NewColumn(spec.Action, len(runs))
	scale := cmp.Or(v.scale, 1)
	p := &played{make([]float64, n), make([][]int32, n)}
	for going := true; going; {
		if err := c.ctx.Err(); err != nil {
			return nil, err
		}
		going = false
		for i := range runs {
			r := &runs[i]
			in.Rewards[i], in.Terminated[i] = 0, false
			switch {
			case r.steps == lawSteps:
				in.Signals[i] = vector.Idle
				continue
			case !r.episode:
				in.Signals[i] = vector.NewEpisode
				if r.steps == 0 {
					in.Signals[i], in.Seeds[i] = vector.NewRun, uint64(first+i)
				}
				r.state, r.episode = c.task.Start(r.env), true
			default:
				in.Signals[i] = vector.Continue
				a := r.action[actions.Int64[i]]
				p.actions[i] = append(p.actions[i], int32(a))
				next, reward := c.task.Step(r.state, a, r.env)
				r.steps++
				p.rewards[i] += reward
				in.Rewards[i] = scale*reward + v.shift
				if c.task.Terminal(next) {
					if v.continuing {
						next = c.task.Start(r.env)
					} else {
						in.Terminated[i], r.episode = true, false
					}
				}
				r.state = next
			}
			in.Observations.Int64[i] = r.label[r.state]
			going = true
		}
		if going {
			if err := agent.Step(c.ctx, in, &actions); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

// runs returns the runs of a view, before their first step, and what the agent is
// told of the task.
func (c *lawCheck) runs(v view, first, n int) ([]run, framework.Spec) {
	var shown []int // states
	for s := range c.task.NumStates() {
		if !v.continuing || !c.task.Terminal(s) {
			shown = append(shown, s)
		}
	}
	states, acts := len(shown)+v.padding, c.task.NumActions()*(1+v.copies)
	runs := make([]run, n)
	for i := range runs {
		seed := uint64(first + i)
		labels := rand.New(rand.NewPCG(seed, 1))
		r := run{env: rand.New(rand.NewPCG(seed, 0)), label: make([]int64, c.task.NumStates()), action: make([]int, acts)}
		for k, s := range permuted(shown, v.states, labels) {
			r.label[s] = int64(k)
		}
		for a := range r.action {
			r.action[a] = a % c.task.NumActions()
		}
		r.action = permuted(r.action, v.actions, labels)
		runs[i] = r
	}
	low, high := c.task.RewardBounds()
	scale := cmp.Or(v.scale, 1)
	return runs, framework.Spec{
		ID:          "rltest/law@1",
		Observation: space.Discrete{N: int64(states)}, Action: space.Discrete{N: int64(acts)},
		RewardLow: scale*low + v.shift, RewardHigh: scale*high + v.shift,
		Continuing: v.continuing || !c.task.HasTerminal(), Steps: lawSteps,
	}
}

// permuted returns a list in random order, if it should be.
func permuted(list []int, random bool, rng *rand.Rand) []int {
	list = slices.Clone(list)
	if random {
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	return list
}
