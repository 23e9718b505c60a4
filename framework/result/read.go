package result

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/rlrun/rlrun/internal/inputfile"
)

var (
	// ErrDamaged: a line of a record file is not what was written, or not a record
	// that the experiment can have.
	ErrDamaged = errors.New("is damaged")
	// ErrNotDeterministic: two records of one run differ.
	ErrNotDeterministic = errors.New("the run is not deterministic")

	errChecksum = errors.New("its checksum is wrong")
	errNotOurs  = errors.New("it is not as rlrun writes it")
	errLongLine = fmt.Errorf("it is longer than %d GiB", maxLine>>30)
)

// MaxFile is the largest file, other than of records, that rlrun reads from an output
// directory, in bytes: far more than it writes there.
const MaxFile = 256 << 20

// maxLine is the longest line of a record, in bytes.
const maxLine = 1 << 30

// Entry is one record of an output directory without its curves.
type Entry struct {
	Key
	Status Status `json:"status"` // ok, failed or given up
	// Experiment is that of the record.
	Experiment string `json:"experiment"`

	at     place
	length int32
	offset int64
}

// Programs are those that the name of the file says.
func (e *Entry) Programs() Programs {
	if e.at.source == nil {
		return Programs{}
	}
	return e.at.source.programs
}

// source is a file of records. All entries of a file share it, as a million of them are kept.
type source struct {
	name     string
	programs Programs
}

// place says where a record was read.
type place struct {
	*source       // nil for a record that was not read from a file
	line    int32 // 0 if not known
}

// String is FILE:LINE; empty for a record that was not read from a file.
func (p place) String() string {
	switch {
	case p.source == nil:
		return ""
	case p.line == 0:
		return p.name
	}
	return fmt.Sprintf("%s:%d", p.name, p.line)
}

// Runs is what dir/runs of an output directory holds.
type Runs struct {
	// Entries are the records in the order of environment label, agent label and
	// run.
	Entries []Entry
	// Notices are sentences about what was left out.
	Notices []string

	read, left int64 // bytes of files that were read, and about as many as were not
}

// OpenRuns lists the records in dir/runs; none if the directory does not exist. Files
// that are not finished are ignored.
//
// A run may have failed records beside one that is ok, as when failed runs were
// tried again: the ok one counts, of failed ones the first by file name. A run that was
// given up counts as that if it has no other record. Equal ok
// records of a run count as one; of unequal ones the error wraps
// ErrNotDeterministic and names both. Records of a run that name different experiments
// all count: the experiment refuses those that are not its own. A last line without a line feed
// that is not a whole record was cut off, by a power cut or in a copy. It is left out with a
// notice; its run counts as not done. Any other line that is not a record, or not the one that
// was written, is an error that wraps ErrDamaged and names file and line.
func OpenRuns(dir string) (*Runs, error) { return OpenRunsContext(context.Background(), dir) }

// OpenRunsContext is OpenRuns that ends with the context's cause when that is done.
func OpenRunsContext(ctx context.Context, dir string) (*Runs, error) {
	return again(func() (*Runs, error) {
		names, err := RecordFiles(dir)
		if err != nil {
			return nil, err
		}
		return OpenFiles(ctx, names)
	})
}

// again calls open a second time if a network file system may have shown an old directory.
func again(open func() (*Runs, error)) (*Runs, error) {
	r, err := open()
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESTALE) {
		return open()
	}
	return r, err
}

// OpenFiles is OpenRunsContext of some files of records.
func OpenFiles(ctx context.Context, names []string) (*Runs, error) {
	r := &Runs{}
	labels := map[string]string{}
	for _, name := range names {
		if info, err := os.Stat(name); err == nil {
			r.left += info.Size()
		}
	}
	for _, name := range names {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := r.addFile(name, labels); err != nil {
			return nil, err
		}
	}
	return r, r.settle(ctx)
}

// settle sorts the entries and keeps one of each run.
func (r *Runs) settle(ctx context.Context) error {
	slices.SortFunc(r.Entries, compareEntries)
	kept := r.Entries[:0]
	for i, e := range r.Entries {
		if i%1000 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if n := len(kept); n == 0 || kept[n-1].Key != e.Key || kept[n-1].foreign(&e) {
			kept = append(kept, e)
		} else if first := kept[n-1]; first.Status == OK && e.Status == OK {
			if err := sameRun(&first, &e); err != nil {
				return err
			}
		}
	}
	r.Entries = kept
	return nil
}

// foreign tells whether two records name different experiments.
func (e *Entry) foreign(other *Entry) bool {
	return e.Experiment != "" && other.Experiment != "" && e.Experiment != other.Experiment
}

// Check refuses records that the experiment cannot have by their labels, numbers and
// identities, with the errors of Aggregate. It reads no file.
func (r *Runs) Check(meta Meta) error {
	a, err := newAggregator(meta)
	if err != nil {
		return err
	}
	for i := range r.Entries {
		if _, err := a.own(&r.Entries[i]); err != nil {
			return refused(&r.Entries[i], err)
		}
	}
	return nil
}

// RecordFiles lists the files of records in dir/runs, sorted; none if the directory does
// not exist. A directory that cannot be read is an error, since its runs are not missing.
// So is a named pipe or another file that is not regular: opening it may take for ever.
func RecordFiles(dir string) ([]string, error) {
	runs := filepath.Join(dir, runsDir)
	entries, err := os.ReadDir(runs)
	if errors.Is(err, fs.ErrNotExist) {
		if info, lstatErr := os.Lstat(runs); lstatErr == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil, fmt.Errorf("reading %s, a link: %w", runs, inputfile.Cause(err))
		}
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", runs, inputfile.Cause(err))
	}
	var names []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), runsExt) || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		name := filepath.Join(runs, e.Name())
		if !e.Type().IsRegular() { // a link may lead to one
			if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
				return nil, fmt.Errorf("%s %w: it is no regular file; remove it and resume", name, ErrDamaged)
			}
		}
		names = append(names, name)
	}
	return names, nil
}

// ReadKeys returns the entries of OpenRuns.
func ReadKeys(dir string) ([]Entry, error) {
	r, err := OpenRuns(dir)
	if err != nil {
		return nil, err
	}
	return r.Entries, nil
}

// sameRun compares two ok records of one run.
func sameRun(a, b *Entry) error {
	var lines [2][]byte
	for i, e := range []*Entry{a, b} {
		f, err := os.Open(e.at.name)
		if err != nil {
			return fmt.Errorf("reading records: %w", err)
		}
		data := make([]byte, e.length)
		_, err = f.ReadAt(data, e.offset)
		f.Close()
		if err != nil {
			return fmt.Errorf("reading %s: %w", e.at.name, inputfile.Cause(err))
		}
		lines[i], _ = splitChecksum(bytes.TrimSpace(data))
	}
	if bytes.Equal(lines[0], lines[1]) {
		return nil
	}
	return &DoubleError{Key: a.Key, Programs: [2]Programs{a.Programs(), b.Programs()}, places: [2]place{a.at, b.at}}
}

// DoubleError says that two ok records of a run differ. It wraps ErrNotDeterministic.
type DoubleError struct {
	Key
	Programs [2]Programs // that made the records
	// Fault says what is not deterministic, in a sentence without a full stop; empty if it
	// is not known.
	Fault string

	places [2]place
}

// Error names the run, both files, and what to do.
func (e *DoubleError) Error() string {
	why := "on the same programs"
	if e.Programs[0] != e.Programs[1] {
		why = fmt.Sprintf("by different programs, %s and %s", e.Programs[0], e.Programs[1])
	}
	return fmt.Sprintf("run %d of %s in %s is recorded twice, %s, and the records differ: %s and %s; %s; remove one of the files",
		e.Run, e.Agent, e.Environment, why, e.places[0], e.places[1], cmp.Or(e.Fault, ErrNotDeterministic.Error()))
}

// Unwrap returns ErrNotDeterministic.
func (e *DoubleError) Unwrap() error { return ErrNotDeterministic }

// compareEntries orders by key, then ok before failed before given up, then by place.
func compareEntries(a, b Entry) int {
	rank := func(e Entry) int { return slices.Index([]Status{OK, Failed, GivenUp}, e.Status) }
	return cmp.Or(compareKeys(a.Key, b.Key), rank(a)-rank(b), strings.Compare(a.at.name, b.at.name), int(a.at.line-b.at.line))
}

func compareKeys(a, b Key) int {
	return cmp.Or(strings.Compare(a.Environment, b.Environment), strings.Compare(a.Agent, b.Agent), cmp.Compare(a.Run, b.Run))
}

// addFile adds the records of a file. labels holds every label once.
func (r *Runs) addFile(name string, labels map[string]string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("reading records: %w", err)
	}
	defer f.Close()
	return r.addLines(name, bufio.NewReaderSize(f, 1<<18), labels)
}

// addLines is addFile of what is read from the file.
func (r *Runs) addLines(name string, lines *bufio.Reader, labels map[string]string) error {
	named, _ := ParseRecordsName(name)
	from := &source{name, named.Programs}
	var offset int64
	var data []byte
	for line := int32(1); ; line++ {
		data = data[:0]
		part, err := lines.ReadSlice('\n')
		hole := false // a file system filled it with zeros: it is no record, whatever follows
		for size := 0; errors.Is(err, bufio.ErrBufferFull); {
			if size += len(part); size > maxLine {
				return damaged(place{from, line}, errLongLine)
			}
			if !hole {
				data = append(data, part...)
			}
			hole = hole || bytes.IndexByte(part, 0) >= 0
			part, err = lines.ReadSlice('\n')
		}
		if len(data) > 0 {
			data = append(data, part...)
			part = data
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("reading %s: %w", name, inputfile.Cause(err))
		}
		if len(bytes.TrimSpace(part)) > 0 {
			e := Entry{at: place{from, line}, length: int32(len(part)), offset: offset}
			switch lineErr := e.parse(part); {
			case lineErr == nil:
				e.intern(labels)
				r.add(e)
			case err != nil:
				r.Notices = append(r.Notices, fmt.Sprintf("%s is cut off and left out: its run counts as missing", e.at))
			default:
				return damaged(e.at, lineErr)
			}
		}
		if err != nil {
			return nil
		}
		offset += int64(len(part))
	}
}

// add adds an entry. It makes room for as many as the files seem to have, at once.
func (r *Runs) add(e Entry) {
	if n := len(r.Entries); n == cap(r.Entries) && n >= 1000 {
		r.Entries = slices.Grow(r.Entries, 1+int(r.left*int64(n)/r.read))
	}
	r.Entries = append(r.Entries, e)
	r.read, r.left = r.read+int64(e.length), max(0, r.left-int64(e.length))
}

func intern(labels map[string]string, s string) string {
	if kept, ok := labels[s]; ok {
		return kept
	}
	labels[s] = s
	return s
}

// FileEntries lists all records of a file, also those that do not count.
func FileEntries(name string) ([]Entry, error) {
	r := Runs{}
	err := r.addFile(name, map[string]string{})
	return r.Entries, err
}

// intern makes equal strings of entries one.
func (e *Entry) intern(labels map[string]string) {
	e.Environment, e.Agent, e.Experiment = intern(labels, e.Environment), intern(labels, e.Agent), intern(labels, e.Experiment)
	e.Status = Status(intern(labels, string(e.Status)))
}

// parse reads key, status and experiment and checks the checksum. It does not look at the rest.
func (e *Entry) parse(line []byte) error {
	trimmed := bytes.TrimRight(line, "\r\n")
	body, err := splitChecksum(trimmed)
	if err != nil {
		return err
	}
	// Quotation marks within texts are escaped, so that this is found in no other place.
	head, tail := bytes.Index(body, []byte(`,"steps":`)), len(body)
	if head < 0 {
		return errNotOurs
	}
	if body[tail-1] == '"' {
		tail = max(head, bytes.LastIndex(body, []byte(`,"experiment":`)))
	}
	var r Record
	if r.decode(slices.Concat(body[:head], body[tail:], []byte("}"))) != nil {
		return errNotOurs
	}
	e.Key, e.Status, e.Experiment = r.Key(), r.Status, r.Experiment
	switch {
	case !slices.Contains([]Status{OK, Failed, GivenUp}, e.Status):
		return fmt.Errorf("status is %q", e.Status)
	case e.Run < 0:
		return fmt.Errorf("run is %d", e.Run)
	}
	return nil
}

func damaged(at place, err error) error {
	return fmt.Errorf("%s %w: not the record of a run (%w); remove the line and resume", at, ErrDamaged, err)
}

// ReadRecords reads the records in dir/runs one by one: OpenRuns, then All.
func ReadRecords(dir string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		r, err := OpenRuns(dir)
		if err != nil {
			yield(Record{}, err)
			return
		}
		r.All()(yield)
	}
}

// Aggregate makes the statistics of the records, with the notices.
func (r *Runs) Aggregate(meta Meta) (*Summary, error) {
	s, err := Aggregate(meta, r.All())
	if err != nil {
		return nil, err
	}
	s.Notices = slices.Concat(s.Notices, r.Notices)
	return s, nil
}

// All reads the records one by one in the order of Entries, so that what is made
// from them does not depend on how they are spread over files. It stops at the
// first error. It may be iterated again.
func (r *Runs) All() iter.Seq2[Record, error] { return r.records(true) }

// WithoutCurves is All without the curves, which are most of a record.
func (r *Runs) WithoutCurves() iter.Seq2[Record, error] { return r.records(false) }

const (
	blockLength = 64  // records that are read together
	maxOpen     = 128 // files that are open at once
)

// block is what was read of some entries: records up to the first error.
type block struct {
	records []Record
	err     error
}

// records reads blocks on all processors and yields them in order.
func (r *Runs) records(curves bool) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		workers := runtime.GOMAXPROCS(0)
		type task struct {
			entries []Entry
			result  chan block
		}
		tasks, order, stop := make(chan task), make(chan chan block, 2*workers), make(chan struct{})
		var wg sync.WaitGroup
		defer wg.Wait()
		defer close(stop)
		wg.Go(func() {
			defer close(tasks)
			defer close(order)
			for entries := range slices.Chunk(r.Entries, blockLength) {
				t := task{entries, make(chan block, 1)}
				select {
				case order <- t.result:
				case <-stop:
					return
				}
				select {
				case tasks <- t:
				case <-stop:
					return
				}
			}
		})
		for range workers {
			wg.Go(func() {
				reader := recordReader{files: map[string]*os.File{}, most: max(1, maxOpen/workers), curves: curves}
				defer reader.close()
				for t := range tasks {
					t.result <- reader.read(t.entries)
				}
			})
		}
		for result := range order {
			b := <-result
			for i := range b.records {
				if !yield(b.records[i], nil) {
					return
				}
			}
			if b.err != nil {
				yield(Record{}, b.err)
				return
			}
		}
	}
}

// recordReader reads entries, and keeps some files open.
type recordReader struct {
	files  map[string]*os.File
	most   int
	curves bool
	buf    []byte
}

func (r *recordReader) close() {
	for name, f := range r.files {
		f.Close()
		delete(r.files, name)
	}
}

func (r *recordReader) read(entries []Entry) (b block) {
	b.records = make([]Record, 0, len(entries))
	for i := range entries {
		rec, err := r.one(&entries[i])
		if err != nil {
			b.err = err
			break
		}
		b.records = append(b.records, rec)
	}
	return b
}

func (r *recordReader) one(e *Entry) (rec Record, err error) {
	f := r.files[e.at.name]
	if f == nil {
		if len(r.files) >= r.most {
			r.close()
		}
		if f, err = os.Open(e.at.name); err != nil {
			return rec, fmt.Errorf("reading records: %w", err)
		}
		r.files[e.at.name] = f
	}
	r.buf = slices.Grow(r.buf[:0], int(e.length))[:e.length]
	if _, err := f.ReadAt(r.buf, e.offset); err != nil {
		return rec, fmt.Errorf("reading %s: %w", e.at.name, inputfile.Cause(err))
	}
	// OpenRuns has checked the checksum.
	body, _ := splitChecksum(bytes.TrimRight(r.buf, "\r\n"))
	if first := bytes.Index(body, []byte(`,"curves":{`)); first >= 0 && !r.curves { // in which there are no other braces
		body = slices.Delete(body, first, first+1+bytes.IndexByte(body[first:], '}'))
	}
	if rec.decode(append(body, '}')) != nil {
		return rec, damaged(e.at, errNotOurs)
	}
	rec.Environment, rec.Agent, rec.Status = e.Environment, e.Agent, e.Status // one string for all
	rec.Programs, rec.at = e.Programs(), e.at
	return rec, nil
}

// Sorted yields records that are in memory in the order of ReadRecords. It sorts
// the slice in place.
func Sorted(recs []Record) iter.Seq2[Record, error] {
	slices.SortStableFunc(recs, func(a, b Record) int { return compareKeys(a.Key(), b.Key()) })
	return func(yield func(Record, error) bool) {
		for _, r := range recs {
			if !yield(r, nil) {
				return
			}
		}
	}
}
