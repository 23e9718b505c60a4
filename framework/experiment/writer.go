package experiment

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/framework/result"
)

// writer collects the records of all workers and writes them to new files, one per cell,
// flushAfter after the first of them came. So little is lost whatever happens, and files
// are few and synced so seldom that it costs nothing.
type writer struct {
	plan    *Plan
	dir     string
	shard   Shard // in the names of files
	session *Session
	event   func(Event)
	fail    func(error) // told if a write by the timer fails
	// recorded, if not nil, is called with records that are on disk.
	recorded func([]result.Record) error

	mu    sync.Mutex
	recs  map[Cell][]result.Record // not on disk; nil if there are none
	held  int                      // about the size of recs, in bytes
	timer *time.Timer              // writes recs

	writing    sync.Mutex // held while files are written; comes before mu
	err        error      // the first of a write; nothing is written after it
	identities map[result.Key]string
}

// flushAfter leaves time to write and sync within two seconds.
const flushAfter = 1500 * time.Millisecond

// manyHeld is how many bytes of records wait for a disk that is slower than the workers.
// Beyond it workers also wait.
const manyHeld = 32 << 20

// heldBy is about how many bytes a record and one of its curves take besides the values.
const heldBy, heldByCurve = 512, 64

// add takes over records of a cell.
func (w *writer) add(c Cell, recs ...result.Record) {
	if len(recs) == 0 {
		return
	}
	w.mu.Lock()
	if w.recs == nil {
		w.recs = map[Cell][]result.Record{}
		w.timer = time.AfterFunc(flushAfter, func() {
			if err := w.flush(); err != nil {
				w.fail(err)
			}
		})
	}
	w.recs[c] = append(w.recs[c], recs...)
	for i := range recs {
		w.held += heldBy
		for _, curve := range recs[i].Curves {
			w.held += heldByCurve + 8*len(curve)
		}
	}
	full := w.held > manyHeld
	w.mu.Unlock()
	e := Event{Cell: c, Runs: len(recs)}
	for i := range recs {
		if recs[i].Status != result.OK {
			e.Failed++
		}
	}
	w.event(e)
	if full {
		if err := w.flush(); err != nil {
			w.fail(err)
		}
	}
}

// flush writes what add has taken over. It is to be called at the end.
func (w *writer) flush() error {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.mu.Lock()
	all := w.recs
	w.recs, w.held = nil, 0
	if w.timer != nil {
		w.timer.Stop()
	}
	w.mu.Unlock()
	for _, c := range slices.SortedFunc(maps.Keys(all), func(a, b Cell) int { return cmp.Or(a.Environment-b.Environment, a.Agent-b.Agent) }) {
		if w.err != nil {
			break
		}
		if err := w.write(c, all[c]); hostLacks(err) {
			w.putBack(all)
			return err
		} else {
			w.err = err
		}
		delete(all, c)
	}
	return w.err
}

// putBack takes records over again that were not written, as the workers have too many
// files open. The experiment ends, workers close theirs, and the last flush writes them.
func (w *writer) putBack(all map[Cell][]result.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c, recs := range w.recs {
		all[c] = append(all[c], recs...)
	}
	w.recs = all
}

func (w *writer) write(c Cell, recs []result.Record) error {
	slices.SortFunc(recs, func(x, y result.Record) int { return x.Run - y.Run })
	if w.identities == nil {
		w.identities = w.plan.identities()
	}
	for i := range recs {
		recs[i].Experiment = w.identities[w.plan.key(c)]
	}
	name := result.RecordsName(result.Origin{
		Environment: slugs(w.plan.Environments)[c.Environment], Agent: slugs(w.plan.Agents)[c.Agent],
		First: recs[0].Run, Last: recs[len(recs)-1].Run,
		Shard: w.shard.Index, Shards: w.shard.Of, Programs: w.plan.programs(w.session, c),
	})
	if err := result.WriteRecordsTo(w.plan.fileSystem(), w.dir, name, recs); err != nil {
		return err
	}
	if w.recorded != nil {
		return w.recorded(recs)
	}
	return nil
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
func slugs(list []Component) []string { return result.Slugs(labels(list)) }
