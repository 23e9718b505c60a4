// Package parallel divides work among processors.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls do with 0 to n−1, on all processors. do writes to a place of its own, so
// that results do not depend on the order of calls.
func Each(n int, do func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}
