package plugin

import (
	"bytes"
	"strings"
	"sync"
)

// maxLine bounds what is kept of a line.
const maxLine = 500

// tail keeps the last lines written to it, and the line with which a Go program
// began to die, which the traces that follow would push out.
type tail struct {
	mu    sync.Mutex
	size  int
	lines []string // the last, oldest first
	panic string   // the last line that begins a panic, with its number
	at    int
	count int
	part  []byte // of a line without its end, at most maxLine
}

// Write implements io.Writer. It never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		t.part = append(t.part, line[:min(len(line), maxLine-len(t.part))]...)
		if ended {
			t.add(strings.TrimRight(string(t.part), " \t\r"))
			t.part = t.part[:0]
		}
		rest = after
	}
	return len(p), nil
}

func (t *tail) add(line string) {
	if line == "" {
		return
	}
	if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
		t.panic, t.at = line, t.count
	}
	t.count++
	if len(t.lines) == t.size {
		t.lines = t.lines[:copy(t.lines, t.lines[1:])]
	}
	t.lines = append(t.lines, line)
}

// last returns the lines kept.
func (t *tail) last() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []string
	if t.panic != "" && t.at < t.count-len(t.lines) {
		lines = append(lines, t.panic, "…")
	}
	lines = append(lines, t.lines...)
	if len(t.part) > 0 {
		lines = append(lines, string(t.part))
	}
	return lines
}
