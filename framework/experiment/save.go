package experiment

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/invopop/jsonschema"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/inputfile"
)

// Save says which agents of a run are kept: the final one and, with every, others. In a
// config it may also be true or false.
type Save struct {
	// Every is the number of steps between agents that are kept besides the final one.
	Every int `json:"every,omitempty" jsonschema:"minimum=1,maximum=1000000000000"`

	off bool
}

// UnmarshalJSON reads a Save or a boolean.
func (s *Save) UnmarshalJSON(data []byte) error {
	var on bool
	if json.Unmarshal(data, &on) == nil {
		*s = Save{off: !on}
		return nil
	}
	type plain Save
	return json.Unmarshal(data, (*plain)(s))
}

// MarshalJSON writes true where there is nothing else to say.
func (s Save) MarshalJSON() ([]byte, error) {
	if s.Every == 0 {
		return json.Marshal(!s.off)
	}
	type plain Save
	return json.Marshal(plain(s))
}

// JSONSchemaExtend adds the boolean.
func (Save) JSONSchemaExtend(s *jsonschema.Schema) { alternative(s, "boolean") }

// alternative lets a schema of an object accept a value of another type as well.
func alternative(s *jsonschema.Schema, other string) {
	object := *s
	*s = jsonschema.Schema{Description: object.Description, OneOf: []*jsonschema.Schema{{Type: other}, &object}}
	object.Description = ""
}

// Evaluation says when and how copies of agents are evaluated, which do not learn.
type Evaluation struct {
	// Every is the number of steps of a run between evaluations. The last evaluation is
	// at the run's end. Default: at the end only.
	Every int `json:"every,omitempty" jsonschema:"minimum=1,maximum=1000000000000"`
	// Episodes is the number of episodes of an evaluation, whose mean return is the
	// metric evaluation_return.
	Episodes int `json:"episodes,omitempty" jsonschema:"minimum=1,maximum=1000000"`
	// Steps is the number of steps of an evaluation, in tasks that continue or where
	// episodes is not given. Their mean reward is the metric evaluation_reward.
	Steps int `json:"steps,omitempty" jsonschema:"minimum=1,maximum=1000000000"`
	// Limit is the number of steps after which an episode of an evaluation is cut
	// short: a greedy agent may never reach its end. Default: 10000.
	Limit int `json:"limit,omitempty" jsonschema:"minimum=1,maximum=1000000000,default=10000"`
}

// compileSaving fills in the defaults of save and evaluate.
func (c *Config) compileSaving() error {
	if c.Save != nil && c.Save.off {
		c.Save = nil
	}
	recorded := func(m result.Metric) bool { return slices.Contains(c.Record.Metrics, m) }
	e := c.Evaluate
	if e == nil {
		for i, m := range c.Record.Metrics {
			if m == result.EvaluationReturn || m == result.EvaluationReward {
				return At(fmt.Errorf("%s needs evaluate: {every: STEPS, episodes: N}", m), "record", "metrics", i)
			}
		}
		return nil
	}
	if e.Episodes == 0 && e.Steps == 0 {
		return fieldErrorf("evaluate", "needs episodes, or steps for tasks that continue")
	}
	filled := *e
	filled.Every = cmp.Or(e.Every, max(c.Steps, 1))
	if e.Episodes > 0 {
		filled.Limit = cmp.Or(e.Limit, 10_000)
	}
	c.Evaluate = &filled
	c.Record.Metrics = slices.Clip(c.Record.Metrics)
	if e.Episodes > 0 && !recorded(result.EvaluationReturn) {
		c.Record.Metrics = append(c.Record.Metrics, result.EvaluationReturn)
	}
	if e.Steps > 0 && !recorded(result.EvaluationReward) {
		c.Record.Metrics = append(c.Record.Metrics, result.EvaluationReward)
	}
	return nil
}

// WarmStart names the saved agents that runs begin with. In a config it may also be the
// text From.
type WarmStart struct {
	// From is DIR:AGENT: an output directory and the name of an agent whose saved
	// agents are there. DIR alone means the agent of the same name.
	From string `json:"from" jsonschema:"minLength=1"`
	// Environment is the name of the environment that they were saved in. Default: the
	// environment of the same name, or the only one.
	Environment string `json:"environment,omitempty"`
	// Step is the step after which they were saved. Default: the last.
	Step int `json:"step,omitempty" jsonschema:"minimum=1,maximum=1000000000000"`
}

// UnmarshalJSON reads a WarmStart or its From.
func (w *WarmStart) UnmarshalJSON(data []byte) error {
	var from string
	if json.Unmarshal(data, &from) == nil {
		*w = WarmStart{From: from}
		return nil
	}
	type plain WarmStart
	return json.Unmarshal(data, (*plain)(w))
}

// MarshalJSON writes From where there is nothing else to say.
func (w WarmStart) MarshalJSON() ([]byte, error) {
	if w == (WarmStart{From: w.From}) {
		return json.Marshal(w.From)
	}
	type plain WarmStart
	return json.Marshal(plain(w))
}

// JSONSchemaExtend adds the text.
func (WarmStart) JSONSchemaExtend(s *jsonschema.Schema) { alternative(s, "string") }

// SplitAgent splits DIR:AGENT at the first colon after the name of a directory that
// exists. AGENT is empty where text is a directory.
func SplitAgent(text string) (dir, agent string, err error) {
	is := func(dir string) bool {
		info, err := os.Stat(dir)
		return err == nil && info.IsDir()
	}
	if is(text) {
		return text, "", nil
	}
	for i, r := range text {
		if r == ':' && i > 0 && is(text[:i]) {
			return text[:i], text[i+1:], nil
		}
	}
	return "", "", fmt.Errorf("%q names no output directory; write DIR:AGENT", text)
}

// origin is the saved agents that a component begins with in an environment, in the
// order of their runs.
type origin []agentFile

// origins finds saved agents, once for each component and environment.
type origins struct {
	mu    sync.Mutex
	found map[[2]string]origin
	files map[string][]agentFile // of output directories
}

// origin returns the saved agents for a component in an environment. There is at least
// one.
func (p *Plan) origin(c Component, environment string) (origin, error) {
	p.origins.mu.Lock()
	defer p.origins.mu.Unlock()
	key := [2]string{c.Name, environment}
	if o, ok := p.origins.found[key]; ok {
		return o, nil
	}
	dir, agent, err := SplitAgent(c.WarmStart.From)
	if err != nil {
		return nil, err
	}
	files, read := p.origins.files[dir]
	if !read {
		if files, err = agentFiles(dir); err != nil {
			return nil, err
		}
		p.origins.files[dir] = files
	}
	o, err := c.WarmStart.choose(files, dir, cmp.Or(agent, c.Name), environment)
	if i := slices.IndexFunc(files, func(f agentFile) bool { return f.damage != nil && f.Agent == "" }); err != nil && i >= 0 {
		err = fmt.Errorf("%w; %w", err, files[i].damage)
	}
	if err == nil {
		p.origins.found[key] = o
	}
	return o, err
}

// choose selects among the files of an output directory.
func (w *WarmStart) choose(files []agentFile, dir, agent, environment string) (origin, error) {
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no saved agents; run its experiment with save: true", dir)
	}
	distinct := func(of func(*agentFile) string, among []agentFile) (names []string) {
		for i := range among {
			if name := of(&among[i]); name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		return names
	}
	keep := func(ok func(*agentFile) bool) {
		files = slices.DeleteFunc(slices.Clone(files), func(f agentFile) bool { return !ok(&f) })
	}
	all := files
	if keep(func(f *agentFile) bool { return f.Agent == agent }); len(files) == 0 {
		return nil, fmt.Errorf("%s has no saved agent %q; it has %s", dir, agent, cmp.Or(quoted(distinct(func(f *agentFile) string { return f.Agent }, all)), "none"))
	}
	environments := distinct(func(f *agentFile) string { return f.Environment }, files)
	name := cmp.Or(w.Environment, environment)
	if w.Environment == "" && !slices.Contains(environments, name) && len(environments) == 1 {
		name = environments[0]
	}
	if keep(func(f *agentFile) bool { return f.Environment == name }); len(files) == 0 {
		return nil, fmt.Errorf("%s has no agent %q saved in the environment %q; it has some of %s: choose one with environment", dir, agent, name, quoted(environments))
	}
	step := w.Step
	if step == 0 {
		for _, f := range files {
			step = max(step, f.Step)
		}
	}
	all = files
	if keep(func(f *agentFile) bool { return f.Step == step }); len(files) == 0 {
		return nil, fmt.Errorf("%s has no agent %q of step %d; it has some of the steps %s", dir, agent, step,
			strings.Join(distinct(func(f *agentFile) string { return fmt.Sprint(f.Step) }, all), ", "))
	}
	slices.SortFunc(files, func(a, b agentFile) int { return a.Run - b.Run })
	for i := range files[1:] {
		if files[i].Run == files[i+1].Run {
			return nil, fmt.Errorf("%s and %s hold the agent of one run; remove one of them", files[i].path, files[i+1].path)
		}
	}
	return files, nil
}

func quoted(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(list, ", ")
}

// of returns the agent that run k begins with. It is the k-th, modulo the number of
// agents.
func (o origin) of(run int) (*loop.Snapshot, error) {
	f := &o[run%len(o)]
	_, s, err := readAgent(f.path, f.digest)
	return s, err
}

// anyOrigin is a saved agent of a component with warm_start, for what all of them
// share; nil if there is none.
func (p *Plan) anyOrigin(c Component) *agentFile {
	if c.WarmStart == nil {
		return nil
	}
	for _, e := range p.Environments {
		o, _ := p.origin(c, e.Name)
		if i := slices.IndexFunc(o, func(f agentFile) bool { return f.damage == nil }); i >= 0 {
			return &o[i]
		}
	}
	return nil
}

// stepsBefore is the number of steps that an agent has learned from before its run begins.
func (p *Plan) stepsBefore(c Component) int {
	if f := p.anyOrigin(c); f != nil {
		return f.Before + f.Step
	}
	return 0
}

// agentSteps is the number of steps that an agent is told: those of its run, and those
// before. In an experiment without steps it is what the agent was saved under.
func (p *Plan) agentSteps(c Component) int {
	if f := p.anyOrigin(c); f != nil && p.Config.Steps == 0 {
		return f.Spec.Steps
	}
	return p.stepsBefore(c) + p.Config.Steps
}

// agentDiscount is the discount that an agent is told: the experiment's, or what it was
// saved under.
func (p *Plan) agentDiscount(c Component) float64 {
	if f := p.anyOrigin(c); f != nil {
		return f.Discount
	}
	return *p.Config.Discount
}

// belongs refuses saved agents that are not of one experiment: the one whose config and
// provenance are in their output directory, if they are there. Damaged ones are left to check.
func (o origin) belongs() error {
	dir := filepath.Dir(filepath.Dir(o[0].path))
	plan, err := OpenPlan(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var programs map[string]bool
	var identities map[result.Key]string
	if plan != nil {
		if programs, err = allPrograms(dir); err != nil {
			return err
		}
		identities = plan.identities()
	}
	var first *agentFile // that names its experiment
	for i := range o {
		f := &o[i]
		if f.damage != nil {
			continue
		}
		refuse := func(format string, args ...any) error {
			return fmt.Errorf("%s is not of the experiment in %s: %s; remove it to go on without it", f.path, dir, fmt.Sprintf(format, args...))
		}
		if _, run, step := f.pair(); run != f.Run || step != f.Step {
			return fmt.Errorf("%s holds the agent of run %d after step %d: its name must end with .%[2]d.%[3]d%s", f.path, f.Run, f.Step, agentExt)
		}
		if first == nil && f.Experiment != "" { // an old version names none
			first = f
		}
		if f.Experiment != "" && f.Experiment != first.Experiment {
			return fmt.Errorf("%s and %s were saved by different experiments; remove one of them", first.path, f.path)
		}
		if plan == nil {
			continue
		}
		want, has := identities[result.Key{Environment: f.Environment, Agent: f.Agent}]
		switch {
		case !has:
			return refuse("that has no agent %q in an environment %q", f.Agent, f.Environment)
		case f.Experiment != "" && f.Experiment != want:
			return refuse("it was saved with another seed or other parameters (its identity is %.40q, the experiment's %q)", f.Experiment, want)
		case f.Run >= plan.Config.Runs:
			return refuse("it is of run %d, and there are %d, counted from 0", f.Run, plan.Config.Runs)
		case f.Step > plan.Config.Steps:
			return refuse("it is of step %d, and runs have %d", f.Step, plan.Config.Steps)
		case len(programs) > 0 && !programs[f.Program]:
			return refuse("it was saved by program %.40q, which %s does not name", f.Program, provenanceFile)
		}
	}
	return nil
}

// mixed says whether different programs saved the agents.
func (o origin) mixed() bool {
	whole := slices.DeleteFunc(slices.Clone(o), func(f agentFile) bool { return f.damage != nil })
	return slices.ContainsFunc(whole, func(f agentFile) bool { return f.Program != whole[0].Program })
}

// allPrograms returns the identities of the programs that made runs in an output directory;
// none if it does not say.
func allPrograms(dir string) (map[string]bool, error) {
	all := map[string]bool{}
	files, err := fs.Glob(os.DirFS(dir), provenanceDir+"/*.json")
	if err != nil {
		return nil, err
	}
	for _, name := range append(files, provenanceFile) {
		p, err := readProvenanceFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		for s := range p.sessions() {
			for _, plugin := range s.Plugins {
				all[plugin.Program] = true
			}
		}
	}
	return all, nil
}

// check makes sure that an agent, opened with one lane, can begin with each of the saved
// agents.
func (o origin) check(ctx context.Context, agent vector.Agent, id string, c Component, spec framework.Spec) error {
	if err := o.belongs(); err != nil {
		return err
	}
	is, err := newSavedSpec(spec)
	if err != nil {
		return err
	}
	for _, f := range o {
		a, s, err := readAgent(f.path, "")
		if errors.Is(err, errAgentFile) {
			return fmt.Errorf("%w; remove it to go on without it", err)
		}
		if err != nil {
			return err
		}
		refuse := func(what string, was, is any) error {
			return fmt.Errorf("%s is of another agent: %s was %v and is %v", f.path, what, was, is)
		}
		misfit := func(what string, was, is json.RawMessage) error {
			return fmt.Errorf("%s does not fit the environment: the space of %s was %s and is %s", f.path, what, was, is)
		}
		switch {
		case a.ID != id:
			return refuse("the plugin", a.ID, id)
		case !sameJSON(a.Params, c.Params):
			return refuse("params", text(a.Params), text(c.Params))
		case !reflect.DeepEqual(a.Exploration, c.Exploration):
			was, _ := json.Marshal(a.Exploration)
			now, _ := json.Marshal(c.Exploration)
			return refuse("exploration", string(was), string(now))
		case !sameJSON(a.Spec.Observation, is.Observation):
			return misfit("observations", a.Spec.Observation, is.Observation)
		case !sameJSON(a.Spec.Action, is.Action):
			return misfit("actions", a.Spec.Action, is.Action)
		}
		if err := vector.Load(ctx, agent, 0, s.State); err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
	}
	return nil
}

// OpenSaved opens one lane of an agent that was saved by an experiment, for environments
// of a spec. from is DIR:AGENT, or DIR if the experiment has one agent. The agent is that
// of run number run; its next signal begins an episode. The returned
// close function ends the agent and its plugin.
func OpenSaved(ctx context.Context, open Opener, from, environment string, run int, spec framework.Spec) (_ vector.Agent, closeAgent func() error, err error) {
	dir, name, err := SplitAgent(from)
	if err != nil {
		return nil, nil, err
	}
	plan, err := OpenPlan(dir)
	if err != nil {
		return nil, nil, err
	}
	names := labels(plan.Agents)
	if name == "" && len(names) == 1 {
		name = names[0]
	}
	i := slices.Index(names, name)
	switch {
	case name == "":
		return nil, nil, fmt.Errorf("%s has several agents: write DIR:AGENT with one of %s", dir, quoted(names))
	case i < 0:
		return nil, nil, fmt.Errorf("%s has no agent %q; its experiment has %s", dir, name, quoted(names))
	}
	c := plan.Agents[i]
	c.WarmStart, plan.Config.Steps = &WarmStart{From: dir + ":" + name}, 0
	o, err := plan.origin(c, environment)
	if err != nil {
		return nil, nil, err
	}
	at := slices.IndexFunc(o, func(f agentFile) bool { return f.Run == run })
	if at < 0 {
		return nil, nil, fmt.Errorf("%s has no agent %q of run %d; it has those of %d runs, from %d to %d", dir, name, run, len(o), o[0].Run, o[len(o)-1].Run)
	}
	p, closePlugin, err := open(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	agent, err := plan.OpenAgent(ctx, p, c, spec, 1)
	if err != nil {
		return nil, nil, errors.Join(err, closePlugin())
	}
	closeAgent = func() error { return errors.Join(agent.Close(), closePlugin()) }
	d, err := p.Describe(ctx)
	if err == nil {
		o = o[at : at+1]
		err = o.check(ctx, agent, d.ID, c, spec)
	}
	var s *loop.Snapshot
	if err == nil {
		s, err = o.of(0)
	}
	if err == nil {
		err = loop.Restore(ctx, agent, spec, 1, []*loop.Snapshot{s})
	}
	if err != nil {
		return nil, nil, errors.Join(err, closeAgent())
	}
	return agent, closeAgent, nil
}

func text(data json.RawMessage) string {
	if len(data) == 0 {
		return "{}"
	}
	return string(data)
}

// sameJSON says whether two texts are the same value. An absent one is {}.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	for _, v := range []struct {
		text json.RawMessage
		to   *any
	}{{a, &x}, {b, &y}} {
		if len(bytes.TrimSpace(v.text)) == 0 {
			*v.to = map[string]any{}
		} else if json.Unmarshal(v.text, v.to) != nil {
			return false
		}
	}
	return reflect.DeepEqual(x, y)
}

// originFiles adds the digest of the saved agents that a component begins with.
func (p *Plan) originFiles(files map[string]string, c Component) error {
	if c.WarmStart == nil {
		return nil
	}
	for _, e := range p.Environments {
		o, err := p.origin(c, e.Name)
		if err != nil {
			return err
		}
		h := sha256.New()
		for i := range o {
			f := &o[i]
			if f.digest, err = inputfile.SHA256(f.path); err != nil {
				return err
			}
			fmt.Fprintln(h, filepath.Base(f.path), f.digest)
		}
		files[fmt.Sprintf("warm_start %s, %s", c.WarmStart.From, e.Name)] = "sha256:" + hex.EncodeToString(h.Sum(nil))
	}
	return nil
}

// checkSaving makes sure that an agent, opened with one lane, can be saved and loaded,
// if the plan needs it. first holds the first time step of a run.
func (p *Plan) checkSaving(ctx context.Context, agent vector.Agent, c Component, spec framework.Spec, first *vector.TimeSteps) error {
	key := "save"
	switch {
	case p.Config.Evaluate != nil && p.Config.Steps > 0:
		key = "evaluate"
	case p.Config.Save == nil || p.Config.Steps == 0:
		return nil
	}
	in, actions := vector.NewFeedback(spec, 1), space.NewColumn(spec.Action, 1)
	in.Signals[0], in.Seeds[0], in.TimeSteps = vector.NewRun, 1, *first
	if err := agent.Step(ctx, in, &actions); err != nil {
		return err
	}
	state, err := vector.Save(ctx, agent, 0)
	if err == nil {
		err = vector.Load(ctx, agent, 0, state)
	}
	if errors.Is(err, framework.ErrUnsupported) {
		return At(fmt.Errorf("%s cannot be saved, which %s needs: give it Save and Load, or leave %[2]s out: %w", c.Plugin, key, err), "plugin")
	}
	return err
}
