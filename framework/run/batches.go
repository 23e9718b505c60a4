package run

import (
	"slices"
	"sync"
	"time"

	"github.com/rlrun/rlrun/framework/plan"
)

// The number of lanes of a batch, where the config names none. In this process few
// lanes keep the beliefs of a lane in the processor's cache; across processes many
// lanes share the cost of a call (benchmarks: loop.BenchmarkLanes,
// plugin.BenchmarkLanes). But runs of a batch end together, and whatever stops
// rlrun before costs all of them. So a batch is to take about batchTime, by the time
// that batches before it took. Records do not depend on it.
const (
	lanesInProcess = 4
	lanesRemote    = 1024
	batchTime      = 30 * time.Second
	// Interactions of the first batch of a cell, before any time is known.
	firstInProcess = 1 << 23
	firstRemote    = 1 << 18
)

// batchSizer chooses the lanes of the next batch of a cell. A batch of n lanes
// takes fixed + n × perLane; two batches of different sizes tell both.
type batchSizer struct {
	lanes, most    int
	before, latest measured
}

type measured struct {
	lanes int
	took  time.Duration
}

// newBatchSizer returns the sizer of a cell. preferred is the number of lanes that its
// plugins prefer at most, 0 for any.
func newBatchSizer(remote bool, preferred, steps int) *batchSizer {
	most, first := lanesInProcess, firstInProcess
	if remote {
		most, first = lanesRemote, firstRemote
	}
	if preferred > 0 {
		most = min(most, preferred)
	}
	return &batchSizer{lanes: min(max(first/max(steps, 1), 1), most), most: most}
}

// measure records how long a batch took. Small changes of the number of lanes are
// not worth opening lanes anew.
func (s *batchSizer) measure(lanes int, took time.Duration) {
	if lanes != s.latest.lanes {
		s.before = s.latest
	}
	s.latest = measured{lanes, max(took, time.Millisecond)}
	const growth = 16 // at most, by one measurement
	perLane, fixed := float64(s.latest.took)/float64(lanes), 0.0
	if d := s.latest.lanes - s.before.lanes; s.before.lanes > 0 && d != 0 {
		if slope := float64(s.latest.took-s.before.took) / float64(d); slope > 0 && slope < perLane {
			perLane, fixed = slope, float64(s.latest.took)-slope*float64(lanes)
		}
	}
	// Where a batch of one lane takes long, twice its time is no worse.
	target := max(float64(batchTime), 2*fixed)
	want := int(min((target-fixed)/perLane, growth*float64(lanes)))
	if want > 2*s.lanes || 2*want < s.lanes {
		s.lanes = min(max(want, 1), s.most)
	}
}

// batches hands out the runs that are left, cell by cell, to workers.
type batches struct {
	workers int
	size    func(plan.Cell) *batchSizer // nil for a fixed number of lanes
	fixed   int

	mu    sync.Mutex
	jobs  []job
	sizes map[plan.Cell]*batchSizer
	share int // of a worker in the current cell, when the cell began
}

// next returns the next batch, or none.
func (b *batches) next() (j job, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.jobs) == 0 {
		return job{}, false
	}
	cell, left := b.jobs[0].cell, len(b.jobs[0].runs)
	lanes := b.fixed
	if lanes == 0 {
		s := b.sizes[cell]
		if s == nil {
			s = b.size(cell)
			b.sizes[cell] = s
			b.share = (left + b.workers - 1) / b.workers
		}
		// Never so many that a worker has nothing to do; near the end of a cell not
		// so few that lanes are opened again and again.
		lanes = min(s.lanes, b.share)
		if s.most > lanesInProcess {
			lanes = min(lanes, max((left+b.workers-1)/b.workers, b.share/4))
		}
		lanes = max(lanes, 1)
	}
	n := min(lanes, left)
	j = job{cell, b.jobs[0].runs[:n]}
	if b.jobs[0].runs = b.jobs[0].runs[n:]; n == left {
		b.jobs = slices.Delete(b.jobs, 0, 1)
	}
	return j, true
}

// ended records how long a batch took.
func (b *batches) ended(j job, took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.sizes[j.cell]; s != nil {
		s.measure(len(j.runs), took)
	}
}
