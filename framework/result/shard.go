package result

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"slices"
)

// ShardRuns says which runs a shard has, for OpenShard.
type ShardRuns struct {
	Shard, Shards int // number of the shard, from 0, and number of shards
	// Of lists the runs of the shard from first to last of an environment and an agent, by label,
	// in increasing order.
	Of func(environment, agent string, first, last int) []int
}

// OpenShard is OpenRuns for the runs of a shard alone. Its cost depends on the shard's
// runs, not on the records of others. It does not open files that another shard of the
// same division made. In large files it finds its runs by bisection. A run that it
// overlooks, as in a file that is not sorted, is made twice, which does no harm. It ends
// with the context's cause when that is done.
func OpenShard(ctx context.Context, dir string, s ShardRuns) (*Runs, error) {
	return again(func() (*Runs, error) { return openRuns(ctx, dir, s.addFile) })
}

// addFile adds the entries of the shard's runs in a file.
func (s *ShardRuns) addFile(r *Runs, name string, labels map[string]string) error {
	o, _ := ParseRecordsName(name)
	if o.Shards == s.Shards && o.Shard != s.Shard {
		return nil
	}
	if o.Shards != s.Shards {
		if found, err := r.bisectFile(name, o.Programs, labels, s); found || err != nil {
			return err
		}
	}
	before := len(r.Entries)
	if err := r.addFile(name, labels); err != nil {
		return err
	}
	own := slices.DeleteFunc(r.Entries[before:], func(e Entry) bool { return len(s.Of(e.Environment, e.Agent, e.Run, e.Run)) == 0 })
	r.Entries = r.Entries[:before+len(own)]
	return nil
}

// linear is the length of a part of a file that is read line by line, in bytes.
const linear = 1 << 13

// bisectFile adds the entries of a shard's runs in a file that holds one environment and agent,
// sorted by run, as rlrun writes it. It returns false, and adds nothing, if the file is to be read
// whole: it is small, or not such a file, or most of it is wanted.
func (r *Runs) bisectFile(name string, programs Programs, labels map[string]string, s *ShardRuns) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() <= 4*linear {
		return false, err
	}
	b := bisection{file: f, lines: bufio.NewReaderSize(nil, linear), size: info.Size()}
	_, first, ok := b.lineFrom(0)
	if !ok {
		return false, nil
	}
	b.environment, b.agent = first.Environment, first.Agent
	wanted := s.Of(first.Environment, first.Agent, 0, math.MaxInt)
	if int64(len(wanted))*4*linear > b.size {
		return false, nil
	}
	before := len(r.Entries)
	for _, run := range wanted {
		if run < first.Run {
			continue
		}
		found, whole := b.find(run)
		if !whole {
			r.Entries = r.Entries[:before]
			return false, nil
		}
		for _, e := range found {
			e.Programs, e.at = programs, place{file: name}
			e.intern(labels)
			r.Entries = append(r.Entries, e)
		}
		if b.from >= b.size {
			break
		}
	}
	return true, nil
}

// bisection looks for runs, in increasing order, in a file whose lines are sorted by run.
type bisection struct {
	file  *os.File
	lines *bufio.Reader
	size  int64
	// environment and agent of every line
	environment, agent string
	from               int64 // where a line begins; runs before it are smaller than the next one that is looked for
}

// find returns the entries of a run. whole is false if there is something in the file that only
// a reader of the whole can judge.
func (b *bisection) find(run int) (found []Entry, whole bool) {
	low, high := b.from, b.size
	for high-low > linear {
		middle := low + (high-low)/2
		start, e, ok := b.lineAfter(middle)
		switch {
		case !ok && start < b.size:
			return nil, false
		case start >= high:
			high = middle // no line begins between the two
		case e.Run < run:
			low = start
		default:
			high = start
		}
	}
	b.seek(low)
	for b.from = low; b.from < b.size; {
		line, err := b.lines.ReadBytes('\n')
		if err != nil {
			return nil, false
		}
		e := Entry{offset: b.from, length: len(line)}
		if e.parse(line) != nil || e.Environment != b.environment || e.Agent != b.agent {
			return nil, false
		}
		if e.Run > run {
			break
		}
		if b.from += int64(len(line)); e.Run == run {
			found = append(found, e)
		}
	}
	return found, true
}

func (b *bisection) seek(at int64) {
	b.lines.Reset(io.NewSectionReader(b.file, at, b.size-at))
}

// lineAfter returns the first line that begins after an offset; start is the file's size if
// there is none.
func (b *bisection) lineAfter(offset int64) (start int64, e Entry, ok bool) {
	b.seek(offset)
	for start = offset; ; {
		part, err := b.lines.ReadSlice('\n')
		start += int64(len(part))
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return b.size, e, false
		}
	}
	if start >= b.size {
		return b.size, e, false
	}
	return b.lineFrom(start)
}

// lineFrom reads run, environment and agent of the line that begins at an offset.
func (b *bisection) lineFrom(start int64) (int64, Entry, bool) {
	b.seek(start)
	line, err := b.lines.ReadSlice('\n')
	if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
		return start, Entry{}, false
	}
	p := parser{rest: bytes.TrimRight(line, "\r\n")}
	var e Entry
	e.Key, e.Status = p.head()
	return start, e, !p.bad
}
