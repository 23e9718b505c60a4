package result

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Entry is one record of an output directory without its curves.
type Entry struct {
	Key
	Status   Status   `json:"status"`
	Programs Programs `json:"-"` // from the name of the file

	file   string
	line   int
	offset int64
	length int
}

// ReadKeys lists the records in dir/runs in the order of environment label,
// agent label and run; none if the folder does not exist. Files that WriteFile
// has not finished are ignored.
//
// A run may have failed records beside one that is ok, as when failed runs were
// tried again: the ok one counts, of failed ones the first by file name. Two ok
// records of a run are an error, as is a line that does not begin and end like a
// record; both name file and line. ReadRecords looks at lines as a whole.
func ReadKeys(dir string) ([]Entry, error) {
	names, err := filepath.Glob(filepath.Join(escape(dir), runsDir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var all []Entry
	for _, name := range names {
		if strings.HasPrefix(filepath.Base(name), ".") {
			continue
		}
		if all, err = appendEntries(all, name); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all, compareEntries)
	kept := all[:0]
	for _, e := range all {
		if n := len(kept); n == 0 || kept[n-1].Key != e.Key {
			kept = append(kept, e)
		} else if first := kept[n-1]; first.Status == OK && e.Status == OK {
			return nil, fmt.Errorf("run %d of %s in %s is recorded twice: %s:%d and %s:%d; remove one of the files",
				e.Run, e.Agent, e.Environment, first.file, first.line, e.file, e.line)
		}
	}
	return kept, nil
}

// compareEntries orders by key, ok records first.
func compareEntries(a, b Entry) int {
	bad := func(e Entry) int {
		if e.Status == OK {
			return 0
		}
		return 1
	}
	return cmp.Or(compareKeys(a.Key, b.Key), bad(a)-bad(b))
}

func compareKeys(a, b Key) int {
	return cmp.Or(strings.Compare(a.Environment, b.Environment), strings.Compare(a.Agent, b.Agent), cmp.Compare(a.Run, b.Run))
}

// escape makes a path match itself in filepath.Glob.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func appendEntries(all []Entry, name string) ([]Entry, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading records: %w", err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<18)
	programs := programsOf(name)
	var offset int64
	for line := 1; ; line++ {
		data, err := r.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("reading %s: %w", name, cause(err))
		}
		if len(bytes.TrimSpace(data)) > 0 {
			e := Entry{Programs: programs, file: name, line: line, offset: offset, length: len(data)}
			if err := e.parse(data); err != nil {
				return nil, damaged(e, err)
			}
			if e.Status != OK && e.Status != Failed {
				return nil, damaged(e, fmt.Errorf("status is %q", e.Status))
			}
			all = append(all, e)
		}
		if err != nil {
			return all, nil
		}
		offset += int64(len(data))
	}
}

// parse reads key and status. Of a line that begins and ends as AppendJSON
// writes it, it does not look at the rest.
func (e *Entry) parse(line []byte) error {
	p := parser{rest: line}
	e.Key, e.Status = p.head()
	if !p.bad && bytes.HasSuffix(line, []byte("}\n")) {
		return nil
	}
	return json.Unmarshal(line, e)
}

func damaged(e Entry, err error) error {
	return fmt.Errorf("%s:%d is not the record of a run (%w); remove the line and resume", e.file, e.line, err)
}

// ReadRecords reads the records in dir/runs one by one, in the order and under
// the rules of ReadKeys, so that what is made from them does not depend on how
// they are spread over files. It stops at the first error.
func ReadRecords(dir string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		entries, err := ReadKeys(dir)
		if err != nil {
			yield(Record{}, err)
			return
		}
		files := map[string]*os.File{}
		defer func() {
			for _, f := range files {
				f.Close()
			}
		}()
		var buf []byte
		for _, e := range entries {
			rec, err := e.read(files, &buf)
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// maxOpen bounds the files that ReadRecords holds open.
const maxOpen = 128

func (e *Entry) read(files map[string]*os.File, buf *[]byte) (rec Record, err error) {
	f := files[e.file]
	if f == nil {
		if len(files) >= maxOpen {
			for name, old := range files {
				old.Close()
				delete(files, name)
			}
		}
		if f, err = os.Open(e.file); err != nil {
			return rec, fmt.Errorf("reading records: %w", err)
		}
		files[e.file] = f
	}
	*buf = slices.Grow((*buf)[:0], e.length)[:e.length]
	if _, err := f.ReadAt(*buf, e.offset); err != nil {
		return rec, fmt.Errorf("reading %s: %w", e.file, cause(err))
	}
	if err := rec.UnmarshalJSON(*buf); err != nil {
		return rec, damaged(*e, err)
	}
	rec.Programs = e.Programs
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
