// Package costs shows the time that runs took and the memory of their agents, and scores against the time.
package costs

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/rlrun/rlrun/framework/output"
	"github.com/rlrun/rlrun/framework/output/plots"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
)

// Output makes costs.csv and the drawings. No config names it, as these do not reproduce. Without
// times it makes nothing.
var Output = output.Output{Name: "costs", Named: true, Write: write}

func write(r *output.Results, directory string) ([]string, error) {
	list, err := r.Costs()
	if err != nil || len(list) == 0 {
		return nil, err
	}
	const table = "costs.csv"
	files := []string{table}
	if err := output.File(directory, table, func(w io.Writer) error { return writeCSV(w, list) }); err != nil {
		return nil, err
	}
	m := result.Reward
	if c := r.Plan.Config.Compare; c != nil {
		m = c.Metric
	}
	if err := os.MkdirAll(filepath.Join(directory, "plots"), 0o777); err != nil {
		return files, err
	}
	slugs := store.PlotSlugs(r.Summary.Meta.Environments)
	draw := func(slug string, d plots.Drawing) error {
		names, err := plots.Write(directory, slug+"-"+result.Slug(string(m))+store.CostsSuffix, d)
		files = append(files, names...)
		return err
	}
	all := &plots.Panels{Title: plots.Capital(r.Summary.Meta.Define(m).Axis) + ", by microseconds per step"}
	for i, environment := range r.Summary.Meta.Environments {
		f := NewFigure(r.Summary, list, environment, m)
		if f == nil {
			continue
		}
		if err := draw(slugs[i+1], f); err != nil {
			return files, err
		}
		panel := *f
		panel.Title = environment
		all.Figures = append(all.Figures, &panel)
	}
	if len(all.Figures) < 2 {
		return files, nil
	}
	return files, draw(slugs[0], all)
}

// NewFigure draws the mean of a metric in an environment, with its 95 % interval, over the time of
// a step: a point for each agent, or one for each machine, number of workers and clock. It is nil
// where there is nothing to draw.
func NewFigure(s *result.Summary, list []store.Cost, environment string, m result.Metric) *plots.Figure {
	def := s.Meta.Define(m)
	f := &plots.Figure{Title: fmt.Sprintf("%s: %s by time of a step", environment, def.Title), XLabel: "microseconds per step", YLabel: def.Axis, LogX: true}
	drawn := false
	for _, agent := range s.Meta.Agents {
		l := plots.Line{Label: agent, Points: true}
		row := s.Row(environment, agent, m)
		for i := range list {
			if c := &list[i]; row != nil && !math.IsNaN(row.Mean) && c.Environment == environment && c.Agent == agent && c.Seconds > 0 {
				low, high := row.Low, row.High
				if math.IsNaN(high - low) { // as of one run
					low, high = row.Mean, row.Mean
				}
				l.X, l.Y, l.Low, l.High = append(l.X, c.PerStep()), append(l.Y, row.Mean), append(l.Low, low), append(l.High, high)
				drawn = true
			}
		}
		f.Lines = append(f.Lines, l) // without points it keeps the colours of the others
	}
	if !drawn {
		return nil
	}
	return f
}

func writeCSV(w io.Writer, list []store.Cost) error {
	rows := [][]string{{"environment", "agent", "runs", "steps", "seconds", "microseconds_per_step", "clock", "workers", "processor", "bytes"}}
	for i := range list {
		c := &list[i]
		rows = append(rows, []string{result.CSVCell(c.Environment), result.CSVCell(c.Agent), strconv.Itoa(c.Runs), strconv.Itoa(c.Steps),
			result.CSVNumber(c.Seconds), result.CSVNumber(c.PerStep()), c.Clock, strconv.Itoa(c.Workers), result.CSVCell(c.Processor), strconv.FormatInt(c.Bytes, 10)})
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// WriteTable writes them for a terminal of a width; 0 is no limit.
func WriteTable(w io.Writer, list []store.Cost, width int) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "\nTime of steps: not known. Runs of earlier versions have none, nor have those of a command that was killed.")
		return err
	}
	rows := [][]string{}
	for i := range list {
		c := &list[i]
		memory := "–"
		if c.Bytes > 0 {
			memory = number(float64(c.Bytes) / 1000)
		}
		rows = append(rows, []string{c.Environment, c.Agent, strconv.Itoa(c.Runs), number(c.Seconds), number(c.PerStep()), memory, c.Clock, strconv.Itoa(c.Workers), c.Processor})
	}
	table := result.Table{Header: []result.Heading{
		{Title: "environment", Words: true, Rank: result.Always}, {Title: "agent", Words: true, Rank: result.Always}, {Title: "runs", Rank: 3}, {Title: "seconds", Rank: 4},
		{Title: "µs per step", Rank: result.Always}, {Title: "kB of an agent", Rank: 5}, {Title: "clock", Words: true, Rank: 2}, {Title: "workers", Rank: 1},
		{Title: "processor", Words: true, Rank: 0},
	}, Rows: rows, Wider: "rlrun report DIR --costs"}
	_, err := fmt.Fprintf(w, "\nTime of steps, environment and agent together\n%s\n", table.Text(width))
	return err
}

// number shows three digits or all before the point.
func number(x float64) string {
	digits := 2 - int(math.Floor(math.Log10(max(x, 1e-9))))
	return strconv.FormatFloat(x, 'f', max(0, digits), 64)
}
