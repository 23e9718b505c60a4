package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rlrun/rlrun/framework/experiment"
	"github.com/rlrun/rlrun/framework/result"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
)

// ErrNotBegun says that an experiment was submitted and its scheduler has started no shard.
var ErrNotBegun = errors.New("no shard has begun yet, or the shards do not see this directory")

// NoExperiment is the error of a directory without an experiment. It wraps ErrNotBegun where
// that is why.
func NoExperiment(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "submit")); err == nil {
		quoted := cli.ShellQuote([]string{dir})
		return cli.Usagef("%s was submitted, and %w; if the machines wrote to directories of their own, copy these here: rsync -a MACHINE:%s/ %[3]s/", dir, ErrNotBegun, quoted)
	}
	return cli.Usagef("%s holds no experiment.yaml: name an output directory of rlrun run", dir)
}

// ReadExperiment reads the experiment of an output directory, finished or not.
func ReadExperiment(dir string) (*experiment.Experiment, error) {
	if err := cli.CheckOutputDirectory(dir); err != nil {
		return nil, err
	}
	x, err := experiment.Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, NoExperiment(dir)
	}
	return x, err
}

// ReadResults reads the output directory of an experiment, finished or not: its plan
// and the statistics of its records.
func ReadResults(dir string) (*experiment.Plan, *result.Summary, error) {
	x, err := ReadExperiment(dir)
	if err != nil {
		return nil, nil, err
	}
	r, err := x.Write()
	if err != nil {
		return nil, nil, err
	}
	return x.Plan, r.Summary, nil
}
