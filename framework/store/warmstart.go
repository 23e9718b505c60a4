package store

import (
	"bytes"
	"cmp"
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

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/internal/inputfile"
)

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
	if info, err := os.Stat(text); err == nil && info.Mode().IsRegular() {
		return "", "", fmt.Errorf("%q is a file: a saved agent is named by its output directory, as in %s:AGENT, and by its run; if it is a pickle, or a directory of results names its program, add --trust",
			text, filepath.Dir(filepath.Dir(text)))
	}
	return "", "", fmt.Errorf("%q names no output directory; write DIR:AGENT", text)
}

// SavedAgents are the saved agents that a component begins with in an environment, in the
// order of their runs.
type SavedAgents []agentFile

// WarmStarts are the saved agents that the agents of a plan begin with, by the labels of
// agent and environment.
type WarmStarts map[[2]string]warmStart

type warmStart struct {
	saved SavedAgents // at least one, if err is nil
	err   error
}

// FindWarmStarts finds the saved agents of a plan. Of files it reads what they say of
// themselves.
func FindWarmStarts(p *plan.Plan) WarmStarts {
	found := WarmStarts{}
	files := map[string][]agentFile{} // of output directories
	find := func(c plan.Component, environment string) (SavedAgents, error) {
		dir, agent, err := SplitAgent(c.WarmStart.From)
		if err != nil {
			return nil, err
		}
		list, read := files[dir]
		if !read {
			if list, err = (Dir{Path: dir}).agents(); err != nil {
				return nil, err
			}
			files[dir] = list
		}
		return choose(c.WarmStart, list, dir, cmp.Or(agent, c.Name), environment)
	}
	for _, c := range p.Agents {
		for _, e := range p.Environments {
			if c.WarmStart != nil {
				saved, err := find(c, e.Name)
				found[[2]string{c.Name, e.Name}] = warmStart{saved, err}
			}
		}
	}
	return found
}

// Of returns the saved agents for a component in an environment. There is at least one.
func (w WarmStarts) Of(c plan.Component, environment string) (SavedAgents, error) {
	found := w[[2]string{c.Name, environment}]
	return found.saved, found.err
}

// choose selects among the files of an output directory.
func choose(w *plan.WarmStart, files []agentFile, dir, agent, environment string) (SavedAgents, error) {
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
		return nil, fmt.Errorf("%s has no agent %q saved in the environment %q; it has some of %s: choose one with environment, or on the command line with --trained-in", dir, agent, name, quoted(environments))
	}
	all = files
	unit, at := "step", func(f *agentFile) int { return f.Step }
	if slices.ContainsFunc(all, func(f agentFile) bool { return f.Episode > 0 }) {
		unit, at = "episode", func(f *agentFile) int { return f.Episode }
	}
	asked := "the last step of a run"
	if w.Step > 0 {
		asked = fmt.Sprintf("%s %d", unit, w.Step)
	}
	if keep(func(f *agentFile) bool { return w.Step > 0 && at(f) == w.Step || w.Step == 0 && f.Last }); len(files) == 0 {
		slices.SortFunc(all, func(a, b agentFile) int { return at(&a) - at(&b) })
		return nil, fmt.Errorf("%s has no agent %q of %s; it has some of the %ss %s", dir, agent, asked, unit,
			strings.Join(distinct(func(f *agentFile) string { return fmt.Sprint(at(f)) }, all), ", "))
	}
	slices.SortFunc(files, func(a, b agentFile) int { return a.Run - b.Run })
	for i := range files[1:] {
		if files[i].Run == files[i+1].Run {
			return nil, fmt.Errorf("%s and %s hold the agent of one run; remove one of them", files[i].path, files[i+1].path)
		}
	}
	return files, nil
}

// trainedAgent returns the plan of the experiment with one agent alone, which begins where
// it was saved and makes no steps. Its name may be empty if there is one agent.
func (d Dir) TrainedAgent(name string) (*plan.Plan, error) {
	e, err := d.Read()
	if err != nil {
		return nil, err
	}
	names := plan.Labels(e.Plan.Agents)
	if name == "" && len(names) == 1 {
		name = names[0]
	}
	i := slices.Index(names, name)
	switch {
	case name == "":
		return nil, fmt.Errorf("%s has several agents: write DIR:AGENT with one of %s", d.Path, quoted(names))
	case i < 0:
		return nil, fmt.Errorf("%s has no agent %q; its experiment has %s", d.Path, name, quoted(names))
	}
	c := e.Plan.Agents[i]
	c.WarmStart = &plan.WarmStart{From: d.Path + ":" + name}
	e.Plan.Agents, e.Plan.Config.Steps = []plan.Component{c}, 0
	return e.Plan, nil
}

func quoted(names []string) string {
	list := each.Of(names, func(name string) string { return fmt.Sprintf("%q", name) })
	return strings.Join(list, ", ")
}

// of returns what run k begins with. A run that learns goes on with the agent of run k, if it was
// saved. Other runs have the k-th agent, modulo their number.
func (o SavedAgents) of(run int, learns bool) *agentFile {
	own, saved := slices.BinarySearchFunc(o, run, func(f agentFile, run int) int { return f.Run - run })
	if learns && saved {
		return &o[own]
	}
	return &o[run%len(o)]
}

// Of returns the agent that run k begins with, where it learns or is evaluated alone.
func (o SavedAgents) Of(run int, learns bool) (*loop.Snapshot, error) {
	f := o.of(run, learns)
	_, s, err := readAgent(f.path, f.digest)
	return s, err
}

// Knows says whether runs in an environment may meet the tasks that the agents learned: the seed of a
// run may draw the task of a run that continues, such as the arms of a bandit.
func (o SavedAgents) Knows(spec framework.Spec) bool {
	return spec.Continuing && o[0].Spec.ID == spec.ID
}

// Task returns the seed of the run in which the agent that run k evaluates learned.
func (o SavedAgents) Task(run int) uint64 {
	f := o.of(run, false)
	return seed.NewSource(*f.Seed, f.Spec.ID).Seed(f.Run, seed.Environment, 0)
}

// CheckTasks refuses to evaluate the agents in their tasks in so many runs, if they would play a
// task twice with the same rewards, or do not say which it is.
func (o SavedAgents) CheckTasks(runs int) error {
	if i := slices.IndexFunc(o, func(f agentFile) bool { return f.Seed == nil }); i >= 0 {
		return fmt.Errorf("%s does not say which task it learned, as an older rlrun saved it: make its run again", o[i].path)
	}
	if runs <= len(o) {
		return nil
	}
	return fmt.Errorf("%d runs cannot be evaluated with %d saved agents: in a task that continues, each plays the task of its own run, and a second time it would get the same rewards: give --runs %[2]d or less, and for more rewards --steps", runs, len(o))
}

// Elsewhere says whether some of so many runs under a root seed, which learn, begin with an agent of another run.
func (o SavedAgents) Elsewhere(runs int, root uint64) bool {
	for run := range runs {
		if f := o.of(run, true); f.Run != run || f.Seed == nil || *f.Seed != root {
			return true
		}
	}
	return false
}

// OtherSeed says whether the agents learned under another root seed.
func (o SavedAgents) OtherSeed(root uint64) bool { return *o[0].Seed != root }

// Told is what an agent is told of its runs.
type Told struct {
	// Steps are those of its run, and the most that one has made before. In an experiment without steps it is
	// what the agent was saved under.
	Steps int
	// Episodes are those with which its run ends; 0 if the experiment has no such budget. It is 0 for a saved agent
	// too, since the number of episodes that it has seen is not known. In an experiment without steps it is what the
	// agent was saved under.
	Episodes int
	// Discount is the experiment's, nil if it gives none, or what the agent was saved under.
	Discount *float64
}

// Told returns what an agent of the plan is told.
func (w WarmStarts) Told(p *plan.Plan, c plan.Component) Told {
	for _, e := range p.Environments {
		saved := w[[2]string{c.Name, e.Name}].saved
		if len(saved) == 0 {
			continue
		}
		told := Told{Steps: saved[0].Spec.Steps, Episodes: saved[0].Spec.Episodes, Discount: saved[0].Discount} // which all share
		if p.Config.Steps > 0 {
			told.Steps, told.Episodes = 0, 0
			for _, f := range saved {
				told.Steps = max(told.Steps, f.Before+f.Step+p.Config.Steps)
			}
		}
		return told
	}
	return Told{Steps: p.Config.Steps, Episodes: p.Config.Episodes, Discount: p.Config.Discount}
}

// before returns how many steps the agent of a run in an environment has learned from before the run begins.
func (w WarmStarts) before(c plan.Component, environment string, run int) int {
	saved := w[[2]string{c.Name, environment}].saved
	if len(saved) == 0 {
		return 0
	}
	f := saved.of(run, true)
	return f.Before + f.Step
}

// belongs refuses saved agents that are not of one experiment: the one whose config and
// provenance are in their output directory, if they are there.
func (o SavedAgents) belongs() error {
	dir := Dir{Path: filepath.Dir(filepath.Dir(o[0].path))}
	of, err := dir.Read()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var programs map[string]bool
	var identities map[result.Key]string
	if of != nil {
		if programs, err = dir.allPrograms(); err != nil {
			return err
		}
		identities = of.Plan.Identities()
	}
	for i := range o {
		f := &o[i]
		if f.Experiment != o[0].Experiment {
			return fmt.Errorf("%s and %s were saved by different experiments; remove one of them", o[0].path, f.path)
		}
		if of == nil {
			continue
		}
		c := of.Plan.Config
		if f.Experiment != identities[result.Key{Environment: f.Environment, Agent: f.Agent}] || f.Run >= c.Runs || f.Step > c.Steps ||
			len(programs) > 0 && !programs[f.Program] {
			return fmt.Errorf("%s is not of the experiment in %s: this agent (%q in %q, run %d, step %d, program %.40q) was saved with another seed, other parameters or another program; remove it to go on without it",
				f.path, dir.Path, f.Agent, f.Environment, f.Run, f.Step, f.Program)
		}
	}
	return nil
}

// Mixed says whether different programs saved the agents.
func (o SavedAgents) Mixed() bool {
	return slices.ContainsFunc(o, func(f agentFile) bool { return f.Program != o[0].Program })
}

// Missing returns the runs without a saved agent: those of the experiment whose config is beside the
// agents, or without one those before the last that has an agent.
func (o SavedAgents) Missing() (runs []int) {
	last := o[len(o)-1].Run
	if of, err := (Dir{Path: filepath.Dir(filepath.Dir(o[0].path))}).Read(); err == nil {
		last = of.Plan.Config.Runs - 1
	}
	for run, i := 0, 0; run <= last; run++ {
		if i < len(o) && o[i].Run == run {
			i++
		} else {
			runs = append(runs, run)
		}
	}
	return runs
}

// allPrograms returns the identities of the programs that made runs in the directory;
// none if it does not say.
func (d Dir) allPrograms() (map[string]bool, error) {
	all := map[string]bool{}
	sessions, err := d.allSessions()
	for _, s := range sessions {
		for _, plugin := range s.Plugins {
			all[plugin.Program] = true
		}
		for _, x := range s.Components {
			all[x.Program] = true
		}
	}
	return all, err
}

// pickled begins the state of an agent in Python that is a pickle.
const pickled = "RLPICKLE"

// Pickled says whether the state of an agent is a pickle: to read it runs code that is in it.
func Pickled(state []byte) bool { return bytes.HasPrefix(state, []byte(pickled)) }

// Check makes sure that an agent of a plugin can begin with each of the saved agents. load
// loads the state of one. Without trust, a state that is a pickle is refused.
func (o SavedAgents) Check(id string, c plan.Component, spec framework.Spec, trust bool, load func(state []byte) error) error {
	if err := o.belongs(); err != nil {
		return err
	}
	is, err := newSavedSpec(spec)
	if err != nil {
		return err
	}
	for _, f := range o {
		a, s, err := readAgent(f.path, "")
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
		if !trust && Pickled(s.State) {
			return fmt.Errorf("%s is a pickle, and reading it runs code that is in it: if you trust who saved it, add --trust", f.path)
		}
		if err := load(s.State); err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
	}
	return nil
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

// Digest adds the digest of the saved agents that a component begins with in an environment.
// From now on these agents are bound: Of refuses others.
func (w WarmStarts) Digest(c plan.Component, environment string, digests map[string]string) error {
	found, warm := w[[2]string{c.Name, environment}]
	if !warm || found.err != nil {
		return found.err
	}
	h := sha256.New()
	for i := range found.saved {
		f, err := &found.saved[i], error(nil)
		if f.digest, err = inputfile.SHA256(f.path); err != nil {
			return err
		}
		fmt.Fprintln(h, filepath.Base(f.path), f.digest)
	}
	digests[fmt.Sprintf("warm_start %s, %s", c.WarmStart.From, environment)] = "sha256:" + hex.EncodeToString(h.Sum(nil))
	return nil
}
