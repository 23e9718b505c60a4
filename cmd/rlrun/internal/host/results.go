package host

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/rlrun/rlrun/framework/experiment"
	"github.com/rlrun/rlrun/framework/result"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
)

// ReadResults reads the output directory of an experiment, finished or not: its plan
// and the statistics of its records.
func ReadResults(dir string) (*experiment.Plan, *result.Summary, error) {
	path := filepath.Join(dir, "experiment.yaml")
	c, err := experiment.ReadConfig(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, cli.Usagef("%s holds no experiment.yaml: name an output directory of rlrun run", dir)
	}
	if err != nil {
		return nil, nil, err
	}
	plan, err := experiment.Compile(c)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	meta := plan.Meta()
	if err := ReadTasks(dir, &meta); err != nil {
		return nil, nil, err
	}
	s, err := result.Aggregate(meta, result.ReadRecords(dir))
	return plan, s, err
}
