package plugins

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/output"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/run"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// catalogue finds bundled plugins; open opens them.
type catalogue struct{ open run.Opener }

func (catalogue) Remote(plan.Component) (bool, error) { return false, nil }

func (c catalogue) Open(ctx context.Context, comp plan.Component) (vector.Plugin, func() error, error) {
	return c.open(ctx, comp)
}

func (catalogue) Identify(_ context.Context, _ vector.Plugin, c plan.Component) (store.PluginProvenance, error) {
	return store.PluginProvenance{Plugin: c.Plugin, Args: c.Args}, nil
}

// execute runs an experiment in a directory and returns its records.
func execute(t *testing.T, c plan.Config, open run.Opener, existing store.Existing) map[result.Key]result.Record {
	t.Helper()
	p := must.Get(plan.Compile(c))(t)
	x := run.New(p, catalogue{open})
	defer x.Close()
	must.Do(t, x.Check(t.Context(), nil))
	must.Do(t, x.Run(t.Context(), existing, run.Settings{}))
	r := must.Get(output.Write(x.Experiment))(t)
	all := map[result.Key]result.Record{}
	for rec, err := range r.Records() {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Status != result.OK {
			t.Fatalf("%v: %s", rec.Key(), rec.Error)
		}
		all[rec.Key()] = rec
	}
	return all
}

// show is what a run yielded.
func show(r result.Record) string {
	return fmt.Sprint(r.Status, r.Steps, r.Episodes, r.Curves, r.Decisions) // NaN = NaN
}

// savedExperiments has every bundled agent in a task for it, with and without
// exploration by the host. For tables it has only a sample, since all of them
// would take long.
func savedExperiments(t *testing.T, sample bool) (list []plan.Config) {
	bandits := plan.Config{Name: "bandits", Environments: []plan.Component{component("bernoulli", "bernoulli-bandit", `{"arms":4}`)}}
	tables := plan.Config{Name: "tables", Environments: []plan.Component{component("lake", "frozenlake", ``)}}
	numbers := plan.Config{Name: "numbers", Environments: []plan.Component{component("car", "mountaincar", ``)}}
	able := agents(t, "options")
	for _, name := range agents(t, "") {
		c := &tables
		switch spec, _ := taskOf(name); spec.ID {
		case oneState.ID:
			c = &bandits
		case boxed.ID:
			c = &numbers
		}
		if name == "bandit" {
			for _, policy := range []string{"thompson", "ucb1", "uniform", "e3"} {
				c.Agents = append(c.Agents, component(policy, name, `{"policy":{"kind":"`+policy+`"}}`))
			}
			continue
		}
		c.Agents = append(c.Agents, component(name, name, ``))
		if slices.Contains(able, name) {
			hosted := component(name+" hosted", name, ``)
			hosted.Exploration = &plan.Exploration{Rule: "optimistic", Bound: "V"}
			if name == "threshold-model" { // it offers pairs alone
				hosted.Exploration = &plan.Exploration{Rule: "gain"}
			}
			c.Agents = append(c.Agents, hosted)
		}
	}
	if sample {
		tables.Agents = slices.DeleteFunc(tables.Agents, func(c plan.Component) bool {
			return !slices.Contains([]string{"random", "q-learning", "bootstrap-q hosted", "bootstrap-model", "psrl", "beb"}, c.Name)
		})
	}
	return []plan.Config{bandits, tables, numbers}
}

// The records of learning are the same to the bit, whether agents are kept and evaluated
// or not, for every bundled agent. Evaluations and kept agents are the same however
// runs are grouped. Runs without learning and runs that go on with learning begin with
// the agents that were kept.
func TestSavedAgents(t *testing.T) {
	for _, c := range savedExperiments(t, testing.Short()) {
		t.Run(c.Name, func(t *testing.T) {
			dir := t.TempDir()
			c.Runs, c.Steps, c.Workers = 2, 60, 1
			c.Record = plan.Recording{Grid: "every", Every: 15, Metrics: []result.Metric{result.Reward}}
			if c.Name != "bandits" { // they have no episodes
				c.Record.Metrics = append(c.Record.Metrics, result.EpisodeReturn)
			}
			c.Output = filepath.Join(dir, "plain")
			plain := execute(t, c, inProcess, store.Refuse)

			watched := c
			watched.Save = &plan.Save{}
			watched.Evaluate = &plan.Evaluation{Every: 20, Episodes: 2, Limit: 20}
			if c.Name == "bandits" {
				watched.Evaluate = &plan.Evaluation{Every: 20, Steps: 10}
			}
			watched.Output = filepath.Join(dir, "watched")
			seen := execute(t, watched, inProcess, store.Refuse)
			again := watched
			again.Output, again.Lanes = filepath.Join(dir, "again"), 1
			for key, rec := range execute(t, again, inProcess, store.Refuse) {
				if show(rec) != show(seen[key]) {
					t.Errorf("%v: by itself %v, else %v", key, rec, seen[key])
				}
			}
			metric := result.EvaluationReturn
			if c.Name == "bandits" {
				metric = result.EvaluationReward
			}
			for key, rec := range seen {
				if curve := rec.Curves[metric]; len(curve) != 4 || curve[3] != curve[3] {
					t.Errorf("%v: evaluations %v", key, curve)
				}
				rec.Curves = maps.Clone(rec.Curves)
				delete(rec.Curves, metric)
				if show(rec) != show(plain[key]) {
					t.Errorf("%v: evaluated %v, otherwise %v", key, rec, plain[key])
				}
			}
			names := func(of plan.Config) (list []string) {
				paths := must.Get(filepath.Glob(filepath.Join(of.Output, "agents", "*.agent")))(t)
				for _, path := range paths {
					list = append(list, filepath.Base(path))
				}
				return list
			}
			if a, b := names(watched), names(again); len(a) != 2*len(c.Agents) || !slices.Equal(a, b) {
				t.Errorf("%d agents are kept, by themselves %d, or others", len(a), len(b))
			}
			for _, name := range names(watched) {
				a := must.Get(os.ReadFile(filepath.Join(watched.Output, "agents", name)))(t)
				if b := must.Get(os.ReadFile(filepath.Join(again.Output, "agents", name)))(t); !bytes.Equal(a, b) {
					t.Errorf("%s: a lane that played another run before saves other bytes", name)
				}
			}
			// A lost agent is made again.
			lost := filepath.Join(watched.Output, "agents", names(watched)[0])
			must.Do(t, os.Remove(lost))
			execute(t, watched, inProcess, store.Resume)
			if a, b := names(watched), names(again); !slices.Equal(a, b) {
				t.Errorf("%d agents are kept, then %d", len(b), len(a))
			}

			still := c
			still.Steps, still.Record.Metrics = 0, []result.Metric{metric}
			still.Record.Grid, still.Record.Every = "", 0
			still.Evaluate = &plan.Evaluation{Episodes: 2, Limit: 20}
			if c.Name == "bandits" {
				still.Evaluate = &plan.Evaluation{Steps: 10}
			}
			still.Output, still.Agents = filepath.Join(dir, "still"), slices.Clone(c.Agents)
			for i := range still.Agents {
				still.Agents[i].WarmStart = &plan.WarmStart{From: watched.Output}
			}
			one := execute(t, still, inProcess, store.Refuse)
			still.Output, still.Lanes, still.Agents = filepath.Join(dir, "still again"), 1, slices.Clone(c.Agents)
			for i := range still.Agents { // saved in other lanes, and as text
				still.Agents[i].WarmStart = &plan.WarmStart{From: again.Output + ":" + still.Agents[i].Name}
			}
			for key, rec := range execute(t, still, inProcess, store.Refuse) {
				if show(rec) != show(one[key]) {
					t.Errorf("%v: alone %v, else %v", key, rec, one[key])
				}
			}
			warm := still
			warm.Steps, warm.Evaluate, warm.Record = 30, nil, c.Record
			warm.Output = filepath.Join(dir, "warm")
			execute(t, warm, inProcess, store.Refuse)
			// A damaged agent is found before anything runs.
			last := filepath.Join(again.Output, "agents", fmt.Sprintf("%s.%s.1.60.agent", result.Slug(c.Environments[0].Name), result.Slug(c.Agents[0].Name)))
			if data, err := os.ReadFile(last); err != nil || os.WriteFile(last, append(data, 0), 0o600) != nil {
				t.Fatal(err)
			}
			warm.Output = filepath.Join(dir, "damaged")
			p := must.Get(plan.Compile(warm))(t)
			x := run.New(p, catalogue{inProcess})
			defer x.Close()
			if err := x.Check(t.Context(), nil); err == nil || !strings.Contains(err.Error(), last) || !strings.Contains(err.Error(), "agents[0].warm_start") {
				t.Errorf("a damaged agent: %v", err)
			}
		})
	}
}

// Agents in processes of their own are kept and evaluated as here.
func TestSavedAgentsCrossProcesses(t *testing.T) {
	c := plan.Config{
		Name: "processes", Runs: 3, Steps: 60, Workers: 1, Output: filepath.Join(t.TempDir(), "here"),
		Environments: []plan.Component{component("lake", "frozenlake", ``)},
		Agents:       []plan.Component{component("q", "q-learning", ``), component("boot", "bootstrap-q", ``), component("random", "random", ``)},
		Save:         &plan.Save{}, Evaluate: &plan.Evaluation{Every: 20, Episodes: 2, Limit: 10},
	}
	c.Agents[1].Exploration = &plan.Exploration{Rule: "optimistic", Bound: "V"}
	here := execute(t, c, inProcess, store.Refuse)
	from := c.Output
	c.Output = filepath.Join(t.TempDir(), "there")
	there := execute(t, c, subprocess, store.Refuse)
	for key, rec := range here {
		if show(rec) != show(there[key]) {
			t.Errorf("%v: here %v, there %v", key, rec, there[key])
		}
	}
	for i := range c.Agents {
		c.Agents[i].WarmStart = &plan.WarmStart{From: from}
	}
	c.Output = filepath.Join(t.TempDir(), "on")
	execute(t, c, subprocess, store.Refuse)
}

// A saved agent that begins another run is told its total number of steps: those made before it was
// saved, and those of the new run. In an experiment without steps it is told the number that it was
// saved with.
func TestSavedAgentsAreToldTheSteps(t *testing.T) {
	told := 0
	open := func(ctx context.Context, c plan.Component) (vector.Plugin, func() error, error) {
		p, end, err := inProcess(ctx, c)
		if agent, ok := p.(*vector.AgentPlugin); ok {
			p = &vector.AgentPlugin{Description: agent.Description, Open: func(params json.RawMessage, spec framework.Spec, lanes int) (vector.Agent, error) {
				told = spec.Steps
				return agent.Open(params, spec, lanes)
			}}
		}
		return p, end, err
	}
	c := plan.Config{Runs: 1, Save: &plan.Save{Every: 20},
		Environments: []plan.Component{component("lake", "frozenlake", ``)}, Agents: []plan.Component{component("a", "threshold-model", ``)}}
	for k, x := range []struct{ steps, from, want int }{{100, 0, 100}, {30, 60, 90}, {50, 30, 140}, {0, 50, 140}} {
		c.Steps, c.Output = x.steps, filepath.Join(t.TempDir(), fmt.Sprint(k))
		if x.from > 0 {
			c.Agents[0].WarmStart.Step = x.from
		}
		if x.steps == 0 {
			c.Save, c.Evaluate = nil, &plan.Evaluation{Episodes: 1, Limit: 10}
			c.Record.Metrics = []result.Metric{result.EvaluationReturn}
		}
		execute(t, c, open, store.Refuse)
		if told != x.want {
			t.Errorf("%d steps from an agent of step %d: told of %d, want %d", x.steps, x.from, told, x.want)
		}
		c.Agents[0].WarmStart = &plan.WarmStart{From: c.Output}
	}
}

// mute hides that the agent random can be saved.
type mute struct{ vector.Agent }

func (m mute) Abilities() vector.AgentAbilities { return vector.AgentAbilities{} }

// An agent that cannot be saved is named before anything runs, with what to do.
func TestAgentsThatCannotBeSaved(t *testing.T) {
	open := func(ctx context.Context, c plan.Component) (vector.Plugin, func() error, error) {
		p, end, err := inProcess(ctx, c)
		if agent, ok := p.(*vector.AgentPlugin); ok {
			p = &vector.AgentPlugin{Description: agent.Description, Open: func(params json.RawMessage, spec framework.Spec, lanes int) (vector.Agent, error) {
				a, err := agent.Open(params, spec, lanes)
				return mute{a}, err
			}}
		}
		return p, end, err
	}
	for key, change := range map[string]func(*plan.Config){
		"":         func(*plan.Config) {},
		"save":     func(c *plan.Config) { c.Save = &plan.Save{} },
		"evaluate": func(c *plan.Config) { c.Evaluate = &plan.Evaluation{Episodes: 1} },
	} {
		c := plan.Config{Runs: 1, Steps: 10, Output: t.TempDir(),
			Environments: []plan.Component{component("lake", "frozenlake", ``)}, Agents: []plan.Component{component("a", "random", ``)}}
		change(&c)
		p, err := plan.Compile(c)
		if err != nil {
			t.Fatal(err)
		}
		x := run.New(p, catalogue{open})
		defer x.Close()
		err = x.Check(t.Context(), nil)
		want := "agents[0].plugin: random cannot be saved, which " + key + " needs: give it Save and Load, or leave " + key + " out"
		if (err != nil) != (key != "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", key, err, want)
		}
	}
}
