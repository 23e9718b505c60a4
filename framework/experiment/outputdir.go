package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// ours are the patterns of what rlrun writes into an output directory. A directory has
// the patterns of the files in it; a file has none.
var ours = map[string][]string{
	configFile: nil, provenanceFile: nil, tasksFile: nil, metricsFile: nil,
	"curves.csv": nil, "summary.csv": nil, "decisions.csv": nil, "comparisons.csv": nil, "results.db": nil, ReportFile: nil,
	liveDir: {"*.json", ".*.tmp"}, shardsDir: {"*.json", "*.lock", stageFile, ".*.tmp"}, provenanceDir: {"*.json", ".*.tmp"}, "submit": {"*"},
	"runs": {"*.jsonl", ".*.tmp"}, "plots": {"*.svg", "*.png", ".*.tmp"}, agentsDir: {"*" + agentExt, ".*.tmp"}, ".*.tmp": nil,
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
	if _, err := ReadConfig(filepath.Join(dir, configFile)); err != nil {
		return fmt.Errorf("%s is %w: %w", filepath.Join(dir, configFile), ErrForeign, err)
	}
	for _, e := range entries {
		patterns, known := matchOurs(e.Name())
		if !known || patterns == nil && !e.Type().IsRegular() || patterns != nil && !e.IsDir() {
			return fmt.Errorf("%s is %w", filepath.Join(dir, e.Name()), ErrForeign)
		}
		if !e.IsDir() {
			continue
		}
		inside, err := os.ReadDir(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		for _, f := range inside {
			if !f.Type().IsRegular() || !slices.ContainsFunc(patterns, func(p string) bool { ok, _ := filepath.Match(p, f.Name()); return ok }) {
				return fmt.Errorf("%s is %w", filepath.Join(dir, e.Name(), f.Name()), ErrForeign)
			}
		}
	}
	return nil
}

func matchOurs(name string) (patterns []string, known bool) {
	for pattern, inside := range ours {
		if ok, _ := filepath.Match(pattern, name); ok {
			return inside, true
		}
	}
	return nil, false
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
	Dir string
	Err error
}

// Error returns the error of the cause.
func (e *OutputError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *OutputError) Unwrap() error { return e.Err }
