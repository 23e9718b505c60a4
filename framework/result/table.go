package result

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/internal/each"
)

// columns returns the metrics of the terminal table, from left to right: metrics without
// a curve, then the others as they are shown, then metrics of plugins.
func columns(s *Summary, env string) []Metric {
	ms := slices.DeleteFunc(s.MetricsOf(env, false), func(m Metric) bool { return keep(s, m) == 0 })
	slices.SortStableFunc(ms, func(a, b Metric) int { return tablePlace(a) - tablePlace(b) })
	return ms
}

// tablePlace says in which part of the table a metric stands.
func tablePlace(m Metric) int {
	switch d := metric.Define(m); {
	case m.OfPlugin():
		return 2 * len(Metrics())
	case d.From != "" && d.Derive == nil:
		return -1
	default:
		return slices.Index(Metrics(), m)
	}
}

// keep is a metric's rank: columns of low rank are left out first, and last the metric by
// which agents are compared.
func keep(s *Summary, m Metric) float64 {
	switch {
	case m == cmp.Or(s.Meta.Compared, Reward):
		return Always
	case m.OfPlugin():
		return 0.5
	}
	return float64(metric.Define(m).Keep)
}

// deltaKeep is the rank of the last column.
const deltaKeep = 4.5

// WriteTable writes a table an environment: agents, how many of their runs are
// ok, and each metric as mean ± half of its 95 % interval. The last column is
// the difference in cumulative reward to the first agent, run by run. A table
// wider than width characters loses columns, and names them; 0 is no limit.
func WriteTable(w io.Writer, s *Summary, width int) error {
	mixed := ""
	if s.Mixed != "" {
		mixed = ", mixed"
	}
	for _, env := range s.Meta.Environments {
		if !slices.ContainsFunc(s.Meta.Agents, func(agent string) bool { return !s.Meta.Skips(env, agent) }) {
			continue
		}
		length := s.Meta.Length()
		if s.Meta.Steps == 0 {
			length = "evaluation without learning"
		}
		if _, err := fmt.Fprintf(w, "%s, %s%s\n%s\n\n", env, length, mixed, fitTable(s, env, width)); err != nil {
			return err
		}
	}
	if s.Mixed != "" {
		if _, err := fmt.Fprintln(w, s.MixedNote()+"."); err != nil {
			return err
		}
	}
	for _, notice := range s.Notices {
		if _, err := fmt.Fprintln(w, "Notice: "+notice+"."); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, "Means over runs ± half of the 95 % confidence interval.")
	return err
}

// fitTable returns the table of an environment.
func fitTable(s *Summary, env string, width int) string {
	ms := columns(s, env)
	cols := s.Columns(env, ms)
	rank := make([]float64, len(cols), len(cols)+1)
	for i := range cols {
		rank[i] = Always
		if m := i - (len(cols) - len(ms)); m >= 0 {
			rank[i] = keep(s, ms[m])
		}
	}
	if len(s.Meta.Agents) > 1 && slices.Contains(s.MetricsOf(env, false), CumulativeReward) {
		title := deltaTitle
		if shown := s.Shown(env); len(shown) > 0 && shown[0] != s.Meta.Agents[0] { // another one comes first
			title = "cumulative reward vs " + s.Meta.Agents[0]
		}
		cols = append(cols, Column{title, func(agent string) string { return s.deltaCell(env, agent) }})
		rank = append(rank, deltaKeep)
	}
	t := Table{Wider: "rlrun report DIR"}
	for i, c := range cols {
		t.Header = append(t.Header, Heading{c.Header, i == 0, rank[i]})
	}
	for _, agent := range s.Shown(env) {
		t.Rows = append(t.Rows, each.Of(cols, func(c Column) string { return c.Cell(agent) }))
	}
	return t.Text(width)
}

const deltaTitle = "cumulative reward vs first"

// Column is one column of a table: a header and a cell for each agent.
type Column struct {
	Header string
	Cell   func(agent string) string
}

// Columns are those of a table of an environment: labels, how runs ended, and metrics.
func (s *Summary) Columns(env string, ms []Metric) []Column {
	cols := []Column{{"agent", func(agent string) string { return agent }}}
	count := func(header string, always bool, of func(*Ended) int) {
		all, by := 0, map[string]int{}
		for i := range s.Counts {
			if c := &s.Counts[i]; c.Environment == env {
				by[c.Agent] = of(&c.Ended)
				all += by[c.Agent]
			}
		}
		if always || all > 0 {
			cols = append(cols, Column{header, func(agent string) string { return strconv.Itoa(by[agent]) }})
		}
	}
	count("runs", true, func(e *Ended) int { return e.OK })
	count("failed", false, func(e *Ended) int { return e.Failed })
	count("missing", false, func(e *Ended) int { return e.Missing })
	count("not needed", false, func(e *Ended) int { return e.NotNeeded })
	for _, m := range ms {
		cols = append(cols, Column{s.Meta.Define(m).Title, func(agent string) string { return s.Cell(env, agent, m) }})
	}
	return cols
}

// deltaCell is the difference of an agent to the first one, and of how many pairs of runs it is if not
// of all that ended well.
func (s *Summary) deltaCell(env, agent string) string {
	r, c, first := s.Row(env, agent, CumulativeReward), s.Count(env, agent), s.Count(env, s.Meta.Agents[0])
	if r == nil || c == nil || first == nil || agent == first.Agent {
		return ""
	}
	pairs := min(c.OK, first.OK)
	switch {
	case pairs > 0 && r.Difference == nil:
		return NotKnown
	case r.Difference == nil:
		return ""
	case r.Difference.N < pairs:
		return fmt.Sprintf("%s (%d of %d)", r.Difference.Signed(), r.Difference.N, pairs)
	}
	return r.Difference.Signed()
}

// Shown are the agents that are run in an environment, in the order of SortBy, and of these the
// first Top. Those without a value are last. Where none has one, all are shown.
func (s *Summary) Shown(env string) []string {
	agents := slices.DeleteFunc(slices.Clone(s.Meta.Agents), func(agent string) bool { return s.Meta.Skips(env, agent) })
	if s.SortBy != "" {
		value := func(agent string) float64 {
			r := s.Row(env, agent, s.SortBy)
			switch {
			case r == nil || r.N == 0:
				return math.Inf(-1)
			case s.Meta.Define(s.SortBy).Better == metric.Lower:
				return -r.Mean
			}
			return r.Mean
		}
		slices.SortStableFunc(agents, func(a, b string) int { return cmp.Compare(value(b), value(a)) })
		if s.Top > 0 && s.Top < len(agents) && !math.IsInf(value(agents[0]), -1) {
			agents = agents[:s.Top]
		}
	}
	return agents
}

// String shows the mean ± half of the interval, to two significant digits of
// the latter.
func (e Estimate) String() string {
	half := (e.High - e.Low) / 2
	switch {
	case math.IsNaN(e.Mean):
		return ""
	case math.IsNaN(half) || half == 0:
		return strconv.FormatFloat(e.Mean, 'g', 6, 64)
	}
	write := Writer(math.Abs(e.Mean), half)
	return write(e.Mean) + " ± " + write(half)
}

// Cell is a metric of an agent in an environment as tables show it: the mean over runs with
// half of its interval, and of how many runs it is if not of all that ended well. If runs are censored it has
// the median, unless they are half of the runs. "not known":
// no run has a value. "overflow": values are too large. Empty: no run ended well.
func (s *Summary) Cell(environment, agent string, m Metric) string {
	r, c := s.Row(environment, agent, m), s.Count(environment, agent)
	switch {
	case c == nil || c.OK == 0:
		return ""
	case r == nil || r.N == 0 && r.Overflowed == 0:
		return NotKnown
	case r.N == 0:
		return "overflow"
	case len(r.Censored) > 0:
		median := "no median"
		if r.Median <= largest {
			median = "median " + strconv.FormatFloat(r.Median, 'g', 6, 64)
		}
		return fmt.Sprintf("%s, %s (%d of %d censored)", r.Estimate, median, len(r.Censored), r.N)
	case r.N < c.OK:
		return fmt.Sprintf("%s (%d of %d)", r.Estimate, r.N, c.OK)
	}
	return r.Estimate.String()
}

// NotKnown stands for a metric that no run of an agent has in an environment.
const NotKnown = "not known"

// Writer returns how numbers are written beside a deviation: all end at its second
// significant digit. largest is the largest size of the numbers. A zero has no sign.
func Writer(largest, deviation float64) func(float64) string {
	place := int(math.Floor(math.Log10(deviation))) - 1 // of the last digit
	fixed := largest < 1e15 && deviation < 1e9 && deviation >= 1e-9
	return func(x float64) string {
		text := ""
		if fixed {
			text = strconv.FormatFloat(x, 'f', max(0, -place), 64)
		} else {
			first := place
			if x != 0 {
				first = int(math.Floor(math.Log10(math.Abs(x))))
			}
			text = strconv.FormatFloat(x, 'e', min(16, max(0, first-place)), 64)
		}
		if strings.Trim(text, "-0.") == "" {
			return strings.TrimPrefix(text, "-")
		}
		return text
	}
}

// Signed is String with a plus before a positive mean, as for differences.
func (e Estimate) Signed() string {
	if e.Mean > 0 {
		return "+" + e.String()
	}
	return e.String()
}
