package result

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/internal/must"
)

// tiny has two runs of two agents with numbers that can be worked out by hand:
// runs of a give 1 and 3 (mean 2, standard error 1), of b twice 5 (no spread).
func tiny(t *testing.T) (*Summary, []Record) {
	t.Helper()
	recs := []Record{
		okRecord("e, f", "a", 0, 1), okRecord("e, f", "a", 1, 3),
		okRecord("e, f", "b", 0, 5), okRecord("e, f", "b", 1, 5),
		{Environment: "e, f", Agent: "b", Run: 2, Status: Failed, Steps: 4, Error: "plugin died"},
	}
	recs[0].Decisions = []Decision{{Step: 0, Option: "uniform", Explore: true, Hold: 3, Capped: true, Episode: 4, State: -1, Delta: 0.5, P: 0.25, Share: 0.1, Advantage: 0.01}}
	meta := Meta{Name: "tiny", Steps: 1, Grid: []int{1}, Environments: []string{"e, f"}, Agents: []string{"a", "b"}, Runs: 3, Metrics: []Metric{Reward}}
	return mustAggregate(t, meta, recs), recs
}

func TestTable(t *testing.T) {
	s, _ := tiny(t)
	var buf bytes.Buffer
	must.Do(t, WriteTable(&buf, s, 0))
	const want = `e, f, 1 steps
 agent  runs  failed  missing  final reward  mean reward  cumulative reward  cumulative reward vs first
────────────────────────────────────────────────────────────────────────────────────────────────────────
 a         2       0        1        2 ± 13       2 ± 13             2 ± 13
 b         2       1        0             5            5                  5                     +3 ± 13

Notice: 3 of 9 means and differences have no interval, as all runs have the same value, which does not mean that another run could not differ; the first: reward of b in e, f.
Means over runs ± half of the 95 % confidence interval.
`
	if buf.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &buf, want)
	}
}

func TestTableFitsWidth(t *testing.T) {
	s, _ := tiny(t)
	s.Notices = nil // which a terminal wraps
	var buf bytes.Buffer
	must.Do(t, WriteTable(&buf, s, 80))
	for line := range strings.Lines(buf.String()) {
		if n := len([]rune(strings.TrimSpace(line))); n > 80 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	if got := buf.String(); !strings.Contains(got, "  mean reward  ") || !strings.Contains(got, "Left out at 80 columns: cumulative reward vs first. A wider terminal") {
		t.Error(got)
	}
	// The metric of the comparison stays, whatever its rank, and all that goes is named.
	s.Meta.Compared = FinalReward
	for _, width := range []int{45, 50, 60, 70, 80, 90, 99} {
		buf.Reset()
		must.Do(t, WriteTable(&buf, s, width))
		said := strings.ReplaceAll(strings.Join(strings.Fields(buf.String()), " "), deltaTitle, "difference")
		shown, left, _ := strings.Cut(said, "Left out")
		if !strings.Contains(shown, "final reward") {
			t.Fatalf("%d columns: %s", width, &buf)
		}
		for _, title := range []string{"mean reward", "cumulative reward", "difference"} {
			if strings.Contains(shown, " "+title+" ") == strings.Contains(left, title) {
				t.Errorf("%d columns: %q in the table and out of it, or neither: %s", width, title, &buf)
			}
		}
	}
}

// A metric that the config names and a cell does not have is not known there. A run without a
// value is not in a mean, and the cell says so. Values that are too large are told.
func TestMetricsThatAreNotKnown(t *testing.T) {
	meta := Meta{Name: "x", Steps: 2, Grid: []int{1, 2}, Environments: []string{"e", "f"}, Agents: []string{"a"}, Runs: 2,
		Metrics: nil, Recorded: []Metric{Reward, Regret, EpisodeReturn, "agent.*"}, Asked: []Metric{Reward, Regret, EpisodeReturn, "agent.*"},
		Definitions: []metric.Definition{{Name: "agent.loss", Title: "agent loss"}}}
	nan := math.NaN()
	records := func(yield func(Record, error) bool) {
		for _, r := range []Record{
			{Environment: "e", Run: 0, Curves: map[Metric][]float64{Reward: {1, 2}, Regret: {1, 1}, EpisodeReturn: {nan, 4}, "agent.loss": {math.Inf(1), 3}}},
			{Environment: "e", Run: 1, Curves: map[Metric][]float64{Reward: {1, 2}, Regret: {1, 2}, "agent.loss": {5, 3}}},
			{Environment: "f", Run: 0, Curves: map[Metric][]float64{Reward: {1e308, nan}}, Infinite: []Metric{Reward}},
			{Environment: "f", Run: 1, Curves: map[Metric][]float64{Reward: {1e308, 1e308}}},
		} {
			r.Agent, r.Status, r.Steps, r.Episodes = "a", OK, 2, 1
			if !yield(r, nil) {
				return
			}
		}
	}
	s := must.Get(Aggregate(meta, records))(t)
	for _, c := range []struct {
		environment string
		metric      Metric
		want        string
	}{
		{"e", Reward, "1.5"}, {"e", Regret, "1.5 ± 6.4"}, {"e", EpisodeReturn, "4 (1 of 2)"}, {"e", "agent.loss", "4 (1 of 2)"},
		{"f", Reward, "overflow"}, {"f", Regret, NotKnown}, {"f", EpisodeReturn, NotKnown}, {"f", "agent.loss", NotKnown},
	} {
		if got := s.Cell(c.environment, "a", c.metric); got != c.want {
			t.Errorf("%s in %s: %q, want %q", c.metric, c.environment, got, c.want)
		}
	}
	for _, want := range []string{"a in e: values are infinite or beyond 1e+300 (agent.loss in 1 of 2 runs)", "a in f: values are infinite or beyond 1e+300 (cumulative_reward in 2, final_reward in 1, reward in 2 of 2 runs)"} {
		if !slices.ContainsFunc(s.Notices, func(n string) bool { return strings.HasPrefix(n, want) }) {
			t.Errorf("no notice %q in %q", want, s.Notices)
		}
	}
	if c := s.Curve("f", "a", Reward); c.Runs[0] != 0 || c.Runs[1] != 0 {
		t.Errorf("a curve of values that are too large: %+v", c)
	}
	var b bytes.Buffer
	must.Do(t, WriteTable(&b, s, 0))
	if got := b.String(); strings.Count(got, NotKnown) != 3 || strings.Count(got, "overflow") != 3 || !strings.Contains(got, "Notice: a in e: values are infinite") {
		t.Error(got)
	}
}

// Columns stay aligned where a name has characters that are not shown as they are.
func TestTableOfHiddenCharacters(t *testing.T) {
	table := Table{Header: []Heading{{"agent", true, Always}, {"n", true, Always}}, Rows: [][]string{{"\u202eab", "1"}, {"abc", "1"}}}
	got := table.Text(0)
	const want = " agent  n\n──────────\n �ab    1\n abc    1"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A difference says of how many pairs of runs it is, if not of all, and that it is not known if there are none.
func TestDifferenceOfSomePairs(t *testing.T) {
	row := func(agent string, d *Estimate) Row {
		return Row{Environment: "e", Agent: agent, Metric: CumulativeReward, Estimate: Estimate{N: 6, Mean: 1, Low: 1, High: 1}, Difference: d}
	}
	of := func(n int) *Estimate { return &Estimate{N: n, Mean: 2, Low: math.NaN(), High: math.NaN()} }
	agents := []string{"first", "one", "all", "none"}
	s := &Summary{Meta: Meta{Environments: []string{"e"}, Agents: agents, Steps: 5}, Rows: []Row{row("first", nil), row("one", of(1)), row("all", of(6)), row("none", nil)}}
	for _, agent := range agents {
		s.Counts = append(s.Counts, Count{Environment: "e", Agent: agent, Ended: Ended{OK: 6}})
	}
	want := []string{"", "+2 (1 of 6)", "+2", NotKnown}
	for i, agent := range agents {
		if got := s.deltaCell("e", agent); got != want[i] {
			t.Errorf("%s: %q, want %q", agent, got, want[i])
		}
	}
}

// The difference is to the first agent of the config. Where another one comes first, its title names it.
func TestDifferenceNamesItsAgent(t *testing.T) {
	row := func(agent string, mean float64) Row {
		return Row{Environment: "e", Agent: agent, Metric: CumulativeReward, Estimate: Estimate{N: 2, Mean: mean}, Difference: &Estimate{N: 2, Mean: mean}}
	}
	s := &Summary{Meta: Meta{Environments: []string{"e"}, Agents: []string{"one", "two"}, Steps: 5}, Rows: []Row{row("one", 1), row("two", 2)}}
	for by, want := range map[Metric]string{"": " vs first", CumulativeReward: " vs one"} {
		s.SortBy, s.Top = by, len(by)
		var b bytes.Buffer
		must.Do(t, WriteTable(&b, s, 0))
		if !strings.Contains(b.String(), want) {
			t.Errorf("by %q:\n%s", by, b.String())
		}
	}
}
