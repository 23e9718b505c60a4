package run

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/space"
)

// A cell is divided only if messages and further processes add little to what its runs cost.
func TestParts(t *testing.T) {
	us := time.Microsecond
	for name, tt := range map[string]struct {
		cost
		runs, steps, workers, want int
	}{
		"CartPole, 4 runs":                 {cost{80 * us, 45 * us, 0}, 4, 100_000, 2, 1},
		"CartPole, 100 runs":               {cost{80 * us, 45 * us, 0}, 100, 100_000, 2, 2},
		"four workers of eight":            {cost{100 * us, 40 * us, 0}, 100, 100_000, 8, 5},
		"a short one, slow to start":       {cost{80 * us, 45 * us, time.Second}, 100, 1000, 2, 1},
		"a long one, slow to start":        {cost{80 * us, 45 * us, time.Second}, 100, 10_000, 2, 2},
		"a heavy environment":              {cost{80 * us, 10 * time.Millisecond, time.Second}, 2, 10_000, 8, 2},
		"nothing but messages":             {cost{80 * us, 0, 0}, 100, 1000, 8, 1},
		"many batches in any case":         {cost{80 * us, 0, 0}, 8 * 1024, 1000, 8, 8},
		"many batches, slow to start":      {cost{80 * us, us / 10, time.Second}, 8 * 1024, 100, 8, 1},
		"one run":                          {cost{80 * us, 45 * us, 0}, 1, 1000, 2, 1},
		"more workers than there are runs": {cost{us, 45 * us, 0}, 3, 1000, 8, 3},
	} {
		if got := tt.cost.parts(tt.runs, tt.steps, 1024, tt.workers); got != tt.want {
			t.Errorf("%s: %d parts, want %d", name, got, tt.want)
		}
	}
}

// While the first batch of a cell is measured, other workers get runs of other cells, or wait.
// All runs are handed out once in the end, and those of the first batch again if it is divided.
func TestDivision(t *testing.T) {
	runs := []int{0, 1, 2, 3, 4, 5, 6}
	first, second := plan.Cell{}, plan.Cell{Agent: 1}
	for _, parts := range []int{1, 3} {
		t.Run(fmt.Sprint(parts), func(t *testing.T) {
			b := newBatches([]job{{first, runs}, {second, runs[:2]}}, 3, 0, true, func(plan.Cell) *batchSizer { return newBatchSizer(true, 0, 10) })
			j, measure, _ := b.next()
			if !measure || j.cell != first || !slices.Equal(j.runs, runs) {
				t.Fatalf("began with %v, %v", j, measure)
			}
			other, measure, _ := b.next()
			if !measure || other.cell != second || len(other.runs) != 2 {
				t.Fatalf("then %v, %v", other, measure)
			}
			b.ended(other, 0) // before it was decided
			var mu sync.Mutex
			var got []int
			var wait sync.WaitGroup
			for range 2 {
				wait.Go(func() {
					for {
						j, measure, ok := b.next()
						if !ok {
							return
						}
						mu.Lock()
						if got = append(got, j.runs...); measure || j.cell != first || len(j.runs) > 3 {
							t.Errorf("%v, %v", j, measure)
						}
						mu.Unlock()
					}
				})
			}
			if again := b.divide(j, parts); again != (parts > 1) {
				t.Errorf("handed out again: %v", again)
			}
			wait.Wait()
			slices.Sort(got)
			if want := runs[:len(runs)*min(parts-1, 1)]; !slices.Equal(got, want) {
				t.Errorf("handed out %v, want %v", got, want)
			}
		})
	}
}

// Large observations limit the number of lanes.
func TestLanesWithin(t *testing.T) {
	for _, tt := range []struct {
		shape []int
		want  int
	}{{[]int{84, 84, 4}, 0}, {[]int{210, 160, 3}, 332}, {[]int{1 << 13, 1 << 13}, 1}} {
		spec := framework.Spec{Observation: space.Box{Low: []float64{0}, High: []float64{255}, Shape: tt.shape, Type: space.Uint8}, Action: space.Discrete{N: 2}}
		if got := lanesWithin(spec); got != tt.want {
			t.Errorf("%v: %d lanes, want %d", tt.shape, got, tt.want)
		}
	}
}
