package comparecmd

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/result"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

const powerHelp = `Say how many runs decide a difference of a given size, from a pilot experiment.

DIR is an output directory with some runs of each agent, ten or more. The spread of their
differences says how many runs rlrun compare needs to decide a difference of D, in units of
the metric, in the share --power of experiments. Choose D as the smallest difference that
matters to you. The difference that the pilot shows is a bad choice: it is uncertain, and too
large if the pilot was made or chosen because it looked promising.

The spread is uncertain, too. "cautious" is the number of runs at the upper 80 % limit of the
spread; plan with it. Numbers are those of t tests at level alpha divided by the number of
comparisons. Run the experiment with another seed, or add runs to the pilot and report
that it was one: choosing the number of runs by the spread leaves the level as it is.

--json: a list of
  environment, a, b    labels
  paired               whether run k of a and b meet the same draws
  runs, sd             runs of the pilot; standard deviation of the differences
  alpha                level of each test
  detectable           difference that the runs of the pilot decide
  difference           that is to be decided
  needed, cautious     runs of each agent; absent if the pilot has too few runs
  programs             mixed, if different programs made the runs (--mixed); else absent`

// NewPower returns the command rlrun power.
func NewPower(*host.App) *cobra.Command {
	var o options
	var differences []string
	var power float64
	cmd := &cobra.Command{
		Use:   "power DIR[:AGENT]...",
		Short: "Say how many runs decide a difference of a given size",
		Long:  powerHelp,
		Example: `  rlrun power results/pilot --difference 0.05
  rlrun power results/pilot --metric regret --difference 'riverswim=20' --difference 'chain=5' --power 0.9`,
		Args: cli.AtLeastOne("an output directory"),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			by, err := amounts("--difference", differences)
			if err == nil && len(by) == 0 {
				err = cli.Usagef("--difference D says which difference is to be decided, in units of the metric")
			}
			if err != nil {
				return err
			}
			_, inputs, err := o.read(cmd, dirs)
			if err != nil {
				return err
			}
			o.Correction = compare.Holm
			powers, notes, err := compare.Powers(inputs, o.Config, by, power)
			if err != nil {
				return refused(err)
			}
			return showPowers(cmd, &o, powers, notes, power)
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringArrayVar(&differences, "difference", nil, "difference to decide, D, or that of one environment, `[ENV=]D`; may be repeated")
	fs.Float64Var(&power, "power", 0.8, "probability `P` with which a true difference of this size is decided")
	fs.StringVar(&o.metric, "metric", "", "the `METRIC` to compare (default reward, or the only one that was recorded)")
	fs.StringVar(&o.Pairs, "pairs", "", "`PAIRS` to compare: first (all with the first agent), all, or A,B (default first)")
	fs.StringVar(&o.against, "against", "", "compare all with this `AGENT`")
	fs.Float64Var(&o.Alpha, "alpha", 0, "significance level `A` of all tests together (default 0.05)")
	fs.BoolVar(&o.Unpaired, "unpaired", false, "for runs that will be independent")
	fs.BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func showPowers(cmd *cobra.Command, o *options, powers []compare.Power, notes []string, power float64) error {
	w := cmd.OutOrStdout()
	if o.json {
		return cli.WriteJSON(w, powers)
	}
	header := []result.Heading{{Title: "A", Words: true, Rank: result.Always}, {Title: "B", Words: true, Rank: result.Always}, {Title: "pilot", Rank: 2},
		{Title: "sd", Rank: 1}, {Title: "detects", Rank: 3}, {Title: "needed", Rank: result.Always}, {Title: "cautious", Rank: result.Always}}
	for i := 0; i < len(powers); {
		env, rows := powers[i].Environment, [][]string(nil)
		difference := powers[i].Difference
		for ; i < len(powers) && powers[i].Environment == env; i++ {
			p := &powers[i]
			rows = append(rows, []string{p.A, p.B, strconv.Itoa(p.Runs), short(float64(p.SD)), short(float64(p.Detectable)), runs(p.Needed), runs(p.Cautious)})
		}
		table := result.Table{Header: header, Rows: rows, Wider: "rlrun power …"}
		if _, err := fmt.Fprintf(w, "%s: runs that decide a difference of %g in %s\n%s\n\n", env, difference, o.Metric, table.Text(cli.Width(w))); err != nil {
			return err
		}
	}
	what := []string{"With so many runs of each agent", fmt.Sprintf("a true difference of this size is decided in %g %% of experiments,", 100*power),
		fmt.Sprintf("at level %g", o.Alpha)}
	if len(powers) > 1 {
		what = append(what, fmt.Sprintf("corrected for %d comparisons", len(powers)))
	}
	what[len(what)-1] += ".\n\"cautious\" allows for the uncertainty of a spread that so few runs show: plan with it."
	if slices.ContainsFunc(powers, func(p compare.Power) bool { return p.Needed == 0 || p.Cautious == 0 }) {
		what[len(what)-1] += "\n– is not known: the pilot has too few runs, its runs do not differ, or more than 1e9 runs would be needed."
	}
	what[len(what)-1] += strings.Join(append([]string{""}, notes...), "\nNote: ")
	_, err := fmt.Fprintln(w, strings.Join(what, " "))
	return err
}

func short(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

func runs(n int) string {
	if n == 0 {
		return "–"
	}
	return strconv.Itoa(n)
}
