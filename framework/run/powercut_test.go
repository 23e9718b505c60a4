package run

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/framework/internal/plantest"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/internal/must"
)

// operation is one change of a file system, or a sync.
type operation struct {
	kind     string // mkdir, create, write, sync, rename, link, remove, syncdir
	path, to string
	data     string
}

// tracer is a file system that keeps what is done to it.
type tracer struct {
	disk.OS
	log []operation
}

func (t *tracer) note(kind, path, to string, err error) error {
	if err == nil {
		t.log = append(t.log, operation{kind: kind, path: path, to: to})
	}
	return err
}

func (t *tracer) Mkdir(path string) error { return t.note("mkdir", path, "", t.OS.Mkdir(path)) }
func (t *tracer) Rename(from, to string) error {
	return t.note("rename", from, to, t.OS.Rename(from, to))
}
func (t *tracer) Link(from, to string) error { return t.note("link", from, to, t.OS.Link(from, to)) }
func (t *tracer) Remove(path string) error   { return t.note("remove", path, "", t.OS.Remove(path)) }
func (t *tracer) SyncDir(path string) error  { return t.note("syncdir", path, "", t.OS.SyncDir(path)) }
func (t *tracer) CreateExclusive(p string) error {
	return t.note("create", p, "", t.OS.CreateExclusive(p))
}
func (t *tracer) CreateTemp(path string) (disk.File, error) {
	f, err := t.OS.CreateTemp(path)
	if err != nil {
		return nil, err
	}
	return &tracedFile{f, t}, t.note("create", f.Name(), "", nil)
}

type tracedFile struct {
	disk.File
	t *tracer
}

func (f *tracedFile) Write(p []byte) (int, error) {
	f.t.log = append(f.t.log, operation{kind: "write", path: f.Name(), data: string(p)})
	return f.File.Write(p)
}

func (f *tracedFile) Sync() error { return f.t.note("sync", f.Name(), "", f.File.Sync()) }

// inode is a file's data: what a sync made last, and what was written since.
type inode struct{ synced, written string }

// entry is a change of one directory that was not synced yet: names that appear with
// an inode (a directory's is nil) and a name that goes.
type entry struct {
	directory, name string
	file            *inode
	isDir           bool
	gone            string
}

// machine is a file system after some operations: what would survive any power cut,
// and what might.
type machine struct {
	files       map[string]*inode // by path, as running programs see it
	lasting     map[string]*inode // entries that a directory sync made last
	directories map[string]bool   // directories whose own entry lasts
	pending     []entry
}

func (m *machine) do(o operation) {
	switch o.kind {
	case "mkdir":
		m.pending = append(m.pending, entry{directory: filepath.Dir(o.path), name: o.path, isDir: true})
	case "create":
		m.files[o.path] = &inode{}
		m.pending = append(m.pending, entry{directory: filepath.Dir(o.path), name: o.path, file: m.files[o.path]})
	case "write":
		m.files[o.path].written += o.data
	case "sync":
		f := m.files[o.path]
		f.synced, f.written = f.synced+f.written, ""
	case "rename":
		m.files[o.to] = m.files[o.path]
		delete(m.files, o.path)
		m.pending = append(m.pending, entry{directory: filepath.Dir(o.to), name: o.to, file: m.files[o.to], gone: o.path})
	case "link":
		m.files[o.to] = m.files[o.path]
		m.pending = append(m.pending, entry{directory: filepath.Dir(o.to), name: o.to, file: m.files[o.to]})
	case "remove":
		delete(m.files, o.path)
		m.pending = append(m.pending, entry{directory: filepath.Dir(o.path), gone: o.path})
	case "syncdir":
		m.pending = slices.DeleteFunc(m.pending, func(e entry) bool {
			if e.directory == o.path {
				m.settle(m.lasting, m.directories, e)
			}
			return e.directory == o.path
		})
	}
}

func (m *machine) settle(files map[string]*inode, directories map[string]bool, e entry) {
	if e.gone != "" {
		delete(files, e.gone)
	}
	if e.isDir {
		directories[e.name] = true
	} else if e.name != "" {
		files[e.name] = e.file
	}
}

// crash yields what a disk may hold after a power cut now: file contents by path.
// Any subset of the pending changes of directories happened. Data that was not synced is
// absent, half there, zeros, or there.
func (m *machine) crash(yield func(files map[string]string, directories []string)) {
	n := len(m.pending)
	var subsets []int
	if n <= 4 {
		for s := range 1 << n {
			subsets = append(subsets, s)
		}
	} else { // all, none, and each alone happened or missing
		all := 1<<n - 1
		subsets = append(subsets, 0, all)
		for k := range n {
			subsets = append(subsets, 1<<k, all&^(1<<k))
		}
	}
	for _, s := range subsets {
		files, directories := maps.Clone(m.lasting), maps.Clone(m.directories)
		for k, e := range m.pending {
			if s>>k&1 == 1 {
				m.settle(files, directories, e)
			}
		}
		for data := range 4 {
			content := map[string]string{}
			for path, f := range files {
				rest := f.written
				switch data {
				case 0:
					rest = ""
				case 1:
					rest = rest[:len(rest)/2]
				case 2:
					rest = strings.Repeat("\x00", len(rest))
				}
				if directories[filepath.Dir(path)] {
					content[path] = f.synced + rest
				}
			}
			yield(content, slices.Sorted(maps.Keys(directories)))
		}
	}
}

// A power cut at any point of an experiment leaves an output directory that can be
// read and resumed. The records in the end are the same. Unsynced data may be lost or
// reordered: the model of Pillai et al. (2014, ALICE) and Mohan et al. (2018,
// CrashMonkey).
func TestPowerCut(t *testing.T) {
	small := func(t *testing.T, runs int) *plan.Plan {
		return plantest.Compile(t, func(c *plan.Config) { c.Runs, c.Steps, c.Lanes, c.Workers = runs, 8, 1, 1 })
	}
	s := store.Session{Started: time.Unix(1, 0), Seed: 1}
	// One experiment that is begun with two runs, then resumed with three.
	top := t.TempDir()
	dir := filepath.Join(top, "results", "out")
	trace := &tracer{}
	for i, runs := range []int{2, 3} {
		p := small(t, runs)
		done := must.Get(prepareOn(t, trace, p, dir, i > 0, s))(t)
		must.Do(t, runPlan(t.Context(), p, runOptions{Dir: dir, Disk: trace, Open: opener(nil), Done: done}))
	}
	want := records(t, dir)
	if len(want) != 6 || len(trace.log) < 30 {
		t.Fatalf("%d records in %d operations", len(want), len(trace.log))
	}

	m := &machine{files: map[string]*inode{}, lasting: map[string]*inode{}, directories: map[string]bool{top: true}}
	seen := map[[32]byte]bool{}
	states, kept, linked, acknowledged := 0, 0, 0, 0 // the last three count records
	for cut := range len(trace.log) + 1 {
		// Writing goes on only after the files before were made to last.
		if cut == len(trace.log) || trace.log[cut].kind == "create" {
			acknowledged = linked
		}
		m.crash(func(files map[string]string, directories []string) {
			key := sha256.Sum256(fmt.Append(nil, files, directories))
			if seen[key] {
				return
			}
			seen[key] = true
			states++
			moved := filepath.Join(t.TempDir(), "top")
			at := func(path string) string { return moved + strings.TrimPrefix(path, top) }
			for _, directory := range directories {
				must.Do(t, os.MkdirAll(at(directory), 0o777))
			}
			for path, text := range files {
				must.Do(t, os.WriteFile(at(path), []byte(text), 0o666))
			}
			describe := func() string {
				return fmt.Sprintf("power cut before operation %d of %d: %q", cut, len(trace.log), files)
			}
			runs, err := result.OpenRuns(at(dir))
			if err != nil {
				t.Fatalf("%s: %v", describe(), err)
			}
			if kept = len(runs.Entries); kept < acknowledged {
				t.Fatalf("%s: %d records are left of %d", describe(), kept, acknowledged)
			}
			p := small(t, 3)
			done, err := prepare(t, p, at(dir), true, s)
			if err == nil {
				err = runPlan(t.Context(), p, runOptions{Dir: at(dir), Open: opener(nil), Done: done})
			}
			if err != nil {
				t.Fatalf("%s: %v", describe(), err)
			}
			if got := records(t, at(dir)); !maps.Equal(got, want) {
				t.Fatalf("%s: records differ", describe())
			}
		})
		if cut < len(trace.log) {
			o := trace.log[cut]
			m.do(o)
			if o.kind == "link" {
				linked += strings.Count(m.files[o.to].synced, "\n")
			}
		}
	}
	if kept != 6 || states < 40 {
		t.Errorf("%d states, %d records in the last", states, kept)
	}
}

var _ disk.FS = (*tracer)(nil)
