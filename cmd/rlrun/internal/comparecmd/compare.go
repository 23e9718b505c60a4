// Package comparecmd is the command rlrun compare.
package comparecmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/output"
	"github.com/rlrun/rlrun/framework/output/page"
	"github.com/rlrun/rlrun/framework/output/sqlite"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

const help = `Compare agents and say which is better, with a corrected test for every pair.

DIR is an output directory of rlrun run. Several may be given; agents are then
called DIR:AGENT. DIR:AGENT in place of DIR takes one agent, and may be given for
several agents of a directory. Runs are paired if root seed, steps, discount and the
environment's plugin, parameters and program agree; otherwise the reason is printed.

For each environment it prints the difference with its bootstrap interval, the share
of runs won, the p value of the sign-flip test (Welch's test where runs are not
paired), corrected over all comparisons, and the verdict. Over all environments it
prints the interquartile mean, optimality gap and performance profile of normalised
scores, the probability of improvement, and mean ranks, with a critical-difference
diagram from six environments on. A score is 0 for uniformly random actions and 1 for
the optimum if the model is known, or as --scores says. docs/statistics.md defines
and cites all of these.

The config's metric, pairs, level and scores (under compare) are the defaults. If the
config has until: decided, the verdicts are those of the test that stopped the runs.

--against AGENT compares all agents with one. --against best takes the best agent of each
environment, and corrects for all pairs, as the best is chosen by the same runs.

--margin M asks the other way round: which agents are equivalent, because their difference
is smaller than M, in units of the metric? Two one-sided tests answer (TOST), corrected as
the tests of a difference are. Choose M before you see results: the largest difference that
would not matter to you.

It writes comparisons.csv and the table comparisons of results.db into the first
DIR. rlrun run and rlrun report write a new results.db. It has this table only if the
config has a section compare; otherwise compare again. --no-files leaves DIR as it is.

--json:
  metric, lower_is_better, alpha, pairs, correction   what was compared
  agents               label, dir, agent
  environments         labels
  comparisons          environment, metric, a, b, paired, reason (why not paired),
                       n, n_b (runs), dropped, mean_a, mean_b, difference (a - b),
                       ci_low, ci_high, win_rate, test, p, correction, adjusted_p,
                       tukey_p, alpha, verdict, stopped, better, margin,
                       equivalence_p (corrected), equivalent, sentence
  method               how verdicts follow: correction and level, in a sentence
  skipped, notes       what was not compared; what limits the conclusions
  overall              with two environments or more: scores (low, high, source),
                       unscored, incomplete, tau, aggregates (agent, iqm, mean, median,
                       optimality_gap, profile), probability_of_improvement (a, b,
                       environments, probability, iqm_difference), ranks
                       (environments, agents, chi_squared, f, p,
                       critical_difference, cliques)`

type options struct {
	compare.Config
	metric, correction string
	scores, margins    []string
	against            string
	json, latex        bool
	noFiles            bool
	html               string
}

// New returns the command rlrun compare.
func New(*host.App) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "compare DIR[:AGENT]...",
		Short: "Say which agent is better, with corrected tests",
		Long:  help,
		Example: `  rlrun compare results/quickstart
  rlrun compare results/leaderboard --pairs all --metric regret --html compare.html
  rlrun compare results/a:psrl results/b:ucrl2`,
		Args:              cli.AtLeastOne("an output directory"),
		RunE:              func(cmd *cobra.Command, dirs []string) error { return run(cmd, dirs, o) },
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&o.metric, "metric", "", "the `METRIC` to compare; choose one before you see results (default reward, or the only one that was recorded)")
	fs.StringVar(&o.Pairs, "pairs", "", "`PAIRS` to compare: first (all with the first agent), all, or A,B (default first)")
	fs.StringVar(&o.against, "against", "", "compare all with this `AGENT`, or with the best of each environment: best")
	fs.StringArrayVar(&o.margins, "margin", nil, "difference below which agents are equivalent, M, or of one environment `[ENV=]M`; may be repeated")
	fs.Float64Var(&o.Alpha, "alpha", 0, "significance level `A` of all tests together (default 0.05)")
	fs.StringVar(&o.correction, "correction", string(compare.Holm), "`METHOD` that corrects p values for their number: holm, or bh for the false discovery rate")
	fs.BoolVar(&o.Unpaired, "unpaired", false, "treat runs as independent, with Welch's test, even if they are paired")
	fs.StringArrayVar(&o.scores, "scores", nil, ScoresUsage)
	fs.BoolVar(&o.json, "json", false, "print JSON")
	fs.BoolVar(&o.noFiles, "no-files", false, "write no comparisons.csv and no table into DIR")
	fs.BoolVar(&o.latex, "latex", false, "print a table for LaTeX's booktabs")
	fs.StringVar(&o.html, "html", "", "also write the report page with these comparisons to `FILE`")
	return cmd
}

func run(cmd *cobra.Command, args []string, o options) error {
	if o.json && o.latex {
		return cli.Usagef("--json and --latex cannot be used together: give one")
	}
	results, inputs, err := o.read(cmd, args)
	if err != nil {
		return err
	}
	o.Correction = compare.Correction(o.correction)
	o.Scores, err = scores(o.scores, inputs)
	if err != nil {
		return err
	}
	if o.Margins, err = amounts("--margin", o.margins); err != nil {
		return err
	}
	for _, r := range results {
		if config := r.Plan.Config.Compare; config != nil && config.Metric == o.Metric { // another metric has another scale
			for env, r := range config.Scores {
				if _, ok := o.Scores[env]; !ok {
					o.Scores[env] = r
				}
			}
		}
	}
	o.Progress = progress(cmd.ErrOrStderr())
	r, err := compare.Compare(inputs, o.Config)
	if err != nil {
		return refused(err)
	}
	// The answer is shown, whether or not the directory can be written to.
	return errors.Join(o.show(cmd.OutOrStdout(), r), o.write(results, inputs, r))
}

// refused is the error of a comparison in the words of the command line.
func refused(err error) error {
	if errors.Is(err, compare.ErrDependent) {
		err = fmt.Errorf("%w with --unpaired", err)
	}
	return cli.Usage(err)
}

// read reads the directories, and fills in the options that their configs declare.
func (o *options) read(cmd *cobra.Command, args []string) (results []*output.Results, inputs []*compare.Input, err error) {
	if o.against != "" && o.Pairs != "" {
		return nil, nil, cli.Usagef("--against and --pairs cannot be used together: give one")
	}
	if o.against != "" {
		o.Pairs = "against " + o.against
	}
	chosen, err := choose(args)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range chosen {
		r, err := host.ReadResults(c.dir, o.html != "")
		if err != nil {
			return nil, nil, err
		}
		in, err := input(c.dir, r)
		if err != nil {
			return nil, nil, err
		}
		for _, agent := range c.agents {
			if all := in.Summary.Meta.Agents; !slices.Contains(all, agent) {
				return nil, nil, cli.Usagef("%s has no agent called %q%s", c.dir, agent, cli.Suggest(agent, all, ""))
			}
		}
		in.Agents = c.agents
		inputs, results = append(inputs, in), append(results, r)
		config := r.Plan.Config.Compare
		if config == nil {
			continue
		}
		// What the configs declare, the first one's, wins over the defaults.
		o.metric, o.Pairs = cmp.Or(o.metric, string(config.Metric)), cmp.Or(o.Pairs, config.Pairs)
		if o.Alpha == 0 && !cmd.Flags().Changed("alpha") {
			o.Alpha = config.Alpha
		}
	}
	o.Metric = cmp.Or(result.Metric(o.metric), usual(inputs[0].Summary))
	o.Pairs = cmp.Or(o.Pairs, "first")
	if o.Alpha == 0 && !cmd.Flags().Changed("alpha") {
		o.Alpha = compare.DefaultAlpha
	}
	return results, inputs, nil
}

// show prints the result of a comparison.
func (o *options) show(w io.Writer, r *compare.Result) error {
	switch {
	case o.json:
		return cli.WriteJSON(w, r)
	case o.latex:
		return compare.WriteLaTeX(w, r)
	}
	err := compare.WriteTable(w, r, cli.Width(w))
	if err == nil && r.Overall != nil && len(r.Overall.Unscored) > 0 {
		_, err = fmt.Fprintln(w, "--scores 'ENVIRONMENT=LOW,HIGH' gives an environment a scale; --json prints all numbers.")
	}
	return err
}

// progress says now and then how far the comparisons are: after 5 s, then every ten.
func progress(w io.Writer) func(made, all int) {
	var began time.Time // of the tests, which come after the pairs of runs are found
	var mu sync.Mutex
	next := 5 * time.Second
	return func(made, all int) {
		mu.Lock()
		defer mu.Unlock()
		if began.IsZero() {
			began = time.Now()
		}
		elapsed := time.Since(began)
		if elapsed < next {
			return
		}
		next = elapsed + 10*time.Second
		left := time.Duration(float64(elapsed) * float64(all-made) / float64(made))
		fmt.Fprintf(w, "rlrun: %d of %d comparisons, about %s left\n", made, all, cli.Clock(left))
	}
}

// choice is a directory, with the agents of it that are compared; nil: all.
type choice struct {
	dir    string
	agents []string
}

// choose reads arguments DIR and DIR:AGENT. Agents of one directory come together, in
// the order of their arguments.
func choose(args []string) (out []choice, err error) {
	for _, arg := range args {
		dir, agent, err := store.SplitAgent(arg)
		if err != nil {
			dir = arg // which is no directory, as reading it says
		}
		at := slices.IndexFunc(out, func(c choice) bool { return same(c.dir, dir) })
		switch {
		case at < 0 && agent == "":
			out = append(out, choice{dir: dir})
		case at < 0:
			out = append(out, choice{dir, []string{agent}})
		case agent == "" || out[at].agents == nil:
			return nil, cli.Usagef("%s and %s are the same directory: name it once", out[at].dir, dir)
		case slices.Contains(out[at].agents, agent):
			return nil, cli.Usagef("%s is named twice", arg)
		default:
			out[at].agents = append(out[at].agents, agent)
		}
	}
	return out, nil
}

// same says whether two paths are of one directory.
func same(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// ScoresUsage is the help text of the flag that gives scales.
const ScoresUsage = "values of the metric that count as scores 0 (the worse one) and 1 in an environment, `ENV=LOW,HIGH`; may be repeated"

// scores reads the scales of the command line.
func scores(given []string, inputs []*compare.Input) (map[string]compare.Range, error) {
	var environments []string
	for _, in := range inputs {
		environments = append(environments, in.Summary.Meta.Environments...)
	}
	out := map[string]compare.Range{}
	for _, text := range given {
		at := strings.LastIndex(text, "=")
		env := text[:max(at, 0)]
		low, high, ok := strings.Cut(text[at+1:], ",")
		l, errL := strconv.ParseFloat(strings.TrimSpace(low), 64)
		h, errH := strconv.ParseFloat(strings.TrimSpace(high), 64)
		switch {
		case at < 0 || !ok || errL != nil || errH != nil:
			return nil, cli.Usagef("--scores must be ENVIRONMENT=LOW,HIGH, such as 'riverswim=0.01,0.43', not %q", text)
		case l == h || l-l != 0 || h-h != 0:
			return nil, cli.Usagef("--scores %s: low and high must be different numbers", text)
		case !slices.Contains(environments, env):
			return nil, cli.Usagef("--scores: no environment is called %q%s", env, cli.Suggest(env, environments, ""))
		case out[env] != compare.Range{}:
			return nil, cli.Usagef("--scores: %s is given twice", env)
		}
		out[env] = compare.Range{Low: l, High: h}
	}
	return out, nil
}

// amounts reads numbers, each of an environment or, with the key "", of all.
func amounts(flag string, given []string) (map[string]float64, error) {
	out := map[string]float64{}
	for _, text := range given {
		at := strings.LastIndex(text, "=")
		x, err := strconv.ParseFloat(strings.TrimSpace(text[at+1:]), 64)
		if err != nil || !(x > 0) || math.IsInf(x, 0) {
			return nil, cli.Usagef("%s must be a positive number, or ENVIRONMENT=NUMBER, not %q", flag, text)
		}
		env := text[:max(at, 0)]
		if out[env] != 0 {
			return nil, cli.Usagef("%s is given twice%s", flag, map[bool]string{true: " for " + env}[env != ""])
		}
		out[env] = x
	}
	return out, nil
}

// usual returns the metric that is compared where none is named.
func usual(s *result.Summary) result.Metric {
	if has := s.AllMetrics(); len(has) == 1 {
		return has[0]
	}
	return result.Reward
}

// input is what is compared of an output directory.
func input(dir string, r *output.Results) (in *compare.Input, err error) {
	in = &compare.Input{Dir: dir, Summary: r.Summary}
	if in.Streams, in.Code, err = r.Dir.Tasks(r.Plan); err != nil {
		return nil, err
	}
	provenance, err := r.Dir.Provenance()
	if err != nil {
		return nil, err
	}
	if provenance.Program != "" {
		in.Program = fmt.Sprintf("rlrun %s (program %s)", provenance.Rlrun, provenance.Program)
	}
	if s := r.Plan.Sequential(); s != nil {
		in.Metric, in.Alpha, in.Until = s.Metric, s.Alpha, r.Decision.Progress
	}
	return in, nil
}

// write writes the files that a comparison leaves.
func (o *options) write(results []*output.Results, inputs []*compare.Input, r *compare.Result) error {
	if dir := inputs[0].Dir; !o.noFiles {
		if err := writeInto(dir, r); err != nil {
			return fmt.Errorf("%w; --no-files writes nothing into %s", err, dir)
		}
	}
	if o.html == "" {
		return nil
	}
	summary, shown, err := page.Together(inputs, results)
	if err != nil {
		return err
	}
	shown.Comparison = r
	return cli.WriteFile(o.html, func(w io.Writer) error { return page.WriteHTML(w, summary, shown) })
}

func writeInto(dir string, r *compare.Result) error {
	if err := (store.Dir{Path: dir}).CheckLinks(); err != nil {
		return cli.Usage(err)
	}
	if err := result.WriteFile(filepath.Join(dir, "comparisons.csv"), func(w io.Writer) error { return compare.WriteCSV(w, r) }); err != nil {
		return err
	}
	database := filepath.Join(dir, sqlite.File)
	if _, err := os.Stat(database); err != nil { // an interrupted experiment has none yet
		return nil
	}
	return sqlite.WriteComparisons(database, r)
}
