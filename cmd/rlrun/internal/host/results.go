package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rlrun/rlrun/framework/output"
	"github.com/rlrun/rlrun/framework/store"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
)

// ErrNotBegun says that an experiment was submitted and its scheduler has started no shard.
var ErrNotBegun = errors.New("no shard has begun yet, or the shards do not see this directory")

// NoExperiment is the error of a directory without an experiment. It wraps ErrNotBegun where
// that is why. Otherwise it names an output directory in dir, or one beside dir whose name is
// similar.
func NoExperiment(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "submit")); err == nil {
		quoted := cli.ShellQuote([]string{dir})
		return cli.Usagef("%s was submitted, and %w; if the machines wrote to directories of their own, copy these here: rsync -a MACHINE:%s/ %[3]s/", dir, ErrNotBegun, quoted)
	}
	hint := ""
	if inside, _ := Outputs(dir); len(inside) > 0 {
		hint = ", such as " + cli.ShellQuote([]string{filepath.Join(dir, inside[0])})
	} else {
		parent, name := filepath.Split(filepath.Clean(dir))
		beside, _ := Outputs(filepath.Clean(parent))
		hint = cli.Suggest(name, beside, parent)
	}
	return cli.Usagef("%s holds no experiment.yaml: name an output directory of rlrun run%s", dir, hint)
}

// IsOutput tells whether dir is an output directory.
func IsOutput(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "experiment.yaml"))
	return err == nil && info.Mode().IsRegular()
}

// Outputs returns the names of the output directories in dir, sorted.
func Outputs(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		if IsOutput(filepath.Join(dir, e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// ReadExperiment reads the experiment of an output directory, finished or not.
func ReadExperiment(dir string) (*store.Experiment, error) {
	if err := cli.CheckOutputDirectory(dir); err != nil {
		return nil, err
	}
	e, err := store.Dir{Path: dir}.Read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, NoExperiment(dir)
	}
	return e, err
}

// ReadResults reads the output directory of an experiment, finished or not, with the
// statistics of its records (output.Read).
func ReadResults(dir string, iqm bool) (*output.Results, error) {
	e, err := ReadExperiment(dir)
	if err != nil {
		return nil, err
	}
	return output.Read(e, iqm)
}
