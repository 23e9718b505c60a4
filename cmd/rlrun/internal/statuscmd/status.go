// Package statuscmd is the command rlrun status.
package statuscmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

// interval is the time between two looks of --watch.
const interval = 2 * time.Second

// New returns the command rlrun status.
func New(*host.App) *cobra.Command {
	var asJSON, watch bool
	cmd := &cobra.Command{
		Use:   "status DIR",
		Short: "Show the progress of an experiment and its shards",
		Long: `Show the progress of an experiment: the runs of every environment and agent, the
shards that lack runs, and the errors of failed runs. It only reads files. So it works
during runs, and on any machine that sees the directory. Counts come
from the records. Rates and times are the last reports of shards, by the clocks of
their machines.

--watch prints this every 2 seconds until no run is missing. It waits for the first
shard of an experiment that was submitted.

--json:
  output               the output directory
  runs, ok, failed, missing   number of planned runs, and how they ended
  cells                environment, agent, runs, ok, failed, missing
  given_up             failed runs that were not started because earlier runs of
                       the cell failed (limits.give_up); also in cells; absent if 0
  not_needed           planned runs that were not needed (compare.until); also in
                       cells; absent if 0
  shards               shard, of, runs, ok, failed, missing; and from the shard's
                       report: state (running, stopped, done; absent if it has
                       not begun), steps_per_second, seconds, seconds_left,
                       updated, host, job
  failures             environment, agent, run, error: the last lines of the errors
                       of the first 10 failed runs`,
		Example: "  rlrun status results/quickstart --watch",
		Args:    cli.Arguments(1, "an output directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			w := cmd.OutOrStdout()
			records := result.Follow(args[0])
			for waiting := false; ; {
				s, err := read(args[0], records)
				switch {
				case watch && errors.Is(err, host.ErrNotBegun):
					if !waiting {
						fmt.Fprintf(cmd.ErrOrStderr(), "rlrun: %v; waiting for it\n", host.ErrNotBegun)
					}
					waiting = true
				case err != nil:
					return err
				case asJSON:
					err = cli.WriteJSON(w, s)
				default:
					err = s.print(w)
				}
				if s != nil && (err != nil || !watch || s.Missing == 0) {
					return err
				}
				if err := pause(cmd.Context()); err != nil {
					return err
				}
				if s != nil && !asJSON {
					fmt.Fprintln(w)
				}
			}
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "print the progress every 2 seconds until no run is missing")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(interval):
		return nil
	}
}

// status is the answer.
type status struct {
	Output string `json:"output"`
	Runs   int    `json:"runs"`
	result.Ended
	Cells    []cell           `json:"cells"`
	Shards   []shard          `json:"shards"`
	Failures []result.Failure `json:"failures"`
	Notices  []string         `json:"notices,omitempty"`
}

type cell struct {
	Environment string `json:"environment"`
	Agent       string `json:"agent"`
	Runs        int    `json:"runs"`
	result.Ended
}

type shard struct {
	Shard          int        `json:"shard"`
	Of             int        `json:"of"`
	Runs           int        `json:"runs"`
	OK             int        `json:"ok"`
	Failed         int        `json:"failed"`
	Missing        int        `json:"missing"`
	State          string     `json:"state,omitempty"`
	StepsPerSecond float64    `json:"steps_per_second,omitempty"`
	Seconds        float64    `json:"seconds,omitempty"`
	SecondsLeft    float64    `json:"seconds_left,omitempty"`
	Updated        *time.Time `json:"updated,omitempty"`
	Host           string     `json:"host,omitempty"`
	Job            string     `json:"job,omitempty"`
}

func read(dir string, records *result.Follower) (*status, error) {
	x, err := host.ReadExperiment(dir)
	if err != nil {
		return nil, err
	}
	p := x.Plan
	runs, err := records.Runs()
	if err == nil {
		err = runs.Check(p.Meta())
	}
	if err != nil {
		return nil, store.Blame(p, err)
	}
	s := &status{Output: dir, Shards: []shard{}, Failures: []result.Failure{}, Notices: runs.Notices}
	if err := s.count(x.Dir, p, runs); err != nil {
		return nil, err
	}
	if err := s.shards(x.Dir, p, runs.Entries); err != nil {
		return nil, err
	}
	return s, nil
}

// mostFailures is the number of failed runs whose last words are shown.
const mostFailures = 10

// count counts runs by environment and agent.
func (s *status) count(d store.Dir, p *plan.Plan, runs *result.Runs) error {
	at := map[result.Key]int{}
	for _, c := range p.Cells {
		e, a := p.Environments[c.Environment].Name, p.Agents[c.Agent].Name
		at[result.Key{Environment: e, Agent: a}] = len(s.Cells)
		s.Cells = append(s.Cells, cell{Environment: e, Agent: a, Runs: p.Config.Runs})
	}
	failed := &result.Runs{}
	for _, e := range runs.Entries {
		i, ok := at[result.Key{Environment: e.Environment, Agent: e.Agent}]
		switch {
		case !ok || e.Run >= p.Config.Runs:
		case e.Status == result.OK:
			s.Cells[i].OK++
		default:
			s.Cells[i].Failed++
			if e.Status == result.GivenUp {
				s.Cells[i].GivenUp++
			}
			if len(failed.Entries) < mostFailures && s.Cells[i].GivenUp <= 1 {
				failed.Entries = append(failed.Entries, e)
			}
		}
	}
	decision, err := d.Decide(p)
	if err != nil {
		return err
	}
	for i := range s.Cells {
		c := &s.Cells[i]
		c.Missing = c.Runs - c.OK - c.Failed
		if decision != nil && decision.Needed[result.Key{Environment: c.Environment, Agent: c.Agent}] == 0 {
			c.Missing, c.NotNeeded = 0, c.Missing
		}
		s.Runs += c.Runs
		s.Add(c.Ended)
	}
	for r, err := range failed.WithoutCurves() {
		if err != nil {
			return err
		}
		s.Failures = append(s.Failures, result.Failure{Key: r.Key(), Steps: r.Steps, Error: r.Error})
	}
	return nil
}

func (s *status) shards(d store.Dir, p *plan.Plan, entries []result.Entry) error {
	of, err := d.Division()
	if err != nil {
		return err
	}
	counts, err := d.CountShards(p, of, entries)
	if err != nil {
		return err
	}
	reported, err := d.Shards()
	if err != nil {
		return err
	}
	said := map[plan.Shard]*store.ShardStatus{}
	for i := range reported {
		said[plan.Shard{Index: reported[i].Shard, Of: reported[i].Of}] = &reported[i]
	}
	for _, c := range counts {
		row := shard{Shard: c.Index, Of: c.Of, Runs: c.Runs, OK: c.OK, Failed: c.Failed, Missing: c.Missing()}
		if r := said[c.Shard]; r != nil {
			row.State, row.StepsPerSecond, row.Seconds, row.SecondsLeft = r.State, r.StepsPerSecond, r.Seconds, r.SecondsLeft
			row.Updated, row.Host, row.Job = &r.Updated, r.Host, r.Job
		}
		s.Shards = append(s.Shards, row)
	}
	return nil
}

// mostShards is the number of shards that are shown by themselves.
const mostShards = 20

func label(title string) result.Heading {
	return result.Heading{Title: title, Words: true, Rank: result.Always}
}
func count(title string) result.Heading { return result.Heading{Title: title, Rank: result.Always} }

func (s *status) print(w io.Writer) error {
	t := result.Table{Header: []result.Heading{label("environment"), label("agent"), count("ok"), count("failed"), count("missing")}}
	if s.NotNeeded > 0 {
		t.Header = append(t.Header, count("not needed"))
	}
	for _, c := range s.Cells {
		row := []string{c.Environment, c.Agent, fmt.Sprint(c.OK), fmt.Sprint(c.Failed), fmt.Sprint(c.Missing)}
		if s.NotNeeded > 0 {
			row = append(row, fmt.Sprint(c.NotNeeded))
		}
		t.Rows = append(t.Rows, row)
	}
	fmt.Fprintln(w, t.Text(cli.Width(w)))
	if len(s.Shards) > 0 {
		s.printShards(w)
	}
	for _, f := range s.Failures {
		words := strings.Split(strings.TrimSpace(f.Error), "\n")
		fmt.Fprintf(w, "\nrun %d of %s in %s failed: %s\n", f.Run, f.Agent, f.Environment, words[0])
		if last := words[len(words)-1]; len(words) > 1 {
			fmt.Fprintf(w, "  %s\n", strings.TrimSpace(last))
		}
	}
	for _, n := range s.Notices {
		fmt.Fprintln(w, n)
	}
	givenUp := ""
	if s.GivenUp > 0 {
		givenUp = fmt.Sprintf(" (%d of them given up)", s.GivenUp)
	}
	unneeded := ""
	if s.NotNeeded > 0 {
		unneeded = fmt.Sprintf(", %d not needed", s.NotNeeded)
	}
	_, err := fmt.Fprintf(w, "\n%d of %d runs recorded, %d failed%s, %d missing%s\n", s.OK+s.Failed, s.Runs, s.Failed, givenUp, s.Missing, unneeded)
	return err
}

// printShards shows the shards that lack runs.
func (s *status) printShards(w io.Writer) {
	var idle []int // neither running nor stopped
	t := result.Table{Wider: "rlrun status DIR", Header: []result.Heading{label("shard"), label("state"), count("recorded"), count("failed"),
		{Title: "rate", Rank: 3}, {Title: "left", Rank: 4}, {Title: "reported", Rank: 2}, {Title: "where", Words: true, Rank: 1}}}
	hidden := 0
	for _, h := range s.Shards {
		switch {
		case h.Missing == 0:
		case h.State == "":
			idle = append(idle, h.Shard)
		case len(t.Rows) == mostShards:
			hidden++
		default:
			left := "-"
			if h.SecondsLeft > 0 && h.State == store.ShardRunning {
				left = cli.Clock(time.Duration(h.SecondsLeft * float64(time.Second)))
			}
			ago := max(0, time.Since(*h.Updated)) // clocks differ
			t.Rows = append(t.Rows, []string{fmt.Sprintf("%d/%d", h.Shard, h.Of), h.State, fmt.Sprintf("%d of %d", h.OK+h.Failed, h.Runs), fmt.Sprint(h.Failed),
				cli.Rate(h.StepsPerSecond), left, cli.Clock(ago) + " ago", strings.TrimSpace(h.Host + " " + h.Job)})
		}
	}
	if len(t.Rows) > 0 {
		fmt.Fprintf(w, "\n%s\n", t.Text(cli.Width(w)))
	}
	if hidden > 0 {
		fmt.Fprintf(w, "  and %d more that lack runs\n", hidden)
	}
	if len(idle) > 0 {
		fmt.Fprintf(w, "\n%s of %d %s not begun\n", cli.Plural(len(idle), "shard ", "shards ")+plan.Ranges(idle), s.Shards[0].Of, cli.Plural(len(idle), "has", "have"))
	}
}
