package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/framework/result"
)

// An experiment with until: decided that is divided into shards goes on in stages.
// Shards make the runs of a stage. Then Stage looks at all records and begins the next
// one. So only Stage reads all records, and shards agree on what a stage is.

// stageFile is in the directory of shards. It says what Stage decided last. A stage that
// is out of date costs runs that are not needed, or too few, and no result.
const stageFile = "stage"

type stage struct {
	// Needed is the number of runs that a cell needs; cells that need none are absent.
	Needed []cellRuns `json:"needed"`
	// Recorded is the number of runs that had a record.
	Recorded int `json:"recorded"`
}

type cellRuns struct {
	Environment string `json:"environment"`
	Agent       string `json:"agent"`
	Runs        int    `json:"runs"`
}

// ErrNoProgress says that shards were to make runs and made none.
var ErrNoProgress = errors.New("no run was recorded since the last stage began")

// Stage reads the records in dir, as Decide does, and begins the next stage of shards.
// The result needed is the number of runs that each cell needs. It is empty if all
// comparisons are decided. The error wraps ErrNoProgress if runs of the stage are missing
// and none was recorded since the last call of Stage. It is nil if all runs are made.
func (p *Plan) Stage(dir string) (progress []compare.Progress, needed map[result.Key]int, err error) {
	s := p.Sequential()
	if s == nil {
		return nil, nil, nil
	}
	progress, recorded, err := p.decide(dir, s)
	if err != nil {
		return nil, nil, err
	}
	needed = s.Needed(progress, recorded)
	now, missing := stage{Needed: []cellRuns{}, Recorded: len(recorded)}, 0
	for _, c := range p.Cells() {
		key := p.key(c)
		n := needed[key]
		if n == 0 {
			continue
		}
		now.Needed = append(now.Needed, cellRuns{key.Environment, key.Agent, n})
		for key.Run = range n {
			if !recorded[key] {
				missing++
			}
		}
	}
	path := filepath.Join(dir, shardsDir, stageFile)
	before, err := readStage(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	if err == nil && missing > 0 && before.Recorded == now.Recorded {
		return progress, needed, fmt.Errorf("%w, and it lacks %d runs", ErrNoProgress, missing)
	}
	if err := disk.MkdirAll(p.fileSystem(), filepath.Dir(path)); err != nil {
		return nil, nil, err
	}
	return progress, needed, p.writeJSON(path, &now)
}

func readStage(path string) (s stage, err error) {
	err = readJSON(path, &s, "; remove it and call rlrun decide")
	return s, err
}

// stageRuns returns a function that gives the number of runs of a cell that the
// present stage of dir needs. Before Stage is called it is the first block.
// Without until: decided it is all runs.
func (p *Plan) stageRuns(dir string) (func(result.Key) int, error) {
	s := p.Sequential()
	if s == nil {
		return func(result.Key) int { return p.Config.Runs }, nil
	}
	now, err := readStage(filepath.Join(dir, shardsDir, stageFile))
	if errors.Is(err, fs.ErrNotExist) {
		return func(result.Key) int { return min(s.Block, s.Runs) }, nil
	}
	if err != nil {
		return nil, err
	}
	needed := map[result.Key]int{}
	for _, c := range now.Needed {
		needed[result.Key{Environment: c.Environment, Agent: c.Agent}] = c.Runs
	}
	return func(k result.Key) int { k.Run = 0; return needed[k] }, nil
}
