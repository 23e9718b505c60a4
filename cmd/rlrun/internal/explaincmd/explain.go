// Package explaincmd is the command rlrun explain.
package explaincmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/framework/explore"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/run"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/options"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

// New returns the command rlrun explain.
func New(app *host.App) *cobra.Command {
	var which struct {
		environment, agent string
		run, step          int
	}
	var asJSON, recorded bool
	cmd := &cobra.Command{
		Use:   "explain DIR --agent A [--environment E] [--run R] [--step N]",
		Short: "Explain a decision of the host: why it explored, or not",
		Long: `Explain a decision of the host in a run whose agent has the key exploration: the
options with their values in the members, the terms of the threshold, and why it
explored or did not.

Records keep some decisions of each run (record.decisions), and of each of these the
greedy option and the best of the others. So the run is played again, up to the step,
which writes nothing. Its decisions must be those that were recorded. Where they are not,
or the run cannot be played again, the last recorded decision up to the step is shown, and
why the other options are not known. Programs that are not rlrun's are started with --trust.

--json prints the decision with the columns of decisions.csv (docs/exploration.md), and
its options as the list options: name, greedy, values (in the members), gain, cost, hold
(T) and share (ρ).`,
		Example: "  rlrun explain results/explore --agent 'the host decides' --run 3 --step 200",
		Args:    cli.Arguments(1, "an output directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := store.Dir{Path: args[0]}.Read()
			if err != nil {
				return err
			}
			meta := p.Plan.Meta()
			key := result.Key{Run: which.run}
			if key.Environment, err = label("environment", which.environment, meta.Environments, meta.EnvironmentPlugins); err != nil {
				return err
			}
			if key.Agent, err = label("agent", which.agent, meta.Agents, meta.AgentPlugins); err != nil {
				return err
			}
			exploration := p.Plan.Agents[slices.Index(meta.Agents, key.Agent)].Exploration
			if exploration == nil {
				return fmt.Errorf("no decisions of %s were kept: the host decides for agents with the key exploration", key.Agent)
			}
			for r, err := range result.ReadRecords(args[0]) {
				if err != nil {
					return err
				}
				if r.Key() != key || r.Status != result.OK {
					continue
				}
				one := func(yield func(result.Record, error) bool) { yield(r, nil) }
				if err := result.Check(cmd.Context(), meta, one); err != nil {
					return p.Dir.Explain(err)
				}
				x := explained{Decision: last(r.Decisions, which.step)}
				var unknown error // why there are no options
				if !recorded && which.step >= 0 {
					var again result.Decision
					if again, x.Options, unknown = replay(app, cmd, args[0], p.Plan, key, which.step, r.Decisions); unknown == nil {
						x.compared, x.Decision = x.Decision != nil, &again
					} else if cause := context.Cause(cmd.Context()); cause != nil {
						return cause
					}
				}
				switch {
				case x.Decision == nil && len(r.Decisions) > 0:
					return cli.Usagef("the first decision that was kept of run %d is at step %d", key.Run, r.Decisions[0].Step)
				case x.Decision == nil && unknown != nil:
					return fmt.Errorf("no decisions of %s were kept (record.decisions), and its run cannot be played again: %w", key.Agent, unknown)
				case x.Decision == nil:
					return fmt.Errorf("no decisions of %s were kept: record.decisions says how many are kept", key.Agent)
				}
				if unknown != nil {
					fmt.Fprintf(cmd.ErrOrStderr(), "rlrun: only what was recorded is shown, as the run cannot be played again: %v\n", unknown)
				}
				if asJSON {
					return cli.WriteJSON(cmd.OutOrStdout(), x)
				}
				x.explain(cmd.OutOrStdout(), key, which.step, exploration.Rule)
				return nil
			}
			return fmt.Errorf("there is no record of run %d of %s in %s", key.Run, key.Agent, key.Environment)
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
	}
	f := cmd.Flags()
	f.StringVar(&which.environment, "environment", "", "`LABEL` of the environment, its beginning, or its plugin; may be left out if there is one")
	f.StringVar(&which.agent, "agent", "", "`LABEL` of the agent, its beginning, or its plugin; may be left out if there is one")
	f.IntVar(&which.run, "run", 0, "`NUMBER` of the run, from 0")
	f.IntVar(&which.step, "step", 0, "a `NUMBER` of steps; the last decision up to it is explained")
	f.BoolVar(&recorded, "recorded", false, "do not play the run again: show only what was recorded")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	app.ReplaceFlag(f)
	app.TrustFlag(f)
	return cmd
}

// explained is a decision with its options, none if they are not known.
type explained struct {
	*result.Decision
	Options  []explore.Offered `json:"options,omitempty"`
	compared bool              // with recorded decisions
}

// replay plays a run of a results directory again, up to a step.
func replay(app *host.App, cmd *cobra.Command, dir string, p *plan.Plan, key result.Key, step int, kept []result.Decision) (d result.Decision, offered []explore.Offered, err error) {
	plugins, err := app.Catalogue()
	if err == nil {
		err = plugins.Configure(p.Config)
	}
	if err == nil {
		err = plugins.UseLock("", "-")
	}
	if err == nil {
		err = app.ApplyReplacements(plugins, "the config", p.PluginNames())
	}
	if err != nil {
		return d, nil, err
	}
	plugins.From(dir)
	said := cli.Announce(cmd.ErrOrStderr(), 2*time.Second, fmt.Sprintf("playing run %d again, up to step %d; --recorded shows what was recorded at once", key.Run, step))
	defer said()
	err = cli.Abandon(cmd.Context(), func() (err error) {
		d, offered, err = run.Explain(cmd.Context(), p, plugins, app.Trust, key, step, kept)
		return err
	})
	return d, offered, err
}

// label returns the label that a flag means: the one of this name, or the only one that begins
// with it or has a plugin of this name.
func label(flag, name string, labels, plugins []string) (string, error) {
	if slices.Contains(labels, name) {
		return name, nil
	}
	var meant []string
	for i, l := range labels {
		if strings.HasPrefix(l, name) || plugins[i] == name {
			meant = append(meant, l)
		}
	}
	switch {
	case len(meant) == 1:
		return meant[0], nil
	case len(meant) > 1 && name == "":
		return "", cli.Usagef("--%s is needed: one of %s", flag, quoted(meant))
	case len(meant) > 1:
		return "", cli.Usagef("--%s %q may be %s: give the whole label", flag, name, quoted(meant))
	}
	return "", cli.Usagef("--%s %q is none of %s%s", flag, name, quoted(labels), cli.Suggest(name, labels, ""))
}

func quoted(labels []string) string {
	q := each.Of(labels, strconv.Quote)
	return strings.Join(q, ", ")
}

// last returns the last decision up to a step, nil if there is none.
func last(decisions []result.Decision, step int) (d *result.Decision) {
	for i := range decisions {
		if decisions[i].Step <= step {
			d = &decisions[i]
		}
	}
	return d
}

func (x *explained) explain(w io.Writer, key result.Key, step int, rule string) {
	d := x.Decision
	fmt.Fprintf(w, "%s in %s, run %d: the decision after %d steps, in episode %d", key.Agent, key.Environment, key.Run, d.Step, d.Episode)
	if d.State >= 0 {
		fmt.Fprintf(w, " and state %d", d.State)
	}
	fmt.Fprintln(w, ".")
	if d.Step != step {
		kept := ""
		if x.Options == nil {
			kept = " that was kept"
		}
		fmt.Fprintf(w, "It is the last one up to step %d%s.\n", step, kept)
	}
	row := func(name, value, meaning string) {
		fmt.Fprintf(w, "  %-10s %-12s %s\n", name, value, meaning)
	}
	number := func(x float64) string { return fmt.Sprintf("%.4g", x) }
	fmt.Fprintln(w)
	row("greedy", number(d.Greedy), "value per step of the greedy option, mean over the members")
	if d.Other != "" {
		row(d.Other, number(d.Greedy+d.Gain-d.Cost), "the same of the best of the others")
		row("gain", number(d.Gain), "E D⁺: what it is better, mean over the members, 0 where it is worse")
		row("cost", number(d.Cost), "E D⁻: what it is worse, likewise")
		if !anothers(rule) {
			row("δ", number(d.Delta), "improvement hoped for")
			row("P", number(d.P), "probability of at least this improvement")
		}
	}
	row("T", fmt.Sprint(d.Hold), "steps for which the chosen option is held")
	row("ρ", number(d.Share), "share of the horizon that they take")
	if !anothers(rule) {
		what := "of exploring, per unit of the horizon's weight; above 0 it explores"
		if known, _ := options.RuleNamed(rule); byScore(known) {
			what = "by which the rule puts the other above the greedy option; above 0 it explores"
		}
		row("advantage", number(d.Advantage), what)
	}
	numbers := d.Numbers
	if i := strings.Index(numbers, string(result.MixingTime)+"="); i >= 0 { // of the host's estimator
		var t, low, high string
		if _, err := fmt.Sscanf(strings.ReplaceAll(numbers[i:], "=", " "), "mixing_time %s mixing_time.low %s mixing_time.high %s", &t, &low, &high); err == nil {
			row("estimate", t, fmt.Sprintf("of the exploration mixing time; its interval is %s to %s", low, high))
			numbers = numbers[:i]
		}
	}
	for _, x := range strings.Fields(numbers) {
		name, value, _ := strings.Cut(x, "=")
		row(name, value, "what the rule logged")
	}
	switch {
	case x.Options != nil:
		x.options(w)
	case d.Leads != "":
		fmt.Fprintf(w, "\nBetter than the greedy option by, in each member:\n  %s\n", d.Leads)
	}
	fmt.Fprintf(w, "\n%s\n", reason(d, rule))
}

// options prints a table of all options.
func (x *explained) options(w io.Writer) {
	fmt.Fprintln(w, "\nAll options, and the value per step of each in every member:")
	rows := [][]string{{"", "option", "mean", "gain", "cost", "T", "ρ", "in the members"}}
	for _, o := range x.Options {
		mean, values, chosen := "", "", ""
		if n := float64(len(o.Values)); n > 0 {
			sum := 0.0
			for _, v := range o.Values {
				sum += v
				values += fmt.Sprintf(" %.3g", v)
			}
			mean = fmt.Sprintf("%.4g", sum/n)
		}
		if o.Name == x.Option {
			chosen = "*"
		}
		row := []string{chosen, o.Name, mean, fmt.Sprintf("%.4g", o.Gain), fmt.Sprintf("%.4g", o.Cost), strconv.Itoa(o.Hold), fmt.Sprintf("%.4g", o.Share), strings.TrimSpace(values)}
		if o.Greedy {
			row[3], row[4], row[5], row[6] = "", "", "", ""
		}
		rows = append(rows, row)
	}
	fmt.Fprint(w, cli.Columns(rows, cli.Width(w)))
	same := "made the same decisions as were recorded"
	if !x.compared {
		same = "no decision up to there was recorded to compare it with"
	}
	fmt.Fprintf(w, "* is chosen. The run was played again up to this decision, and %s.\n", same)
}

// anothers reports whether a rule is of a plugin.
func anothers(rule string) bool {
	_, err := options.RuleNamed(rule)
	return rule != "" && err != nil
}

// byScore reports whether a rule gives every option a score, and chooses the largest. Then gain and cost do not
// decide.
func byScore(rule *options.Rule) bool {
	return slices.Contains([]*options.Rule{options.RulePosteriorSampling, options.RuleUpperConfidence, options.RuleIndex, options.RuleVPI, options.RuleInformationDirected, options.RuleKnowledgeGradient}, rule)
}

// reason is why the host explored or did not, in a sentence.
func reason(d *result.Decision, rule string) string {
	acts := ""
	if d.Action >= 0 {
		acts = fmt.Sprintf(" Its first action is %d.", d.Action)
	}
	known, _ := options.RuleNamed(rule)
	switch {
	case known == options.RuleNever:
		return "It follows the greedy option, as the rule \"never\" always does." + acts
	case d.Other == "":
		return "It follows the greedy option, since there was no other to compare." + acts
	case anothers(rule):
		does := "explores with " + d.Option
		if !d.Explore {
			does = "follows the greedy option"
		}
		return fmt.Sprintf("It %s for %d step%s, since the rule %s chose so.%s", does, d.Hold, cli.Plural(d.Hold, "", "s"), plan.ClassOf(rule), acts)
	case byScore(known):
		does, by := "follows the greedy option, since the rule %s, which compares options %s, puts no other above it", ""
		if d.Explore {
			does, by = "explores with "+d.Option+", since the rule %s, which compares options %s, puts it", fmt.Sprintf(" %.4g above the greedy option", d.Advantage)
		}
		return "It " + fmt.Sprintf(does, rule, strings.Split(known.Doc, ";")[0]) + by + "." + acts
	case d.Explore && d.Gain == 0 && d.Delta > 0:
		return fmt.Sprintf("It explores for %d step%s with %s, though that is better than the greedy option in no member: the rule compares with the mean value of the greedy option, and one member values both above it. The advantage %.4g is above 0.%s",
			d.Hold, cli.Plural(d.Hold, "", "s"), d.Option, d.Advantage, acts)
	case d.Explore:
		return fmt.Sprintf("It explores, since trying %s for %d step%s, %.3g of the horizon, promises a gain of %.4g per step against a cost of %.4g: the advantage %.4g is above 0.%s",
			d.Option, d.Hold, cli.Plural(d.Hold, "", "s"), d.Share, d.Gain, d.Cost, d.Advantage, acts)
	case d.Delta == 0 && d.Gain == 0:
		return fmt.Sprintf("It follows the greedy option, since %s is better in no member.%s", d.Other, acts)
	}
	return fmt.Sprintf("It follows the greedy option, since trying %s, for %.3g of the horizon, promises a gain of %.4g per step against a cost of %.4g: the advantage %.4g is not above 0.%s",
		d.Other, d.Share, d.Gain, d.Cost, d.Advantage, acts)
}
