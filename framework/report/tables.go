package report

import (
	"math"
	"strconv"
	"strings"

	"github.com/rlrun/rlrun/framework/result"
)

// resultTable holds the numbers of one environment as the page shows them.
type resultTable struct {
	Environment string
	First       string // the agent that the others are compared with
	Metrics     []definition
	Rows        []tableRow
	Compared    []tableRow // without the first agent
	Details     []detail
}

type tableRow struct {
	Agent       string
	OK          int
	Means       []estimate
	Differences []estimate
}

// estimate is a mean and half of its interval, as text.
type estimate struct {
	Value, Half string
	Clear       bool // the interval excludes zero
}

type detail struct {
	Agent, Title     string
	N                int
	Mean, StdErr     string
	Interval         string
	IQM, IQMInterval string
}

func newTables(s *result.Summary, metrics []result.Metric) []resultTable {
	var out []resultTable
	for _, env := range s.Meta.Environments {
		t := resultTable{Environment: env}
		ms := chosen(s.MetricsOf(env, false), metrics)
		for _, m := range ms {
			t.Metrics = append(t.Metrics, newDefinition(s, m))
		}
		for i, agent := range s.Meta.Agents {
			if s.Meta.Skips(env, agent) {
				continue
			}
			row := tableRow{Agent: agent}
			if c := s.Count(env, agent); c != nil {
				row.OK = c.OK
			}
			differs := false
			for k, m := range ms {
				mean, difference := estimate{}, estimate{}
				if r := s.Row(env, agent, m); r != nil {
					mean = newEstimate(r.Estimate.String())
					if d := r.Difference; d != nil {
						differs = true
						difference = newEstimate(d.Signed())
						difference.Clear = d.Low > 0 || d.High < 0
					}
					t.Details = append(t.Details, newDetail(agent, t.Metrics[k].Title, r))
				}
				row.Means, row.Differences = append(row.Means, mean), append(row.Differences, difference)
			}
			t.Rows = append(t.Rows, row)
			if i == 0 {
				t.First = agent
			} else if differs {
				t.Compared = append(t.Compared, row)
			}
		}
		out = append(out, t)
	}
	return out
}

func newEstimate(text string) estimate {
	value, half, _ := strings.Cut(text, " ± ")
	if value == "" {
		value = "–"
	}
	return estimate{Value: strings.Replace(grouped(value), "-", "−", 1), Half: grouped(half)}
}

// grouped sets the thousands of a number in plain decimal notation apart.
func grouped(number string) string {
	whole, rest, point := strings.Cut(number, ".")
	digits := strings.TrimLeft(whole, "+-")
	if strings.Contains(number, "e") || len(digits) < 5 {
		return number
	}
	sign := whole[:len(whole)-len(digits)]
	if point {
		rest = "." + rest
	}
	return sign + formatWhole(digits) + rest
}

func newDetail(agent, title string, r *result.Row) detail {
	return detail{
		Agent: agent, Title: title, N: r.N, Mean: six(r.Mean), StdErr: six(r.StdErr), Interval: interval(r.Low, r.High),
		IQM: six(r.IQM), IQMInterval: interval(r.IQMLow, r.IQMHigh),
	}
}

func interval(low, high float64) string {
	if math.IsNaN(low) || math.IsNaN(high) {
		return "–"
	}
	return six(low) + " to " + six(high)
}

func six(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return strings.Replace(strconv.FormatFloat(x, 'g', 6, 64), "-", "−", 1)
}
