package runcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/cmd/rlrun/config"
	"github.com/rlrun/rlrun/framework/output"
	"github.com/rlrun/rlrun/framework/output/kinds"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/run"
	"github.com/rlrun/rlrun/framework/store"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

const runHelp = `Run an experiment: environments × agents × runs × steps.

CONFIG is a YAML file ("-" reads standard input); rlrun schema describes its
keys. The config and the parameters of all plugins are checked before anything
runs. Flags override environment variables, and these override the file:

  --set PATH=VALUE sets any key: --set agents.0.params.gamma=0.9. Elements of
  lists count from 0. The value is YAML. Put a key with dots in double quotes.

The output directory (output in the config; results/NAME by default) receives
  experiment.yaml, provenance.json   the config as it was run; versions, plugins
  runs/*.jsonl                       a record for every run
  and the outputs that the config names, by default all but the last three:
  %s

Ctrl-C stops the experiment and keeps the finished runs. Later, --resume makes the
missing and the failed runs. Before the first of them it removes outputs and exports
of the earlier runs. --resume refuses a changed config. It refuses changed
programs (a rebuilt plugin or rlrun, or another architecture) unless --mixed is given.

--shard I/N makes the runs of shard I (0 to N-1) of N, for clusters. Any number of
processes may work on shards in one output directory, on any machines, at any time
and more than once. Start a shard again until it is done; then rlrun report DIR makes
the outputs. Exit status: 0 all runs of the shard are recorded; 1 some failed; 75
stopped, runs are left. SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 and SIGXCPU stop a run or a
shard as Ctrl-C does (SIGHUP not under nohup). rlrun submit writes the scripts for a
scheduler.

Results depend on the config and its seed alone, not on workers, lanes,
transport or interruptions.`

const runKeys = `
  reused, seconds      runs that --resume found done; duration of the others
  interrupted          true after Ctrl-C: files is empty, and the other keys are
                       of the runs that are kept; otherwise absent
`

// runOptions are the flags of rlrun run that are not part of the config.
type runOptions struct {
	resume, overwrite, mixed  bool
	yes, quiet, verbose, json bool
	lock, until               string
	shard                     string
	progress                  string
	verify                    int
	config                    []byte   // of a command that makes it; else nil
	from                      string   // results directory that names plugins; "": the user does
	named                     []string // plugins that the user names nevertheless
}

// New returns the command rlrun run.
func New(app *host.App) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run CONFIG",
		Short: "Run an experiment",
		Long:  fmt.Sprintf(runHelp, outputList()) + "\n" + outcomeKeys + runKeys,
		Example: `  rlrun run configs/quickstart.yaml
  rlrun run exp.yaml --runs 10 --steps 1e4 --out /tmp/try
  rlrun run exp.yaml --set agents.1.params.gamma=0.9 --set record.grid=all
  rlrun run exp.yaml --resume`,
		Args:              cli.Arguments(1, "a config file"),
		RunE:              func(cmd *cobra.Command, args []string) error { return runExperiment(app, cmd, args[0], o) },
		ValidArgsFunction: cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt),
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	config.Flags(fs)
	fs.StringVar(&o.until, "until", "", "end the experiment when all its comparisons are `decided`; sets compare.until")
	o.flags(app, cmd, "in this directory or beside CONFIG")
	fs.BoolVar(&o.mixed, "mixed", false, "with --resume: accept runs that other programs made; all results are then marked mixed")
	fs.StringVar(&o.shard, "shard", "", "make the runs of shard `I/N` only, I from 0 to N-1; implies --resume; writes records only")
	fs.IntVar(&o.verify, "verify", 0, "first play `N` runs of every agent in every environment, twice alone, in fresh plugins, and once beside each other; stop if any answer differs")
	fs.BoolVar(&o.yes, "yes", false, "allow more than 10,000 pairs of environment and agent")
	return cmd
}

// flags adds the flags that run and evaluate share, except for those of the config. locks
// says where a lock file is looked for.
func (o *runOptions) flags(app *host.App, cmd *cobra.Command, locks string) {
	fs := cmd.Flags()
	fs.BoolVar(&o.resume, "resume", false, "continue in an output directory: make the runs that have no record, and those that failed")
	fs.BoolVar(&o.overwrite, "overwrite", false, "replace the results in an output directory; refuses a directory that holds anything that rlrun did not write")
	app.ReplaceFlag(fs)
	app.TrustFlag(fs)
	fs.StringVar(&o.lock, "lock", "", "lock `FILE` that plugins must agree with (default "+host.LockName+" "+locks+", if there is one)")
	fs.BoolVar(&o.json, "json", false, "print JSON")
	fs.StringVar(&o.progress, "progress", "", "write progress to standard error as `json`, a line every 200 ms: output, runs, ended, failed, share (done, of 1), environment, agent; grid (recorded steps) and recorded (files of records that are there) in the first line")
	fs.BoolVar(&o.quiet, "quiet", false, "print nothing but errors and warnings")
	fs.BoolVar(&o.verbose, "verbose", false, "also print in how many parts the runs of plugins in processes of their own are divided among workers, and what steps cost")
	cli.Must(cmd.RegisterFlagCompletionFunc("transport", host.CompleteTransport))
	cli.Must(cmd.MarkFlagDirname("out"))
}

// outputList describes the outputs, a line each.
func outputList() string {
	var lines []string
	for _, o := range kinds.Run {
		line := fmt.Sprintf("  %-11s %s", o.Name, o.Doc)
		if o.Named {
			line += "; only if named"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n  ")
}

func runExperiment(app *host.App, cmd *cobra.Command, name string, o runOptions) error {
	ctx, started := cmd.Context(), time.Now()
	shard, err := o.check(cmd)
	if err != nil {
		return err
	}
	var x *run.Runner
	err = cli.Abandon(ctx, func() (err error) {
		x, err = o.prepare(app, cmd, name)
		return err
	})
	if err != nil && shard.Of > 0 && errors.Is(err, cli.ErrInterrupted) {
		return cli.Retry(fmt.Errorf("%w: shard %s had not begun", err, shard))
	}
	if err != nil {
		return err
	}
	defer func() { _ = x.Close() }() // plugins that end change no result, and the lock ends with the process
	if err := o.verifyRuns(cmd, x); err != nil {
		return err
	}
	for _, note := range x.Notes {
		if !o.quiet {
			fmt.Fprintf(cmd.ErrOrStderr(), "rlrun: %s%s\n", strings.ToLower(note[:1]), note[1:])
		}
	}
	if shard.Of > 0 {
		return runShard(app, cmd, x, shard, o, started)
	}
	var recorded []string
	if o.resume && o.progress == "json" {
		recorded = x.Dir.RecordNames()
	}
	p := newProgress(cmd.ErrOrStderr(), x.Plan, o.quiet, o.progress == "json", recorded...)
	p.verbose = o.verbose
	// Runs leave little garbage in little memory: collecting it at the default
	// pace costs a tenth of two cores' time.
	collect := debug.SetGCPercent(400)
	err = x.Run(ctx, o.existing(), o.settings(app, x, started, p))
	debug.SetGCPercent(collect)
	p.stop()
	a := answer{x: x.Experiment, reused: &p.reused, begun: p.begun, kept: p.reused + p.ended, took: time.Since(p.started), quiet: o.quiet, json: o.json}
	if err != nil {
		return a.stopped(app, cmd, err)
	}
	if _, err := x.Dir.Read(); errors.Is(err, fs.ErrNotExist) {
		return moved(x.Dir.Path) // outputs would show the runs of the new place alone
	}
	r, err := write(cmd, x.Experiment, o.quiet)
	if err != nil {
		return fmt.Errorf("all runs are kept in %s, but %w; make the rest with rlrun report %[1]s", x.Dir.Path, err)
	}
	return a.show(cmd, r)
}

// settings says how runs are made.
func (o *runOptions) settings(app *host.App, x *run.Runner, started time.Time, p *progress) run.Settings {
	s := run.Settings{Command: append([]string{"rlrun"}, app.Args...), Started: started, Mixed: o.mixed, Event: p.event}
	outputs, _ := output.Choose(kinds.Run, x.Plan.Config.Outputs) // prepare has reported an error
	for _, out := range outputs {
		if out.Watch != nil {
			s.Watch = out.Watch(x.Dir, x.Plan.Meta(), x.Dir.Path)
		}
	}
	return s
}

// check refuses flags that do not go together.
func (o *runOptions) check(cmd *cobra.Command) (plan.Shard, error) {
	shard, err := o.checkShard(cmd)
	switch {
	case err != nil:
	case o.mixed && !o.resume:
		err = cli.Usagef("--mixed needs --resume: without it there are no runs of other programs to accept")
	case o.progress != "" && o.progress != "json":
		err = cli.Usagef("--progress must be json, not %q", o.progress)
	case cmd.Flags().Changed("verify") && (o.verify < 1 || o.shard != ""):
		err = cli.Usagef("--verify must be at least 1, and cannot be used with --shard: verify before shards begin")
	case o.quiet && o.verbose:
		err = cli.Usagef("--quiet prints nothing of what --verbose adds: give one of the two")
	case o.overwrite && o.resume:
		err = cli.Usagef("--resume keeps what is in the output directory and --overwrite replaces it: give one of the two")
	}
	return shard, err
}

// verifyRuns plays runs twice, as --verify says.
func (o *runOptions) verifyRuns(cmd *cobra.Command, x *run.Runner) error {
	if o.verify == 0 {
		return nil
	}
	if runs := x.Plan.Config.Runs; o.verify > runs {
		return cli.Usagef("--verify %d: the experiment has %d %s", o.verify, runs, cli.Plural(runs, "run", "runs"))
	}
	said := func() {}
	if !o.quiet {
		said = cli.Announce(cmd.ErrOrStderr(), time.Second, fmt.Sprintf("verifying: playing %d %s of every agent in every environment twice", o.verify, cli.Plural(o.verify, "run", "runs")))
	}
	differences, err := x.Verify(cmd.Context(), o.verify)
	said()
	if cause := context.Cause(cmd.Context()); cause != nil {
		return cause
	}
	if err != nil {
		return err
	}
	for i := range differences {
		if i == 0 {
			continue // the error tells it
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "rlrun: %s\n", &differences[i])
	}
	if len(differences) > 0 {
		return fmt.Errorf("%s; nothing was run, as results could not be repeated", &differences[0])
	}
	if !o.quiet {
		fmt.Fprintln(cmd.ErrOrStderr(), "verified: every answer was the same twice")
	}
	return nil
}

// prepare reads the config and checks everything that can be checked before the
// first run.
func (o *runOptions) prepare(app *host.App, cmd *cobra.Command, name string) (*run.Runner, error) {
	if o.until != "" {
		if err := cmd.Flags().Set("set", "compare.until="+o.until); err != nil {
			return nil, err
		}
	}
	file, err := o.load(cmd, name)
	if err != nil {
		return nil, err
	}
	if err := o.checkSize(&file.Config); err != nil {
		return nil, err
	}
	p, err := plan.Compile(file.Config)
	if err == nil {
		_, err = output.Choose(kinds.Run, p.Config.Outputs)
	}
	if err != nil {
		return nil, cli.Usage(file.Locate(err))
	}
	plugins, err := app.Catalogue()
	if err != nil {
		return nil, err
	}
	if err := plugins.Configure(file.Config); err != nil {
		return nil, file.Locate(err)
	}
	if err := plugins.UseLock(o.lock, name); err != nil {
		return nil, err
	}
	if err := app.ApplyReplacements(plugins, "the config", p.PluginNames()); err != nil {
		return nil, err
	}
	if o.from != "" {
		plugins.From(o.from, o.named...)
	}
	x := run.New(p, plugins)
	x.Trust = app.Trust
	if o.shard == "" { // shards must not be in each other's way
		if err := x.Dir.Check(o.existing()); err != nil {
			return nil, advise(err)
		}
	}
	if err := x.Check(cmd.Context(), file.CheckParams); err != nil {
		_ = x.Close() // the first error tells more
		return nil, file.Locate(err)
	}
	if lock := plugins.Lock(); lock != "" && !o.quiet {
		fmt.Fprintf(cmd.ErrOrStderr(), "rlrun: %s\n", lock)
	}
	return x, nil
}

func (o *runOptions) load(cmd *cobra.Command, name string) (*config.File, error) {
	if o.config != nil {
		return config.Parse("", o.config, cmd.Flags())
	}
	return config.Load(name, cmd.InOrStdin(), cmd.Flags())
}

// manyPairs is the number of pairs of environment and agent from which on a config is
// more likely a mistake than meant.
const manyPairs = 10_000

func (o *runOptions) checkSize(c *plan.Config) error {
	environments, agents := c.Variants()
	length := cli.Plural(c.Steps, "step", "steps")
	if c.Episodes > 0 {
		length = cli.Plural(c.Episodes, "episode", "episodes")
	}
	if pairs := environments * agents; pairs > manyPairs && !o.yes {
		return cli.Usagef("the config makes %.0f pairs of environment and agent (%.0f × %.0f), each with %d %s of %d %s; add --yes to run them",
			pairs, environments, agents, c.Runs, cli.Plural(c.Runs, "run", "runs"), c.Budget(), length)
	}
	return nil
}

func (o *runOptions) existing() store.Existing {
	switch {
	case o.resume:
		return store.Resume
	case o.overwrite:
		return store.Overwrite
	}
	return store.Refuse
}

// write makes the outputs of an experiment, and says so if it takes long.
func write(cmd *cobra.Command, e *store.Experiment, quiet bool, more ...output.Output) (r *output.Results, err error) {
	announced := func() {}
	runs := len(e.Plan.Cells) * e.Plan.Config.Runs
	if w := cmd.ErrOrStderr(); !quiet {
		after := firstLine
		if cli.Width(w) > 0 {
			after = time.Second
		}
		announced = cli.Announce(w, after, fmt.Sprintf("making tables, plots and the report of %d runs", runs))
	}
	// A million runs are kept in half a gigabyte; garbage is not to be as much again. A
	// few are kept in so little that the usual pace would collect it many times.
	switch values := runs * len(e.Plan.Grid); {
	case values > 5_000_000:
		defer debug.SetGCPercent(debug.SetGCPercent(40))
	case values < 100_000:
		defer debug.SetGCPercent(debug.SetGCPercent(400))
	}
	err = cli.Abandon(cmd.Context(), func() (err error) {
		outputs, err := output.Choose(kinds.Run, e.Plan.Config.Outputs)
		if err == nil {
			r, err = output.Write(e, append(outputs, more...)...)
		}
		return err
	})
	announced()
	return r, err
}
