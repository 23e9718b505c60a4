package runcmd

import (
	"io"
	"os"
	"path/filepath"

	"github.com/rlrun/rlrun/framework/experiment"
	"github.com/rlrun/rlrun/framework/report"
	"github.com/rlrun/rlrun/framework/result"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

// remake writes everything in an output directory that is made from its records:
// curves.csv, summary.csv, results.db, plots and report.html, and decisions.csv if
// the host decides for some agent. It returns the
// statistics and the names of the files.
func remake(dir string, plan *experiment.Plan) (*result.Summary, []string, error) {
	meta := plan.Meta()
	if err := host.ReadTasks(dir, &meta); err != nil {
		return nil, nil, err
	}
	runs, err := result.OpenRuns(dir)
	if err != nil {
		return nil, nil, err
	}
	s, err := runs.Aggregate(meta)
	if err != nil {
		return nil, nil, err
	}
	files := []string{"curves.csv", "summary.csv", "results.db", "report.html"}
	for name, write := range map[string]func(io.Writer, *result.Summary) error{
		"curves.csv": result.WriteCurvesCSV, "summary.csv": result.WriteSummaryCSV,
	} {
		if err := result.WriteFile(filepath.Join(dir, name), func(w io.Writer) error { return write(w, s) }); err != nil {
			return nil, nil, err
		}
	}
	if err := result.WriteSQLite(filepath.Join(dir, "results.db"), s, runs.WithoutCurves()); err != nil {
		return nil, nil, err
	}
	if plan.Explores() {
		files = append(files, "decisions.csv")
		err := result.WriteFile(filepath.Join(dir, "decisions.csv"), func(w io.Writer) error {
			return result.WriteDecisionsCSV(w, s, runs.WithoutCurves())
		})
		if err != nil {
			return nil, nil, err
		}
	}
	draw := plan.Config.Report
	options := report.Options{Smooth: draw.Smooth}
	if draw.Axis != "" {
		log := draw.Axis == "log"
		options.LogX = &log
	}
	plots, err := report.WritePlots(dir, s, draw.Metrics, options)
	if err != nil {
		return nil, nil, err
	}
	page := report.Page{Smooth: draw.Smooth, Metrics: draw.Metrics}
	for name, text := range map[string]*string{"experiment.yaml": &page.Config, "provenance.json": &page.Provenance} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, nil, err
		}
		*text = string(data)
	}
	err = result.WriteFile(filepath.Join(dir, "report.html"), func(w io.Writer) error { return report.WriteHTML(w, s, page) })
	return s, append(files, plots...), err
}

// totals counts runs over environments and agents.
func totals(s *result.Summary) (t result.Count) {
	for _, c := range s.Counts {
		t.OK += c.OK
		t.Failed += c.Failed
		t.Missing += c.Missing
	}
	return t
}

// outcome is the answer of rlrun run and rlrun report for machines.
type outcome struct {
	Name        string           `json:"name"`
	Output      string           `json:"output"`
	Runs        int              `json:"runs"`
	OK          int              `json:"ok"`
	Failed      int              `json:"failed"`
	Missing     int              `json:"missing"`
	Reused      *int             `json:"reused,omitempty"`
	Seconds     *float64         `json:"seconds,omitempty"`
	Interrupted bool             `json:"interrupted,omitempty"`
	Mixed       string           `json:"mixed,omitempty"`
	Notices     []string         `json:"notices,omitempty"`
	Files       []string         `json:"files"`
	Summary     []result.Row     `json:"summary"`
	Failures    []result.Failure `json:"failures"`
}

const outcomeKeys = `
--json:
  name, output         of the experiment; the directory of its results
  runs, ok, failed, missing   planned, and how they ended
  mixed                which programs differ between runs, after --mixed; otherwise
                       absent
  notices              sentences about records that were left out; absent if none
                       was
  files                what was made from the records, in the directory
  summary              a row for each environment, agent and metric: environment,
                       agent, metric, n, failed, mean, stderr, ci_low, ci_high,
                       iqm, iqm_ci_low, iqm_ci_high, difference (to the first
                       agent, run by run: n, mean, stderr, ci_low, ci_high)
  failures             environment, agent, run, steps, error`

func newOutcome(dir string, s *result.Summary, files []string) outcome {
	t := totals(s)
	return outcome{
		Name: s.Meta.Name, Output: dir, Runs: t.OK + t.Failed + t.Missing,
		OK: t.OK, Failed: t.Failed, Missing: t.Missing, Mixed: s.Mixed, Notices: s.Notices, Files: files,
		Summary: append([]result.Row{}, s.Rows...), Failures: append([]result.Failure{}, s.Failures...),
	}
}
