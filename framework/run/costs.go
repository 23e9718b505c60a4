package run

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/cputime"
	"github.com/rlrun/rlrun/internal/footprint"
)

// stopwatch measures a batch.
type stopwatch struct {
	processes []int // of the plugins
	apart     bool  // the agent, or a part of it, is in one
	began     time.Time
	processor time.Duration // of thread and processes when the batch began
	known     bool
}

// startWatch measures from now on. The worker stays on its thread until stop.
func (w *worker) startWatch() *stopwatch {
	runtime.LockOSThread()
	s := &stopwatch{began: time.Now()}
	plugins := []vector.Plugin{w.env.plugin, w.agent.plugin}
	for _, part := range w.parts.opened {
		plugins = append(plugins, part.plugin)
	}
	for i, plugin := range plugins {
		p, ok := plugin.(interface{ Pid() int })
		if !ok || p.Pid() <= 0 {
			continue
		}
		s.apart = s.apart || i > 0
		if !slices.Contains(s.processes, p.Pid()) {
			s.processes = append(s.processes, p.Pid())
		}
	}
	s.processor, s.known = cputime.Now(s.processes...)
	return s
}

// stop returns what was measured, and the clock.
func (s *stopwatch) stop() (time.Duration, string) {
	defer runtime.UnlockOSThread()
	if now, known := cputime.Now(s.processes...); known && s.known {
		return now - s.processor, store.ProcessorTime
	}
	return time.Since(s.began), store.WallTime
}

// spent counts what a batch took, and what its lanes hold after the first batch of a cell.
func (w *worker) spent(took time.Duration, clock string, apart bool, outcomes []loop.Outcome) {
	if w.costs == nil {
		return
	}
	if w.bytes == 0 && !apart {
		w.bytes = footprint.Of(w.lanes.agent) / int64(w.lanes.count)
	}
	key := w.plan.Key(w.cell)
	c := store.Cost{Runs: len(outcomes), Seconds: took.Seconds(), Bytes: w.bytes, CostOf: store.CostOf{
		Environment: key.Environment, Agent: key.Agent, Experiment: w.identities[key], Processor: w.processor, Workers: w.workers, Clock: clock,
	}}
	for i := range outcomes {
		c.Steps += outcomes[i].Steps
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.costs.Add(c)
}

// keepCosts adds what runs took to the output directory. An experiment goes on without it.
func (x *execution) keepCosts() {
	if len(x.costs) == 0 {
		return
	}
	if err := x.dir.AddCosts(x.shard, x.costs); err != nil {
		x.event(Event{Notice: fmt.Sprintf("the time that runs took is not kept: %v", err)})
	}
	clear(x.costs)
}
