package store

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
	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/plan"
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
	// ErrShardInUse: another process makes the runs of the shard.
	ErrShardInUse = errors.New("another process does this shard")
	// ErrOtherShards: the experiment is divided into another number of shards.
	ErrOtherShards = errors.New("divided into another number of shards")
)

// Existing says what to do about an output directory that holds something.
type Existing int

const (
	Refuse    Existing = iota // an error
	Resume                    // do the runs that it has no record of
	Overwrite                 // remove what rlrun wrote there; an error if there is anything else
)

// Check refuses a directory that Prepare would refuse, before anything is done. It need
// not exist. Its error is an *OutputError.
func (d Dir) Check(existing Existing) error { return d.Error(d.check(existing)) }

func (d Dir) check(existing Existing) error {
	if info, err := os.Stat(d.Path); err == nil && !info.IsDir() {
		return fmt.Errorf("%s %w", d.Path, ErrNoDirectory)
	} else if to, e := os.Readlink(d.Path); e == nil && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s %w: it is a link to %s", d.Path, ErrNoTarget, to)
	} else if err == nil {
		unlock, err := d.Claim()
		if errors.Is(err, ErrInUse) {
			return err
		}
		if err == nil {
			_ = unlock() // until it is known that all plugins are there
		}
	}
	entries, err := d.entries()
	switch {
	case err != nil:
		return err
	case len(entries) > 0 && existing == Refuse:
		return fmt.Errorf("%s %w", d.Path, ErrOutputExists)
	case existing == Overwrite:
		return d.checkOurs(entries)
	}
	return nil
}

// entries returns what the directory holds besides its lock, the programs that are written
// before the experiment begins and temporary files of a process that was killed; nothing if it
// does not exist.
func (d Dir) entries() ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(d.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return e.Name() == lockFile || e.Name() == programsDir && e.IsDir() || tempfile.Ours(e.Name()) && e.Type().IsRegular()
	}), err
}

// made are the patterns of the files that are made from records, as paths with slashes.
var made = []string{
	"curves.csv", "summary.csv", "decisions.csv", "comparisons.csv", "costs.csv", "results.db", "report.html", "plots/*.svg", "plots/*.png",
	"export/parquet/*.parquet", "export/csv/*.csv", "export/latex/summary.tex", "export/tensorboard/*/*/run-*/events.out.tfevents.*.rlrun",
}

// ours are the patterns of all files that rlrun writes into an output directory. Of
// temporary files, records and plots isOurs asks for more.
var ours = append([]string{
	ConfigFile, ProvenanceFile, tasksFile, metricsFile,
	liveDir + "/*.json", costsDir + "/*.json", shardsDir + "/*.json", shardsDir + "/*.lock", stageFile, provenanceDir + "/*.json", loadedDir + "/*.json",
	"runs/*.jsonl", programsDir + "/*", asideDir + "/runs/*.jsonl", agentsDir + "/*" + agentExt, checkpointsDir + "/*/*" + checkpointExt,
	"submit/config.yaml", "submit/submission.json", "submit/job.yaml", "submit/report.yaml",
	"submit/shards.sh", "submit/shards-[0-9]*.sh", "submit/report.sh", "submit/parallel.sh", "submit/shard-[0-9]*.log", "submit/report.log", "submit/parallel.log",
}, made...)

// RemoveMade removes what was made from records, since more are about to be written. If
// the process dies, no file then shows the results of the earlier runs as those of all.
func (d Dir) RemoveMade(p *plan.Plan) error {
	in := os.DirFS(d.Path)
	for _, pattern := range made {
		names, err := fs.Glob(in, pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			file := d.path(name)
			info, err := os.Lstat(file)
			if err == nil && isOurs(p, name, info.Mode().Type()) {
				err = os.Remove(file)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) { // another shard may remove it, too
				return err
			}
		}
	}
	return nil
}

// checkOurs makes sure that rlrun wrote all of the directory's entries.
func (d Dir) checkOurs(entries []fs.DirEntry) error {
	if len(entries) == 0 {
		return nil
	}
	for _, marker := range []string{ConfigFile, ProvenanceFile} {
		i := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return e.Name() == marker })
		if i >= 0 && !entries[i].Type().IsRegular() {
			return fmt.Errorf("%s is no regular file and is %w", d.path(marker), ErrForeign)
		}
		if i < 0 {
			return fmt.Errorf("%s has no %s and is %w", d.Path, marker, ErrForeign)
		}
	}
	config := d.path(ConfigFile)
	c, err := ReadConfig(config)
	if err != nil {
		return fmt.Errorf("%s is %w: %w", config, ErrForeign, err)
	}
	p, err := plan.Compile(c)
	if err != nil {
		return fmt.Errorf("%s is %w: %w", config, ErrForeign, err)
	}
	return filepath.WalkDir(d.Path, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(d.Path, name)
		if err != nil {
			return err
		}
		if inside = filepath.ToSlash(inside); inside == "." || inside == lockFile || isOurs(p, inside, e.Type()) {
			return nil
		}
		return fmt.Errorf("%s is %w", name, ErrForeign)
	})
}

// isOurs tells whether rlrun may have written a file or directory, whose path is relative to
// the output directory and has slashes.
func isOurs(p *plan.Plan, name string, kind fs.FileMode) bool {
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
	case parent == "runs/", parent == asideDir+"/runs/":
		_, ok := result.ParseRecordsName(base)
		return ok
	case parent == "plots/":
		return isPlot(strings.TrimSuffix(base, path.Ext(base)), plan.Labels(p.Environments))
	}
	return true
}

// CheckLinks refuses an output directory in which a link stands for a directory or file that
// rlrun writes into: it may lead anywhere, in a directory that somebody sent. The output
// directory itself may be a link.
func (d Dir) CheckLinks() error {
	return fs.WalkDir(os.DirFS(d.Path), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return nil // there is none yet
		case err != nil:
			return err
		case name == ".":
			return nil
		case e.IsDir() && (!isOurs(nil, name, fs.ModeDir) || name == "runs" || name == agentsDir || name == "plots"):
			return fs.SkipDir // whose files are replaced, and not written into
		case e.Type()&fs.ModeSymlink == 0 || !isOurs(nil, name, fs.ModeDir) && !strings.HasPrefix(name, "export/") && !strings.HasPrefix(name, "submit/"):
			return nil
		}
		to, _ := os.Readlink(d.path(name)) // for people
		return fmt.Errorf("%s is a link to %s, and rlrun writes into the output directory only: replace it by a directory or file, or let the output directory itself be a link", d.path(name), to)
	})
}

// PlotSlugs returns what names of plots begin with: of all environments, then of each. The
// slug of a metric follows.
func PlotSlugs(environments []string) []string {
	return result.Slugs(append([]string{"all"}, environments...)) // no environment takes "all"
}

// isPlot tells whether a plot of an experiment may have this name, without its extension.
func isPlot(name string, environments []string) bool {
	return slices.ContainsFunc(PlotSlugs(environments), func(slug string) bool {
		of, begins := strings.CutPrefix(strings.TrimSuffix(name, CostsSuffix), slug+"-")
		declared := strings.HasPrefix(of, "agent-") || strings.HasPrefix(of, "environment-")
		return begins && (declared || slices.ContainsFunc(metric.Builtin(), func(d metric.Definition) bool { return string(d.Name) == of }))
	})
}

func matches(pattern, name string) bool {
	ok, _ := path.Match(pattern, name)
	return ok
}

// clear removes all that rlrun wrote to the directory. The caller holds its claim. The config is removed last, so that the rest of an
// interrupted removal can still be recognised. Nothing is removed if anything there
// is not rlrun's.
func (d Dir) clear() error {
	entries, err := d.entries()
	if err == nil {
		err = d.checkOurs(entries)
	}
	if err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int {
		rank := func(name string) int { return slices.Index([]string{ProvenanceFile, ConfigFile}, name) }
		return rank(a.Name()) - rank(b.Name())
	})
	for _, e := range entries {
		if err := os.RemoveAll(d.path(e.Name())); err != nil {
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

// Error returns an *OutputError of the directory; nil if err is nil.
func (d Dir) Error(err error) error {
	if err == nil {
		return nil
	}
	return &OutputError{d.Path, err}
}
