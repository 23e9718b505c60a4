package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
)

// Decision is what the test that stops an experiment says of its records.
type Decision struct {
	Progress []compare.Progress  // of every comparison
	Recorded map[result.Key]bool // the runs that have a record
	// Needed is the number of runs that each agent needs in an environment, by label. Keys
	// have run 0. It is 0 where all is decided.
	Needed map[result.Key]int
}

// Decide lets the test that stops the experiment look at the records. Nil if all runs are
// made.
func (d Dir) Decide(p *plan.Plan) (*Decision, error) {
	s := p.Sequential()
	if s == nil {
		return nil, nil
	}
	e := &Experiment{Dir: d, Plan: p}
	if err := e.Reload(); err != nil { // bounds of rewards say what is rounding
		return nil, err
	}
	meta := e.Meta()
	meta.Metrics = []result.Metric{s.Metric.RecordedAs()}
	runs, err := d.Records(context.Background(), p) // once, as shards may add records meanwhile
	if err != nil {
		return nil, err
	}
	summary, err := runs.Aggregate(meta)
	if err != nil {
		return nil, err
	}
	return Decided(p, summary, runs), nil
}

// Decided is what the test that stops the experiment says of records and their
// statistics. Nil if all runs are made.
func Decided(p *plan.Plan, summary *result.Summary, runs *result.Runs) *Decision {
	s := p.Sequential()
	if s == nil {
		return nil
	}
	out := &Decision{Recorded: map[result.Key]bool{}}
	for i := range runs.Entries {
		out.Recorded[runs.Entries[i].Key] = true
	}
	out.Progress = s.Decide(summary, out.Recorded)
	out.Needed = s.Needed(out.Progress, out.Recorded)
	return out
}

// An experiment with until: decided that is divided into shards goes on in stages.
// Shards make the runs of a stage. Then Stage looks at all records and begins the next
// one. So only Stage reads all records, and shards agree on what a stage is.

// stage is the content of stageFile: what Stage decided last. A stage that is out of date
// costs runs that are not needed, or too few, and no result.
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

// Stage lets the test look at the records, as Decide does, and begins the next stage of
// shards. No runs are needed if all comparisons are decided. The error wraps ErrNoProgress
// if runs of the stage are missing and none was recorded since the last call of Stage.
// The decision is nil if all runs are made.
func (d Dir) Stage(p *plan.Plan) (*Decision, error) {
	if err := d.CheckLinks(); err != nil {
		return nil, err
	}
	decision, err := d.Decide(p)
	if decision == nil || err != nil {
		return nil, err
	}
	now, missing := stage{Needed: []cellRuns{}, Recorded: len(decision.Recorded)}, 0
	for _, c := range p.Cells {
		key := p.Key(c)
		n := decision.Needed[key]
		if n == 0 {
			continue
		}
		now.Needed = append(now.Needed, cellRuns{key.Environment, key.Agent, n})
		for key.Run = range n {
			if !decision.Recorded[key] {
				missing++
			}
		}
	}
	before, begun, err := d.readStage()
	if err != nil {
		return nil, err
	}
	if begun && missing > 0 && before.Recorded == now.Recorded {
		return decision, fmt.Errorf("%w, and it lacks %d runs", ErrNoProgress, missing)
	}
	return decision, d.writeJSON(stageFile, &now)
}

func (d Dir) readStage() (s stage, begun bool, err error) {
	begun, err = d.readJSON(stageFile, &s, "; remove it and call rlrun decide")
	return s, begun, err
}

// StageRuns returns a function that gives the number of runs of a cell that the
// present stage needs. Before Stage is called it is the first block.
// Without until: decided it is all runs.
func (d Dir) StageRuns(p *plan.Plan) (func(result.Key) int, error) {
	s := p.Sequential()
	if s == nil {
		return func(result.Key) int { return p.Config.Runs }, nil
	}
	now, begun, err := d.readStage()
	if err != nil {
		return nil, err
	}
	if !begun {
		return func(result.Key) int { return min(s.Block, s.Runs) }, nil
	}
	needed := map[result.Key]int{}
	for _, c := range now.Needed {
		needed[result.Key{Environment: c.Environment, Agent: c.Agent}] = c.Runs
	}
	return func(k result.Key) int { k.Run = 0; return needed[k] }, nil
}
