package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rlrun/rlrun/framework/experiment"
	"github.com/rlrun/rlrun/framework/result"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
)

// tasksFile is the file in an output directory that says what is known of the
// environments.
const tasksFile = "tasks.json"

// tasks finds out what is known of the environments of a plan, by label. One that
// fails to say is left out: its runs will show what is wrong.
func (s *shared) tasks(ctx context.Context, plan *experiment.Plan) map[string]result.Task {
	known := map[string]result.Task{}
	for _, comp := range plan.Environments {
		p, _, err := s.open(ctx, comp)
		if err != nil {
			continue
		}
		env, err := p.OpenEnvironment(ctx, comp.Params, 2)
		if err != nil {
			continue
		}
		t, err := experiment.DescribeTask(ctx, env)
		if env.Close() == nil && err == nil && t != nil {
			known[comp.Name] = *t
		}
	}
	return known
}

// WriteTasks keeps them for the report.
func WriteTasks(dir string, tasks map[string]result.Task) error {
	if len(tasks) == 0 {
		return nil
	}
	return result.WriteFile(filepath.Join(dir, tasksFile), func(w io.Writer) error { return cli.WriteJSON(w, tasks) })
}

// ReadTasks adds them to what statistics know of an experiment, and with them the
// optimal reward per step of continuing tasks.
func ReadTasks(dir string, meta *result.Meta) error {
	data, err := os.ReadFile(filepath.Join(dir, tasksFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, &meta.Tasks)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(dir, tasksFile), cli.Cause(err))
	}
	meta.Optimum = map[string]float64{}
	for name, t := range meta.Tasks {
		if t.Continuing && t.Gain != nil {
			meta.Optimum[name] = *t.Gain
		}
	}
	return nil
}
