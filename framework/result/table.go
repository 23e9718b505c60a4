package result

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// columns are the metrics of the terminal table, from left to right.
var columns = [...]Metric{FinalReward, Reward, CumulativeReward, DiscountedReturn, EpisodeReturn, Regret, OptimalAction}

// dispensable are the columns left out, in this order, where a table is too wide.
var dispensable = [...]Metric{Reward, DiscountedReturn, OptimalAction, EpisodeReturn, FinalReward, CumulativeReward}

// WriteTable writes a table an environment: agents, how many of their runs are
// ok, and each metric as mean ± half of its 95 % interval. The last column is
// the paired difference in cumulative reward to the first agent. A table wider
// than width characters loses columns; 0 is no limit.
func WriteTable(w io.Writer, s *Summary, width int) error {
	for i, env := range s.Meta.Environments {
		if i > 0 {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintln(w, fitTable(s, env, width)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, "mean over runs ± half of the 95 % confidence interval")
	return err
}

func fitTable(s *Summary, env string, width int) string {
	has := s.MetricsOf(env, false)
	var ms []Metric
	for _, m := range columns {
		if slices.Contains(has, m) {
			ms = append(ms, m)
		}
	}
	out := render(s, env, ms)
	for _, drop := range dispensable {
		if width <= 0 || text.LongestLineLen(out) <= width {
			break
		}
		ms = slices.DeleteFunc(ms, func(m Metric) bool { return m == drop })
		out = render(s, env, ms)
	}
	return out
}

func render(s *Summary, env string, ms []Metric) string {
	t := table.NewWriter()
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	style.Title.Align = text.AlignLeft
	t.SetStyle(style)
	t.SetTitle(fmt.Sprintf("%s, %d steps", env, s.Meta.Steps))
	header := table.Row{"agent", "runs"}
	for _, m := range ms {
		header = append(header, Define(m).Title)
	}
	const paired = CumulativeReward
	compare := len(s.Meta.Agents) > 1 && slices.Contains(s.MetricsOf(env, false), paired)
	if compare {
		header = append(header, "Δ cumulative to first")
	}
	t.AppendHeader(header)
	var configs []table.ColumnConfig
	for i := 1; i < len(header); i++ {
		configs = append(configs, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(configs)
	for _, agent := range s.Meta.Agents {
		count := s.Count(env, agent)
		if count == nil {
			continue
		}
		row := table.Row{agent, runsText(count)}
		for _, m := range ms {
			cell := ""
			if r := s.Row(env, agent, m); r != nil {
				cell = r.Estimate.String()
			}
			row = append(row, cell)
		}
		if compare {
			cell := ""
			if r := s.Row(env, agent, paired); r != nil && r.Difference != nil {
				cell = r.Difference.signed()
			}
			row = append(row, cell)
		}
		t.AppendRow(row)
	}
	return t.Render()
}

func runsText(c *Count) string {
	out := strconv.Itoa(c.OK)
	if c.Failed > 0 {
		out += fmt.Sprintf(" (%d failed)", c.Failed)
	}
	if c.Missing > 0 {
		out += fmt.Sprintf(" (%d missing)", c.Missing)
	}
	return out
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
	case math.Abs(e.Mean) >= 1e9 || half >= 1e9 || half < 1e-9:
		return fmt.Sprintf("%.4g ± %.2g", e.Mean, half)
	}
	digits := max(0, 1-int(math.Floor(math.Log10(half))))
	return fmt.Sprintf("%.*f ± %.*f", digits, e.Mean, digits, half)
}

func (e Estimate) signed() string {
	if out := e.String(); e.Mean > 0 {
		return "+" + out
	} else {
		return out
	}
}
