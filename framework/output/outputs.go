// Package output makes the files of an output directory that are made from its records: tables,
// a database, comparisons, plots and the page of results.
package output

import (
	"context"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/internal/tempfile"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/report"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
)

// Output makes files in an output directory from the records there.
type Output interface {
	// Name is the word for it in a config.
	Name() string
	// Doc says in a sentence what it makes.
	Doc() string
	// Write makes the files and returns their names in the output directory.
	Write(r *Results) (files []string, err error)
}

// Outputs lists the outputs that a config can choose from. A new one is a type and
// a line here.
func Outputs() []Output {
	return []Output{csvOutput{}, sqliteOutput{}, comparisonsOutput{}, plotsOutput{}, reportOutput{}}
}

// Choose returns the outputs of the names in a config; all of them for no names.
func Choose(names []string) ([]Output, error) {
	all := Outputs()
	if len(names) == 0 {
		return all, nil
	}
	var list []Output
	for i, name := range names {
		k := slices.IndexFunc(all, func(o Output) bool { return o.Name() == name })
		if k < 0 {
			return nil, plan.At(fmt.Errorf("there is no output %q", name), "outputs", i)
		}
		list = append(list, all[k])
	}
	return list, nil
}

// Results are what outputs are made from.
type Results struct {
	*store.Experiment
	Summary *result.Summary // statistics of all records
	Files   []string        // what outputs made, by their names in Dir
	// Decision is what the test that stops the experiment says; nil if all runs are made.
	Decision *store.Decision

	runs     *result.Runs
	compared *compare.Result
}

// Write computes the statistics of all records and makes the given outputs of them.
// Without outputs it makes no files.
func Write(e *store.Experiment, outputs ...Output) (*Results, error) {
	if err := e.Reload(); err != nil {
		return nil, err
	}
	runs, err := e.Dir.Records(context.Background(), e.Plan)
	if err != nil {
		return nil, err
	}
	s, err := runs.Aggregate(e.Meta())
	if err != nil {
		return nil, e.Dir.Explain(err)
	}
	r := newResults(e, s, runs)
	if len(outputs) > 0 {
		if err := e.Dir.CheckLinks(); err != nil {
			return nil, err
		}
		tempfile.RemoveLeft(e.Dir.Path) // an interrupted report may have left some
	}
	for _, o := range outputs {
		files, err := o.Write(r)
		if err != nil {
			return r, err
		}
		r.Files = append(r.Files, files...)
	}
	return r, nil
}

// newResults counts missing runs as not needed where the test that stops the
// experiment has decided all that they are for.
func newResults(e *store.Experiment, s *result.Summary, runs *result.Runs) *Results {
	r := &Results{Experiment: e, Summary: s, Files: []string{}, runs: runs, Decision: store.Decided(e.Plan, s, runs)}
	if r.Decision == nil {
		return r
	}
	for i := range s.Counts {
		c := &s.Counts[i]
		if r.Decision.Needed[result.Key{Environment: c.Environment, Agent: c.Agent}] == 0 {
			c.NotNeeded, c.Missing = c.Missing, 0
		}
	}
	return r
}

// Follower reads an experiment again and again while it runs, and every record once.
type Follower struct {
	e       *store.Experiment
	records *result.Follower
}

// Follow returns a follower of the experiment whose output directory is dir. Errors are
// those of Dir.Read.
func Follow(dir store.Dir) (*Follower, error) {
	e, err := dir.Read()
	if err != nil {
		return nil, err
	}
	return &Follower{e, result.Follow(dir.Path)}, nil
}

// Read returns the results so far.
func (f *Follower) Read() (*Results, error) {
	if err := f.e.Reload(); err != nil {
		return nil, err
	}
	s, runs, err := f.records.Read(f.e.Meta())
	if err != nil {
		return nil, err
	}
	return newResults(f.e, s, runs), nil
}

// Records returns all records, in an order that does not depend on who wrote them.
func (r *Results) Records() iter.Seq2[result.Record, error] { return r.runs.All() }

// WithoutCurves is Records without the curves, which take most of the time to read.
func (r *Results) WithoutCurves() iter.Seq2[result.Record, error] { return r.runs.WithoutCurves() }

func (r *Results) path(name string) string { return filepath.Join(r.Dir.Path, name) }

// write makes one file.
func (r *Results) write(name string, write func(io.Writer) error) error {
	return result.WriteFile(r.path(name), write)
}

// csvOutput makes tables of text.
type csvOutput struct{}

func (csvOutput) Name() string { return "csv" }
func (csvOutput) Doc() string {
	return "curves.csv and summary.csv: means over runs with 95 % intervals; decisions.csv of agents with exploration"
}

func (csvOutput) Write(r *Results) ([]string, error) {
	files := []string{"curves.csv", "summary.csv"}
	tables := []func(io.Writer) error{
		func(w io.Writer) error { return result.WriteCurvesCSV(w, r.Summary) },
		func(w io.Writer) error { return result.WriteSummaryCSV(w, r.Summary) },
	}
	if r.Plan.Explores() {
		files = append(files, "decisions.csv")
		tables = append(tables, func(w io.Writer) error { return result.WriteDecisionsCSV(w, r.Summary, r.WithoutCurves()) })
	}
	for i, write := range tables {
		if err := r.write(files[i], write); err != nil {
			return nil, err
		}
	}
	return files, nil
}

const databaseFile = "results.db"

// sqliteOutput makes a database.
type sqliteOutput struct{}

func (sqliteOutput) Name() string { return "sqlite" }
func (sqliteOutput) Doc() string  { return "results.db: the same in SQLite, and the decisions" }

func (sqliteOutput) Write(r *Results) ([]string, error) {
	return []string{databaseFile}, result.WriteSQLite(r.path(databaseFile), r.Summary, r.WithoutCurves())
}

// plotsOutput makes drawings.
type plotsOutput struct{}

func (plotsOutput) Name() string { return "plots" }
func (plotsOutput) Doc() string {
	return "plots/: a drawing of each metric in each environment, and one of all environments"
}

func (plotsOutput) Write(r *Results) ([]string, error) {
	draw := r.Plan.Config.Report
	options := report.Options{Smooth: draw.Smooth}
	if draw.Axis != "" {
		options.LogX = new(draw.Axis == "log")
	}
	return report.WritePlots(r.Dir.Path, r.Summary, draw.Metrics, options)
}

// ReportFile is the page of results in an output directory.
const ReportFile = "report.html"

// reportOutput makes a page.
type reportOutput struct{}

func (reportOutput) Name() string { return "report" }
func (reportOutput) Doc() string {
	return ReportFile + ": a page of curves and tables that opens offline"
}

func (reportOutput) Write(r *Results) (files []string, err error) {
	page, err := r.Page(true)
	if err != nil {
		return nil, err
	}
	return []string{ReportFile}, r.write(ReportFile, func(w io.Writer) error { return report.WriteHTML(w, r.Summary, page) })
}

// Page returns what the report page shows besides the summary. If compared is true,
// agents are compared as the config says, or else by their reward with the first one.
func (r *Results) Page(compared bool) (report.Page, error) {
	page := report.Page{Smooth: r.Plan.Config.Report.Smooth, Metrics: r.Plan.Config.Report.Metrics, Sweeps: sweeps(r.Plan)}
	var err error
	if page.Config, err = r.Dir.Text(store.ConfigFile); err != nil {
		return page, err
	}
	if page.Provenance, err = r.Dir.Text(store.ProvenanceFile); err != nil {
		return page, err
	}
	if compared && len(r.Summary.Meta.Agents) > 1 {
		found, err := r.Compare()
		if err != nil && r.Plan.Config.Compare == nil {
			return page, nil // as of runs without rewards
		}
		if err != nil {
			page.Notices = append(page.Notices, fmt.Sprintf("Agents were not compared: %v.", err))
		}
		page.Comparison = found
	}
	return page, nil
}
