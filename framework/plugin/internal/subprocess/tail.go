package subprocess

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

// maxLine bounds what is kept of a line.
const maxLine = 500

// told matches records of hclog that tell no trouble. They are in the host's log.
var told = regexp.MustCompile(`^\{"@level": ?"(trace|debug|info)"`)

// Tail keeps the last lines of several streams, and the line with which a Go
// program began to die, which the traces that follow would push out.
type Tail struct {
	mu      sync.Mutex
	size    int
	lines   []string // the last, oldest first
	panic   string   // the last line that begins a panic
	panicAt int      // its number
	count   int      // lines so far
	streams []*Stream
}

// Stream is one of the streams of a Tail.
type Stream struct {
	tail *Tail
	part []byte // of a line without its end, at most maxLine
}

// NewTail returns a tail of at most the given number of lines.
func NewTail(size int) *Tail { return &Tail{size: size} }

// Stream adds a stream.
func (t *Tail) Stream() *Stream {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &Stream{tail: t}
	t.streams = append(t.streams, s)
	return s
}

// Write implements io.Writer. It never fails.
func (s *Stream) Write(p []byte) (int, error) {
	s.tail.mu.Lock()
	defer s.tail.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		s.part = append(s.part, line[:min(len(line), maxLine-len(s.part))]...)
		if ended {
			s.tail.add(strings.TrimRight(string(s.part), " \t\r"))
			s.part = s.part[:0]
		}
		rest = after
	}
	return len(p), nil
}

func (t *Tail) add(line string) {
	if line == "" || told.MatchString(line) {
		return
	}
	if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
		t.panic, t.panicAt = line, t.count
	}
	t.count++
	if len(t.lines) == t.size {
		t.lines = t.lines[:copy(t.lines, t.lines[1:])]
	}
	t.lines = append(t.lines, line)
}

// Last returns the lines kept, and those that have not ended yet.
func (t *Tail) Last() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []string
	if t.panic != "" && t.panicAt < t.count-len(t.lines) {
		lines = append(lines, t.panic, "…")
	}
	lines = append(lines, t.lines...)
	for _, s := range t.streams {
		if len(s.part) > 0 {
			lines = append(lines, string(s.part))
		}
	}
	return lines
}
