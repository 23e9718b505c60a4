// Package tables writes the records of an experiment as tables in long format, for pandas, R and
// DuckDB: as Parquet and as CSV.
package tables

import (
	"errors"
	"io"
	"io/fs"
	"iter"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/rlrun/rlrun/framework/output"
	"github.com/rlrun/rlrun/framework/result"
)

// Parquet and CSV make the same tables: runs, outcomes, curves and, of agents with
// exploration, decisions.
var (
	Parquet = output.Output{Name: "parquet", Doc: "runs, outcomes, curves and decisions, one .parquet file each", Write: writeTables(parquetFile)}
	CSV     = output.Output{Name: "csv", Doc: "the same tables as .csv files", Write: writeTables(csvFile)}
)

// The rows of the tables. Tags name the columns in every format.
type (
	runRow struct {
		Environment string `parquet:"environment,dict"`
		Agent       string `parquet:"agent,dict"`
		Run         int64  `parquet:"run"`
		Status      string `parquet:"status,dict"`
		Steps       int64  `parquet:"steps"`
		Episodes    int64  `parquet:"episodes"`
		Programs    string `parquet:"programs,dict"`
		Error       string `parquet:"error"`
	}
	// outcomeRow is the value of a run: of a cumulative metric the last, of another the
	// mean over all steps.
	outcomeRow struct {
		Environment string  `parquet:"environment,dict"`
		Agent       string  `parquet:"agent,dict"`
		Run         int64   `parquet:"run"`
		Metric      string  `parquet:"metric,dict"`
		Value       float64 `parquet:"value"`
	}
	// curveRow is a point of the curve of a single run.
	curveRow struct {
		Environment string  `parquet:"environment,dict"`
		Agent       string  `parquet:"agent,dict"`
		Run         int64   `parquet:"run"`
		Metric      string  `parquet:"metric,dict"`
		Step        int64   `parquet:"step"`
		Value       float64 `parquet:"value"`
	}
	decisionRow struct {
		Environment string `parquet:"environment,dict"`
		Agent       string `parquet:"agent,dict"`
		Run         int64  `parquet:"run"`
		result.Decision
	}
)

func runRows(_ *output.Results, r *result.Record) []runRow {
	return []runRow{{r.Environment, r.Agent, int64(r.Run), string(r.Status), int64(r.Steps), int64(r.Episodes), r.Programs.String(), r.Error}}
}

func curveRows(s *output.Results, r *result.Record) (rows []curveRow) {
	for _, m := range slices.Sorted(maps.Keys(r.Curves)) {
		for i, x := range r.Curves[m] {
			if i < len(s.Summary.Meta.Grid) && !math.IsNaN(x) {
				rows = append(rows, curveRow{r.Environment, r.Agent, int64(r.Run), string(m), int64(s.Summary.Meta.Grid[i]), x})
			}
		}
	}
	return rows
}

func decisionRows(_ *output.Results, r *result.Record) (rows []decisionRow) {
	for i := range r.Decisions {
		rows = append(rows, decisionRow{r.Environment, r.Agent, int64(r.Run), r.Decisions[i]})
	}
	return rows
}

func outcomeRows(s *output.Results) iter.Seq2[[]outcomeRow, error] {
	return func(yield func([]outcomeRow, error) bool) {
		for i := range s.Summary.Rows {
			r := &s.Summary.Rows[i]
			var rows []outcomeRow
			for run, value := range r.Outcomes() {
				rows = append(rows, outcomeRow{r.Environment, r.Agent, int64(run), string(r.Metric), value})
			}
			if !yield(rows, nil) {
				return
			}
		}
	}
}

// ofRecords makes rows of every record.
func ofRecords[T any](s *output.Results, rows func(*output.Results, *result.Record) []T) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		for rec, err := range s.Records() {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(rows(s, &rec), nil) {
				return
			}
		}
	}
}

// tableFile is a format of tables: a function a kind of row.
type tableFile struct {
	extension string
	runs      func(io.Writer, iter.Seq2[[]runRow, error]) error
	outcomes  func(io.Writer, iter.Seq2[[]outcomeRow, error]) error
	curves    func(io.Writer, iter.Seq2[[]curveRow, error]) error
	decisions func(io.Writer, iter.Seq2[[]decisionRow, error]) error
}

var (
	parquetFile = tableFile{".parquet", writeParquet[runRow], writeParquet[outcomeRow], writeParquet[curveRow], writeParquet[decisionRow]}
	csvFile     = tableFile{".csv", writeCSV[runRow], writeCSV[outcomeRow], writeCSV[curveRow], writeCSV[decisionRow]}
)

// writeTables writes the tables; decisions only if there are any.
func writeTables(f tableFile) func(*output.Results, string) ([]string, error) {
	return func(s *output.Results, directory string) (files []string, err error) {
		add := func(name string, write func(io.Writer) error) {
			if err == nil {
				files = append(files, name+f.extension)
				err = output.File(directory, name+f.extension, write)
			}
		}
		add("runs", func(w io.Writer) error { return f.runs(w, ofRecords(s, runRows)) })
		add("outcomes", func(w io.Writer) error { return f.outcomes(w, outcomeRows(s)) })
		add("curves", func(w io.Writer) error { return f.curves(w, ofRecords(s, curveRows)) })
		if len(s.Summary.Choices) > 0 {
			add("decisions", func(w io.Writer) error { return f.decisions(w, ofRecords(s, decisionRows)) })
		} else if gone := os.Remove(filepath.Join(directory, "decisions"+f.extension)); err == nil && !errors.Is(gone, fs.ErrNotExist) {
			err = gone // those of an earlier export
		}
		return files, err
	}
}
