package result

import (
	"bufio"
	"encoding/csv"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rlrun/rlrun/internal/printable"
)

// WriteCurvesCSV writes one line for every point of every curve: environment,
// agent, step, runs, metric, mean, stderr, ci_low, ci_high. Unknown values are NaN.
// Points at which no run has a value are left out. If the summary is mixed, a last
// column "programs" says so.
func WriteCurvesCSV(w io.Writer, s *Summary) error {
	c := newTable(w, s, "environment", "agent", "step", "runs", "metric", "mean", "stderr", "ci_low", "ci_high")
	for i := range s.Curves {
		curve := &s.Curves[i]
		for k, step := range curve.Steps {
			if curve.Runs[k] == 0 {
				continue
			}
			c.row(curve.Environment, curve.Agent, strconv.Itoa(step), strconv.Itoa(curve.Runs[k]), string(curve.Metric),
				number(curve.Mean[k]), number(curve.StdErr[k]), number(curve.Low[k]), number(curve.High[k]))
		}
	}
	return c.close()
}

// WriteSummaryCSV writes one line for every row of the summary. The difference
// columns compare with the experiment's first agent and are empty for it. If the
// summary is mixed, a last column "programs" says so.
func WriteSummaryCSV(w io.Writer, s *Summary) error {
	c := newTable(w, s, "environment", "agent", "metric", "n", "failed", "mean", "stderr", "ci_low", "ci_high",
		"iqm", "iqm_ci_low", "iqm_ci_high", "difference", "difference_ci_low", "difference_ci_high")
	for i := range s.Rows {
		r := &s.Rows[i]
		var diff, low, high string
		if d := r.Difference; d != nil {
			diff, low, high = number(d.Mean), number(d.Low), number(d.High)
		}
		c.row(r.Environment, r.Agent, string(r.Metric), strconv.Itoa(r.N), strconv.Itoa(r.Failed),
			number(r.Mean), number(r.StdErr), number(r.Low), number(r.High),
			number(r.IQM), number(r.IQMLow), number(r.IQMHigh), diff, low, high)
	}
	return c.close()
}

// WriteDecisionsCSV writes one line for every decision in the records that the
// summary was made from. If it is mixed, a last column "programs" says so.
func WriteDecisionsCSV(w io.Writer, s *Summary, records iter.Seq2[Record, error]) error {
	c := newTable(w, s, "environment", "agent", "run", "step", "episode", "state", "option", "explore", "hold", "capped",
		"delta", "p", "share", "advantage", "action", "other", "greedy", "gain", "cost", "leads")
	for r, err := range records {
		if err != nil {
			return err
		}
		for i := range r.Decisions {
			d := &r.Decisions[i]
			c.row(r.Environment, r.Agent, strconv.Itoa(r.Run), strconv.Itoa(d.Step), strconv.Itoa(d.Episode), strconv.Itoa(d.State),
				d.Option, strconv.FormatBool(d.Explore), strconv.Itoa(d.Hold), strconv.FormatBool(d.Capped),
				number(d.Delta), number(d.P), number(d.Share), number(d.Advantage),
				strconv.Itoa(d.Action), d.Other, number(d.Greedy), number(d.Gain), number(d.Cost), d.Leads)
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

func newTable(w io.Writer, s *Summary, header ...string) *csvTable {
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
		fields[i] = CSVCell(field)
	}
	if t.err == nil {
		t.err = t.Write(fields)
	}
}

// CSVCell returns a cell of a CSV file. Control characters and format characters are
// replaced by U+FFFD. A text that a spreadsheet would take for a formula gets an apostrophe
// in front. Some spreadsheets leave out what cannot be seen before a formula, and some take
// wide signs for narrow ones.
func CSVCell(field string) string {
	field = printable.Text(field)
	begin := strings.TrimLeftFunc(field, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) })
	if r, _ := utf8.DecodeRuneInString(begin); begin == "" || !strings.ContainsRune("=+-@＝＋－＠", r) {
		return field
	}
	if _, err := strconv.ParseFloat(field, 64); err == nil {
		return field
	}
	return "'" + field
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

func number(x float64) string {
	if math.IsNaN(x) {
		return "NaN"
	}
	return string(appendFloat(nil, x))
}
