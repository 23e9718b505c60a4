package runcmd

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/rlrun/rlrun/cmd/rlrun/config"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

const evaluateHelp = `Evaluate saved agents without learning, and report as rlrun run does.

DIR is an output directory of an experiment with save: true. All of its agents are
evaluated, or AGENT alone, in the environments that they were saved in or in others.
Run k plays with the k-th saved agent, in the order of their runs; after the last
agent it begins again with the first, and a notice says so. In a task that continues
an agent plays the task of the run that saved it, once. Agents with the
ability greedy select their best actions. The others act as they do when they
learn; a notice names them. No agent learns: Update is not called, and every run
begins with the agent as saved.

The mean return of the episodes is the metric evaluation_return. In tasks that
continue, and with --steps, the mean reward of a step is evaluation_reward. Episodes
are cut short after 10,000 steps (--set evaluate.limit=N).

The output directory has the files of rlrun run. Its default is
results/NAME-evaluation. --set sets keys of the evaluation's config, such as
environments.0.params.success=0.8.
An agent plays where observations and actions are those that it was saved with.`

// evaluateOptions are the flags of rlrun evaluate that are not part of the config.
type evaluateOptions struct {
	episodes, step int
	environments   []string
	trainedIn      string
}

// NewEvaluate returns the command rlrun evaluate.
func NewEvaluate(app *host.App) *cobra.Command {
	var o runOptions
	var e evaluateOptions
	cmd := &cobra.Command{
		Use:   "evaluate DIR[:AGENT]",
		Short: "Evaluate saved agents without learning",
		Long:  evaluateHelp + "\n" + outcomeKeys + runKeys,
		Example: `  rlrun evaluate results/lake
  rlrun evaluate results/lake:q-learning --episodes 1000 --out results/long
  rlrun evaluate results/lake --env frozenlake --set environments.0.params.success=0.8`,
		Args: cli.Arguments(1, "an output directory, DIR or DIR:AGENT"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.config, err = e.config(cmd, args[0]); err != nil {
				return err
			}
			o.from, o.named = args[0], e.environments
			return runExperiment(app, cmd, "-", o)
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntVar(&e.episodes, "episodes", 0, "`N` episodes of each evaluation (default as in the experiment's config, or 20)")
	config.Flags(flags)
	flags.Lookup("steps").Usage = "steps of each evaluation instead of episodes (default 10000 in tasks that continue)"
	flags.StringArrayVar(&e.environments, "env", nil, "play in this `ENVIRONMENT` of DIR, or in this plugin; may be repeated")
	flags.StringVar(&e.trainedIn, "trained-in", "", "take the agents that were saved in this `ENVIRONMENT` of DIR")
	flags.IntVar(&e.step, "step", 0, "take the agents that were saved after step `N`, or episode N with a budget in episodes (default the last)")
	o.flags(app, cmd, "in this directory")
	return cmd
}

// config writes the config of an evaluation.
func (o *evaluateOptions) config(cmd *cobra.Command, from string) ([]byte, error) {
	dir, name, err := store.SplitAgent(from)
	if err != nil {
		return nil, cli.Usagef("%v", err)
	}
	x, err := host.ReadExperiment(dir)
	if err != nil {
		return nil, err
	}
	trained := x.Plan
	if _, err := os.Stat(dir + "/agents"); err != nil {
		return nil, cli.Usagef("%s has no saved agents; run its experiment with save: true", dir)
	}
	c := plan.Config{
		Name: trained.Config.Name + " evaluation", Description: "Agents of " + dir + ", without learning.",
		Seed: trained.Config.Seed, Runs: trained.Config.Runs, Discount: trained.Config.Discount,
		Environments: trained.Environments, Matrix: trained.Config.Matrix, Transport: trained.Config.Transport, Limits: trained.Config.Limits,
		Outputs:  slices.DeleteFunc(slices.Clone(trained.Config.Outputs), func(o string) bool { return o == "comparisons" }), // as nothing says how to compare
		Record:   plan.Recording{Decisions: trained.Config.Record.Decisions},
		Evaluate: &plan.Evaluation{Episodes: 20, Steps: 10_000},
	}
	if e := trained.Config.Evaluate; e != nil {
		c.Evaluate = &plan.Evaluation{Episodes: e.Episodes, Steps: e.Steps, Limit: e.Limit}
	}
	for _, agent := range trained.Agents {
		if name != "" && agent.Name != name {
			continue
		}
		agent.WarmStart = &plan.WarmStart{From: dir + ":" + agent.Name, Environment: o.trainedIn, Step: o.step}
		c.Agents = append(c.Agents, agent)
	}
	if len(c.Agents) == 0 {
		return nil, cli.Usagef("%s has no agent %q; its experiment has %q", dir, name, trained.Meta().Agents)
	}
	if len(o.environments) > 0 {
		c.Environments = nil
	}
	for _, env := range o.environments {
		i := slices.IndexFunc(trained.Environments, func(c plan.Component) bool { return c.Name == env })
		if i >= 0 {
			c.Environments = append(c.Environments, trained.Environments[i])
		} else {
			c.Environments = append(c.Environments, plan.Component{Name: env, Plugin: env})
		}
	}
	if err := o.length(cmd, c.Evaluate); err != nil {
		return nil, err
	}
	c.Record.Metrics = []result.Metric{}
	if c.Evaluate.Episodes > 0 {
		c.Record.Metrics = append(c.Record.Metrics, result.EvaluationReturn)
	}
	if c.Evaluate.Steps > 0 {
		c.Record.Metrics = append(c.Record.Metrics, result.EvaluationReward)
	}
	return c.YAML()
}

// length sets how long evaluations are, and refuses a key that a flag sets as well. The flag --steps is theirs: the runs that
// learn have none.
func (o *evaluateOptions) length(cmd *cobra.Command, e *plan.Evaluation) error {
	steps := cmd.Flags().Lookup("steps")
	for _, set := range cmd.Flags().Lookup("set").Value.(pflag.SliceValue).GetSlice() {
		path, _, _ := strings.Cut(set, "=")
		for flag, key := range map[string]string{"episodes": "evaluate.episodes", "steps": "evaluate.steps", "step": "warm_start.step"} {
			if cmd.Flags().Changed(flag) && (strings.HasSuffix(path, key) || strings.HasPrefix(key, path+".")) {
				return cli.Usagef("--set %s: --%s sets the same key; give one of the two", set, flag)
			}
		}
	}
	if cmd.Flags().Changed("episodes") {
		if e.Episodes = o.episodes; o.episodes < 1 {
			return cli.Usagef("--episodes must be at least 1, not %d", o.episodes)
		}
		e.Steps = 0
	}
	if steps.Changed {
		var n float64 // as 1e4
		if yaml.Unmarshal([]byte(steps.Value.String()), &n) != nil || n < 1 || n > 1e9 || n != float64(int(n)) {
			return cli.Usagef("--steps must be a number of steps of at least 1, not %q", steps.Value.String())
		}
		if e.Steps = int(n); !cmd.Flags().Changed("episodes") {
			e.Episodes = 0
		}
	}
	if e.Episodes == 0 {
		e.Limit = 0
	}
	return cmd.Flags().Set("steps", "0")
}
