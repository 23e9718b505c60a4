package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/fields"
)

// Opener gives access to the plugin of a component. The returned close function
// ends its process, if it has one; it is called exactly once.
type Opener func(ctx context.Context, c plan.Component) (p vector.Plugin, close func() error, err error)

// worker does batches of runs, one after the other. It opens the plugins of a cell
// and lanes of them when they are needed, keeps them from batch to batch, and opens
// them anew after a failure.
type worker struct {
	*execution
	cell  plan.Cell
	env   *opened
	agent *opened
	parts parts // of the agent's exploration
	lanes *instances
	// together says that environment and agent share a process, apart that they are not to in this cell.
	together, apart bool
	// division is to be decided about by the next batch; nil if it has been.
	division *division
	// Replays are compared with the failed runs, which before holds, if a plugin of the
	// cell is a process. strayed says that a run has taken another course.
	before  map[actor]mark
	strayed bool
	// afresh are runs of the cell that cannot go on from their checkpoints, and kept those that this worker made checkpoints of.
	afresh, kept map[int]bool
	bytes        int64 // of an agent after the first batch of the cell; 0 before
}

func (w *worker) notify(made loop.Work) {
	w.event(Event{Cell: w.cell, Interactions: made.Steps, Units: made.Units})
}

func (w *worker) notice(text string) { w.event(Event{Cell: w.cell, Notice: text}) }

// ended records runs that have ended.
func (w *worker) ended(recs ...result.Record) {
	e := Event{Cell: w.cell, Runs: len(recs)}
	for i := range recs {
		if recs[i].Status != result.OK {
			e.Failed++
		}
	}
	w.event(e)
	w.writer.Add(w.cell, recs...)
}

// instances are lanes of an environment and an agent. What they learn of a task
// as such, like an agent's tables of indices, serves all runs.
type instances struct {
	count      int // of runs
	actors     int // lanes of a run
	env        vector.Environment
	agent      vector.Agent
	evaluation *loop.Evaluation // with lanes of its own; nil if there is none
}

// at makes the worker ready for another cell.
func (w *worker) at(c plan.Cell) {
	if w.cell != c {
		w.close()
		w.cell, w.before, w.strayed, w.apart, w.afresh, w.kept, w.bytes = c, nil, false, false, nil, nil, 0
	}
}

// close ends the lanes and the plugins. Errors of what is ending change no result.
func (w *worker) close() {
	w.closeLanes()
	for _, o := range []**opened{&w.env, &w.agent} {
		if *o != nil {
			_ = (*o).close()
			*o = nil
		}
	}
	w.parts.close()
	w.together = false
}

// pair opens the cell's environment and agent together, where they can be.
func (w *worker) pair(ctx context.Context) {
	if w.pairs == nil || w.apart || w.env != nil || w.agent != nil {
		return
	}
	env, agent, closePair, err := w.pairs.Pair(ctx, w.plan.Environments[w.cell.Environment], w.plan.Agents[w.cell.Agent])
	if err != nil {
		w.part(err)
		return
	}
	w.env, w.agent, w.together = &opened{env, func() error { return nil }}, &opened{agent, closePair}, true
	w.choose("share a process")
}

// part lets environment and agent have a process each, where they have any.
func (w *worker) part(why error) {
	w.apart = true
	w.choose("do not share a process: " + strings.TrimSuffix(reason(why), "; its standard error ended:"))
}

func (w *worker) choose(what string) {
	w.event(Event{Cell: w.cell, Choice: fmt.Sprintf("%s and %s %s", w.plan.Environments[w.cell.Environment].Name, w.plan.Agents[w.cell.Agent].Name, what)})
}

func (w *worker) closeLanes() {
	if w.lanes != nil {
		_ = w.lanes.agent.Close()
		_ = w.lanes.env.Close()
		if e := w.lanes.evaluation; e != nil {
			_ = e.Agent.Close()
			_ = e.Environment.Close()
		}
		w.lanes = nil
	}
}

func (w *worker) plugins(ctx context.Context) (env, agent vector.Plugin, err error) {
	w.pair(ctx)
	for _, o := range []struct {
		slot **opened
		c    plan.Component
	}{{&w.env, w.plan.Environments[w.cell.Environment]}, {&w.agent, w.plan.Agents[w.cell.Agent]}} {
		if *o.slot != nil {
			continue
		}
		p, closePlugin, err := w.open(ctx, o.c)
		if err != nil {
			return nil, nil, err
		}
		*o.slot = &opened{p, closePlugin}
	}
	return w.env.plugin, w.agent.plugin, nil
}

// instances returns lanes of the cell's environment and agent, which the worker
// closes.
func (w *worker) instances(ctx context.Context, count int) (*instances, error) {
	if w.lanes != nil && w.lanes.count == count {
		return w.lanes, nil
	}
	w.closeLanes()
	envPlugin, agentPlugin, err := w.plugins(ctx)
	if err != nil {
		return nil, err
	}
	comp := w.plan.Agents[w.cell.Agent]
	env, agent, err := w.openLanes(ctx, envPlugin, agentPlugin, comp, count)
	if err != nil {
		return nil, err
	}
	w.lanes = &instances{count: count, actors: comp.Lanes(), env: env, agent: agent}
	if e := w.plan.Config.Evaluate; e != nil {
		comp.Actors = 0
		env, agent, err := w.openLanes(ctx, envPlugin, agentPlugin, comp, count)
		if err != nil {
			w.closeLanes()
			return nil, fmt.Errorf("evaluation: %w", err)
		}
		w.lanes.evaluation = &loop.Evaluation{Environment: env, Agent: agent, Every: e.Every, Episodes: e.Episodes, Limit: e.Limit, Steps: e.Steps}
	}
	return w.lanes, nil
}

// openLanes opens lanes of the cell's environment and agent, for so many runs.
func (w *worker) openLanes(ctx context.Context, envPlugin, agentPlugin vector.Plugin, a plan.Component, count int) (vector.Environment, vector.Agent, error) {
	e := w.plan.Environments[w.cell.Environment]
	env, err := envPlugin.OpenEnvironment(ctx, e.Params, count*a.Lanes())
	if err != nil {
		return nil, nil, fmt.Errorf("environment %q: %w", e.Name, err)
	}
	w.parts.open = w.open
	agent, err := openAgent(ctx, agentPlugin, w.parts.lend, w.plan, w.warm, a, env.Spec(), count)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("agent %q in environment %q: %w", a.Name, e.Name, err), env.Close())
	}
	if err = cmp.Or(w.unchanged(ctx, envPlugin, agentPlugin, true), w.sameSpec(w.cell, env.Spec()), w.sameMetrics(env, agent)); err != nil {
		return nil, nil, errors.Join(err, agent.Close(), env.Close())
	}
	return env, agent, nil
}

// unchanged returns an error if the code of the cell's plugins or, with files, a file of their
// parameters has changed (see store.Session.Unchanged).
func (w *worker) unchanged(ctx context.Context, envPlugin, agentPlugin vector.Plugin, files bool) error {
	e, a := w.plan.Environments[w.cell.Environment], w.plan.Agents[w.cell.Agent]
	err := cmp.Or(w.session.Unchanged(ctx, w.agents, e, envPlugin), w.session.Unchanged(ctx, w.agents, a, agentPlugin))
	for _, o := range w.parts.opened {
		err = cmp.Or(err, w.session.Unchanged(ctx, w.agents, o.component, o.plugin))
	}
	if files {
		err = cmp.Or(err, w.session.SameFiles(w.plan, w.cell))
	}
	return err
}

// generators tells of plugins whose runs draw from a random generator that they share, once of each.
func (w *worker) generators() {
	e, a := w.plan.Environments[w.cell.Environment], w.plan.Agents[w.cell.Agent]
	if !w.together { // the environment is one that draws from none
		w.shared("environment "+e.Name, e, w.env.plugin)
	}
	w.shared("agent "+a.Name, a, w.agent.plugin)
	for _, o := range w.parts.opened {
		w.shared("plugin "+o.component.CommandLine(), o.component, o.plugin)
	}
}

func (w *worker) shared(name string, c plan.Component, plugin vector.Plugin) {
	process, _ := plugin.(interface{ Draws() []string })
	if process == nil || len(process.Draws()) == 0 {
		return
	}
	w.mu.Lock()
	told := w.shares[processKey(c)]
	if w.shares == nil {
		w.shares = map[string]bool{}
	}
	w.shares[processKey(c)] = true
	w.mu.Unlock()
	if !told {
		w.notice(fmt.Sprintf("%s draws from %s, which all runs of its process share: the runs depend on each other, and results cannot be repeated. Let it draw from a generator of its own, made from its seed (an environment of Gymnasium: shared_random: true)", name, strings.Join(process.Draws(), " and ")))
	}
}

// sameSpec refuses an environment that describes itself otherwise than in the first process
// of the experiment: the seeds of its runs follow from its id.
func (x *execution) sameSpec(c plan.Cell, spec framework.Spec) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.specs == nil {
		x.specs = map[int]framework.Spec{}
	}
	first, opened := x.specs[c.Environment]
	if !opened {
		x.specs[c.Environment] = spec
	}
	if !opened || reflect.DeepEqual(first, spec) {
		return nil
	}
	name, was, is := fields.Differ(first, spec)
	return fmt.Errorf("environment %q %w: its %s was %v and is %v", x.plan.Environments[c.Environment].Name, store.ErrChanged, name, was, is)
}

// sameMetrics refuses metrics of the cell's plugins that they did not declare before the runs.
func (w *worker) sameMetrics(env vector.Environment, agent vector.Agent) error {
	if w.declared == nil {
		return nil
	}
	known := w.declared.Clone()
	add := func(side string, m *vector.Measures) error {
		if m == nil {
			return nil
		}
		if err := known.Add(side, m.Metrics); err != nil {
			return fmt.Errorf("%s %w: %w", side, store.ErrChanged, err)
		}
		return nil
	}
	if err := cmp.Or(add(result.EnvironmentMetrics, env.Abilities().Measures), add(result.AgentMetrics, agent.Abilities().Measures)); err != nil {
		return err
	}
	if n := len(known.Environment) + len(known.Agent); n > len(w.declared.Environment)+len(w.declared.Agent) {
		return fmt.Errorf("%w: a plugin declares metrics now that it did not declare before the runs", store.ErrChanged)
	}
	return nil
}

// saving fills in what a batch needs to begin with saved agents, and to keep some.
func (w *worker) saving(ctx context.Context, b *loop.Batch) error {
	comp, spec := w.plan.Agents[w.cell.Agent], w.lanes.env.Spec()
	if comp.WarmStart != nil {
		from, err := w.warm.Of(comp, w.plan.Environments[w.cell.Environment].Name)
		if err != nil {
			return err
		}
		b.Start = func(run int) (*loop.Snapshot, error) { return from.Of(run, b.Steps > 0) }
		if b.Steps == 0 && from.Knows(spec) {
			b.Task = from.Task
		}
	}
	if save := w.plan.Config.Save; save != nil && w.writer != nil && b.Steps > 0 {
		d, err := w.agent.plugin.Describe(ctx)
		if err != nil {
			return err
		}
		b.KeepEvery = save.Every
		b.Keep = func(run, unit int, s *loop.Snapshot) error {
			err := w.agents.SaveAgent(w.plan, w.warm, w.session, w.cell, w.identities[w.plan.Key(w.cell)], d.ID, spec, run, unit, s)
			if err != nil {
				w.stop(err)
			}
			return err
		}
	}
	return nil
}

// attempt does runs once. Any error means that none of them is done.
func (w *worker) attempt(ctx context.Context, runs []int) ([]loop.Outcome, error) {
	d := w.division
	if w.division = nil; d != nil {
		defer d.queue.ended(d.job, 0) // an attempt that fails before it is decided leaves one part
	}
	lanes, err := w.instances(ctx, len(runs))
	if err != nil {
		return nil, err
	}
	made, env := loop.Work{}, lanes.env
	var followed *trail
	if w.isRemote(w.cell) {
		followed = w.trail(lanes, runs)
		env = followed
	}
	b := loop.Batch{
		Agent:    lanes.agent,
		Runs:     runs,
		Actors:   lanes.actors,
		Seeds:    seed.NewSource(*w.plan.Config.Seed, lanes.env.Spec().ID),
		Steps:    w.plan.Config.Steps,
		Episodes: w.plan.Config.Episodes,
		Grid:     w.plan.Grid,
		Discount: w.plan.Config.MetricDiscount(),
		Metrics:  w.plan.Config.Record.Metrics,
		Progress: func(n loop.Work, unfinished func() []loop.Outcome) {
			made.Steps, made.Units = made.Steps+n.Steps, made.Units+n.Units
			w.notify(n)
			w.live.progress(w, n.Steps, unfinished)
		},
		Evaluation: lanes.evaluation,
	}
	if join := lanes.agent.Abilities().Join; join != nil && lanes.actors == 1 {
		b.Ahead = join(lanes.env)
	}
	if err := w.saving(ctx, &b); err != nil {
		return nil, err
	}
	goesOn, err := w.checkpoints(&b)
	if err != nil {
		return nil, err
	}
	switch {
	case d != nil && goesOn: // steps of a replay tell nothing of the cost of others
		d.queue.ended(d.job, 0)
	case d != nil:
		env = w.pace(env, lanes, d)
	}
	b.Environment = env
	watch := w.startWatch()
	outcomes, err := loop.Run(ctx, b)
	took, clock := watch.stop()
	w.live.ended(w)
	if err == nil { // code that was loaded in a step, before any of the runs counts
		err = w.unchanged(ctx, w.env.plugin, w.agent.plugin, false)
		w.generators()
	}
	if err != nil {
		w.notify(loop.Work{Steps: -made.Steps, Units: -made.Units}) // they will be made again
		if followed != nil {
			followed.keep()
		}
		return nil, err
	}
	if !goesOn { // the time of what is before a checkpoint is not known
		w.spent(took, clock, watch.apart, outcomes)
	}
	return outcomes, nil
}

// work does batches of a queue until there are none left.
func (w *worker) work(ctx context.Context, queue *batches) error {
	for first := true; ctx.Err() == nil; first = false {
		j, measure, ok := queue.next()
		if !ok {
			break
		}
		if !first && j.cell != w.cell {
			if err := w.writer.CellEnded(); err != nil {
				return err
			}
		}
		w.at(j.cell)
		if w.division = nil; measure {
			w.division = &division{j, queue, queue.workers}
		}
		began := time.Now()
		err := w.runBatch(ctx, j.runs, w.plan.Retries(j.cell))
		if err != nil {
			queue.ended(j, 0)
		}
		if errors.Is(err, errDivided) {
			continue
		}
		if err != nil {
			return err
		}
		queue.ended(j, time.Since(began))
	}
	return nil
}

// runBatch makes runs and calls ended with each. A batch that fails in a process that environment and
// agent share is made again in two. Another that fails is replayed on fresh
// plugins, as often as retries says; because lanes never interact, the replay meets the
// same draws. If it fails again, the lane that the error names is recorded as failed and
// the others are done without it. If no lane is named, the batch is halved until each
// run that fails stands alone. Runs of a cell that is given up are recorded as such. The error is the
// context's, or says what the host lacks. Then only the runs in progress are lost.
func (w *worker) runBatch(ctx context.Context, runs []int, retries int) error {
	if why := w.failures.reason(w.cell); why != "" {
		w.abandon(runs, why)
		return nil
	}
	outcomes, err := w.attempt(ctx, runs)
	if err == nil {
		w.succeed(outcomes)
		return nil
	}
	if errors.Is(err, errDivided) {
		return err
	}
	together := w.together
	w.close()
	if errors.Is(err, loop.ErrCheckpoint) && ctx.Err() == nil {
		w.beginAgain(runs, err)
		return w.runBatch(ctx, runs, retries)
	}
	if together && ctx.Err() == nil { // what fails, and whose fault it is, shows where they are apart
		w.part(err)
		return w.runBatch(ctx, runs, retries)
	}
	if errors.Is(err, store.ErrChanged) || errors.Is(err, store.ErrOtherPrograms) {
		w.stop(err)
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if retries > 0 {
		return w.runBatch(ctx, runs, retries-1)
	}
	if disk.HostLacks(err) {
		return err
	}
	if len(runs) == 1 {
		w.fail(runs[0], 0, err)
		return nil
	}
	if i := w.blamed(err, runs); i >= 0 {
		rest := slices.Delete(slices.Clone(runs), i, i+1)
		w.fail(runs[i], i, err)
		return w.runRest(ctx, rest)
	}
	return w.bisect(ctx, runs)
}

// blamed returns the place of the run whose lane an error names; -1 if there is none.
func (w *worker) blamed(err error, runs []int) int {
	if lane, ok := errors.AsType[*vector.LaneError](err); ok && lane.Lane >= 0 && lane.Lane/w.plan.Agents[w.cell.Agent].Lanes() < len(runs) {
		return lane.Lane / w.plan.Agents[w.cell.Agent].Lanes()
	}
	return -1
}

// runRest does the other runs of a batch after one has failed. They are done one by one
// until a run ends well. So a cell in which no run can end well is soon given up, and a
// cell in which some runs fail is not.
func (w *worker) runRest(ctx context.Context, runs []int) error {
	for len(runs) > 1 && w.failures.probing(w.cell) && w.failures.reason(w.cell) == "" {
		if err := w.runBatch(ctx, runs[:1], w.plan.Retries(w.cell)); err != nil {
			return err
		}
		runs = runs[1:]
	}
	return w.runBatch(ctx, runs, w.plan.Retries(w.cell))
}

// bisect does the halves of a batch that failed, each once.
func (w *worker) bisect(ctx context.Context, runs []int) error {
	if len(runs) == 1 {
		return w.runBatch(ctx, runs, 0)
	}
	if err := w.runBatch(ctx, runs[:len(runs)/2], 0); err != nil {
		return err
	}
	return w.runBatch(ctx, runs[len(runs)/2:], 0)
}

func (w *worker) succeed(outcomes []loop.Outcome) {
	w.failures.ended(w.cell)
	recs := w.records(outcomes)
	w.live.finished(recs)
	w.ended(recs...)
}

// fail records that a run, at a place in its batch, failed.
func (w *worker) fail(run, at int, err error) {
	r := w.record(run)
	r.Status, r.Error = result.Failed, err.Error()
	var failed *loop.Error
	if errors.As(err, &failed) {
		r.Steps = failed.Steps[at]
	}
	w.failures.add(w.cell, r.Error)
	w.ended(r)
}

// abandon records runs of a cell that is given up.
func (w *worker) abandon(runs []int, why string) {
	recs := make([]result.Record, len(runs))
	for i, run := range runs {
		recs[i] = w.record(run)
		recs[i].Status, recs[i].Error = result.GivenUp, why
	}
	w.ended(recs...)
}

func (w *worker) records(outcomes []loop.Outcome) []result.Record {
	recs := make([]result.Record, len(outcomes))
	for i, o := range outcomes {
		recs[i] = w.record(o.Run)
		recs[i].Status, recs[i].Steps, recs[i].Episodes, recs[i].Curves = result.OK, o.Steps, o.Episodes, o.Curves
		recs[i].Decisions = o.Decisions
	}
	return recs
}

func (w *worker) record(run int) result.Record {
	return result.Record{
		Environment: w.plan.Environments[w.cell.Environment].Name,
		Agent:       w.plan.Agents[w.cell.Agent].Name,
		Run:         run,
	}
}
