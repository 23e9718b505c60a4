package runcmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/run"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/internal/inputfile"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

// checkShard refuses flags that do not go with --shard.
func (o *runOptions) checkShard(cmd *cobra.Command) (plan.Shard, error) {
	if o.shard == "" && !cmd.Flags().Changed("shard") {
		return plan.Shard{}, nil
	}
	shard, err := plan.ParseShard(o.shard)
	if err != nil {
		return shard, cli.Usagef("--shard: %w (see %s --help)", err, cmd.CommandPath())
	}
	if o.overwrite {
		return shard, cli.Usagef("--shard adds to the output directory, which --overwrite would clear for other shards; clear it before you submit shards")
	}
	o.resume = true
	return shard, nil
}

// runShard does one shard of an experiment.
func runShard(app *host.App, cmd *cobra.Command, x *run.Runner, shard plan.Shard, o runOptions, started time.Time) error {
	var status store.ShardStatus
	p := newProgress(cmd.ErrOrStderr(), x.Plan, o.quiet, o.progress == "json")
	p.verbose = o.verbose
	var err error
	if p.runs, err = x.Dir.ShardSize(x.Plan, shard); err != nil {
		return err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	err = x.RunShard(cmd.Context(), shard, run.ShardSettings{
		Settings: o.settings(app, x, started, p),
		Job:      job(), Status: &status,
		Waiting: func(held error) { fmt.Fprintf(cmd.ErrOrStderr(), "rlrun: %v; waiting for it\n", held) },
	})
	p.stop()
	if err == nil && o.json {
		err = cli.WriteJSON(cmd.OutOrStdout(), status)
	}
	switch {
	case errors.Is(err, store.ErrShardInUse), errors.Is(err, store.ErrInUse):
		return cli.Retry(fmt.Errorf("%w; nothing was done", err))
	case status.Of == 0 && errors.Is(err, cli.ErrInterrupted):
		return cli.Retry(fmt.Errorf("%w: shard %s had not begun", err, shard))
	case errors.Is(err, store.ErrOtherShards):
		return otherShards(err)
	case full(err) && status.Of == 0:
		return fmt.Errorf("cannot write results to %s: %w; make room and start the shard again", x.Dir.Path, inputfile.Cause(err))
	case err != nil && status.Of == 0:
		return advise(err)
	case err != nil:
		first := ""
		if full(err) {
			first = "make room and "
		}
		err = fmt.Errorf("%w: %d of %d runs of shard %s are kept in %s; %sstart the shard again", err, status.OK, status.Runs, shard, x.Dir.Path, first)
		if errors.Is(err, cli.ErrInterrupted) {
			return cli.Retry(err)
		}
		return err
	}
	if !o.quiet && !o.json {
		next := "report"
		if x.Plan.Sequential() != nil {
			next = "decide"
		}
		fmt.Fprintf(cmd.OutOrStdout(), "Shard %s: %d of %d runs are recorded in %s, %d of them found done. When all shards are: rlrun %s %s\n",
			shard, status.OK+status.Failed, status.Runs, x.Dir.Path, status.Reused, next, cli.ShellQuote([]string{x.Dir.Path}))
	}
	if status.Failed > 0 {
		return fmt.Errorf("%d of %d runs of shard %s failed: see rlrun status %s", status.Failed, status.Runs, shard, cli.ShellQuote([]string{x.Dir.Path}))
	}
	return nil
}

// full says that an error is of a full disk or quota: the same succeeds when there is room.
func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// job names the job of a scheduler that this process belongs to; empty if there is
// none.
func job() string {
	env := os.Getenv
	switch {
	case env("SLURM_ARRAY_JOB_ID") != "":
		return strings.TrimSpace("slurm " + env("SLURM_ARRAY_JOB_ID") + "_" + env("SLURM_ARRAY_TASK_ID") + restarted(env("SLURM_RESTART_COUNT")))
	case env("SLURM_JOB_ID") != "":
		return "slurm " + env("SLURM_JOB_ID") + restarted(env("SLURM_RESTART_COUNT"))
	case env("KUBERNETES_SERVICE_HOST") != "" && env("JOB_COMPLETION_INDEX") != "":
		return "kubernetes index " + env("JOB_COMPLETION_INDEX")
	case env("PBS_JOBID") != "":
		return "pbs " + env("PBS_JOBID")
	case env("PARALLEL_SEQ") != "":
		return "parallel " + env("PARALLEL_SEQ")
	}
	return ""
}

func restarted(count string) string {
	if count == "" || count == "0" {
		return ""
	}
	return ", restarted " + count + " times"
}

// missingShards says which shards lack runs; empty if none does or the experiment was
// not divided.
func missingShards(x *store.Experiment) (string, error) {
	entries, err := result.ReadKeys(x.Dir.Path)
	if err != nil {
		return "", err
	}
	of, err := x.Dir.Division()
	if err != nil {
		return "", err
	}
	shards, err := x.Dir.CountShards(x.Plan, of, entries)
	if err != nil {
		return "", err
	}
	shards = slices.DeleteFunc(shards, func(s store.ShardRuns) bool { return s.Missing() == 0 })
	if len(shards) == 0 {
		return "", nil
	}
	numbers := each.Of(shards, func(s store.ShardRuns) int { return s.Index })
	dir := cli.ShellQuote([]string{x.Dir.Path})
	again := "rlrun run CONFIG --shard I/N"
	if _, err := os.Stat(filepath.Join(x.Dir.Path, "submit")); err == nil {
		again = "rlrun submit CONFIG --missing"
	}
	return fmt.Sprintf("%s of %d %s runs: start %s again with %s; if a machine wrote to a directory of its own, copy that directory's runs/*.jsonl to %s/runs/",
		cli.Plural(len(numbers), "shard ", "shards ")+plan.Ranges(numbers), shards[0].Of,
		cli.Plural(len(numbers), "lacks", "lack"), cli.Plural(len(numbers), "it", "them"), again, dir), nil
}

// CheckShards refuses a number of shards, or an experiment, other than the output directory holds.
func CheckShards(x *run.Runner, of int, mixed bool) error {
	err := x.CheckShards(of, mixed)
	if errors.Is(err, store.ErrOtherShards) {
		return otherShards(err)
	}
	return advise(err)
}

func otherShards(err error) error { return cli.Usagef("%w; use the same number, or add --mixed", err) }

// Check reads a config and checks the whole of it, for commands that have its runs
// made elsewhere.
func Check(app *host.App, cmd *cobra.Command, name, lock string, yes bool) (*run.Runner, error) {
	o := runOptions{shard: "-", lock: lock, yes: yes}
	return o.prepare(app, cmd, name)
}
