package run

import (
	"context"
	"time"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/store"
)

// measuredCells is the most cells that MeasureRuns looks at.
const measuredCells = 40

// MeasureRuns estimates two times by short runs that leave no record. They are the time that
// one core needs for one run of every cell together, and the longest time
// that a run may take among the runs of its batch.
func (x *Runner) MeasureRuns(ctx context.Context) (all, longest time.Duration, err error) {
	cells := x.Plan.Cells
	stride := (len(cells) + measuredCells - 1) / measuredCells
	measured := 0
	for i := 0; i < len(cells); i += stride {
		lanes, took, err := x.measureCell(ctx, cells[i])
		if err != nil {
			return 0, 0, err
		}
		measured++
		all += took / time.Duration(lanes)
		longest = max(longest, took)
	}
	return all * time.Duration(len(cells)) / time.Duration(measured), longest, nil
}

// measureCell returns the time that a batch of full length takes. Its runs become
// longer until they take long enough to be measured.
func (x *Runner) measureCell(ctx context.Context, c plan.Cell) (lanes int, took time.Duration, err error) {
	const enough = 150 * time.Millisecond
	lanes = lanesInProcess
	o := execution{plan: x.Plan, remote: x.remote, lanes: x.preferredLanes}
	if o.isRemote(c) {
		lanes = 64
	}
	if n := o.preferred(c); n > 0 {
		lanes = min(lanes, n)
	}
	lanes = min(lanes, x.Plan.Config.Runs)
	runs := make([]int, lanes)
	for i := range runs {
		runs[i] = i
	}
	full := x.Plan.Config.Steps
	for steps := min(1000, full); ; steps = min(8*steps, full) {
		short := *x.Plan
		short.Config.Steps = steps
		short.Grid = []int{short.Config.Budget()}
		w := &worker{execution: &execution{plan: &short, warm: x.warm, open: x.pool.open, session: &store.Session{}}, cell: c}
		if _, err := w.instances(ctx, lanes); err != nil {
			w.close()
			return 0, 0, err
		}
		began := time.Now()
		outcomes, err := w.attempt(ctx, runs)
		took = time.Since(began)
		w.close()
		if err != nil {
			return 0, 0, err
		}
		if full == 0 {
			return lanes, took, nil
		}
		share := 0.0 // of the budget
		for _, o := range outcomes {
			part := float64(o.Steps) / float64(full)
			if n := x.Plan.Config.Episodes; n > 0 {
				part = max(part, float64(o.Episodes)/float64(n))
			}
			share += part / float64(lanes)
		}
		if took >= enough || steps == full || share > 1-1e-9 {
			return lanes, time.Duration(float64(took) / share), nil
		}
	}
}
