package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/explore"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/each"
)

// openAgent opens lanes of an agent of the plan, one for each of its actors and so many runs, for environments of a
// spec. It tells the agent the number of steps and episodes of its run, and of the steps before it that a saved agent has
// learned from. If its component has an exploration, the host decides when it explores; part
// gives access to the plugins of the exploration.
func openAgent(ctx context.Context, plugin vector.Plugin, part partOpener, p *plan.Plan, warm store.WarmStarts, c plan.Component, spec framework.Spec, runs int) (vector.Agent, error) {
	told := warm.Told(p, c)
	spec.Steps, spec.Episodes, spec.Actors = told.Steps, told.Episodes, c.Actors
	agent, err := plugin.OpenAgent(ctx, c.Params, spec, runs*c.Lanes())
	if err != nil || c.Exploration == nil {
		return agent, err
	}
	fail := func(err error) (vector.Agent, error) {
		_ = agent.Close() // the first error tells more
		return nil, plan.At(err, "exploration")
	}
	steps := p.Config.Steps // the host counts the steps of this run alone
	if steps == 0 {
		steps = told.Steps
	}
	o, err := c.Exploration.Settings(told.Discount, steps, p.Config.Episodes, *p.Config.Record.Decisions)
	if err != nil {
		return fail(err)
	}
	if o.Episodes > 0 && spec.Continuing {
		return fail(plan.At(errors.New("counts episodes, which never end here: give steps or gamma"), "horizon", "episodes"))
	}
	able := agent.Abilities().Options
	if able == nil {
		return fail(fmt.Errorf("%s offers no options to choose from; remove exploration, and it explores in its own way: %w", c.CommandLine(), framework.ErrUnsupported))
	}
	if err := openParts(ctx, part, c.Exploration, spec, &o); err != nil {
		return fail(err)
	}
	explorer, err := explore.New(ctx, able, spec, runs, o)
	if err != nil {
		return fail(errors.Join(err, o.Close()))
	}
	return explorer, nil
}

// OpenSaved opens one lane of an agent that was saved by an experiment, for environments
// of a spec. from is DIR:AGENT, or DIR if the experiment has one agent. The agent is that
// of run number run, saved in the environment trainedIn; "" stands for the only one of the plugin environment. Its
// next signal begins an episode. trust allows a pickle. task is the seed of
// its run, if the task continues and is the agent's own. The returned close function ends the agent and its plugin.
func OpenSaved(ctx context.Context, open Opener, from, environment, trainedIn string, run int, spec framework.Spec, trust bool) (_ vector.Agent, task *uint64, closeAgent func() error, err error) {
	dir, name, err := store.SplitAgent(from)
	if err != nil {
		return nil, nil, nil, err
	}
	trained, err := (store.Dir{Path: dir}).TrainedAgent(name)
	if err != nil {
		return nil, nil, nil, err
	}
	c := trained.Agents[0]
	c.WarmStart.Environment = trainedIn
	plays := func(e plan.Component) bool { return e.Plugin == environment }
	if trainedIn == "" && each.Count(trained.Environments, plays) == 1 {
		c.WarmStart.Environment = trained.Environments[each.Nth(trained.Environments, 0, plays)].Name
	}
	trained.Environments = append([]plan.Component{{Name: environment}}, trained.Environments...)
	c.Actors = 0
	warm := store.FindWarmStarts(trained)
	saved, err := warm.Of(c, environment)
	if err != nil {
		return nil, nil, nil, err
	}
	at := -1
	for i := range saved {
		if saved[i].Run == run {
			at = i
		}
	}
	if at < 0 {
		return nil, nil, nil, fmt.Errorf("%s has no agent %q of run %d; it has those of %d runs, from %d to %d", dir, c.Name, run, len(saved), saved[0].Run, saved[len(saved)-1].Run)
	}
	p, closePlugin, err := open(ctx, c)
	if err != nil {
		return nil, nil, nil, err
	}
	parts := parts{open: open}
	agent, err := openAgent(ctx, p, parts.lend, trained, warm, c, spec, 1)
	if err != nil {
		parts.close()
		return nil, nil, nil, errors.Join(err, closePlugin())
	}
	closeAgent = func() error {
		err := agent.Close()
		parts.close()
		return errors.Join(err, closePlugin())
	}
	d, err := p.Describe(ctx)
	if err == nil {
		saved = saved[at : at+1]
		err = saved.Check(d.ID, c, spec, trust, func(state []byte) error { return vector.Load(ctx, agent, 0, state) })
	}
	if err == nil && saved.Knows(spec) {
		if err = saved.CheckTasks(1); err == nil {
			task = new(saved.Task(0))
		}
	}
	var s *loop.Snapshot
	if err == nil {
		s, err = saved.Of(0, false)
	}
	if err == nil {
		err = loop.Restore(ctx, agent, spec, 1, 1, []*loop.Snapshot{s})
	}
	if err != nil {
		return nil, nil, nil, errors.Join(err, closeAgent())
	}
	return agent, task, closeAgent, nil
}

// checkSaving makes sure that an agent, opened for one run, can be saved and loaded,
// if the plan needs it. first holds the first time step of a run.
func checkSaving(ctx context.Context, p *plan.Plan, agent vector.Agent, c plan.Component, spec framework.Spec, first *vector.TimeSteps) error {
	key := "save"
	switch {
	case p.Config.Evaluate != nil && p.Config.Steps > 0:
		key = "evaluate"
	case p.Config.Checkpoint != nil && p.Config.Steps > 0:
		key = "checkpoint"
	case p.Config.Save == nil || p.Config.Steps == 0:
		return nil
	}
	in, actions := vector.NewFeedback(spec, c.Lanes()), space.NewColumn(spec.Action, c.Lanes())
	for i := range in.Signals {
		in.Signals[i], in.Seeds[i] = vector.NewRun, 1
		copy(in.Mask(i), first.Masks)
		if err := in.Observations.Set(spec.Observation, i, first.Observations.Get(spec.Observation, 0)); err != nil {
			return err
		}
	}
	if err := agent.Step(ctx, in, &actions); err != nil {
		return err
	}
	state, err := vector.Save(ctx, agent, 0)
	if err == nil {
		err = vector.Load(ctx, agent, 0, state)
	}
	if errors.Is(err, framework.ErrUnsupported) {
		return plan.At(fmt.Errorf("%s cannot be saved, which %s needs: give it Save and Load, or leave %[2]s out: %w", c.Plugin, key, err), "plugin")
	}
	return err
}
