// Package output makes the files of an output directory that are made from its records: tables,
// a database, comparisons, plots, the page of results and exports.
package output

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/internal/tempfile"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
)

// Output is a kind of files that are made from records. A new one is a package with one,
// and a line in kinds.
type Output struct {
	Name string // in a config, or of rlrun export
	Doc  string // what it makes, in a sentence
	// Named outputs are made at the end of an experiment only if the config names them.
	Named bool
	// Write makes the files in a directory, which exists, and returns their names there.
	Write func(r *Results, directory string) (files []string, err error)
	// Watch, if not nil, returns a function that writes the files of some runs into a directory
	// while the experiment runs (see run.Settings.Watch). Write replaces them.
	Watch func(dir store.Dir, meta result.Meta, directory string) func([]result.Record)
}

// Choose returns those of the outputs that a config names; for no names, all that need not be named.
func Choose(all []Output, names []string) (list []Output, err error) {
	if len(names) == 0 {
		return slices.DeleteFunc(slices.Clone(all), func(o Output) bool { return o.Named }), nil
	}
	for i, name := range names {
		k := slices.IndexFunc(all, func(o Output) bool { return o.Name == name })
		if k < 0 {
			return nil, plan.At(fmt.Errorf("there is no output %q", name), "outputs", i)
		}
		list = append(list, all[k])
	}
	return list, nil
}

// ExportDir is the directory of exports in an output directory. Each format has a directory there.
const ExportDir = "export"

// Exported makes a format of rlrun export an output, which a config has to name. Its files are
// where the command writes them.
func Exported(o Output) Output {
	inside, write, watch := filepath.Join(ExportDir, o.Name), o.Write, o.Watch
	o.Named = true
	o.Write = func(r *Results, directory string) ([]string, error) {
		if err := os.MkdirAll(filepath.Join(directory, inside), 0o777); err != nil {
			return nil, err
		}
		files, err := write(r, filepath.Join(directory, inside))
		for i := range files {
			files[i] = filepath.Join(inside, files[i])
		}
		return files, err
	}
	if watch != nil {
		o.Watch = func(dir store.Dir, meta result.Meta, directory string) func([]result.Record) {
			return watch(dir, meta, filepath.Join(directory, inside))
		}
	}
	return o
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

// Read computes the statistics of all records. Without iqm it leaves out the interquartile
// means, which no comparison reads.
func Read(e *store.Experiment, iqm bool) (*Results, error) {
	if err := e.Reload(); err != nil {
		return nil, err
	}
	runs, err := e.Dir.Records(context.Background(), e.Plan)
	if err != nil {
		return nil, err
	}
	meta := e.Meta()
	meta.WithoutIQM = !iqm
	s, err := runs.Aggregate(meta)
	if err != nil {
		return nil, e.Dir.Explain(err)
	}
	return New(e, s, runs), nil
}

// Write is Read, and makes the given outputs of the statistics.
func Write(e *store.Experiment, outputs ...Output) (*Results, error) {
	r, err := Read(e, true)
	if err != nil {
		return nil, err
	}
	if len(outputs) > 0 {
		if err := e.Dir.CheckLinks(); err != nil {
			return nil, err
		}
		tempfile.RemoveLeft(e.Dir.Path) // an interrupted report may have left some
	}
	for _, o := range outputs {
		files, err := o.Write(r, e.Dir.Path)
		if err != nil {
			return r, err
		}
		r.Files = append(r.Files, files...)
	}
	return r, nil
}

// New returns the results of an experiment. It counts missing runs as not needed where the test that stops the
// experiment has decided all that they are for.
func New(e *store.Experiment, s *result.Summary, runs *result.Runs) *Results {
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
	return New(f.e, s, runs), nil
}

// Records returns all records, in an order that does not depend on who wrote them.
func (r *Results) Records() iter.Seq2[result.Record, error] { return r.runs.All() }

// WithoutCurves is Records without the curves, which take most of the time to read.
func (r *Results) WithoutCurves() iter.Seq2[result.Record, error] { return r.runs.WithoutCurves() }

// File makes one file of a name in a directory.
func File(directory, name string, write func(io.Writer) error) error {
	return result.WriteFile(filepath.Join(directory, name), write)
}

// Compare compares the agents as the config says; if it says nothing, by their reward
// with the first one.
func (r *Results) Compare() (*compare.Result, error) {
	if r.compared != nil {
		return r.compared, nil
	}
	o := compare.Config{Metric: result.Reward, Pairs: "first", Alpha: compare.DefaultAlpha, Correction: compare.Holm}
	if c := r.Plan.Config.Compare; c != nil {
		o.Metric, o.Pairs, o.Alpha, o.Scores = c.Metric, c.Pairs, c.Alpha, c.Scores
	}
	in := &compare.Input{Dir: r.Dir.Path, Summary: r.Summary, Metric: o.Metric, Alpha: o.Alpha}
	if r.Decision != nil {
		in.Until = r.Decision.Progress
	}
	var err error
	if in.Streams, in.Code, err = r.Dir.Tasks(r.Plan); err != nil {
		return nil, err
	}
	r.compared, err = compare.Compare([]*compare.Input{in}, o)
	return r.compared, err
}
