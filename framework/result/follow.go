package result

import (
	"context"
	"os"
	"reflect"
	"slices"
	"time"
)

// Follower reads the records of an output directory again and again while they grow.
// It reads a file once, and makes statistics anew only of agents and environments that
// have new records. It keeps a few numbers of every run in memory.
type Follower struct {
	dir     string
	labels  map[string]string
	files   map[string]followed
	last    *Runs
	entries map[cell][]Entry // of last
	made    *aggregator
}

// followed is a file of records.
type followed struct {
	size    int64
	time    time.Time
	entries []Entry
	notices []string
}

// Follow returns a follower of dir that has read nothing yet.
func Follow(dir string) *Follower { return &Follower{dir: dir, labels: map[string]string{}} }

// Read returns what OpenRuns and Runs.Aggregate would return at this time. The caller
// must not change it.
func (f *Follower) Read(meta Meta) (*Summary, *Runs, error) {
	runs, err := f.Runs()
	if err != nil {
		return nil, nil, err
	}
	if f.made == nil || !reflect.DeepEqual(f.made.meta, meta) {
		f.entries = map[cell][]Entry{}
		if f.made, err = newAggregator(meta); err != nil {
			return nil, nil, err
		}
	}
	if err := f.update(runs); err != nil {
		f.made = nil // it holds a part of what is there
		return nil, nil, err
	}
	s := f.made.summary()
	s.Notices = slices.Concat(s.Notices, runs.Notices)
	return s, runs, nil
}

// Runs returns what OpenRuns would return at this time. The caller must not change it.
func (f *Follower) Runs() (*Runs, error) { return again(f.list) }

// update makes samples anew whose entries have changed.
func (f *Follower) update(runs *Runs) error {
	now, changed := map[cell][]Entry{}, Runs{}
	for rest := runs.Entries; len(rest) > 0; { // the entries of a cell follow each other
		c := cell{rest[0].Environment, rest[0].Agent}
		n := slices.IndexFunc(rest, func(e Entry) bool { return c != cell{e.Environment, e.Agent} })
		if n < 0 {
			n = len(rest)
		}
		if now[c] = rest[:n]; !slices.Equal(now[c], f.entries[c]) {
			changed.Entries = append(changed.Entries, now[c]...)
			if f.made.samples[c] != nil { // otherwise reading refuses it
				f.made.reset(c)
			}
		}
		rest = rest[n:]
	}
	f.entries = now
	return f.made.read(changed.All())
}

// list is openRuns, which reads new files only.
func (f *Follower) list() (*Runs, error) {
	names, err := RecordFiles(f.dir)
	if err != nil {
		return nil, err
	}
	files, r, same := map[string]followed{}, &Runs{}, len(names) == len(f.files)
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		file, known := f.files[name]
		if !known || file.size != info.Size() || !file.time.Equal(info.ModTime()) {
			one := Runs{}
			if err := one.addFile(name, f.labels); err != nil {
				return nil, err
			}
			file = followed{info.Size(), info.ModTime(), one.Entries, one.Notices}
			same = false
		}
		files[name] = file
		r.Entries, r.Notices = append(r.Entries, file.entries...), append(r.Notices, file.notices...)
	}
	for name := range f.files {
		if _, there := files[name]; !there { // a sample may hold what is gone
			f.made = nil
			break
		}
	}
	f.files = files
	if same && f.last != nil {
		return f.last, nil
	}
	if err := r.settle(context.Background()); err != nil {
		return nil, err
	}
	f.last = r
	return r, nil
}
