package store

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
)

// Writer collects the records of all workers and writes them to new files, a while after the
// first of them came. Few cells get a file each, and many share one if the same programs made
// them. So little is lost whatever happens, and files are few and synced so seldom that it
// costs nothing.
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
	wrote time.Time                     // when they were last written

	writing    sync.Mutex // held while files are written; comes before mu
	err        error      // the first of a write; nothing is written after it
	identities map[result.Key]string
	slugs      [2][]string // of environments and agents
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

// fewCells is how many cells have files of their own.
const fewCells = 16

// manyHeld is how many bytes of records wait for a disk that is slower than the workers.
// Beyond it workers also wait.
const manyHeld = 8 << 20

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

// CellEnded is to be called between cells. It is Flush, unless that was a moment ago.
func (w *Writer) CellEnded() error {
	w.mu.Lock()
	recently := time.Since(w.wrote) < flushAfter
	w.mu.Unlock()
	if recently {
		return nil
	}
	return w.Flush()
}

// Flush writes what Add has taken over. It is to be called at the end.
func (w *Writer) Flush() error {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.mu.Lock()
	all := w.recs
	w.recs, w.held, w.wrote = nil, 0, time.Now()
	if w.timer != nil {
		w.timer.Stop()
	}
	w.mu.Unlock()
	byPrograms := map[result.Programs][]plan.Cell{}
	for c := range all {
		made := w.session.programs(w.plan, c)
		byPrograms[made] = append(byPrograms[made], c)
	}
	var files [][]plan.Cell
	for _, cells := range byPrograms {
		slices.SortFunc(cells, compareCells)
		if len(cells) > fewCells {
			files = append(files, cells)
		} else {
			files = slices.AppendSeq(files, slices.Chunk(cells, 1))
		}
	}
	slices.SortFunc(files, func(a, b []plan.Cell) int { return compareCells(a[0], b[0]) })
	for _, cells := range files {
		if w.err != nil {
			break
		}
		if err := w.write(cells, all); disk.HostLacks(err) {
			w.putBack(all)
			return err
		} else {
			w.err = err
		}
		for _, c := range cells {
			delete(all, c)
		}
	}
	return w.err
}

func compareCells(a, b plan.Cell) int { return cmp.Or(a.Environment-b.Environment, a.Agent-b.Agent) }

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

// write writes the records of cells, which the same programs made, to a file.
func (w *Writer) write(cells []plan.Cell, all map[plan.Cell][]result.Record) error {
	if w.identities == nil {
		w.identities = w.plan.Identities()
		w.slugs = [2][]string{plan.Slugs(w.plan.Environments), plan.Slugs(w.plan.Agents)}
	}
	var recs []result.Record
	file := result.RecordsFile{Shard: w.shard.Index, Shards: w.shard.Of, Programs: w.session.programs(w.plan, cells[0])}
	for _, c := range cells {
		of := all[c]
		slices.SortFunc(of, func(x, y result.Record) int { return x.Run - y.Run })
		for i := range of {
			of[i].Experiment = w.identities[w.plan.Key(c)]
		}
		file.Add(w.slugs[0][c.Environment], w.slugs[1][c.Agent], of[0].Run, of[len(of)-1].Run)
		recs = append(recs, of...)
	}
	write := func() error {
		return result.WriteRecordsTo(w.dir.fileSystem(), w.dir.Path, result.RecordsName(file), recs)
	}
	err := write()
	if disk.Full(err) && w.dir.dropOldCheckpoints() {
		err = write()
	}
	if err != nil {
		return err
	}
	for _, c := range cells {
		if w.plan.Config.Checkpoint == nil && w.dir.UnderWay() == 0 { // a command before this one may have kept some
			break
		}
		k := w.dir.Checkpoints(w.plan, w.session, c, w.identities[w.plan.Key(c)])
		for i := range all[c] {
			if err := k.Remove(all[c][i].Run); err != nil {
				return err
			}
		}
	}
	if w.recorded != nil {
		w.recorded(recs)
	}
	return nil
}
