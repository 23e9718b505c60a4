package run

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/framework/vector"
)

// Difference is the first call in which a plugin answered otherwise when a run was
// played for the second time, though it was asked the same.
type Difference struct {
	Environment, Agent string // labels of the pair
	// Part is the component that differs, of the list "environment" or "agent".
	Part   string
	Plugin string // of the component, as the config names it
	Run    int    // number, from 0
	Call   int    // of the run, from 1; the first begins it
	What   string // such as "the reward is 0.3 and was 0.7"
	Beside bool   // the run was played beside the others, and not alone as before
}

// String tells the difference in a sentence.
func (d *Difference) String() string {
	if d.Beside {
		return fmt.Sprintf("%s %s (plugin %s) lets runs depend on each other: run %d of %s in %s was played alone and beside others, and %s in call %d, though all calls before were the same; do runs share a generator, such as those of random and numpy.random?",
			d.Part, map[string]string{"environment": d.Environment, "agent": d.Agent}[d.Part], d.Plugin, d.Run, d.Agent, d.Environment, d.What, d.Call)
	}
	return fmt.Sprintf("%s %s (plugin %s) is not deterministic: run %d of %s in %s was played twice, and %s in call %d, though all calls before were the same",
		d.Part, map[string]string{"environment": d.Environment, "agent": d.Agent}[d.Part], d.Plugin, d.Run, d.Agent, d.Environment, d.What, d.Call)
}

// Verify plays the first runs of every pair of a checked experiment twice and compares all
// answers of environment and agent. The second time everything is opened anew, and the
// runs are played in the opposite order. So it also finds a run that affects the next one. Then they are
// played beside each other, as lanes of a batch.
// It writes nothing. It returns at most one difference per pair. An error is of a plugin
// that failed, or the context's cause.
func (x *Runner) Verify(ctx context.Context, runs int) ([]Difference, error) {
	x.pool.retain() // fresh plugins
	var found []Difference
	for _, c := range x.Plan.Cells {
		d, err := x.verifyCell(ctx, c, min(runs, x.Plan.Config.Runs))
		if err != nil {
			return found, fmt.Errorf("%s in %s cannot be verified: %w", x.Plan.Agents[c.Agent].Name, x.Plan.Environments[c.Environment].Name, err)
		}
		if d != nil {
			found = append(found, *d)
		}
	}
	return found, nil
}

func (x *Runner) verifyCell(ctx context.Context, c plan.Cell, runs int) (*Difference, error) {
	w := &worker{execution: &execution{plan: x.Plan, warm: x.warm, open: x.plugins.Open, session: &store.Session{}}}
	w.at(c)
	defer w.close()
	answers := map[actor][]answer{}
	var orders [][]int
	var together []int
	for run := range runs {
		orders, together = append([][]int{{run}}, orders...), append(together, run)
		err := w.observe(ctx, []int{run}, x.Plan.Config.Steps, func(of actor, _ int, a answer) error {
			answers[of] = append(answers[of], a)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	w.close()
	if runs > 1 {
		orders = append(orders, together)
	}
	for _, order := range orders {
		var found *Difference
		err := w.observe(ctx, order, x.Plan.Config.Steps, func(of actor, call int, a answer) error {
			part, what := a.differs(answers[of][call-1])
			if part == "" {
				return nil
			}
			comp := map[string]plan.Component{"environment": x.Plan.Environments[c.Environment], "agent": x.Plan.Agents[c.Agent]}[part]
			found = &Difference{Environment: x.Plan.Environments[c.Environment].Name, Agent: x.Plan.Agents[c.Agent].Name,
				Part: part, Plugin: comp.CommandLine(), Run: of.run, Call: call, What: what, Beside: len(order) > 1}
			return errors.New(what)
		})
		if found != nil {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// differs says which component answered otherwise than before, and how. It says nothing if the
// answers are the same.
func (a answer) differs(before answer) (part, what string) {
	switch {
	case a.asked != before.asked:
		return "agent", "the action differs"
	case a.reward != before.reward:
		return "environment", fmt.Sprintf("the reward is %v and was %v", a.reward, before.reward)
	case a.ended != before.ended:
		return "environment", fmt.Sprintf("terminated and truncated are %v and were %v", a.ended, before.ended)
	case a.sum != before.sum:
		return "environment", "the observation differs"
	}
	return "", ""
}

// loadSteps is how many steps Load plays.
const loadSteps = 100

// Load opens every environment and agent of a checked experiment and plays some steps with it, so
// that plugins load what they load then. It writes nothing.
func (x *Runner) Load(ctx context.Context) error {
	x.pool.retain()
	loaded := map[string]bool{}
	for _, c := range x.Plan.Cells {
		e, a := x.Plan.Environments[c.Environment], x.Plan.Agents[c.Agent]
		names := []string{plan.EnvironmentsKey + e.Name, plan.AgentsKey + a.Name}
		if loaded[names[0]] && loaded[names[1]] {
			continue
		}
		loaded[names[0]], loaded[names[1]] = true, true
		if err := x.load(ctx, c); err != nil {
			return fmt.Errorf("%s in %s: %w", a.Name, e.Name, err)
		}
	}
	return nil
}

func (x *Runner) load(ctx context.Context, c plan.Cell) error {
	w := &worker{execution: &execution{plan: x.Plan, warm: x.warm, open: x.plugins.Open, session: &store.Session{}}}
	w.at(c)
	defer w.close()
	err := w.observe(ctx, []int{0}, min(loadSteps, x.Plan.Config.Steps), nil)
	if err != nil {
		return err
	}
	plugins := []vector.Plugin{w.env.plugin, w.agent.plugin}
	for _, part := range w.parts.opened {
		plugins = append(plugins, part.plugin)
	}
	for _, p := range plugins {
		if process, ok := p.(store.Process); ok {
			if _, err := process.Sources(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// observe plays steps of a run. If answered is not nil, it gets all answers.
func (w *worker) observe(ctx context.Context, runs []int, steps int, answered func(of actor, call int, a answer) error) error {
	lanes, err := w.instances(ctx, len(runs))
	if err != nil {
		return err
	}
	of := actorsOf(runs, lanes.actors)
	env := &trail{Environment: lanes.env, calls: make([]int, len(of)), sums: make([]uint64, len(of)), of: of, detailed: math.MaxInt, answered: answered}
	_, err = loop.Run(ctx, loop.Batch{
		Environment: env,
		Agent:       lanes.agent,
		Runs:        runs,
		Actors:      lanes.actors,
		Seeds:       seed.NewSource(*w.plan.Config.Seed, lanes.env.Spec().ID),
		Steps:       steps,
		Episodes:    w.plan.Config.Episodes,
		Discount:    1,
	})
	return err
}
