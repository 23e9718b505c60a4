package run

import (
	"testing"
	"time"

	"github.com/rlrun/rlrun/framework/plan"
)

// The number of lanes follows what a batch costs, so that it takes about batchTime
// and never leaves a worker without work.
func TestBatchSizes(t *testing.T) {
	for name, tt := range map[string]struct {
		remote          bool
		steps           int
		fixed, perLane  time.Duration // of a batch
		least, greatest int           // lanes in the end
	}{
		"cheap":            {true, 1000, 100 * time.Millisecond, time.Millisecond, 1024, 1024},
		"expensive":        {true, 1000, 100 * time.Millisecond, time.Second, 15, 60},
		"slow calls":       {true, 100_000, 60 * time.Second, 10 * time.Millisecond, 1024, 1024},
		"hours":            {true, 1_000_000, time.Minute, time.Hour, 1, 2},
		"in process":       {false, 1000, 0, time.Millisecond, 4, 4},
		"hours in process": {false, 1_000_000, 0, time.Hour, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newBatchSizer(tt.remote, 0, tt.steps)
			for range 20 {
				s.measure(s.lanes, tt.fixed+time.Duration(s.lanes)*tt.perLane)
			}
			if s.lanes < tt.least || s.lanes > tt.greatest {
				t.Errorf("%d lanes, want %d to %d", s.lanes, tt.least, tt.greatest)
			}
		})
	}
	if s := newBatchSizer(true, 8, 1000); s.most != 8 || s.lanes != 8 {
		t.Errorf("%+v, where plugins prefer 8 lanes", s)
	}
	runs := make([]int, 100)
	for i := range runs {
		runs[i] = i
	}
	b := newBatches([]job{{plan.Cell{}, runs}, {plan.Cell{Environment: 0, Agent: 1}, runs[:1]}}, 3, 0, false,
		func(plan.Cell) *batchSizer { return newBatchSizer(true, 0, 10) })
	var got []int
	for j, _, ok := b.next(); ok; j, _, ok = b.next() {
		if len(j.runs) > 34 {
			t.Errorf("%d of 100 runs in a batch for 3 workers", len(j.runs))
		}
		got = append(got, j.runs...)
	}
	if len(got) != 101 || got[0] != 0 || got[99] != 99 || got[100] != 0 {
		t.Errorf("handed out %v", got)
	}
}
