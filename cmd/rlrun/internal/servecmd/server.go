package servecmd

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/rlrun/rlrun/framework/experiment"
	"github.com/rlrun/rlrun/framework/report"
	"github.com/rlrun/rlrun/framework/result"
)

const (
	// pollEvery is the time between looks at a directory.
	pollEvery = 2 * time.Second
	// beat is the time between comments on a stream of events, which keep it open.
	beat = 15 * time.Second
	// share of the time is spent on reading records at most.
	share = 5
)

// server answers requests for the pages of experiments.
type server struct {
	http.ServeMux
	done  context.Context
	dirs  []string
	live  []*live
	token string
	local bool // it listens on this machine alone
}

func newServer(done context.Context, dirs []string, token string, local bool) *server {
	s := &server{done: done, dirs: dirs, token: token, local: local}
	for _, dir := range dirs {
		s.live = append(s.live, &live{dir: dir})
	}
	s.HandleFunc("GET /{$}", s.page)
	s.HandleFunc("GET /api/state", s.state)
	s.HandleFunc("GET /api/events", s.events)
	return s
}

// ServeHTTP refuses requests without the token, and those of pages of other sites that
// reach this machine by a name of their own (DNS rebinding).
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer") // the address holds the token
	h.Set("Cache-Control", "no-store")
	if s.local && !loopback(hostName(r.Host)) {
		http.Error(w, "open this page as localhost", http.StatusForbidden)
		return
	}
	given, want := sha256.Sum256([]byte(r.URL.Query().Get("token"))), sha256.Sum256([]byte(s.token))
	if s.token != "" && subtle.ConstantTimeCompare(given[:], want[:]) != 1 {
		http.Error(w, "the token is missing or wrong: open the address that rlrun serve printed", http.StatusForbidden)
		return
	}
	s.ServeMux.ServeHTTP(w, r)
}

// hostName is a Host header without its port.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return host
}

// chosen returns the experiment that a request asks for, by its index.
func (s *server) chosen(w http.ResponseWriter, r *http.Request) (*live, int) {
	text := r.URL.Query().Get("experiment")
	if text == "" {
		text = "0"
	}
	i, err := strconv.Atoi(text)
	if err != nil || i < 0 || i >= len(s.live) {
		http.Error(w, "there is no such experiment", http.StatusNotFound)
		return nil, 0
	}
	return s.live[i], i
}

func (s *server) page(w http.ResponseWriter, r *http.Request) {
	l, i := s.chosen(w, r)
	if l == nil {
		return
	}
	now, err := l.look()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	page := now.page
	page.Live, page.Token, page.Others, page.Current = true, s.token, s.dirs, i
	var buf bytes.Buffer
	if err := report.WriteHTML(&buf, now.summary, page); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = buf.WriteTo(w) // the browser has gone
}

func (s *server) state(w http.ResponseWriter, r *http.Request) {
	l, _ := s.chosen(w, r)
	if l == nil {
		return
	}
	now, err := l.look()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(now.data)
}

// events tells a page, as server-sent events, when there is something new.
func (s *server) events(w http.ResponseWriter, r *http.Request) {
	l, _ := s.chosen(w, r)
	if l == nil {
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	stream := http.NewResponseController(w)
	seen := r.Header.Get("Last-Event-ID")
	said := time.Now()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		text := ""
		if now, err := l.look(); err == nil && now.id != seen {
			seen = now.id
			text = fmt.Sprintf("id: %s\ndata: new\n\n", seen)
		} else if time.Since(said) > beat {
			text = ": still here\n\n"
		}
		if text != "" {
			said = time.Now()
			if _, err := w.Write([]byte(text)); err != nil {
				return
			}
		}
		if stream.Flush() != nil {
			return
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		case <-s.done.Done():
			return
		}
	}
}

// live is an experiment whose records may grow.
type live struct {
	dir string

	mu   sync.Mutex
	last *snapshot
	next time.Time // no look before it
}

// snapshot is what the page shows at one time.
type snapshot struct {
	id      string // of the files that it was made from
	summary *result.Summary
	page    report.Page
	data    []byte
}

// look returns the newest state. Records are read again if their files changed, but
// large experiments not all the time.
func (l *live) look() (*snapshot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != nil && time.Now().Before(l.next) {
		return l.last, nil
	}
	id, err := fingerprint(l.dir)
	if err != nil {
		return nil, err
	}
	started := time.Now()
	if l.last == nil || l.last.id != id {
		now, err := read(l.dir)
		if err != nil {
			return nil, err
		}
		now.id = id
		l.last = now
	}
	l.next = time.Now().Add(max(pollEvery/2, share*time.Since(started)))
	return l.last, nil
}

// fingerprint identifies the files of records by their names, sizes and times.
func fingerprint(dir string) (string, error) {
	entries, err := os.ReadDir(filepath.Join(dir, "runs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	sum := sha256.New()
	for _, e := range entries {
		info, err := e.Info()
		if err != nil { // it has just gone
			continue
		}
		fmt.Fprintf(sum, "%q %d %d\n", e.Name(), info.Size(), info.ModTime().UnixNano())
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:12]), nil
}

// early is said where verdicts would be.
const early = "Runs are still being made. There are no comparisons before the end: to look at tests early makes them too sure."

// read makes a snapshot of the records.
func read(dir string) (*snapshot, error) {
	x, err := experiment.Read(dir)
	if err != nil {
		return nil, err
	}
	r, err := x.Write()
	if err != nil {
		return nil, err
	}
	missing := 0
	for _, c := range r.Summary.Counts {
		missing += c.Missing
	}
	waits := missing > 0 && x.Plan.Sequential() == nil
	page, err := r.Page(!waits)
	if err != nil {
		return nil, err
	}
	if waits {
		page.Notices = append(page.Notices, early)
	}
	var data bytes.Buffer
	if err := report.WriteData(&data, r.Summary, page); err != nil {
		return nil, err
	}
	return &snapshot{summary: r.Summary, page: page, data: data.Bytes()}, nil
}
