package runcmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/framework/store"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

// NewDecide returns the command rlrun decide.
func NewDecide(*host.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "decide DIR",
		Short: "Test the recorded runs, and say whether more runs are needed",
		Long: `Test the records of an experiment with compare: {until: decided} that is divided into
shards, and begin its next stage. Start every shard again after that: it makes
its share of the next block of runs of the open comparisons. The verdicts are the
same as in one process. rlrun submit calls rlrun decide after every stage.

Exit status: 0 if all comparisons are decided or all runs made; 10 if more runs are
needed: start the shards again; 1 if runs of the stage are missing and none was
recorded since the last rlrun decide: then every shard fails.

--json:
  output        the directory
  decided       whether no more runs are needed
  comparisons   environment, a, b, better (of a and b; "" if undecided), decision
                (open, larger, smaller or undecided: a against b), runs
                used, dropped (a run failed or has no value)
  needed        environment, agent, runs: the number of runs to be recorded in the
                next stage, from run 0 on`,
		Example: `  rlrun decide results/exp`,
		Args:    cli.Arguments(1, "an output directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return decide(cmd, args[0], asJSON)
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func decide(cmd *cobra.Command, dir string, asJSON bool) error {
	x, err := host.ReadExperiment(dir)
	if err != nil {
		return err
	}
	if x.Plan.Sequential() == nil {
		return cli.Usagef("%s has no compare: {until: decided}: all its runs are made, and rlrun report compares its agents", dir)
	}
	d, err := x.Dir.Stage(x.Plan)
	if err != nil && !errors.Is(err, store.ErrNoProgress) {
		return err
	}
	if asJSON {
		if err := cli.WriteJSON(cmd.OutOrStdout(), decision(x, d)); err != nil {
			return err
		}
	} else {
		for i := range d.Progress {
			fmt.Fprintln(cmd.OutOrStdout(), d.Progress[i].String())
		}
	}
	quoted := cli.ShellQuote([]string{dir})
	if err != nil {
		return fmt.Errorf("%w: see rlrun status %s", err, quoted)
	}
	if len(d.Needed) == 0 {
		return nil
	}
	open := 0
	for i := range d.Progress {
		if d.Progress[i].Open() {
			open++
		}
	}
	what := fmt.Sprintf("%d of %d comparisons are open", open, len(d.Progress))
	if open == 0 {
		what = "no comparison is open, but agents that are compared with no other one lack runs"
	}
	return cli.Open(fmt.Errorf("%s: start the shards again, or rlrun submit CONFIG --missing", what))
}

// decision is the answer of --json.
func decision(x *store.Experiment, d *store.Decision) any {
	type comparison struct {
		Environment string `json:"environment"`
		A           string `json:"a"`
		B           string `json:"b"`
		Better      string `json:"better"`
		Decision    string `json:"decision"`
		Runs        int    `json:"runs"`
		Dropped     int    `json:"dropped"`
	}
	type cell struct {
		Environment string `json:"environment"`
		Agent       string `json:"agent"`
		Runs        int    `json:"runs"`
	}
	out := struct {
		Output      string       `json:"output"`
		Decided     bool         `json:"decided"`
		Comparisons []comparison `json:"comparisons"`
		Needed      []cell       `json:"needed"`
	}{x.Dir.Path, len(d.Needed) == 0, []comparison{}, []cell{}}
	for i := range d.Progress {
		p := &d.Progress[i]
		out.Comparisons = append(out.Comparisons, comparison{p.Environment, p.A, p.B, p.Better, string(p.Decision), p.Runs(), p.Dropped})
	}
	for _, c := range x.Plan.Cells {
		key := x.Plan.Key(c)
		if n := d.Needed[key]; n > 0 {
			out.Needed = append(out.Needed, cell{key.Environment, key.Agent, n})
		}
	}
	return out
}
