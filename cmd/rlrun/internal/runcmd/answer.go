package runcmd

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/output"
	"github.com/rlrun/rlrun/framework/output/costs"
	"github.com/rlrun/rlrun/framework/output/page"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
)

// answer is what rlrun run prints in the end.
type answer struct {
	x           *store.Experiment
	reused      *int // runs that were found done; nil: the command makes none
	took        time.Duration
	begun       bool // runs were counted and begun
	kept        int  // runs that were found done or ended
	quiet, json bool
	costs       []store.Cost // nil: not asked for
}

// show prints the results. Its error tells of runs that failed or are missing.
func (a *answer) show(cmd *cobra.Command, r *output.Results) error {
	w := cmd.OutOrStdout()
	t := r.Summary.Ended()
	var progress []compare.Progress
	if r.Decision != nil {
		progress = r.Decision.Progress
	}
	switch {
	case a.json:
		out := a.outcome(r)
		out.Costs = a.costs
		for i := range progress {
			p := &progress[i]
			out.Until = append(out.Until, verdict{p.Environment, p.A, p.B, string(p.Decision), p.Better, p.Runs(), p.Dropped})
		}
		if err := cli.WriteJSON(w, out); err != nil {
			return err
		}
	case !a.quiet:
		if err := result.WriteTable(w, r.Summary, cli.Width(w)); err != nil {
			return err
		}
		if a.costs != nil {
			if err := costs.WriteTable(w, a.costs, cli.Width(w)); err != nil {
				return err
			}
		}
		if progress != nil {
			fmt.Fprintln(w)
		}
		for i := range progress {
			fmt.Fprintln(w, progress[i].String())
		}
		if a.reused != nil {
			a.printWork(w, t, &r.Summary.Meta)
		}
		if err := printPlace(w, r); err != nil {
			return err
		}
	}
	if a.reused != nil && t.Missing > 0 {
		gone := fmt.Sprintf("the records of %d %s are gone: ", t.Missing, cli.Plural(t.Missing, "run", "runs"))
		return fmt.Errorf("%ssomething removed them from %s while rlrun was at work; make them again with --resume", gone, r.Dir.Path)
	}
	if a.reused != nil && t.Failed > 0 {
		f, givenUp := r.Summary.Failures[0], ""
		if t.GivenUp > 0 {
			givenUp = fmt.Sprintf(" (%d of them were given up and not made)", t.GivenUp)
		}
		return fmt.Errorf("%d of %d runs failed%s, the first (run %d of %s in %s): %s", t.Failed, t.Planned(), givenUp, f.Run, f.Agent, f.Environment, f.Error)
	}
	return nil
}

// moved is the error of an output directory that is not where it was when runs began.
func moved(dir string) error {
	return fmt.Errorf("%[1]s was moved or removed while rlrun was at work, and no outputs are made; if it was moved, move what %[1]s/runs holds into its runs, and go on there with --resume", dir)
}

func (a *answer) printWork(w io.Writer, t result.Ended, meta *result.Meta) {
	made := t.OK + t.Failed - *a.reused
	if made == 0 {
		fmt.Fprintf(w, "\nNothing was left to do: %d runs were found done.", *a.reused)
		return
	}
	switch {
	case meta.Steps == 0:
		fmt.Fprintf(w, "\n%d runs without learning in %s", made, cli.Clock(a.took))
	case meta.Episodes > 0:
		fmt.Fprintf(w, "\n%d runs of %s in %s", made, meta.Length(), cli.Clock(a.took))
	default:
		fmt.Fprintf(w, "\n%d runs of %s in %s (%s)", made, meta.Length(), cli.Clock(a.took), cli.Rate(float64(made)*float64(meta.Steps)/a.took.Seconds()))
	}
	if *a.reused > 0 {
		fmt.Fprintf(w, ", %d found done", *a.reused)
	}
}

// printPlace says where the results are.
func printPlace(w io.Writer, r *output.Results) error {
	open := ""
	if slices.Contains(r.Files, page.File) {
		open = "  (open " + filepath.Join(r.Dir.Path, page.File) + ")"
	}
	_, err := fmt.Fprintf(w, "\nResults: %s%s\n", r.Dir.Path, open)
	return err
}

// stopped says what is kept of a run that ended early and how to go on. For machines
// it prints that, too; no output is made.
func (a *answer) stopped(app *host.App, cmd *cobra.Command, why error) error {
	var output *store.OutputError
	if errors.As(why, &output) {
		return advise(why)
	}
	if a.json {
		if err := a.partial(cmd, why); err != nil {
			return errors.Join(why, err)
		}
	}
	kept := a.kept
	switch {
	case why != cli.ErrInterrupted: // not all that ended is kept
		entries, err := result.ReadKeys(a.x.Dir.Path)
		if err != nil {
			return why
		}
		kept = len(entries)
	case !a.begun: // the directory may hold runs, which were not counted
		return fmt.Errorf("%w before the first run; nothing in %s was changed", why, a.x.Dir.Path)
	}
	resume := slices.DeleteFunc(slices.Clone(app.Args), func(arg string) bool { return arg == "--overwrite" || arg == "--resume" })
	first, other := "", ""
	if full(why) {
		first = "make room and "
	}
	runs := "no run is"
	if kept > 0 {
		runs = fmt.Sprintf("%d of %d runs are", kept, len(a.x.Plan.Cells)*a.x.Plan.Config.Runs)
		switch {
		case errors.Is(why, plugin.ErrNotPinned): // which says what to do
		case errors.Is(why, store.ErrChanged), errors.Is(why, store.ErrOtherPrograms):
			first, other = "put back what was changed, and ", "; or add --mixed, and all results will say mixed"
		}
	}
	if n := a.x.Dir.UnderWay(); n > 0 {
		first = fmt.Sprintf("those under way have checkpoints (%d); %s", n, first)
	}
	return fmt.Errorf("%w: %s kept in %s; %sgo on with: rlrun %s", why, runs, a.x.Dir.Path, first, cli.ShellQuote(append(resume, "--resume"))+other)
}

// manyRuns is the number of runs from which on statistics may take seconds.
const manyRuns = 100_000

// partial prints the answer of --json of an experiment that was stopped.
func (a *answer) partial(cmd *cobra.Command, why error) error {
	var r *output.Results
	write := func() (err error) {
		r, err = output.Read(a.x, true)
		return err
	}
	made := write
	if a.kept > manyRuns {
		made = func() error { return cli.Abandon(cmd.Context(), write) }
	}
	if err := made(); err != nil {
		return err
	}
	out := a.outcome(r)
	out.Interrupted = errors.Is(why, cli.ErrInterrupted)
	return cli.WriteJSON(cmd.OutOrStdout(), out)
}

// outcome is the answer of rlrun run and rlrun report as JSON.
type outcome struct {
	Name   string `json:"name"`
	Output string `json:"output"`
	Runs   int    `json:"runs"`
	result.Ended
	Reused      *int             `json:"reused,omitempty"`
	Seconds     *float64         `json:"seconds,omitempty"`
	Interrupted bool             `json:"interrupted,omitempty"`
	Mixed       string           `json:"mixed,omitempty"`
	Notices     []string         `json:"notices,omitempty"`
	Skipped     []result.Skipped `json:"skipped,omitempty"`
	Files       []string         `json:"files"`
	Summary     []result.Row     `json:"summary"`
	Failures    []result.Failure `json:"failures"`
	Until       []verdict        `json:"until,omitempty"`
	Costs       []store.Cost     `json:"costs,omitempty"`
}

// verdict is what the test that stops an experiment says of A and B.
type verdict struct {
	Environment string `json:"environment"`
	A           string `json:"a"`
	B           string `json:"b"`
	Decision    string `json:"decision"`
	Better      string `json:"better"`
	Runs        int    `json:"runs"`
	Dropped     int    `json:"dropped"`
}

const outcomeKeys = `
--json:
  name, output         name of the experiment; output directory
  runs, ok, failed, missing   number of planned runs, and how they ended
  given_up             failed runs that were not started because earlier runs of
                       the cell failed (limits.give_up); absent if 0
  not_needed           planned runs that were not needed (compare.until); absent
                       if 0
  mixed                the programs that differ between runs (--mixed); absent if
                       none differ
  notices              sentences about what was skipped or left out; absent if
                       there are none
  skipped              pairs that are not run (matrix.skip_incompatible):
                       environment, agent, reason; absent if there are none
  files                files made from the records, in the output directory
  summary              a row for each environment, agent and metric: environment,
                       agent, metric, n, failed, mean, stderr, ci_low, ci_high,
                       iqm, iqm_ci_low, iqm_ci_high, median, censored (numbers of
                       the runs, of a time), difference (to the first agent, run
                       by run: n, mean, stderr, ci_low, ci_high)
  failures             environment, agent, run, steps, error; of the runs given up,
                       only the first of each environment and agent
  until                the sequential test of each pair (compare.until):
                       environment, a, b, decision (larger or smaller, of a - b;
                       open or undecided), better, runs used, dropped
  costs                with --costs: environment, agent, experiment (identity, as in
                       records), processor (model), workers, clock (processor or
                       wall), runs, steps (of all runs), seconds, bytes (of the agent of a run at
                       its end; not there if not known)`

func (a *answer) outcome(r *output.Results) outcome {
	t := r.Summary.Ended()
	out := outcome{
		Name: r.Summary.Meta.Name, Output: r.Dir.Path, Runs: t.Planned(),
		Ended: t, Mixed: r.Summary.Mixed, Notices: r.Summary.Notices, Skipped: r.Summary.Meta.Skipped, Files: r.Files,
		Summary: append([]result.Row{}, r.Summary.Rows...), Failures: append([]result.Failure{}, r.Summary.Failures...),
	}
	if a.reused != nil {
		seconds := a.took.Seconds()
		out.Reused, out.Seconds = a.reused, &seconds
	}
	return out
}
