package servecmd

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/output"
	"github.com/rlrun/rlrun/framework/output/page"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
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
	views []string // names of what can be chosen
	live  []*live
	first int // what is shown first, an index
	token string
	local bool // it listens on this machine alone
}

func newServer(done context.Context, dirs []string, token string, local bool) *server {
	s := &server{done: done, views: dirs, token: token, local: local}
	for _, dir := range dirs {
		s.live = append(s.live, &live{sources: []*source{{dir: dir}}})
	}
	if len(dirs) > 1 {
		all := &live{}
		for _, l := range s.live {
			all.sources = append(all.sources, &source{dir: l.sources[0].dir})
		}
		s.live, s.views = append(s.live, all), append(slices.Clone(dirs), "all together")
	}
	s.HandleFunc("GET /{$}", s.view(s.page))
	s.HandleFunc("GET /api/state", s.view(s.state))
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
	if r.ContentLength != 0 { // no answer needs a body, and that of a stranger is not waited for
		_ = http.NewResponseController(w).SetReadDeadline(time.Now())
	}
	if s.local && !loopback(hostName(r.Host)) {
		http.Error(w, "open this page as localhost", http.StatusForbidden)
		return
	}
	given, want := sha256.Sum256([]byte(r.URL.Query().Get("token"))), sha256.Sum256([]byte(s.token))
	if subtle.ConstantTimeCompare(given[:], want[:]) != 1 {
		http.Error(w, "the token is missing or wrong: open the address that rlrun serve printed", http.StatusForbidden)
		return
	}
	s.ServeMux.ServeHTTP(&patient{w, http.NewResponseController(w)}, r)
}

// A reader that takes less than portion bytes of an answer in patience is slow or has gone.
// Its connection is closed, which it would keep for ever otherwise.
const (
	patience = 30 * time.Second
	portion  = 64 << 10
)

// patient is a response that gives its reader some time for each portion.
type patient struct {
	http.ResponseWriter
	controller *http.ResponseController
}

// Write implements io.Writer.
func (p *patient) Write(data []byte) (n int, err error) {
	for len(data) > 0 && err == nil {
		if err = p.controller.SetWriteDeadline(time.Now().Add(patience)); err != nil {
			return n, err
		}
		var k int
		k, err = p.ResponseWriter.Write(data[:min(portion, len(data))])
		n, data = n+k, data[k:]
	}
	return n, err
}

// Unwrap is for http.ResponseController.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }

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
		text = strconv.Itoa(s.first)
	}
	i, err := strconv.Atoi(text)
	if err != nil || i < 0 || i >= len(s.live) {
		http.Error(w, "there is no such experiment", http.StatusNotFound)
		return nil, 0
	}
	return s.live[i], i
}

// view answers with the newest state of what a request asks for.
func (s *server) view(answer func(w http.ResponseWriter, now *snapshot, index int)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		l, i := s.chosen(w, r)
		if l == nil {
			return
		}
		now, err := l.look()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		answer(w, now, i)
	}
}

func (s *server) page(w http.ResponseWriter, now *snapshot, index int) {
	shown := now.page
	shown.Token, shown.Others, shown.Current = s.token, s.views, index
	var buf bytes.Buffer
	if err := page.WriteHTML(&buf, now.summary, shown); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = buf.WriteTo(w) // the browser has gone
}

func (s *server) state(w http.ResponseWriter, now *snapshot, _ int) {
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

// live is what a page shows: an experiment whose records may grow, or several.
type live struct {
	sources []*source

	mu   sync.Mutex
	last *snapshot
	next time.Time // no look before it
}

// source is an output directory.
type source struct {
	dir     string
	follows *output.Follower
	config  string // size and time of its file, when follows read it
}

// snapshot is what the page shows at one time.
type snapshot struct {
	id      string // of the files that it was made from
	summary *result.Summary
	page    page.Page
	data    []byte
}

// look returns the newest state. It reads new files of records only, and of large
// experiments not all the time.
func (l *live) look() (*snapshot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != nil && time.Now().Before(l.next) {
		return l.last, nil
	}
	started := time.Now()
	sum := sha256.New()
	running := make([][]result.Live, len(l.sources))
	for i, s := range l.sources {
		running[i] = store.Dir{Path: s.dir}.ReadLive(started)
		if err := fingerprint(sum, s.dir, running[i]); err != nil {
			return nil, err
		}
		if info, err := os.Stat(filepath.Join(s.dir, store.ConfigFile)); err == nil {
			config := fmt.Sprintln(info.Size(), info.ModTime().UnixNano())
			if config != s.config {
				s.config, s.follows = config, nil // the experiment has grown, or is another one
			}
			fmt.Fprint(sum, config)
		}
	}
	if id := fmt.Sprintf("%x", sum.Sum(nil)[:12]); l.last == nil || l.last.id != id {
		now, err := l.read(running)
		if err != nil {
			return nil, err
		}
		now.id = id
		l.last = now
	}
	l.next = time.Now().Add(max(pollEvery/2, share*time.Since(started)))
	return l.last, nil
}

// fingerprint adds the files of records, by their names, sizes and times, and what is
// running.
func fingerprint(sum hash.Hash, dir string, running []result.Live) error {
	entries, err := os.ReadDir(filepath.Join(dir, "runs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil { // it has just gone
			continue
		}
		fmt.Fprintf(sum, "%q %d %d\n", e.Name(), info.Size(), info.ModTime().UnixNano())
	}
	return json.NewEncoder(sum).Encode(running)
}

// Said where verdicts would be.
const (
	early    = "Runs are still being made. There are no comparisons before the end: tests that are repeated before the end find differences too often."
	together = "Experiments are shown together, and not compared: rlrun compare with their directories says which runs are paired and which agents differ."
)

// read makes a snapshot of the records. running holds what is being made, by source.
func (l *live) read(running [][]result.Live) (*snapshot, error) {
	var all []*output.Results
	for _, s := range l.sources {
		if s.follows == nil {
			var err error
			if s.follows, err = output.Follow(store.Dir{Path: s.dir}); err != nil {
				return nil, err
			}
		}
		r, err := s.follows.Read()
		if err != nil {
			s.follows = nil // the config is read again, as it may have been replaced in the meantime
			return nil, err
		}
		all = append(all, r)
	}
	now, err := one(all[0])
	if len(all) > 1 {
		now, err = overlay(all, running)
	}
	if err != nil {
		return nil, err
	}
	for _, s := range l.sources {
		path := filepath.Join(s.dir, store.ConfigFile)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			now.page.Notices = append(now.page.Notices, path+" is gone: the experiment was moved or removed.")
		}
	}
	now.page.Live = true
	for _, r := range running {
		now.page.Running = append(now.page.Running, r...)
	}
	var data bytes.Buffer
	if err := page.WriteData(&data, now.summary, now.page); err != nil {
		return nil, err
	}
	now.data = data.Bytes()
	return now, nil
}

// one is the state of an experiment.
func one(r *output.Results) (*snapshot, error) {
	missing := 0
	for _, c := range r.Summary.Counts {
		missing += c.Missing
	}
	waits := missing > 0 && r.Plan.Sequential() == nil
	shown, err := page.Of(r, !waits)
	if waits {
		shown.Notices = append(shown.Notices, early)
	}
	return &snapshot{summary: r.Summary, page: shown}, err
}

// overlay is the state of several experiments in one page. It gives running the names
// of agents there.
func overlay(all []*output.Results, running [][]result.Live) (*snapshot, error) {
	var inputs []*compare.Input
	for _, r := range all {
		inputs = append(inputs, &compare.Input{Dir: r.Dir.Path, Summary: r.Summary})
	}
	for i, labels := range compare.Labels(inputs) {
		for _, process := range running[i] {
			for k := range process.Cells {
				process.Cells[k].Agent = labels[process.Cells[k].Agent]
			}
		}
	}
	summary, shown, err := page.Together(inputs, all)
	shown.Notices = append(shown.Notices, together)
	return &snapshot{summary: summary, page: shown}, err
}
