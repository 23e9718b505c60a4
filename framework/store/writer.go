package store

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
)

// Writer collects the records of all workers and writes them to new files, one per cell,
// a while after the first of them came. So little is lost whatever happens, and files
// are few and synced so seldom that it costs nothing.
type Writer struct {
	dir     Dir
	plan    *plan.Plan
	shard   plan.Shard // in the names of files
	session *Session
	fail    func(error) // told if a write that nobody waits for fails
	// recorded, if not nil, is called with records that are on disk.
	recorded func([]result.Record)

	mu    sync.Mutex
	recs  map[plan.Cell][]result.Record // not on disk; nil if there are none
	held  int                           // about the size of recs, in bytes
	timer *time.Timer                   // writes recs

	writing    sync.Mutex // held while files are written; comes before mu
	err        error      // the first of a write; nothing is written after it
	identities map[result.Key]string
}

// NewWriter returns the writer of a command's records. fail is called with the error of a
// write that no caller waits for. recorded, if not nil, is called with records that are on
// disk; calls may overlap with others of the writer.
func (d Dir) NewWriter(p *plan.Plan, s plan.Shard, session *Session, fail func(error), recorded func([]result.Record)) *Writer {
	return &Writer{dir: d, plan: p, shard: s, session: session, fail: fail, recorded: recorded}
}

// flushAfter leaves time to write and sync within two seconds. A shard, which may be one of
// many, writes less often, so that their directory has few files.
const (
	flushAfter      = 1500 * time.Millisecond
	flushShardAfter = 15 * time.Second
)

// manyHeld is how many bytes of records wait for a disk that is slower than the workers.
// Beyond it workers also wait.
const manyHeld = 32 << 20

// heldBy is about how many bytes a record and one of its curves take besides the values.
const heldBy, heldByCurve = 512, 64

// Add takes over records of a cell.
func (w *Writer) Add(c plan.Cell, recs ...result.Record) {
	if len(recs) == 0 {
		return
	}
	w.mu.Lock()
	if w.recs == nil {
		w.recs = map[plan.Cell][]result.Record{}
		after := flushAfter
		if w.shard.Of > 0 {
			after = flushShardAfter
		}
		w.timer = time.AfterFunc(after, func() {
			if err := w.Flush(); err != nil {
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
	if full {
		if err := w.Flush(); err != nil {
			w.fail(err)
		}
	}
}

// Flush writes what Add has taken over. It is to be called at the end.
func (w *Writer) Flush() error {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.mu.Lock()
	all := w.recs
	w.recs, w.held = nil, 0
	if w.timer != nil {
		w.timer.Stop()
	}
	w.mu.Unlock()
	for _, c := range slices.SortedFunc(maps.Keys(all), func(a, b plan.Cell) int { return cmp.Or(a.Environment-b.Environment, a.Agent-b.Agent) }) {
		if w.err != nil {
			break
		}
		if err := w.write(c, all[c]); disk.HostLacks(err) {
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
func (w *Writer) putBack(all map[plan.Cell][]result.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c, recs := range w.recs {
		all[c] = append(all[c], recs...)
	}
	w.recs = all
}

func (w *Writer) write(c plan.Cell, recs []result.Record) error {
	slices.SortFunc(recs, func(x, y result.Record) int { return x.Run - y.Run })
	if w.identities == nil {
		w.identities = w.plan.Identities()
	}
	for i := range recs {
		recs[i].Experiment = w.identities[w.plan.Key(c)]
	}
	name := result.RecordsName(result.RecordsFile{
		Environment: plan.Slugs(w.plan.Environments)[c.Environment], Agent: plan.Slugs(w.plan.Agents)[c.Agent],
		First: recs[0].Run, Last: recs[len(recs)-1].Run,
		Shard: w.shard.Index, Shards: w.shard.Of, Programs: w.session.programs(w.plan, c),
	})
	if err := result.WriteRecordsTo(w.dir.fileSystem(), w.dir.Path, name, recs); err != nil {
		return err
	}
	if w.recorded != nil {
		w.recorded(recs)
	}
	return nil
}
