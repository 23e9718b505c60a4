// Package plan turns the config of an experiment into a plan: which environments, agents,
// runs and steps there are, with every default filled in. A Plan is a value. It knows no
// plugin, no file and no clock.
package plan

import (
	"cmp"
	"encoding/json"

	"github.com/rlrun/rlrun/framework/result"
)

// Config is one experiment: environments × agents × runs × steps. The zero value
// of every optional field means the default its comment names. The JSON tags are
// the keys of the YAML file; the comments become the documentation in the JSON
// schema (Schema).
type Config struct {
	// Name of the experiment, used in titles. Default: the file's name.
	Name string `json:"name,omitempty"`
	// Description is a sentence or two for the report.
	Description string `json:"description,omitempty"`
	// Seed is the root of every random stream. Default: 1.
	Seed *uint64 `json:"seed,omitempty" jsonschema:"minimum=0,maximum=18446744073709551615,default=1"`
	// Runs is the number of independent runs of each environment × agent pair.
	Runs int `json:"runs" jsonschema:"minimum=1,maximum=10000000"`
	// Steps is the number of interactions with the environment in each run. 0 lets saved
	// agents be evaluated without learning.
	Steps int `json:"steps" jsonschema:"minimum=0,maximum=1000000000000"`
	// Episodes is the number of episodes in each run, for environments whose episodes end. A run ends with the
	// last of them; steps are the most that it may make. Curves then have points at ends of episodes.
	// Default: a run ends after steps.
	Episodes int `json:"episodes,omitempty" jsonschema:"minimum=1,maximum=1000000000000"`
	// Discount is the γ of the metric discounted_return. Default: 0.99. If it is given, it is
	// also that of the horizon of exploration, unless that has one of its own.
	Discount *float64 `json:"discount,omitempty" jsonschema:"minimum=0,maximum=1,default=0.99"`
	// Environments to run in.
	Environments []Component `json:"environments" jsonschema:"minItems=1"`
	// Agents to compare. The others are compared with the first.
	Agents []Component `json:"agents" jsonschema:"minItems=1"`
	// Matrix says which pairs of environment and agent are run. Default: all.
	Matrix *Matrix `json:"matrix,omitempty"`
	// Record says what is kept of each run.
	Record Recording `json:"record,omitempty"`
	// Save keeps agents in the output directory: true keeps the final one of each run.
	Save *Save `json:"save,omitempty"`
	// Checkpoint writes runs under way to the output directory, from where --resume goes on with them.
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"`
	// Evaluate evaluates copies of the agents during a run, without learning.
	Evaluate *Evaluation `json:"evaluate,omitempty"`
	// Transport of components that do not name one: inprocess calls bundled
	// plugins directly, process runs them as subprocesses. Default: inprocess
	// for bundled plugins, process for all others.
	Transport Transport `json:"transport,omitempty" jsonschema:"enum=inprocess,enum=process"`
	// Workers is the number of batches run at the same time. Default: one per core.
	Workers int `json:"workers,omitempty" jsonschema:"minimum=0,maximum=4096,default=0"`
	// Lanes is the number of runs stepped together. Default: at most 4 if environment and
	// agent are in this process, at most 1024 if one is a subprocess. Results do not
	// depend on it.
	Lanes int `json:"lanes,omitempty" jsonschema:"minimum=0,maximum=1048576,default=0"`
	// Colocate says whether an environment of Gymnasium and an agent in Python may share a process: auto,
	// where results are the same, or never. Default: never.
	Colocate Colocation `json:"colocate,omitempty" jsonschema:"enum=auto,enum=never,default=never"`
	// Limits on every plugin process.
	Limits Limits `json:"limits,omitempty"`
	// Output is the directory that receives the results. Default:
	// results/<name>.
	Output string `json:"output,omitempty"`
	// Outputs are the files to make from the records of runs. Default: all but the exports parquet, tensorboard and latex.
	Outputs []string `json:"outputs,omitempty" jsonschema:"minItems=1"`
	// Report says how results are drawn.
	Report Report `json:"report,omitempty"`
	// Compare says how agents are compared, and whether the experiment ends when all
	// comparisons are decided.
	Compare *Compare `json:"compare,omitempty"`
	// Tune says what `rlrun tune` searches. `rlrun run` takes no config that has it.
	Tune *Tune `json:"tune,omitempty"`
}

// Matrix says which pairs of environment and agent are run.
type Matrix struct {
	// SkipIncompatible leaves out the pairs in which the agent does not support the
	// environment, instead of refusing the config. The summary, the report and
	// provenance.json list them with reasons.
	SkipIncompatible bool `json:"skip_incompatible,omitempty" jsonschema:"default=false"`
}

// Component is an environment or an agent of an experiment.
type Component struct {
	// Name is the label in tables and plots. In a sweep, {key} stands for the
	// value of the swept parameter key. Default: the plugin's name, with the rule
	// of exploration and the swept values.
	Name string `json:"name,omitempty"`
	// Plugin is the name of a bundled plugin, of an executable
	// rlrun-plugin-<name> on the plugin path, a path to an executable, or
	// gymnasium:<id> for an environment of Gymnasium (docs/python.md).
	Plugin string `json:"plugin" jsonschema:"minLength=1"`
	// Args are arguments for the plugin's executable.
	Args []string `json:"args,omitempty"`
	// Transport overrides the experiment's.
	Transport Transport `json:"transport,omitempty" jsonschema:"enum=inprocess,enum=process"`
	// Limits override the experiment's, one by one.
	Limits *Limits `json:"limits,omitempty"`
	// Params are the plugin's own parameters; `rlrun plugin inspect NAME` lists them. The
	// plugin gets them as they are written.
	Params json.RawMessage `json:"params,omitempty" jsonschema:"type=object"`
	// Exploration lets the host decide when the agent explores. Agents without it
	// explore in their own way. Environments have none.
	Exploration *Exploration `json:"exploration,omitempty"`
	// Actors is the number of environments in which an agent acts at the same time in a run. The steps and episodes
	// of a run are those of all of them together. `rlrun plugin inspect NAME` says how many an agent takes. Default: 1.
	Actors int `json:"actors,omitempty" jsonschema:"minimum=1,maximum=65536,default=1"`
	// WarmStart starts each run with a saved agent, DIR:AGENT: run k with the agent of run k
	// in the output directory DIR. After the last agent it begins again with the first.
	WarmStart *WarmStart `json:"warm_start,omitempty"`
	// Sweep maps a parameter (a.b for b inside a) to a list of values. The component is
	// run with each value or, with several keys, each combination of values. A key that
	// begins with exploration. is a key of exploration.
	Sweep map[string][]json.RawMessage `json:"sweep,omitempty"`
}

// Lanes is the number of lanes of a run: its actors.
func (c *Component) Lanes() int { return max(c.Actors, 1) }

// Recording says what is kept of each run.
type Recording struct {
	// Grid is log (points evenly spaced on a logarithmic axis), every (a point every N steps,
	// where every is N) or all (every step). With a budget in episodes, it counts episodes. Default: log.
	Grid string `json:"grid,omitempty" jsonschema:"enum=log,enum=every,enum=all,default=log"`
	// Every is the distance of grid points with grid: every. Default: 10.
	Every int `json:"every,omitempty" jsonschema:"minimum=1,default=10"`
	// Points is the number of grid points with grid: log. Default: 200.
	Points int `json:"points,omitempty" jsonschema:"minimum=1,maximum=1000000,default=200"`
	// Metrics to record. agent.NAME and environment.NAME are those that plugins declare, and
	// agent.* and environment.* are all of them. Default: all that the environment and
	// the agent have.
	Metrics []result.Metric `json:"metrics,omitempty" jsonschema:"minItems=1"`
	// Decisions is the largest number of decisions that are kept of each run of
	// an agent with exploration. If a run has more, every second one is kept,
	// or every fourth, and so on. So at least half of this number are kept.
	// Default: 200.
	Decisions *int `json:"decisions,omitempty" jsonschema:"minimum=0,maximum=100000000,default=200"`
}

// Transport says how a plugin is called.
type Transport string

// The transports: InProcess calls a bundled plugin directly; Process runs a plugin as a
// process of its own.
const (
	InProcess Transport = "inprocess"
	Process   Transport = "process"
)

// Colocation says whether environment and agent may share a process.
type Colocation string

// Together is the Colocation auto.
const Together Colocation = "auto"

// Limits are the limits of a plugin's process.
type Limits struct {
	// Start is the time limit of a plugin's process to start, such as 10s. Default: 30s.
	Start string `json:"start,omitempty" jsonschema:"default=30s"`
	// Open is the time limit to open environments or agents, which may have to compile.
	// Default: 5m.
	Open string `json:"open,omitempty" jsonschema:"default=5m"`
	// Call is the time limit of one call. Default: 30s.
	Call string `json:"call,omitempty" jsonschema:"default=30s"`
	// Retries is the number of times that a failed batch of runs is tried again, on a
	// fresh process, before the run that fails is searched for. Default: 1.
	Retries *int `json:"retries,omitempty" jsonschema:"minimum=0,maximum=1000,default=1"`
	// GiveUp is the number of successive runs of one agent in one environment that fail
	// with the same error before its other runs are given up. 0: never. Default: 5.
	GiveUp *int `json:"give_up,omitempty" jsonschema:"minimum=0,maximum=1000000,default=5"`
}

// OfProcesses returns a key that is given and limits processes; "" if there is none.
func (l *Limits) OfProcesses() string {
	for _, k := range [][2]string{{l.Start, "start"}, {l.Open, "open"}, {l.Call, "call"}} {
		if k[0] != "" {
			return k[1]
		}
	}
	return ""
}

// Over returns the limits of l, and where it has none those of base. l may be nil.
func (l *Limits) Over(base Limits) Limits {
	if l == nil {
		return base
	}
	return Limits{
		Start: cmp.Or(l.Start, base.Start), Open: cmp.Or(l.Open, base.Open), Call: cmp.Or(l.Call, base.Call),
		Retries: cmp.Or(l.Retries, base.Retries), GiveUp: cmp.Or(l.GiveUp, base.GiveUp),
	}
}

// Retries is how often a batch of a cell is tried again: as its more patient
// component says.
func (p *Plan) Retries(c Cell) int {
	environment, agent := p.limits(c, 1, func(l Limits) *int { return l.Retries })
	return max(environment, agent)
}

// defaultGiveUp is Limits.GiveUp where a config has none.
const defaultGiveUp = 5

// GiveUpAfter is how many runs of a cell may fail alike in a row; 0 for any number. Of
// environment and agent the more patient counts.
func (p *Plan) GiveUpAfter(c Cell) int {
	environment, agent := p.limits(c, defaultGiveUp, func(l Limits) *int { return l.GiveUp })
	if environment == 0 || agent == 0 {
		return 0
	}
	return max(environment, agent)
}

// limits returns a limit of both components of a cell, usual where the config has none.
func (p *Plan) limits(c Cell, usual int, limit func(Limits) *int) (environment, agent int) {
	of := func(comp Component) int {
		if given := limit(comp.Limits.Over(p.Config.Limits)); given != nil {
			return *given
		}
		return usual
	}
	return of(p.Environments[c.Environment]), of(p.Agents[c.Agent])
}

// Report says how results are drawn.
type Report struct {
	// Smooth is the width, in grid points, of the moving average drawn in plots; 1 is none.
	// Files keep the unsmoothed values. Default: a twentieth of the points for metrics
	// that are means over steps, and none for others.
	Smooth int `json:"smooth,omitempty" jsonschema:"minimum=1"`
	// Axis is the axis of steps in plots: log or linear. Default: by the
	// spacing of the grid.
	Axis string `json:"axis,omitempty" jsonschema:"enum=log,enum=linear"`
	// Metrics to draw; agent.NAME and environment.NAME are those that plugins declare.
	// Default: all that were recorded.
	Metrics []result.Metric `json:"metrics,omitempty" jsonschema:"minItems=1"`
}

// Variants returns how many environments and agents the sweeps of a config make. It
// makes none of them.
func (c *Config) Variants() (environments, agents float64) {
	count := func(list []Component) (n float64) {
		for _, comp := range list {
			variants := 1.0
			for _, values := range comp.Sweep {
				variants *= float64(len(values))
			}
			n += variants
		}
		return n
	}
	return count(c.Environments), count(c.Agents)
}

// The lists of components in a config.
const (
	EnvironmentsKey = "environments"
	AgentsKey       = "agents"
)

// Budget is the length of a run: in episodes if the config gives episodes, else in steps.
func (c *Config) Budget() int { return cmp.Or(c.Episodes, c.Steps) }

// MetricDiscount returns the γ of the metric discounted_return.
func (c *Config) MetricDiscount() float64 {
	if c.Discount == nil {
		return defaultDiscount
	}
	return *c.Discount
}
