package plugin

import (
	"sync"
	"time"
)

// watchdog calls a function when a limit of time has passed between start and stop. Time in
// which this process was suspended, by Ctrl-Z or by a scheduler, hardly counts: the limit is
// measured in slices, and a suspension is at most one.
type watchdog struct {
	slice time.Duration
	bark  func()

	mu    sync.Mutex
	left  int // slices; 0 if it is stopped
	timer *time.Timer
}

// watchSlices is the number of slices of a limit.
const watchSlices = 10

// newWatchdog returns a watchdog that has started.
func newWatchdog(limit time.Duration, bark func()) *watchdog {
	w := &watchdog{slice: limit / watchSlices, bark: bark, left: watchSlices}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(w.slice, w.tick)
	return w
}

// start starts the limit anew.
func (w *watchdog) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = watchSlices
	w.timer.Reset(w.slice)
}

func (w *watchdog) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = 0
	w.timer.Stop()
}

func (w *watchdog) tick() {
	if w.over() {
		w.bark()
	}
}

// over takes a slice away, and tells whether that was the last one.
func (w *watchdog) over() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.left == 0 {
		return false
	}
	w.left--
	if w.left > 0 {
		w.timer.Reset(w.slice)
	}
	return w.left == 0
}
