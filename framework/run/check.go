// Package run makes the runs of a plan: it checks the plugins, divides the runs into batches,
// gives these to workers, and replays those in which a plugin fails.
package run

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/internal/parallel"
)

// Runner makes the runs of an experiment. It goes one way: New, Check, Run, Close. Check
// fills in the experiment.
type Runner struct {
	*store.Experiment
	Trust   bool // saved agents and checkpoints that are pickles are read, which runs code in them
	plugins Plugins
	warm    store.WarmStarts
	// Lists of labels. Agents that act in evaluations as they do when they learn; agents with
	// fewer saved agents than runs that begin with one; agents that different programs saved;
	// agents that some runs of their experiment did not save, with these.
	// Agents that are evaluated in tasks of another seed, and those that go on learning in other tasks than theirs.
	notGreedy, reused, mixedAgents, unsaved, ownTasks, otherTasks []string
	measured                                                      []string // environments with metrics of their own
	// lanes are those that plugins prefer, by processKey. Check fills it in.
	lanes   map[string]int
	schemas map[string]json.RawMessage // of parameters, by processKey
	// Pickled are the agents whose saved states and checkpoints are pickles. Check fills it in.
	Pickled []string
	// widest are the lanes whose observations fit in a message, by environment. Check fills it in.
	widest    map[string]int
	processes bool // some plugin is a process; Check fills it in
	// recommends says that an agent says which action it would stay with; Check fills it in.
	recommends    bool
	unrecommended []result.Key // agents that say none, and where
	pool          *pool
}

// New returns the runner of a plan. Its output directory is the config's.
func New(p *plan.Plan, plugins Plugins) *Runner {
	e := &store.Experiment{Dir: store.Dir{Path: p.Config.Output}, Plan: p}
	return &Runner{Experiment: e, plugins: plugins, warm: store.FindWarmStarts(p), lanes: map[string]int{}, schemas: map[string]json.RawMessage{}, widest: map[string]int{}, pool: newPool(plugins)}
}

// Close ends plugins that are still open and gives the output directory free.
func (x *Runner) Close() error {
	x.pool.retain()
	return x.Experiment.Close()
}

// ParamsCheck checks the parameters of a component of the config, list[i] with list
// "environments" or "agents", against the schema that its plugin describes.
type ParamsCheck func(list string, i int, schema json.RawMessage) error

// Check makes sure, before anything runs, that every plugin is there, is of the right
// kind, accepts its parameters and goes with the others. params may be nil. If the config
// is at fault, the error joins *FieldErrors and what params returned. An error of a plugin
// stands alone; it wraps a *FieldError that names the component. Plugins stay open for the
// first worker.
func (x *Runner) Check(ctx context.Context, params ParamsCheck) error {
	_, _, err := interval(x.Plan.Config.Checkpoint)
	if err == nil {
		err = x.checkComponents(ctx, params)
	}
	if err == nil {
		err = x.checkPairs(ctx)
	}
	if err == nil {
		err = x.checkMetrics()
	}
	if err == nil {
		err = x.checkGiven(ctx)
	}
	if err == nil {
		err = x.identify(ctx)
	}
	if err == nil {
		err = x.startAgain(ctx)
	}
	if err == nil {
		x.Tasks, err = x.tasks(ctx)
	}
	return cmp.Or(context.Cause(ctx), err)
}

// problems collects what is wrong with a config.
type problems struct{ list []error }

// add takes an error about the config, unless it is there already; it returns any
// other error.
func (p *problems) add(err error) error {
	fields, all := plan.FieldErrors(err)
	var start *startError
	if !all || errors.As(err, &start) {
		return err
	}
	for _, f := range fields {
		if !slices.ContainsFunc(p.list, func(e error) bool { return e.Error() == f.Error() }) {
			p.list = append(p.list, f)
		}
	}
	return nil
}

func (p *problems) err() error { return errors.Join(p.list...) }

// checkComponents looks at every component of the config.
func (x *Runner) checkComponents(ctx context.Context, params ParamsCheck) error {
	var found problems
	for _, list := range []struct {
		key        string
		kind       vector.Kind
		components []plan.Component
	}{{plan.EnvironmentsKey, vector.KindEnvironment, x.Plan.Config.Environments}, {plan.AgentsKey, vector.KindAgent, x.Plan.Config.Agents}} {
		for i, c := range list.components {
			schema, err := x.checkComponent(ctx, list.kind, c)
			if err := found.add(plan.At(err, list.key, i)); err != nil {
				return fmt.Errorf("%w", err) // not a *FieldError itself
			}
			if err == nil && params != nil {
				if err := params(list.key, i, schema); err != nil {
					found.list = append(found.list, err)
				}
			}
		}
	}
	if key := x.Plan.Config.Limits.OfProcesses(); key != "" && len(found.list) == 0 && !x.processes && x.Plan.Config.Steps > 0 {
		return plan.At(fmt.Errorf("%s has no effect, as all plugins are called in rlrun's own process: leave it out, or give transport: process", key), "limits")
	}
	return found.err()
}

// checkComponent returns the schema of a component's parameters.
func (x *Runner) checkComponent(ctx context.Context, kind vector.Kind, c plan.Component) (json.RawMessage, error) {
	remote, err := x.plugins.Remote(c)
	if err != nil {
		return nil, plan.At(err, "plugin")
	}
	if c.Limits != nil && c.Limits.OfProcesses() != "" && !remote {
		if len(c.Parts()) > 0 {
			return nil, plan.FieldErrorf("limits", "%s has no effect on the rule and the options, whose limits stand at the top of the config, and plugin %s is called in rlrun's own process: move it to the top", c.Limits.OfProcesses(), c.Plugin)
		}
		return nil, plan.FieldErrorf("limits", "%s has no effect, as plugin %s is called in rlrun's own process: leave it out, or give it transport: process", c.Limits.OfProcesses(), c.Plugin)
	}
	x.processes = x.processes || remote
	for _, part := range c.Parts() {
		remote, err := x.plugins.Remote(part)
		if err != nil {
			return nil, plan.At(err, slices.Concat(plan.Path{"exploration"}, c.Exploration.PathOf(part))...)
		}
		x.processes = x.processes || remote
	}
	p, err := x.pool.keep(ctx, c)
	if err != nil {
		return nil, &startError{err}
	}
	d, err := p.Describe(ctx)
	if err != nil {
		return nil, &startError{err}
	}
	x.lanes[processKey(c)], x.schemas[processKey(c)] = d.PreferredLanes, d.Params
	if slices.Contains(d.Abilities, vector.PickleAbility) {
		x.Pickled = append(x.Pickled, c.Name)
	}
	if most := max(d.MaxActors, 1); c.Actors > most {
		return nil, plan.FieldErrorf("actors", "is %d, and %s takes at most %d", c.Actors, c.CommandLine(), most)
	}
	if d.Kind != kind {
		article := map[vector.Kind]string{vector.KindEnvironment: "an environment", vector.KindAgent: "an agent", vector.KindRule: "a rule", vector.KindOptions: "a source of options"}
		return nil, plan.FieldErrorf("plugin", "%s is %s, not %s", c.CommandLine(), article[d.Kind], article[kind])
	}
	return d.Params, nil
}

// checkMetrics refuses metrics of plugins that the config names and no plugin
// declares, and a comparison by one that has no direction.
func (x *Runner) checkMetrics() error {
	var found problems
	definitions := x.Declared.Definitions()
	declared := func(m result.Metric, path ...any) {
		known := slices.ContainsFunc(definitions, func(d metric.Definition) bool { return d.Name == m })
		if m.OfPlugin() && !known {
			text := "; they declare none"
			if len(definitions) > 0 {
				names := each.Of(definitions, func(d metric.Definition) result.Metric { return d.Name })
				text = ", only " + metric.Names(names)
			}
			if side, name, _ := strings.Cut(string(m), "."); !result.MetricOf(side, name).OfPlugin() {
				text = "; what an environment declares by this name is recorded as " + name
			}
			found.list = append(found.list, plan.At(fmt.Errorf("no plugin of the experiment declares the metric %s%s", m, text), path...))
		}
	}
	for i, m := range x.Plan.Config.Record.Metrics {
		side, every := strings.CutSuffix(string(m), ".*")
		switch {
		case !every:
			declared(m, "record", "metrics", i)
		case x.Plan.Config.Asked() != nil && !slices.ContainsFunc(definitions, func(d metric.Definition) bool { return strings.HasPrefix(string(d.Name), side+".") }):
			found.list = append(found.list, plan.At(fmt.Errorf("no %s of the experiment declares a metric: leave %s out", side, m), "record", "metrics", i))
		}
	}
	for i, m := range x.Plan.Config.Report.Metrics {
		declared(m, "report", "metrics", i)
	}
	if c := x.Plan.Config.Compare; c != nil {
		declared(c.Metric, "compare", "metric")
		if len(found.list) == 0 {
			d := metric.Define(c.Metric, definitions...)
			if err := compare.CheckMetric(d); err != nil {
				found.list = append(found.list, plan.At(err, "compare", "metric"))
			}
			for _, name := range slices.Sorted(maps.Keys(c.Scores)) {
				if err := c.Scores[name].Check(d); err != nil {
					found.list = append(found.list, plan.At(err, "compare", "scores", name))
				}
			}
		}
	}
	return found.err()
}

// startError is an error of a program that the config names. It is not the config
// that is at fault.
type startError struct{ err error }

func (e *startError) Error() string { return e.err.Error() }
func (e *startError) Unwrap() error { return e.err }

// checkPairs opens one lane of everything that the plan will open.
func (x *Runner) checkPairs(ctx context.Context) error {
	var found problems
	refused := map[string][]string{} // by the text of an agent's error: environments
	var skipped []result.Skipped
	skips := x.Plan.Config.Matrix != nil && x.Plan.Config.Matrix.SkipIncompatible
	continuing := 0 // environments
	for e, c := range x.Plan.Environments {
		spec, first, err := x.openEnvironment(ctx, c)
		if err == nil {
			if x.Plan.Config.Episodes > 0 && spec.Continuing {
				return plan.At(fmt.Errorf("counts episodes, which never end in %s: leave it out, and runs end after steps", c.Name), "episodes")
			}
			if e := x.Plan.Config.Evaluate; e != nil && spec.Continuing && e.Steps == 0 {
				err = fmt.Errorf("evaluate counts episodes, which never end in %s; give evaluate.steps (rlrun evaluate: --steps): %w", c.Name, framework.ErrUnsupported)
			}
		}
		if err != nil {
			if err := found.add(refusal(err, plan.EnvironmentsKey, x.Plan.EnvironmentEntries[e], c)); err != nil {
				return err
			}
			continue
		}
		if spec.Continuing {
			continuing++
		}
		x.widest[c.Name] = lanesWithin(spec)
		for a, comp := range x.Plan.Agents {
			err := x.oneTask(ctx, c, comp)
			if err == nil {
				err = x.openAgent(ctx, comp, c.Name, spec, first)
			}
			if skips && errors.Is(err, framework.ErrUnsupported) {
				skipped = append(skipped, result.Skipped{Environment: c.Name, Agent: comp.Name, Reason: reason(err)})
				continue
			}
			if err != nil {
				err = refusal(err, plan.AgentsKey, x.Plan.AgentEntries[a], comp)
				if err := found.add(err); err != nil {
					return err
				}
				list, _ := plan.FieldErrors(err)
				for _, f := range list {
					if in := refused[f.Error()]; !slices.Contains(in, c.Name) {
						refused[f.Error()] = append(in, c.Name)
					}
				}
			}
		}
	}
	for i, err := range found.list {
		if in := refused[err.Error()]; len(in) > 0 && len(in) < len(x.Plan.Environments) {
			f := err.(*plan.FieldError) // as add keeps no others
			found.list[i] = &plan.FieldError{Path: f.Path, Err: fmt.Errorf("in %s: %w", few(in), f.Err)}
		}
	}
	if e := x.Plan.Config.Evaluate; e != nil && e.Steps > 0 && e.Episodes > 0 && len(found.list) == 0 && x.Plan.Config.Steps > 0 {
		switch continuing {
		case 0:
			return plan.At(errors.New("has no effect, as evaluations count episodes and every environment has them: leave it out, or leave out evaluate.episodes"), "evaluate", "steps")
		case len(x.Plan.Environments):
			return plan.At(errors.New("has no effect, as no environment has episodes: leave it out"), "evaluate", "episodes")
		}
	}
	if err := found.err(); err != nil {
		return err
	}
	x.Plan, x.Skipped, x.Notes = x.Plan.Without(skipped), skipped, x.notes()
	if len(x.Plan.Cells) == 0 {
		list := each.Of(skipped, result.Skipped.String)
		return plan.At(fmt.Errorf("leaves nothing to run: %s", strings.Join(list, "; ")), "matrix", "skip_incompatible")
	}
	return nil
}

// oneTask refuses several actors in an environment whose models or metrics show that they may meet different tasks.
func (x *Runner) oneTask(ctx context.Context, environment, agent plan.Component) error {
	if agent.Lanes() == 1 {
		return nil
	}
	p, err := x.pool.keep(ctx, environment)
	if err != nil {
		return err
	}
	d, err := p.Describe(ctx)
	if err != nil {
		return err
	}
	env, err := p.OpenEnvironment(ctx, environment.Params, 2)
	if err != nil {
		return err
	}
	_, drawn, err := Models(ctx, env)
	why := ""
	switch {
	case drawn:
		why = "the seed of a run draws the task of %s"
	case vector.Changes(d, env):
		why = "the task of %s changes within a run"
	case vector.Measured(env, "regret"):
		why = "%s measures its regret itself, so its task may be drawn by the seed of a run"
	}
	if err == nil && why != "" {
		err = plan.At(fmt.Errorf(why+", and actors of a run would meet different tasks: %w", environment.Name, framework.ErrUnsupported), "actors")
	}
	return errors.Join(err, env.Close())
}

// few lists names, of many the first three.
func few(names []string) string {
	const most = 3
	if n := len(names) - most; n > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n)
	}
	return strings.Join(names, ", ")
}

// reason is why an agent does not go with an environment, in a line.
func reason(err error) string {
	var field *plan.FieldError
	if errors.As(err, &field) {
		err = field.Err
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimSuffix(text, ": "+framework.ErrUnsupported.Error())
}

// refusal is an error of opening a component: one about the config if the plugin
// refuses its parameters or its partner.
func refusal(err error, list string, i int, c plan.Component) error {
	var field *plan.FieldError
	switch {
	case errors.As(err, &field):
		return plan.At(field, list, i)
	case errors.Is(err, framework.ErrUnsupported):
		return plan.At(err, list, i, "plugin")
	case errors.Is(err, framework.ErrInvalidParams):
		return plan.At(err, list, i, "params")
	}
	return fmt.Errorf("%s %q: %w", singular[list], c.Name, err)
}

var singular = map[string]string{plan.EnvironmentsKey: "environment", plan.AgentsKey: "agent"}

// openEnvironment returns, besides the spec, the first time step of a run, if agents
// are saved: it shows whether they can be.
func (x *Runner) openEnvironment(ctx context.Context, c plan.Component) (spec framework.Spec, first *vector.TimeSteps, err error) {
	p, err := x.pool.keep(ctx, c)
	if err != nil {
		return spec, nil, err
	}
	env, err := p.OpenEnvironment(ctx, c.Params, 1)
	if err != nil {
		return spec, nil, err
	}
	if err := x.declare(result.EnvironmentMetrics, env.Abilities().Measures); err != nil {
		return spec, nil, errors.Join(err, env.Close())
	}
	spec = env.Spec()
	said := fmt.Sprintf("%+v", spec)
	if m := env.Abilities().Measures; m != nil {
		x.measured = append(x.measured, c.Name)
		said += fmt.Sprintf("%+v", m.Metrics)
	}
	if x.Specs == nil {
		x.Specs = map[string]string{}
	}
	x.Specs[c.Name] = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(said)))
	if c := x.Plan.Config; c.Save != nil || c.Evaluate != nil || c.Checkpoint != nil {
		in, out := vector.NewActions(spec, 1), vector.NewTimeSteps(spec, 1)
		in.Signals[0], in.Seeds[0] = vector.NewRun, 1
		if err := env.Step(ctx, in, &out); err != nil {
			return spec, nil, errors.Join(err, env.Close())
		}
		first = &out
	}
	return spec, first, env.Close()
}

// declare takes over the metrics that a plugin of one side declares.
func (x *Runner) declare(side string, m *vector.Measures) error {
	if m == nil {
		return nil
	}
	if err := vector.CheckMetrics(m.Metrics); err != nil {
		return fmt.Errorf("%w: %w", framework.ErrInvalidAnswer, err)
	}
	if side == result.EnvironmentMetrics {
		for _, y := range m.Metrics {
			if err := metric.CheckDeclared(metric.Name(y.Name), metric.Better(y.Better), metric.Value(y.Total)); err != nil {
				return fmt.Errorf("%w: %w", framework.ErrInvalidAnswer, err)
			}
		}
	}
	return x.Declared.Add(side, m.Metrics)
}

// notes are sentences about environments and agents that a reader of the results must know.
func (x *Runner) notes() (list []string) {
	if len(x.notGreedy) > 0 {
		list = append(list, "In evaluations these agents act as they do when they learn, as they have no greedy actions: "+strings.Join(x.notGreedy, ", "))
	}
	if len(x.mixedAgents) > 0 {
		list = append(list, "Saved agents were made by different programs: "+strings.Join(x.mixedAgents, ", "))
	}
	if len(x.unsaved) > 0 {
		list = append(list, "There are runs whose agents are not there, so they are passed over: "+strings.Join(x.unsaved, ", "))
	}
	if len(x.reused) > 0 {
		list = append(list, "There are more runs than saved agents, and runs that begin with the same one are not independent; intervals and tests hold for these saved agents, not for others that training would give: "+strings.Join(x.reused, ", "))
	}
	if len(x.ownTasks) > 0 {
		list = append(list, fmt.Sprintf("Each saved agent is evaluated in the task of its own run, so the seed %d changes nothing: %s", *x.Plan.Config.Seed, strings.Join(x.ownTasks, ", ")))
	}
	if len(x.otherTasks) > 0 {
		list = append(list, "Some runs begin with agents of other runs or seeds, so their tasks differ from those that the agents learned, if the seed of a run draws its task: "+strings.Join(x.otherTasks, ", "))
	}
	if len(x.measured) > 0 && slices.ContainsFunc(x.Plan.Agents, func(a plan.Component) bool { return a.Lanes() > 1 }) {
		list = append(list, "Runs with several actors do not record the metrics that these environments measure themselves: "+strings.Join(x.measured, ", "))
	}
	c := &x.Plan.Config
	var late []string
	of := map[string][]string{} // components of which a sentence is true
	for _, component := range x.Plan.Components() {
		steps := c.Steps
		if component.WarmStart != nil {
			steps = x.warm.Told(x.Plan, component).Steps
		}
		for _, text := range tooLate(x.schemas[processKey(component)], component.Params, steps) {
			if c.Steps > 0 && of[text] == nil {
				late = append(late, text)
			}
			of[text] = append(of[text], component.Name)
		}
	}
	for _, text := range late {
		list = append(list, strings.Join(of[text], ", ")+": "+text)
	}
	every := map[string]int{"record": c.Record.Every}
	if c.Save != nil {
		every["save"] = c.Save.Every
	}
	if c.Evaluate != nil {
		every["evaluate"] = c.Evaluate.Every
	}
	for _, key := range slices.Sorted(maps.Keys(every)) {
		if n := every[key]; n > max(c.Budget(), 1) {
			list = append(list, fmt.Sprintf("%s.every is %d, and runs have %d %s: there is one time, their end", key, n, c.Budget(), c.Unit()))
		}
	}
	return list
}

// openAgent opens an agent for the environment of a name and spec. It makes sure that the
// agent can be saved and can begin with a saved agent, where the config wants that.
func (x *Runner) openAgent(ctx context.Context, c plan.Component, environment string, spec framework.Spec, first *vector.TimeSteps) error {
	p, err := x.pool.keep(ctx, c)
	if err != nil {
		return err
	}
	var saved store.SavedAgents
	if c.WarmStart != nil { // whose files say how the agent is opened
		if saved, err = x.warm.Of(c, environment); err != nil {
			return plan.At(err, "warm_start")
		}
		if len(saved) < x.Plan.Config.Runs && !slices.Contains(x.reused, c.Name) {
			x.reused = append(x.reused, c.Name)
		}
		if missing := saved.Missing(); len(missing) > 0 {
			of := fmt.Sprintf("%s in %s (%d of its runs, the first is run %d)", c.Name, environment, len(missing), missing[0])
			if !slices.Contains(x.unsaved, of) {
				x.unsaved = append(x.unsaved, of)
			}
		}
		if evaluates := x.Plan.Config.Steps == 0; saved.Knows(spec) {
			root, of := *x.Plan.Config.Seed, c.Name+" in "+environment
			if evaluates {
				if err := saved.CheckTasks(x.Plan.Config.Runs); err != nil {
					return plan.At(err, "warm_start")
				}
				if saved.OtherSeed(root) {
					x.ownTasks = append(x.ownTasks, of)
				}
			} else if saved.Elsewhere(x.Plan.Config.Runs, root) {
				x.otherTasks = append(x.otherTasks, of)
			}
		}
		if saved.Mixed() && !slices.Contains(x.mixedAgents, c.Name) {
			x.mixedAgents = append(x.mixedAgents, c.Name)
		}
	}
	agent, err := openAgent(ctx, p, x.pool.keep, x.Plan, x.warm, c, spec, 1)
	if err != nil {
		return err
	}
	if x.Plan.Config.Evaluate != nil && !agent.Abilities().Greedy && !slices.Contains(x.notGreedy, c.Name) {
		x.notGreedy = append(x.notGreedy, c.Name)
	}
	if vector.Recommends(agent) {
		x.recommends = true
	} else {
		x.unrecommended = append(x.unrecommended, result.Key{Environment: environment, Agent: c.Name})
	}
	d, err := p.Describe(ctx)
	if err == nil && c.WarmStart == nil { // else the parameters are those that it was saved with
		err = plan.At(checkExploration(d.Params, c.Params, c.Exploration), "params")
	}
	if err == nil {
		err = checkSaving(ctx, x.Plan, agent, c, spec, first)
	}
	if err == nil && c.WarmStart != nil {
		err = plan.At(saved.Check(d.ID, c, spec, x.Trust, func(state []byte) error { return vector.Load(ctx, agent, 0, state) }), "warm_start")
	}
	if err != nil {
		return errors.Join(err, agent.Close())
	}
	return errors.Join(x.declare(result.AgentMetrics, agent.Abilities().Measures), agent.Close())
}

// identify finds out which programs the plugins are, and what results of environments and agents
// depend on besides.
func (x *Runner) identify(ctx context.Context) error {
	x.Programs, x.Components = nil, nil
	program := func(c plan.Component) (store.PluginProvenance, error) {
		for _, p := range x.Programs {
			if p.Plugin == c.Plugin && slices.Equal(p.Args, c.Args) {
				return p, nil
			}
		}
		opened, err := x.pool.keep(ctx, c)
		if err != nil {
			return store.PluginProvenance{}, err
		}
		p, err := x.plugins.Identify(ctx, opened, c)
		x.Programs = append(x.Programs, p)
		return p, err
	}
	for kind, c := range x.Plan.Components() {
		if _, err := program(c); err != nil {
			return err
		}
		own := store.ComponentProvenance{Kind: kind, Name: c.Name, Plugin: c.Plugin, Args: c.Args, Files: map[string]string{}, Sources: map[string]string{}}
		err := errors.Join(addParamFiles(own.Files, c.Params), addParamFiles(own.Files, c.Files().Params))
		for _, part := range c.Parts() {
			p, partErr := program(part)
			err = errors.Join(err, partErr, addParamFiles(own.Files, part.Params))
			if !slices.Contains(own.Parts, part.Plugin) {
				own.Parts = append(own.Parts, part.Plugin)
			}
			for _, list := range []map[string]string{p.Files, p.Sources} {
				for name, digest := range list {
					own.Sources[part.Plugin+": "+name] = digest
				}
			}
		}
		if err != nil {
			return err
		}
		if len(own.Files)+len(own.Sources) > 0 && c.WarmStart == nil {
			x.Components = append(x.Components, own)
		}
		for _, e := range x.Plan.Environments {
			if c.WarmStart == nil {
				break
			}
			own := own
			own.Environment, own.Sources = e.Name, maps.Clone(own.Sources)
			if err := x.warm.Digest(c, e.Name, own.Sources); err != nil {
				return err
			}
			x.Components = append(x.Components, own)
		}
	}
	return nil
}

// startAgain starts each program that is not rlrun's own once more, and refuses one that is something
// else in another process: seeds follow from ids. It leaves out a program that cannot have two processes.
func (x *Runner) startAgain(ctx context.Context) error {
	started := map[string]bool{}
	var components []plan.Component
	for _, c := range x.Plan.Components() {
		for _, c := range append(c.Parts(), c) {
			own := slices.ContainsFunc(x.Programs, func(p store.PluginProvenance) bool {
				return p.Plugin == c.Plugin && slices.Equal(p.Args, c.Args) && len(p.Files) > 0
			})
			if key := fmt.Sprintf("%q", append([]string{c.Plugin}, c.Args...)); own && !started[key] {
				started[key], components = true, append(components, c)
			}
		}
	}
	found := make([]error, len(components))
	parallel.Each(len(components), func(i int) {
		second, closeSecond, err := x.plugins.Open(ctx, components[i])
		if err != nil {
			if errors.Is(err, store.ErrChanged) || errors.Is(err, store.ErrOtherPrograms) {
				found[i] = err
			}
			return
		}
		found[i] = x.sameSpecs(ctx, components[i], second)
		_ = closeSecond() // an ending process changes nothing
	})
	return cmp.Or(found...)
}

// sameSpecs compares the environments of the first process of a plugin with those of a second.
func (x *Runner) sameSpecs(ctx context.Context, of plan.Component, second vector.Plugin) error {
	for _, c := range x.Plan.Environments {
		if c.Plugin != of.Plugin || !slices.Equal(c.Args, of.Args) {
			continue
		}
		first, err := x.pool.keep(ctx, c)
		if err != nil {
			return err
		}
		if err := SameSpec(ctx, first, second, c.Params); err != nil {
			return fmt.Errorf("environment %q: %w", c.Name, err)
		}
	}
	return nil
}

// tasks finds out what is known of the environments, and adds the notes of their models to
// those of the experiment. One that fails to say is left out: its runs will show what is
// wrong. One that does not follow its model is refused.
func (x *Runner) tasks(ctx context.Context) (map[string]result.Task, error) {
	known := map[string]result.Task{}
	for _, c := range x.Plan.Environments {
		p, err := x.pool.keep(ctx, c)
		if err != nil {
			continue
		}
		env, err := p.OpenEnvironment(ctx, c.Params, 2)
		if err != nil {
			continue
		}
		d, err := p.Describe(ctx)
		var notes []string
		var t *result.Task
		if err == nil {
			t, notes, err = DescribeTask(ctx, d, env)
		}
		closed := env.Close()
		if errors.Is(err, errModel) {
			return nil, fmt.Errorf("environment %q: %w; mend one of them, or give no model", c.Name, err)
		}
		if closed != nil || err != nil {
			continue
		}
		for _, note := range notes {
			x.Notes = append(x.Notes, fmt.Sprintf("The model of %s: %s", c.Name, note))
		}
		if t != nil {
			known[c.Name] = *t
		}
	}
	return known, nil
}
