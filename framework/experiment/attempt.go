package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/vector"
)

// Opener gives access to the plugin of a component. The returned close function
// ends its process, if it has one; it is called exactly once.
type Opener func(ctx context.Context, c Component) (p vector.Plugin, close func() error, err error)

// bench is a worker's place: the plugins of one cell and lanes of them, opened on
// demand, kept from batch to batch, and opened anew after a failure.
type bench struct {
	plan   *Plan
	open   Opener
	cell   Cell
	env    *opened
	agent  *opened
	lanes  *instances
	notify func(interactions int)
	ended  func(...result.Record) // told of every run that ended, at once
}

// instances are lanes of an environment and an agent. What they learn of a task
// as such, like an agent's tables of indices, serves all runs.
type instances struct {
	count int
	env   vector.Environment
	agent vector.Agent
}

type opened struct {
	plugin vector.Plugin
	close  func() error
}

// at makes the bench ready for another cell.
func (b *bench) at(c Cell) {
	if b.cell != c {
		b.close()
		b.cell = c
	}
}

// close ends the lanes and the plugins. Errors of what is ending change no result.
func (b *bench) close() {
	b.closeLanes()
	for _, o := range []**opened{&b.env, &b.agent} {
		if *o != nil {
			_ = (*o).close()
			*o = nil
		}
	}
}

func (b *bench) closeLanes() {
	if b.lanes != nil {
		_ = b.lanes.agent.Close()
		_ = b.lanes.env.Close()
		b.lanes = nil
	}
}

func (b *bench) plugins(ctx context.Context) (env, agent vector.Plugin, err error) {
	for _, o := range []struct {
		slot **opened
		c    Component
	}{{&b.env, b.plan.Environments[b.cell.Environment]}, {&b.agent, b.plan.Agents[b.cell.Agent]}} {
		if *o.slot != nil {
			continue
		}
		p, closePlugin, err := b.open(ctx, o.c)
		if err != nil {
			return nil, nil, err
		}
		*o.slot = &opened{p, closePlugin}
	}
	return b.env.plugin, b.agent.plugin, nil
}

// instances returns lanes of the cell's environment and agent, which the bench
// closes.
func (b *bench) instances(ctx context.Context, count int) (*instances, error) {
	if b.lanes != nil && b.lanes.count == count {
		return b.lanes, nil
	}
	b.closeLanes()
	envPlugin, agentPlugin, err := b.plugins(ctx)
	if err != nil {
		return nil, err
	}
	e, a := b.plan.Environments[b.cell.Environment], b.plan.Agents[b.cell.Agent]
	env, err := envPlugin.OpenEnvironment(ctx, e.Params, count)
	if err != nil {
		return nil, fmt.Errorf("environment %q: %w", e.Name, err)
	}
	agent, err := b.plan.OpenAgent(ctx, agentPlugin, a, env.Spec(), count)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("agent %q in environment %q: %w", a.Name, e.Name, err), env.Close())
	}
	b.lanes = &instances{count, env, agent}
	return b.lanes, nil
}

// attempt does runs once. Any error means that none of them is done.
func (b *bench) attempt(ctx context.Context, runs []int) ([]loop.Outcome, error) {
	lanes, err := b.instances(ctx, len(runs))
	if err != nil {
		return nil, err
	}
	made := 0
	outcomes, err := loop.Run(ctx, loop.Batch{
		Environment: lanes.env,
		Agent:       lanes.agent,
		Runs:        runs,
		Seeds:       seed.NewSource(b.plan.Config.Seed, lanes.env.Spec().ID),
		Steps:       b.plan.Config.Steps,
		Grid:        b.plan.Grid,
		Discount:    *b.plan.Config.Discount,
		Metrics:     b.plan.Config.Record.Metrics,
		Progress: func(n int) {
			made += n
			b.notify(n)
		},
	})
	if err != nil {
		b.notify(-made) // they will be made again
		return nil, err
	}
	return outcomes, nil
}

// do does runs and returns a record for each. A batch that fails is replayed on
// fresh plugins, as often as retries says; because lanes never interact, the
// replay meets the same draws. If it fails still, the lane the error names is
// recorded as failed and the others are done without it. A lane that is merely
// suspected must fail alone, too. If it does not, or no lane is named, the batch is
// halved until the runs to blame stand alone. The error is the context's, and then
// nothing is lost but the runs in hand.
func (b *bench) do(ctx context.Context, runs []int, retries int) ([]result.Record, error) {
	outcomes, err := b.attempt(ctx, runs)
	if err == nil {
		recs := b.records(outcomes)
		b.ended(recs...)
		return recs, nil
	}
	b.close()
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if retries > 0 {
		return b.do(ctx, runs, retries-1)
	}
	if len(runs) == 1 {
		failed := b.failure(runs[0], err)
		b.ended(failed)
		return []result.Record{failed}, nil
	}
	var lane *vector.LaneError
	if errors.As(err, &lane) && lane.Lane >= 0 && lane.Lane < len(runs) {
		rest := slices.Delete(slices.Clone(runs), lane.Lane, lane.Lane+1)
		if lane.Suspected {
			alone, ctxErr := b.do(ctx, runs[lane.Lane:lane.Lane+1], 0)
			if ctxErr != nil {
				return nil, ctxErr
			}
			if alone[0].Status == result.OK {
				others, ctxErr := b.halves(ctx, rest)
				return append(others, alone...), ctxErr
			}
		}
		failed := b.failure(runs[lane.Lane], err)
		b.ended(failed)
		others, ctxErr := b.do(ctx, rest, b.plan.restarts(b.cell))
		return append(others, failed), ctxErr
	}
	return b.halves(ctx, runs)
}

// halves does the halves of a batch that failed, each once.
func (b *bench) halves(ctx context.Context, runs []int) ([]result.Record, error) {
	if len(runs) == 1 {
		return b.do(ctx, runs, 0)
	}
	left, err := b.do(ctx, runs[:len(runs)/2], 0)
	if err != nil {
		return nil, err
	}
	right, err := b.do(ctx, runs[len(runs)/2:], 0)
	return append(left, right...), err
}

func (b *bench) records(outcomes []loop.Outcome) []result.Record {
	recs := make([]result.Record, len(outcomes))
	for i, o := range outcomes {
		recs[i] = b.record(o.Run)
		recs[i].Status, recs[i].Steps, recs[i].Episodes, recs[i].Curves = result.OK, o.Steps, o.Episodes, o.Curves
		recs[i].Decisions = o.Decisions
	}
	return recs
}

func (b *bench) record(run int) result.Record {
	return result.Record{
		Environment: b.plan.Environments[b.cell.Environment].Name,
		Agent:       b.plan.Agents[b.cell.Agent].Name,
		Run:         run,
	}
}

func (b *bench) failure(run int, err error) result.Record {
	r := b.record(run)
	r.Status, r.Error = result.Failed, err.Error()
	return r
}
