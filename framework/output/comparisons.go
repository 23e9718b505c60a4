package output

import (
	"fmt"
	"io"
	"slices"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/result"
)

// comparisonsOutput compares agents as the config declares.
type comparisonsOutput struct{}

func (comparisonsOutput) Name() string { return "comparisons" }
func (comparisonsOutput) Doc() string {
	return "comparisons.csv: which agent is better, if the config says how to compare"
}

func (comparisonsOutput) Write(r *Results) ([]string, error) {
	if r.Plan.Config.Compare == nil {
		return nil, nil
	}
	found, err := r.Compare()
	if err != nil { // as of an experiment that was interrupted early
		r.Summary.Notices = append(r.Summary.Notices, fmt.Sprintf("Agents were not compared: %v", err))
		return nil, nil
	}
	const name = "comparisons.csv"
	if err := r.write(name, func(w io.Writer) error { return compare.WriteCSV(w, found) }); err != nil {
		return nil, err
	}
	if slices.Contains(r.Files, databaseFile) {
		err = compare.WriteSQLite(r.path(databaseFile), found)
	}
	return []string{name}, err
}

// Compare compares the agents as the config says; if it says nothing, by their reward
// with the first one.
func (r *Results) Compare() (*compare.Result, error) {
	if r.compared != nil {
		return r.compared, nil
	}
	o := compare.Options{Metric: result.Reward, Pairs: "first", Alpha: compare.DefaultAlpha, Correction: compare.Holm}
	if c := r.Plan.Config.Compare; c != nil {
		o.Metric, o.Pairs, o.Alpha, o.Scores = c.Metric, c.Pairs, c.Alpha, c.Scores
	}
	in := &compare.Input{Dir: r.Dir.Path, Summary: r.Summary, Streams: r.Plan.Streams(nil), Metric: o.Metric, Alpha: o.Alpha}
	if r.Decision != nil {
		in.Until = r.Decision.Progress
	}
	var err error
	r.compared, err = compare.Compare([]*compare.Input{in}, o)
	return r.compared, err
}
