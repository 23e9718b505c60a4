// Package comparisons writes which agent is better, as the config of an experiment asks.
package comparisons

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/output"
	"github.com/rlrun/rlrun/framework/output/sqlite"
)

// Output makes comparisons.csv, and the same as a table of the database if there is one.
var Output = output.Output{
	Name:  "comparisons",
	Doc:   "comparisons.csv: which agent is better, if the config says how to compare",
	Write: write,
}

func write(r *output.Results, directory string) ([]string, error) {
	if r.Plan.Config.Compare == nil {
		return nil, nil
	}
	found, err := r.Compare()
	if err != nil { // as of an experiment that was interrupted early
		r.Summary.Notices = append(r.Summary.Notices, fmt.Sprintf("Agents were not compared: %v", err))
		return nil, nil
	}
	const name = "comparisons.csv"
	if err := output.File(directory, name, func(w io.Writer) error { return compare.WriteCSV(w, found) }); err != nil {
		return nil, err
	}
	if slices.Contains(r.Files, sqlite.File) {
		err = sqlite.WriteComparisons(filepath.Join(directory, sqlite.File), found)
	}
	return []string{name}, err
}
