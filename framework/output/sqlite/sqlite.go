// Package sqlite writes runs, means and decisions as a database.
package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/framework/output"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/inputfile"
)

// File is the name of the database.
const File = "results.db"

// Output makes the database.
var Output = output.Output{
	Name: "sqlite",
	Doc:  File + ": the same in SQLite, and the decisions",
	Write: func(r *output.Results, directory string) ([]string, error) {
		return []string{File}, Write(filepath.Join(directory, File), r.Summary, r.WithoutCurves())
	},
}

const schema = `
CREATE TABLE runs (
	environment TEXT NOT NULL, agent TEXT NOT NULL, run INTEGER NOT NULL,
	status TEXT NOT NULL, steps INTEGER NOT NULL, episodes INTEGER NOT NULL,
	programs TEXT NOT NULL, -- those that made the run: rlrun, environment, agent; see provenance.json
	PRIMARY KEY (environment, agent, run)
) WITHOUT ROWID;
-- one value per run: of a cumulative metric the last, of another the mean over all steps; NULL
-- where it is not known
CREATE TABLE outcomes (
	environment TEXT NOT NULL, agent TEXT NOT NULL, run INTEGER NOT NULL,
	metric TEXT NOT NULL, value REAL,
	PRIMARY KEY (environment, agent, metric, run)
) WITHOUT ROWID;
-- the steps, or episodes, at which curves have points
CREATE TABLE grid (step INTEGER PRIMARY KEY);
-- means over runs, as in curves.csv; none where no run has a value
CREATE TABLE curves (
	environment TEXT NOT NULL, agent TEXT NOT NULL, step INTEGER NOT NULL, runs INTEGER NOT NULL,
	metric TEXT NOT NULL, mean REAL, stderr REAL, ci_low REAL, ci_high REAL,
	PRIMARY KEY (environment, agent, metric, step)
) WITHOUT ROWID;
CREATE TABLE decisions (
	environment TEXT NOT NULL, agent TEXT NOT NULL, run INTEGER NOT NULL, step INTEGER NOT NULL,
	episode INTEGER NOT NULL, state INTEGER NOT NULL, -- state: -1 where observations are not discrete
	option TEXT NOT NULL, explore INTEGER NOT NULL, hold INTEGER NOT NULL, capped INTEGER NOT NULL,
	delta REAL, p REAL, share REAL, advantage REAL,
	"action" INTEGER NOT NULL, other TEXT NOT NULL, greedy REAL, gain REAL, cost REAL, leads TEXT NOT NULL, numbers TEXT NOT NULL,
	PRIMARY KEY (environment, agent, run, step)
) WITHOUT ROWID;
CREATE TABLE failures (
	environment TEXT NOT NULL, agent TEXT NOT NULL, run INTEGER NOT NULL,
	steps INTEGER NOT NULL, error TEXT NOT NULL,
	PRIMARY KEY (environment, agent, run)
) WITHOUT ROWID;
-- a row if runs were made by different programs: which
CREATE TABLE mixed (programs TEXT NOT NULL);
`

// Write writes a database of the records and of the summary made from them,
// replacing the file at path. Unknown values are NULL. Curves of single runs stay in the
// records: at a thousand runs they would be most of the file.
func Write(path string, s *result.Summary, records iter.Seq2[result.Record, error]) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing %s: %w", path, inputfile.Cause(err))
		}
	}()
	return disk.ReplaceDatabase(path, func(temporary string) error { return fillSQLite(temporary, s, records) })
}

func fillSQLite(path string, s *result.Summary, records iter.Seq2[result.Record, error]) error {
	return fill(path, schema, func(in *inserter) error {
		if s.Mixed != "" {
			in.row("mixed", s.Mixed)
		}
		for _, step := range s.Meta.Grid {
			in.row("grid", step)
		}
		for rec, err := range records {
			if err != nil {
				return err
			}
			in.record(&rec)
		}
		for i := range s.Rows {
			in.outcomes(&s.Rows[i])
		}
		for i := range s.Curves {
			in.curve(&s.Curves[i])
		}
		return nil
	})
}

// WriteComparisons replaces the table comparisons of the database at path, which exists. It
// writes a copy and renames it, so that nothing is written through a link.
func WriteComparisons(path string, r *compare.Result) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing comparisons to %s: %w; rlrun report %s makes a damaged one anew", path, err, filepath.Dir(path))
		}
	}()
	if err := disk.CheckDatabase(path); err != nil {
		return err
	}
	return disk.ReplaceDatabase(path, func(temporary string) error {
		if err := copyFile(temporary, path); err != nil {
			return err
		}
		return fill(temporary, "DROP TABLE IF EXISTS comparisons; CREATE TABLE comparisons ("+compare.Schema()+")", func(in *inserter) error {
			for i := range r.Comparisons {
				in.row("comparisons", r.Values(&r.Comparisons[i])...)
			}
			return nil
		})
	})
}

// copyFile writes the file at path, which may be somebody else's, over the file temporary.
func copyFile(temporary, path string) error {
	in, err := inputfile.Open(path, 16*inputfile.GiB)
	if err != nil {
		return inputfile.Cause(err)
	}
	defer in.Close()
	out, err := os.OpenFile(temporary, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// fill changes the schema of a database and adds rows. The file is renamed when it is whole, so
// it needs no journal and no lock of its own.
func fill(path, schema string, add func(*inserter) error) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	dsn := url.URL{Scheme: "file", Path: abs, RawQuery: "nolock=1&_pragma=journal_mode(off)&_pragma=synchronous(off)"}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(schema); err != nil {
		return err
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	in := inserter{tx: tx, tables: map[string]*tableRows{}}
	if err := add(&in); err != nil {
		return err
	}
	if err := in.close(); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return db.Close()
}

// batchRows is how many rows a statement inserts: most of the time of an insertion
// is spent around it.
const batchRows = 50

// inserter collects rows by table, inserts many at a time, and keeps its first error.
type inserter struct {
	tx     *sql.Tx
	tables map[string]*tableRows
	err    error
}

type tableRows struct {
	values    []any // of the rows that are not inserted yet
	width     int
	statement *sql.Stmt // of batchRows rows
}

func (in *inserter) row(table string, values ...any) {
	t := in.tables[table]
	if t == nil {
		t = &tableRows{width: len(values)}
		in.tables[table] = t
	}
	for _, v := range values {
		if x, ok := v.(float64); ok && math.IsNaN(x) {
			v = nil
		}
		t.values = append(t.values, v)
	}
	if len(t.values) == batchRows*t.width {
		in.insert(table, t)
	}
}

func (in *inserter) insert(table string, t *tableRows) {
	rows := len(t.values) / t.width
	if in.err == nil && rows == batchRows {
		if t.statement == nil {
			t.statement, in.err = in.tx.Prepare(insertion(table, t.width, rows))
		}
		if in.err == nil {
			_, in.err = t.statement.Exec(t.values...)
		}
	} else if in.err == nil && rows > 0 {
		_, in.err = in.tx.Exec(insertion(table, t.width, rows), t.values...)
	}
	t.values = t.values[:0]
}

func insertion(table string, width, rows int) string {
	row := ",(?" + strings.Repeat(",?", width-1) + ")"
	return "INSERT INTO " + table + " VALUES " + strings.Repeat(row, rows)[1:]
}

// close inserts what is left.
func (in *inserter) close() error {
	for table, t := range in.tables {
		in.insert(table, t)
	}
	return in.err
}

func (in *inserter) record(r *result.Record) {
	in.row("runs", r.Environment, r.Agent, r.Run, string(r.Status), r.Steps, r.Episodes, r.Programs.String())
	if r.Status != result.OK {
		in.row("failures", r.Environment, r.Agent, r.Run, r.Steps, r.Error)
	}
	for i := range r.Decisions {
		row := []any{r.Environment, r.Agent, r.Run}
		for _, field := range r.Decisions[i].Fields() {
			row = append(row, reflect.ValueOf(field).Elem().Interface())
		}
		in.row("decisions", row...)
	}
}

func (in *inserter) outcomes(r *result.Row) {
	for run, value := range r.Outcomes() {
		in.row("outcomes", r.Environment, r.Agent, run, string(r.Metric), value)
	}
}

func (in *inserter) curve(c *result.Curve) {
	for k, step := range c.Steps {
		if c.Runs[k] > 0 {
			in.row("curves", c.Environment, c.Agent, step, c.Runs[k], string(c.Metric), c.Mean[k], c.StdErr[k], c.Low[k], c.High[k])
		}
	}
}
