package run

import (
	"slices"
	"sync"
	"time"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/space"
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

// largestStep bounds the observations of all lanes in a step, in bytes: processes hold some copies.
const largestStep = 32 << 20

// lanesWithin returns how many lanes have observations within largestStep; 0: any number that is chosen.
func lanesWithin(spec framework.Spec) int {
	one := space.NewColumn(spec.Observation, 1)
	if n := largestStep / (one.Width * one.Type.Size()); n < lanesRemote {
		return max(n, 1)
	}
	return 0
}

// batchSizer chooses the lanes of the next batch of a cell. A batch of n lanes
// takes fixed + n × perLane; two batches of different sizes tell both.
type batchSizer struct {
	remote         bool
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
	return &batchSizer{remote: remote, lanes: min(max(first/max(steps, 1), 1), most), most: most}
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
	size    func(plan.Cell) *batchSizer
	fixed   int // number of lanes; 0: sizes choose it
	// measured says that the cost of the first batch of a remote cell decides in how many parts
	// its runs are divided: see division.
	measured bool

	mu        sync.Mutex
	jobs      []job
	cells     map[plan.Cell]*cellBatches
	measuring int       // cells that are being measured
	settled   sync.Cond // told when there are fewer
}

// cellBatches are those of a cell.
type cellBatches struct {
	*batchSizer
	parts     int // in which the runs that were left when the cell began are divided
	share     int // runs of a part
	measuring bool
}

func newBatches(jobs []job, workers, fixed int, measured bool, size func(plan.Cell) *batchSizer) *batches {
	b := &batches{workers: workers, fixed: fixed, measured: measured && workers > 1, jobs: jobs, cells: map[plan.Cell]*cellBatches{}, size: size}
	b.settled.L = &b.mu
	return b
}

// next returns the next batch, or none. While the first batch of a cell is being measured, other
// workers get no runs of the cell: they get those of the next one, or wait.
func (b *batches) next() (j job, measure, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		for k := range b.jobs {
			if c := b.cells[b.jobs[k].cell]; c == nil || !c.measuring {
				j, measure = b.take(k)
				return j, measure, true
			}
		}
		if b.measuring == 0 {
			return job{}, false, false
		}
		b.settled.Wait()
	}
}

func (b *batches) take(k int) (j job, measure bool) {
	cell, left := b.jobs[k].cell, len(b.jobs[k].runs)
	lanes := b.fixed
	if lanes == 0 {
		c := b.cells[cell]
		if c == nil {
			c = &cellBatches{batchSizer: b.size(cell), parts: b.workers}
			b.cells[cell] = c
			if b.measured && c.remote && left > 1 {
				c.parts, c.measuring, measure = 1, true, true
				b.measuring++
			}
			c.share = (left + c.parts - 1) / c.parts
		}
		// Never so many that a worker has nothing to do; near the end of a cell not
		// so few that lanes are opened again and again.
		lanes = min(c.lanes, c.share)
		if c.remote {
			lanes = min(lanes, max((left+c.parts-1)/c.parts, c.share/4))
		}
		lanes = max(lanes, 1)
	}
	n := min(lanes, left)
	j = job{cell, b.jobs[k].runs[:n]}
	if b.jobs[k].runs = b.jobs[k].runs[n:]; n == left {
		b.jobs = slices.Delete(b.jobs, k, k+1)
	}
	return j, measure
}

// divide ends the measurement of a cell. If its runs are to be made in several parts, those of its
// first batch are handed out anew, and it returns true.
func (b *batches) divide(first job, parts int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settle(first.cell)
	if parts == 1 {
		return false
	}
	runs := first.runs
	b.jobs = slices.DeleteFunc(b.jobs, func(j job) bool {
		if j.cell != first.cell {
			return false
		}
		runs = slices.Concat(runs, j.runs)
		return true
	})
	b.jobs = slices.Insert(b.jobs, 0, job{first.cell, runs})
	c := b.cells[first.cell]
	c.parts, c.share = parts, (len(runs)+parts-1)/parts
	return true
}

func (b *batches) settle(cell plan.Cell) {
	if c := b.cells[cell]; c != nil && c.measuring {
		c.measuring = false
		b.measuring--
		b.settled.Broadcast()
	}
}

// left is how many runs of a cell have not been handed out.
func (b *batches) left(cell plan.Cell) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, j := range b.jobs {
		if j.cell == cell {
			n += len(j.runs)
		}
	}
	return n
}

// ended records how long a batch took; 0 if it did not end well.
func (b *batches) ended(j job, took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settle(j.cell)
	if c := b.cells[j.cell]; c != nil && took > 0 {
		c.measure(len(j.runs), took)
	}
}
