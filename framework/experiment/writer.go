package experiment

import (
	"slices"
	"sync"
	"time"

	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/framework/result"
)

// writer collects a worker's records and writes them to a new file flushAfter after
// the first of them came. So little is lost whatever happens, and files are synced
// so seldom that it costs nothing.
type writer struct {
	plan    *Plan
	dir     string
	shard   Shard // in the names of files
	session *Session
	event   func(Event)
	fail    func(error) // told if a write by the timer fails
	// recorded, if not nil, is told of records that are on disk.
	recorded func([]result.Record) error

	mu    sync.Mutex
	cell  Cell
	recs  []result.Record
	timer *time.Timer // writes recs; nil if there are none
}

// flushAfter leaves time to write and sync within two seconds.
const flushAfter = 1500 * time.Millisecond

// add takes over records of a cell.
func (w *writer) add(c Cell, recs ...result.Record) error {
	if len(recs) == 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if c != w.cell {
		if err := w.write(); err != nil {
			return err
		}
	}
	w.cell = c
	w.recs = append(w.recs, recs...)
	if w.timer == nil {
		w.timer = time.AfterFunc(flushAfter, func() {
			if err := w.flush(); err != nil {
				w.fail(err)
			}
		})
	}
	e := Event{Cell: c, Runs: len(recs)}
	for i := range recs {
		if recs[i].Status != result.OK {
			e.Failed++
		}
	}
	w.event(e)
	return nil
}

// flush writes what add has taken over. It is to be called at the end.
func (w *writer) flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.write()
}

func (w *writer) write() error {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	if len(w.recs) == 0 {
		return nil
	}
	slices.SortFunc(w.recs, func(x, y result.Record) int { return x.Run - y.Run })
	name := result.RecordsName(result.Origin{
		Environment: slugs(w.plan.Environments)[w.cell.Environment], Agent: slugs(w.plan.Agents)[w.cell.Agent],
		First: w.recs[0].Run, Last: w.recs[len(w.recs)-1].Run,
		Shard: w.shard.Index, Shards: w.shard.Of, Programs: w.plan.programs(w.session, w.cell),
	})
	err := result.WriteRecordsTo(w.plan.fileSystem(), w.dir, name, w.recs)
	if err == nil && w.recorded != nil {
		err = w.recorded(w.recs)
	}
	w.recs = w.recs[:0]
	return err
}

// fileSystem is where the plan writes: the operating system's, unless a test
// records what is done.
func (p *Plan) fileSystem() disk.FS {
	if p.disk == nil {
		return disk.OS{}
	}
	return p.disk
}

// slugs names components in names of files.
func slugs(list []Component) []string {
	var labels []string
	for _, c := range list {
		labels = append(labels, c.Name)
	}
	return result.Slugs(labels)
}
