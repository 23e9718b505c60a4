package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework/internal/tempfile"
	"github.com/rlrun/rlrun/framework/report"
	"github.com/rlrun/rlrun/framework/result"
)

// Reasons to refuse an output directory, besides those of the operating system.
var (
	// ErrInUse: another process writes to the output directory.
	ErrInUse = errors.New("in use")
	// ErrOutputExists: the output directory already holds results.
	ErrOutputExists = errors.New("holds something already")
	// ErrOtherExperiment: it holds another experiment than the one to resume.
	ErrOtherExperiment = errors.New("another experiment")
	// ErrForeign: it holds something that rlrun did not write.
	ErrForeign = errors.New("not written by rlrun")
	// ErrNoDirectory: the path of the output directory is a file.
	ErrNoDirectory = errors.New("is a file, and results need a directory")
	// ErrNoTarget: the path of the output directory is a link to nothing.
	ErrNoTarget = errors.New("leads to a directory that does not exist")
)

// Existing says what to do about an output directory that holds something.
type Existing int

const (
	Refuse    Existing = iota // an error
	Resume                    // do the runs that it has no record of
	Overwrite                 // remove what rlrun wrote there; an error if there is anything else
)

// CheckOutput refuses an output directory that Local would refuse, before anything
// is done. It need not exist. Its error is an *OutputError.
func CheckOutput(dir string, existing Existing) error {
	if err := checkOutput(dir, existing); err != nil {
		return &OutputError{dir, err}
	}
	return nil
}

func checkOutput(dir string, existing Existing) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s %w", dir, ErrNoDirectory)
	} else if to, e := os.Readlink(dir); e == nil && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s %w: it is a link to %s", dir, ErrNoTarget, to)
	} else if err == nil {
		unlock, err := Lock(dir)
		if errors.Is(err, ErrInUse) {
			return err
		}
		if err == nil {
			_ = unlock() // until it is known that all plugins are there
		}
	}
	entries, err := outputEntries(dir)
	switch {
	case err != nil:
		return err
	case len(entries) > 0 && existing == Refuse:
		return fmt.Errorf("%s %w", dir, ErrOutputExists)
	case existing == Overwrite:
		return checkOurs(dir, entries)
	}
	return nil
}

// outputEntries returns what an output directory holds besides its lock; nothing if
// it does not exist.
func outputEntries(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == lockFile }), err
}

// made are the patterns of the files that are made from records, as paths with slashes.
var made = []string{
	"curves.csv", "summary.csv", "decisions.csv", "comparisons.csv", databaseFile, ReportFile, "plots/*.svg", "plots/*.png",
	"export/parquet/*.parquet", "export/csv/*.csv", "export/latex/summary.tex", "export/tensorboard/*/*/run-*/events.out.tfevents.*.rlrun",
}

// ours are the patterns of all files that rlrun writes into an output directory. Of
// temporary files, records and plots isOurs asks for more.
var ours = append([]string{
	configFile, provenanceFile, tasksFile, metricsFile,
	liveDir + "/*.json", shardsDir + "/*.json", shardsDir + "/*.lock", shardsDir + "/" + stageFile, provenanceDir + "/*.json",
	"runs/*.jsonl", agentsDir + "/*" + agentExt,
	"submit/config.yaml", "submit/submission.json", "submit/job.yaml", "submit/report.yaml",
	"submit/shards.sh", "submit/report.sh", "submit/parallel.sh", "submit/shard-[0-9]*.log", "submit/report.log", "submit/parallel.log",
}, made...)

// removeMade removes what was made from records, since more are about to be written. If
// the process dies, no file then shows the results of the earlier runs as those of all.
func (p *Plan) removeMade(dir string) error {
	in := os.DirFS(dir)
	for _, pattern := range made {
		names, err := fs.Glob(in, pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			file := filepath.Join(dir, filepath.FromSlash(name))
			info, err := os.Lstat(file)
			if err == nil && p.isOurs(name, info.Mode().Type()) {
				err = os.Remove(file)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) { // another shard may remove it, too
				return err
			}
		}
	}
	return nil
}

// checkOurs makes sure that rlrun wrote all of an output directory's entries.
func checkOurs(dir string, entries []fs.DirEntry) error {
	if len(entries) == 0 {
		return nil
	}
	for _, marker := range []string{configFile, provenanceFile} {
		if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == marker && e.Type().IsRegular() }) {
			return fmt.Errorf("%s has no %s and is %w", dir, marker, ErrForeign)
		}
	}
	config := filepath.Join(dir, configFile)
	c, err := ReadConfig(config)
	if err != nil {
		return fmt.Errorf("%s is %w: %w", config, ErrForeign, err)
	}
	plan, err := Compile(c)
	if err != nil {
		return fmt.Errorf("%s is %w: %w", config, ErrForeign, err)
	}
	return filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		if inside = filepath.ToSlash(inside); inside == "." || inside == lockFile || plan.isOurs(inside, e.Type()) {
			return nil
		}
		return fmt.Errorf("%s is %w", name, ErrForeign)
	})
}

// isOurs tells whether rlrun may have written a file or directory, whose path is relative to
// the output directory and has slashes.
func (p *Plan) isOurs(name string, kind fs.FileMode) bool {
	depth := strings.Count(name, "/") + 1
	if kind.IsDir() {
		return slices.ContainsFunc(ours, func(pattern string) bool {
			parts := strings.Split(pattern, "/")
			return len(parts) > depth && matches(path.Join(parts[:depth]...), name)
		})
	}
	parent, base := path.Split(name)
	switch {
	case !kind.IsRegular():
		return false
	case tempfile.Ours(base):
		return true
	case !slices.ContainsFunc(ours, func(pattern string) bool { return matches(pattern, name) }):
		return false
	case parent == "runs/":
		_, ok := result.OriginOf(base)
		return ok
	case parent == "plots/":
		return report.IsPlot(strings.TrimSuffix(base, path.Ext(base)), labels(p.Environments))
	}
	return true
}

func matches(pattern, name string) bool {
	ok, _ := path.Match(pattern, name)
	return ok
}

// clearOutput removes all that rlrun wrote to an output directory. The caller holds
// the directory's lock. The config is removed last, so that the rest of an
// interrupted removal can still be recognised. Nothing is removed if anything there
// is not rlrun's.
func clearOutput(dir string) error {
	entries, err := outputEntries(dir)
	if err == nil {
		err = checkOurs(dir, entries)
	}
	if err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int {
		rank := func(name string) int { return slices.Index([]string{provenanceFile, configFile}, name) }
		return rank(a.Name()) - rank(b.Name())
	})
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// OutputError is an error of preparing an output directory: nothing in it was
// changed, or the directory cannot be written to.
type OutputError struct {
	Dir string // output directory
	Err error  // why it cannot be used
}

// Error returns the error of the cause.
func (e *OutputError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *OutputError) Unwrap() error { return e.Err }
