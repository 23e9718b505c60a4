package experiment

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/internal/tempfile"
	"github.com/rlrun/rlrun/framework/report"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/inputfile"
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

// chosenOutputs returns the outputs of the given names; all of them for no names.
func chosenOutputs(names []string) ([]Output, error) {
	all := Outputs()
	if len(names) == 0 {
		return all, nil
	}
	var list []Output
	for i, name := range names {
		k := slices.IndexFunc(all, func(o Output) bool { return o.Name() == name })
		if k < 0 {
			return nil, At(fmt.Errorf("there is no output %q", name), "outputs", i)
		}
		list = append(list, all[k])
	}
	return list, nil
}

// Results are what outputs are made from.
type Results struct {
	Plan    *Plan           // of the experiment
	Dir     string          // output directory
	Summary *result.Summary // statistics of all records
	Files   []string        // what outputs made, by their names in Dir

	runs     *result.Runs
	compared *compare.Result
}

// Write computes the statistics of all records and makes the given outputs of them.
// Without outputs it makes no files.
func (x *Experiment) Write(outputs ...Output) (*Results, error) {
	meta, err := x.meta()
	if err != nil {
		return nil, err
	}
	runs, err := result.OpenRuns(x.Dir)
	if err != nil {
		return nil, x.Plan.Blame(err)
	}
	s, err := runs.Aggregate(meta)
	if err != nil {
		return nil, err
	}
	r := x.results(s, runs)
	if len(outputs) > 0 {
		tempfile.RemoveLeft(x.Dir) // an interrupted report may have left some
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

// meta is what the plan and the output directory say of the experiment.
func (x *Experiment) meta() (result.Meta, error) {
	meta := x.Plan.Meta()
	return meta, errors.Join(readTasks(x.Dir, &meta), readDeclared(x.Dir, &meta))
}

func (x *Experiment) results(s *result.Summary, runs *result.Runs) *Results {
	x.Plan.markNotNeeded(s, runs)
	return &Results{Plan: x.Plan, Dir: x.Dir, Summary: s, Files: []string{}, runs: runs}
}

// Follower reads an experiment again and again while it runs, and every record once.
type Follower struct {
	x       *Experiment
	records *result.Follower
}

// Follow returns a follower of the experiment whose output directory is dir. Errors are
// those of OpenPlan.
func Follow(dir string) (*Follower, error) {
	x, err := Read(dir)
	if err != nil {
		return nil, err
	}
	return &Follower{x, result.Follow(dir)}, nil
}

// Read returns the results so far.
func (f *Follower) Read() (*Results, error) {
	meta, err := f.x.meta()
	if err != nil {
		return nil, err
	}
	s, runs, err := f.records.Read(meta)
	if err != nil {
		return nil, err
	}
	return f.x.results(s, runs), nil
}

// Records returns all records, in an order that does not depend on who wrote them.
func (r *Results) Records() iter.Seq2[result.Record, error] { return r.runs.All() }

// WithoutCurves is Records without the curves, which take most of the time to read.
func (r *Results) WithoutCurves() iter.Seq2[result.Record, error] { return r.runs.WithoutCurves() }

// write makes one file.
func (r *Results) write(name string, write func(io.Writer) error) error {
	return result.WriteFile(filepath.Join(r.Dir, name), write)
}

// text reads a text file in the output directory; it is empty if there is none.
func (r *Results) text(name string) (string, error) {
	data, err := inputfile.Read(filepath.Join(r.Dir, name), result.MaxFile)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return string(data), err
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
	return []string{databaseFile}, result.WriteSQLite(filepath.Join(r.Dir, databaseFile), r.Summary, r.WithoutCurves())
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
	return report.WritePlots(r.Dir, r.Summary, draw.Metrics, options)
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
	page := report.Page{Smooth: r.Plan.Config.Report.Smooth, Metrics: r.Plan.Config.Report.Metrics, Sweeps: r.Plan.sweeps()}
	var err error
	if page.Config, err = r.text(configFile); err != nil {
		return page, err
	}
	if page.Provenance, err = r.text(provenanceFile); err != nil {
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
