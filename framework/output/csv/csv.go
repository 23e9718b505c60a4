// Package csv writes the means over runs, and the decisions, as tables of text.
package csv

import (
	"bufio"
	"encoding/csv"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/rlrun/rlrun/framework/output"
	"github.com/rlrun/rlrun/framework/result"
)

// Output makes curves.csv, summary.csv and decisions.csv.
var Output = output.Output{
	Name:  "csv",
	Doc:   "curves.csv and summary.csv: means over runs with 95 % intervals; decisions.csv of agents with exploration",
	Write: write,
}

func write(r *output.Results, directory string) (files []string, err error) {
	add := func(name string, write func(io.Writer) error) {
		if err == nil {
			files, err = append(files, name), output.File(directory, name, write)
		}
	}
	add("curves.csv", func(w io.Writer) error { return WriteCurves(w, r.Summary) })
	add("summary.csv", func(w io.Writer) error { return WriteSummary(w, r.Summary) })
	if r.Plan.Explores() {
		add("decisions.csv", func(w io.Writer) error { return WriteDecisions(w, r.Summary, r.WithoutCurves()) })
	}
	return files, err
}

// WriteCurves writes one line for every point of every curve: environment,
// agent, step, runs, metric, mean, stderr, ci_low, ci_high. Unknown values are NaN.
// Points at which no run has a value are left out. If the summary is mixed, a last
// column "programs" says so.
func WriteCurves(w io.Writer, s *result.Summary) error {
	c := newTable(w, s, "environment", "agent", "step", "runs", "metric", "mean", "stderr", "ci_low", "ci_high")
	for i := range s.Curves {
		curve := &s.Curves[i]
		for k, step := range curve.Steps {
			if curve.Runs[k] == 0 {
				continue
			}
			c.row(curve.Environment, curve.Agent, strconv.Itoa(step), strconv.Itoa(curve.Runs[k]), string(curve.Metric),
				result.CSVNumber(curve.Mean[k]), result.CSVNumber(curve.StdErr[k]), result.CSVNumber(curve.Low[k]), result.CSVNumber(curve.High[k]))
		}
	}
	return c.close()
}

// WriteSummary writes one line for every row of the summary, and lines without values for an agent whose
// runs in an environment all failed. The difference
// columns compare with the experiment's first agent and are empty for it. An infinite median is
// written as inf. If the
// summary is mixed, a last column "programs" says so.
func WriteSummary(w io.Writer, s *result.Summary) error {
	c := newTable(w, s, "environment", "agent", "metric", "n", "failed", "mean", "stderr", "ci_low", "ci_high",
		"iqm", "iqm_ci_low", "iqm_ci_high", "difference", "difference_ci_low", "difference_ci_high", "median", "censored", "difference_n")
	for i := range s.Rows {
		r := &s.Rows[i]
		var diff, low, high, n string
		if d := r.Difference; d != nil {
			diff, low, high = result.CSVNumber(d.Mean), result.CSVNumber(d.Low), result.CSVNumber(d.High)
			n = strconv.Itoa(d.N)
		}
		median := result.CSVNumber(r.Median)
		if math.IsInf(r.Median, 1) {
			median = "inf"
		}
		c.row(r.Environment, r.Agent, string(r.Metric), strconv.Itoa(r.N), strconv.Itoa(r.Failed),
			result.CSVNumber(r.Mean), result.CSVNumber(r.StdErr), result.CSVNumber(r.Low), result.CSVNumber(r.High),
			result.CSVNumber(r.IQM), result.CSVNumber(r.IQMLow), result.CSVNumber(r.IQMHigh), diff, low, high,
			median, strconv.Itoa(len(r.Censored)), n)
	}
	for _, x := range s.Counts {
		if x.OK > 0 || x.Failed == 0 {
			continue
		}
		for _, m := range metricsOf(s, x.Environment) {
			none := result.CSVNumber(math.NaN())
			c.row(x.Environment, x.Agent, string(m), "0", strconv.Itoa(x.Failed), none, none, none, none, none, none, none, "", "", "", none, "0", "")
		}
	}
	return c.close()
}

// metricsOf are the metrics that runs have in an environment, or anywhere if all of its runs failed.
func metricsOf(s *result.Summary, environment string) (here []result.Metric) {
	var all []result.Metric
	for i := range s.Rows {
		r := &s.Rows[i]
		if !slices.Contains(all, r.Metric) {
			all = append(all, r.Metric)
		}
		if r.Environment == environment && !slices.Contains(here, r.Metric) {
			here = append(here, r.Metric)
		}
	}
	if len(here) == 0 {
		return all
	}
	return here
}

// WriteDecisions writes one line for every decision in the records that the
// summary was made from. If it is mixed, a last column "programs" says so.
func WriteDecisions(w io.Writer, s *result.Summary, records iter.Seq2[result.Record, error]) error {
	c := newTable(w, s, append([]string{"environment", "agent", "run"}, result.DecisionColumns...)...)
	for r, err := range records {
		if err != nil {
			return err
		}
		for i := range r.Decisions {
			row := []string{r.Environment, r.Agent, strconv.Itoa(r.Run)}
			for _, field := range r.Decisions[i].Fields() {
				switch x := field.(type) {
				case *int:
					row = append(row, strconv.Itoa(*x))
				case *string:
					row = append(row, *x)
				case *bool:
					row = append(row, strconv.FormatBool(*x))
				case *float64:
					row = append(row, result.CSVNumber(*x))
				}
			}
			c.row(row...)
		}
	}
	return c.close()
}

// csvTable is a csv.Writer that keeps its first error to the end.
type csvTable struct {
	*csv.Writer
	buf   *bufio.Writer
	mixed bool
	err   error
}

func newTable(w io.Writer, s *result.Summary, header ...string) *csvTable {
	buf := bufio.NewWriter(w)
	t := &csvTable{Writer: csv.NewWriter(buf), buf: buf}
	if s.Mixed != "" {
		header = append(header, "programs")
	}
	t.row(header...)
	t.mixed = s.Mixed != ""
	return t
}

func (t *csvTable) row(fields ...string) {
	if t.mixed {
		fields = append(fields, "mixed")
	}
	for i, field := range fields {
		fields[i] = result.CSVCell(field)
	}
	if t.err == nil {
		t.err = t.Write(fields)
	}
}

func (t *csvTable) close() error {
	t.Flush()
	if t.err == nil {
		t.err = t.Error()
	}
	if t.err == nil {
		t.err = t.buf.Flush()
	}
	return t.err
}
