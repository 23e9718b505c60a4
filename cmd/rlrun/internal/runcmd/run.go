package runcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/cmd/rlrun/config"
	"github.com/rlrun/rlrun/framework/experiment"
	"github.com/rlrun/rlrun/framework/result"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

const runHelp = `Run an experiment: environments × agents × runs × steps.

CONFIG is a YAML file ("-" reads standard input); rlrun schema describes its
keys. The whole of it, with the parameters of all plugins, is checked before
anything runs. Flags win over environment variables, these over the file:

  --set PATH=VALUE sets any key: --set agents.0.params.gamma=0.9. Elements of
  lists count from 0, the value is YAML, a key with dots goes in double quotes.

The output directory (output in the config; results/NAME by default) receives
  experiment.yaml, provenance.json   the config as it was run; versions, plugins
  runs/*.jsonl                       a record for every run
  curves.csv, summary.csv            means over runs with 95 % intervals
  results.db                         the same in SQLite, and the decisions
  decisions.csv                      of agents with exploration in the config
  plots/, report.html                drawings; a page that opens offline

Finished runs are never lost: interrupt with Ctrl-C, and --resume does what is
missing (runs that failed, too). It refuses another config than the one begun, and
other programs: a rebuilt plugin or rlrun, or another architecture (--mixed).
Results depend on the config and its seed alone, not on workers, lanes,
transport or interruptions.`

const runKeys = `
  reused, seconds      runs that --resume found done; time that the others took
  interrupted          true if Ctrl-C ended it: then files is empty, and the rest
                       is of the runs that are kept; otherwise absent
`

// runOptions are the flags of rlrun run that are not part of the config.
type runOptions struct {
	resume, quiet, json bool
	mixed               bool
	lock                string
}

// New returns the command rlrun run.
func New(app *host.App) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run CONFIG",
		Short: "Run an experiment",
		Long:  runHelp + "\n" + outcomeKeys + runKeys,
		Example: `  rlrun run configs/quickstart.yaml
  rlrun run exp.yaml --runs 10 --steps 1e4 --out /tmp/try
  rlrun run exp.yaml --set agents.1.params.gamma=0.9 --set record.grid=all
  rlrun run exp.yaml --resume`,
		Args: cli.Arguments(1, "a config file"),
		RunE: func(cmd *cobra.Command, args []string) error { return run(app, cmd, args[0], o) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	config.Flags(fs)
	fs.BoolVar(&o.resume, "resume", false, "continue in an output directory: do the runs that have no record")
	fs.BoolVar(&o.mixed, "mixed", false, "with --resume: accept runs that other programs made; all results say mixed then")
	app.ReplaceFlag(fs)
	fs.StringVar(&o.lock, "lock", "", "lock `FILE` that plugins must agree with (default "+host.LockName+" beside CONFIG or in this folder, if there is one)")
	fs.BoolVar(&o.json, "json", false, "for machines")
	fs.BoolVar(&o.quiet, "quiet", false, "print nothing but errors")
	cli.Must(cmd.RegisterFlagCompletionFunc("transport", host.CompleteTransport))
	cli.Must(cmd.MarkFlagDirname("out"))
	return cmd
}

func run(app *host.App, cmd *cobra.Command, name string, o runOptions) error {
	ctx := cmd.Context()
	started := time.Now()
	if o.mixed && !o.resume {
		return cli.Usagef("--mixed is for --resume: there are no runs of other programs to accept")
	}
	file, err := config.Load(name, cmd.InOrStdin(), cmd.Flags())
	if err != nil {
		return err
	}
	plan, err := experiment.Compile(file.Config)
	if err != nil {
		return cli.Usage(file.Locate(err))
	}
	dir := plan.Config.Output
	plugins, err := app.Catalogue()
	if err != nil {
		return err
	}
	if err := plugins.Configure(file); err != nil {
		return err
	}
	if err := plugins.UseLock(o.lock, name); err != nil {
		return err
	}
	if err := app.ApplyReplacements(plugins, "the config", pluginNames(plan)); err != nil {
		return err
	}
	if err := freeToWrite(dir, o.resume); err != nil {
		return err
	}
	session, err := experiment.NewSession(plan, append([]string{"rlrun"}, app.Args...), started)
	if err != nil {
		return err
	}
	session.Mixed = o.mixed
	used, tasks, err := plugins.CheckAll(ctx, file, plan)
	if err != nil {
		return err
	}
	for _, p := range used {
		session.AddPlugin(p)
	}
	unlock, err := experiment.Lock(dir)
	if err != nil {
		return outputError(dir, err)
	}
	defer func() { _ = unlock() }() // the lock ends with the process at the latest
	done, err := plan.Prepare(dir, o.resume, session)
	if err == nil {
		err = host.WriteTasks(dir, tasks)
	}
	if err != nil {
		return outputError(dir, err)
	}
	reused := 0
	for _, ok := range done {
		if ok {
			reused++
		}
	}
	options := experiment.Options{Dir: dir, Open: plugins.Open, Remote: plugins.Remote, Done: done, Session: session}
	stop := func() {}
	if !o.quiet {
		p := newProgress(cmd.ErrOrStderr(), plan, reused)
		options.Event, stop = p.event, p.stop
	}
	began := time.Now()
	// Runs leave little garbage in little memory: collecting it at the default
	// pace costs a tenth of two cores' time.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	err = plan.Run(ctx, options)
	took := time.Since(began)
	stop()
	if err != nil {
		if o.json {
			err = errors.Join(err, showKept(app, cmd, dir, plan, err, reused, took))
		}
		return incomplete(app, err, dir, plan)
	}
	announced := func() {}
	if !o.quiet {
		announced = announceRemake(cmd, plan)
	}
	s, files, err := remake(dir, plan)
	announced()
	if err != nil {
		return fmt.Errorf("all runs are kept in %s, but %w; make the rest with rlrun report %[1]s", dir, err)
	}
	if err := show(app, cmd, dir, s, files, o, reused, took); err != nil {
		return err
	}
	if t := totals(s); t.Failed > 0 {
		f := s.Failures[0]
		return fmt.Errorf("%d of %d runs failed, the first (run %d of %s in %s): %s", t.Failed, t.OK+t.Failed+t.Missing, f.Run, f.Agent, f.Environment, f.Error)
	}
	return nil
}

// pluginNames returns what the components of a plan call their plugins.
func pluginNames(plan *experiment.Plan) (names []string) {
	for _, comp := range slices.Concat(plan.Environments, plan.Agents) {
		names = append(names, comp.Plugin)
	}
	return names
}

// showKept prints, for machines, what is kept of a run that ended early. Nothing
// is made from the records.
func showKept(app *host.App, cmd *cobra.Command, dir string, plan *experiment.Plan, why error, reused int, took time.Duration) error {
	meta := plan.Meta()
	if err := host.ReadTasks(dir, &meta); err != nil {
		return err
	}
	runs, err := result.OpenRuns(dir)
	if err != nil {
		return err
	}
	s, err := runs.Aggregate(meta)
	if err != nil {
		return err
	}
	out := newOutcome(dir, s, []string{})
	seconds := took.Seconds()
	out.Reused, out.Seconds, out.Interrupted = &reused, &seconds, errors.Is(why, cli.ErrInterrupted)
	return cli.WriteJSON(cmd.OutOrStdout(), out)
}

// show prints the results.
func show(app *host.App, cmd *cobra.Command, dir string, s *result.Summary, files []string, o runOptions, reused int, took time.Duration) error {
	w := cmd.OutOrStdout()
	switch {
	case o.json:
		out := newOutcome(dir, s, files)
		seconds := took.Seconds()
		out.Reused, out.Seconds = &reused, &seconds
		return cli.WriteJSON(w, out)
	case o.quiet:
		return nil
	}
	if err := result.WriteTable(w, s, cli.Width(w)); err != nil {
		return err
	}
	t := totals(s)
	if made := t.OK + t.Failed - reused; made == 0 {
		fmt.Fprintf(w, "\nNothing was left to do: %d runs were found done.", reused)
	} else {
		fmt.Fprintf(w, "\n%d runs of %d steps in %s (%s)", made, s.Meta.Steps, cli.Clock(took), cli.Rate(float64(made)*float64(s.Meta.Steps)/took.Seconds()))
		if reused > 0 {
			fmt.Fprintf(w, ", %d found done", reused)
		}
	}
	_, err := fmt.Fprintf(w, "\nResults: %s  (open %s)\n", dir, filepath.Join(dir, "report.html"))
	return err
}

// freeToWrite refuses an output directory that plan.Prepare will refuse, before
// plugins are started.
func freeToWrite(dir string, resume bool) error {
	if _, err := os.Stat(dir); err == nil {
		unlock, err := experiment.Lock(dir)
		if errors.Is(err, experiment.ErrInUse) {
			return cli.Usage(err)
		}
		if err == nil {
			_ = unlock() // until it is known that all plugins are there
		}
	}
	entries, err := os.ReadDir(dir)
	var pe *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		if info, statErr := os.Stat(dir); statErr == nil && !info.IsDir() {
			return cli.Usagef("%s is a file, and results need a directory; choose another with --out", dir)
		}
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return cli.Usagef("%s: %w; choose another output directory with --out", dir, err)
	case len(entries) > 0 && !resume:
		return cli.Usagef("%s holds something already; continue it with --resume, or choose another output directory with --out", dir)
	}
	return nil
}

// outputError says what to do about a directory that cannot be prepared.
func outputError(dir string, err error) error {
	var pe *fs.PathError
	switch {
	case errors.As(err, &pe):
		return cli.Usagef("cannot write results to %s: %w; choose another output directory with --out", dir, pe.Err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EROFS):
		return cli.Usagef("cannot write results to %s: %w; choose another output directory with --out", dir, err)
	case errors.Is(err, experiment.ErrInUse), errors.Is(err, experiment.ErrOtherPrograms), errors.Is(err, experiment.ErrOtherExperiment), strings.Contains(err.Error(), "--resume"):
		return cli.Usage(err)
	}
	return err
}

// incomplete says what is kept of a run that ended early and how to go on.
func incomplete(app *host.App, err error, dir string, plan *experiment.Plan) error {
	entries, readErr := result.ReadKeys(dir)
	if readErr != nil {
		return err
	}
	resume := app.Args
	if !slices.Contains(resume, "--resume") {
		resume = append(slices.Clone(resume), "--resume")
	}
	first := ""
	if errors.Is(err, syscall.ENOSPC) {
		first = "make room and "
	}
	return fmt.Errorf("%w: %d of %d runs are kept in %s; %sgo on with: rlrun %s",
		err, len(entries), len(plan.Cells())*plan.Config.Runs, dir, first, cli.ShellQuote(resume))
}
