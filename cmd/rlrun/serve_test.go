package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rlrun/rlrun/internal/must"
)

const servedConfig = `
name: served
runs: 30
steps: 50
environments: [{name: arms, plugin: bernoulli-bandit, params: {arms: 2}}]
agents:
  - {name: greedy, plugin: bandit, params: {policy: {kind: epsilon-greedy, epsilon: 0}, belief: {kind: point, step: 0.1}}}
  - {name: thompson, plugin: bandit, params: {policy: {kind: thompson}, belief: {kind: population, members: 4, step: 0.1}}}
record: {points: 10}
outputs: [csv]
lanes: 5
`

// unfinished makes the output directory of an experiment whose second agent has no
// records yet, and returns a function that adds these.
func unfinished(t *testing.T) (dir string, finish func()) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "results")
	file := filepath.Join(t.TempDir(), "exp.yaml")
	must.Do(t, os.WriteFile(file, []byte(servedConfig), 0o600))
	var stderr bytes.Buffer
	if status := run(context.Background(), []string{"run", file, "--out", dir, "--quiet"}, nil, io.Discard, &stderr); status != 0 {
		t.Fatal(stderr.String())
	}
	late, err := filepath.Glob(filepath.Join(dir, "runs", "arms.thompson.*"))
	if err != nil || len(late) == 0 {
		t.Fatalf("no records of thompson: %v", err)
	}
	hidden := t.TempDir()
	move := func(from, to string) {
		must.Do(t, os.Rename(from, to))
	}
	for _, name := range late {
		move(name, filepath.Join(hidden, filepath.Base(name)))
	}
	return dir, func() {
		for _, name := range late {
			move(filepath.Join(hidden, filepath.Base(name)), name)
		}
	}
}

// served starts rlrun serve and returns its address. The test's end stops it, which
// must take its status to 0.
func served(t *testing.T, args ...string) string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	out, in := io.Pipe()
	var stderr bytes.Buffer
	status := make(chan int, 1)
	go func() {
		status <- run(ctx, append([]string{"serve", "--json"}, args...), nil, in, &stderr)
		_ = in.Close()
	}()
	t.Cleanup(func() {
		stop()
		if s := <-status; s != 0 {
			t.Errorf("serve ended with status %d: %s", s, stderr.String())
		}
	})
	var answer struct{ URL string }
	decoder := json.NewDecoder(out)
	if err := decoder.Decode(&answer); err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return answer.URL
}

// at is the address of another path of a served page, with its token. path may have a query.
func at(page, path string) string {
	base, token, _ := strings.Cut(page, "?")
	path, query, _ := strings.Cut(path, "?")
	return base + path + "?" + token + "&" + query
}

func get(t *testing.T, url, host string) (int, string) {
	t.Helper()
	request := must.Get(http.NewRequest(http.MethodGet, url, nil))(t)
	if host != "" {
		request.Host = host
	}
	answer := must.Get(http.DefaultClient.Do(request))(t)
	defer answer.Body.Close()
	body := must.Get(io.ReadAll(answer.Body))(t)
	return answer.StatusCode, string(body)
}

// Who may see the page: on this machine alone, requests by a name of this machine;
// elsewhere, those with the token.
func TestServeRefuses(t *testing.T) {
	dir, _ := unfinished(t)
	url := served(t, dir, "--addr", "127.0.0.1:0")
	for host, want := range map[string]int{"": 200, "localhost:9": 200, "[::1]:8080": 200, "evil.example": 403, "127.0.0.1.evil.example": 403} {
		if status, body := get(t, url, host); status != want {
			t.Errorf("Host %q: status %d, want %d: %s", host, status, want, body)
		}
	}
	for _, path := range []string{"api/state?experiment=1", "api/state?experiment=-1", "api/state?experiment=x", "runs", "../experiment.yaml"} {
		if status, _ := get(t, at(url, path), ""); status != 404 {
			t.Errorf("%s: status %d, want 404", path, status)
		}
	}
	if answer, err := http.Post(url, "text/plain", strings.NewReader("x")); err != nil || answer.StatusCode != 405 {
		t.Errorf("POST: %v %v", answer, err)
	}
	address, _, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	slow := must.Get(net.Dial("tcp", address))(t) // a body that never comes
	defer slow.Close()
	must.Do(t, slow.SetDeadline(time.Now().Add(10*time.Second)))
	must.Get(io.WriteString(slow, "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n"))(t)
	if answer, err := io.ReadAll(slow); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 403 ") {
		t.Errorf("without a body: %v %.40q", err, answer)
	}
	with := served(t, dir, "--addr", "127.0.0.1:0", "--token", "sesame")
	base, _, _ := strings.Cut(with, "?")
	for query, want := range map[string]int{"": 403, "?token=": 403, "?token=sesam": 403, "?token=sesame2": 403, "?token=sesame": 200} {
		for _, path := range []string{"", "api/state"} {
			if status, _ := get(t, base+path+query, ""); status != want {
				t.Errorf("%s%s: status %d, want %d", path, query, status, want)
			}
		}
	}
	if with != base+"?token=sesame" {
		t.Errorf("the address is %s", with)
	}
	// Also on this machine there is a token, which nobody can guess. It comes from a file or
	// the environment, so that no command line shows it.
	base, token, _ := strings.Cut(url, "?token=")
	if status, _ := get(t, base, ""); status != 403 || len(token) < 20 {
		t.Errorf("without the token: status %d, want 403; the token is %q", status, token)
	}
	file := filepath.Join(t.TempDir(), "token")
	must.Do(t, os.WriteFile(file, []byte("open sesame\n"), 0o600))
	if page := served(t, dir, "--addr", "127.0.0.1:0", "--token-file", file); !strings.HasSuffix(page, "?token=open+sesame") {
		t.Errorf("the address is %s", page)
	}
	t.Setenv("RLRUN_SERVE_TOKEN", "sesame 2")
	if page := served(t, dir, "--addr", "127.0.0.1:0"); !strings.HasSuffix(page, "?token=sesame+2") {
		t.Errorf("the address is %s", page)
	}
}

// An unfinished experiment shows no verdicts. In the end the served page is the report.
func TestServeFollowsRecords(t *testing.T) {
	dir, finish := unfinished(t)
	url := served(t, dir, "--addr", "127.0.0.1:0")
	type state struct {
		Unfinished bool
		Notices    []string
		Comparison *struct{ Rows []any }
	}
	read := func() (s state) {
		_, body := get(t, at(url, "api/state"), "")
		if err := json.Unmarshal([]byte(body), &s); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		return s
	}
	if s := read(); !s.Unfinished || s.Comparison != nil || !strings.Contains(fmt.Sprint(s.Notices), "Incomplete: 30 of 60 runs") {
		t.Errorf("before the end: %+v", s)
	}
	finish()
	deadline := time.Now().Add(time.Minute)
	s := read()
	for s.Unfinished && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond)
		s = read()
	}
	if s.Unfinished || s.Comparison == nil || len(s.Comparison.Rows) != 1 {
		t.Errorf("at the end: %+v", s)
	}
	must.Do(t, os.RemoveAll(dir))
	for !s.Unfinished && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond)
		s = read()
	}
	if !strings.Contains(fmt.Sprint(s.Notices), "experiment.yaml is gone: the experiment was moved or removed.") {
		t.Errorf("without its directory: %+v", s)
	}
}

// A page follows the config: an experiment grows, or another one takes its place.
func TestServeFollowsTheConfig(t *testing.T) {
	dir, finish := unfinished(t)
	finish()
	url := served(t, dir, "--addr", "127.0.0.1:0")
	file := filepath.Join(t.TempDir(), "exp.yaml")
	must.Do(t, os.WriteFile(file, []byte(servedConfig), 0o600))
	for i, change := range [][]string{{"--resume"}, {"--resume", "--runs", "35"}, {"--overwrite", "--seed", "2"}} {
		get(t, at(url, "api/state"), "")
		name := fmt.Sprint("experiment ", i)
		if status := run(t.Context(), append([]string{"run", file, "--out", dir, "--quiet", "--set", "name=" + name}, change...), nil, io.Discard, io.Discard); status != 0 {
			t.Fatal(change, status)
		}
		var s struct{ Name string }
		for deadline := time.Now().Add(time.Minute); s.Name != name && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
			status, body := get(t, at(url, "api/state"), "")
			if err := json.Unmarshal([]byte(body), &s); err != nil {
				t.Fatalf("%v: status %d: %s", change, status, body)
			}
		}
		if s.Name != name {
			t.Errorf("%v: the page is that of %s", change, s.Name)
		}
	}
}

// Several experiments in one page: agents have the names of compare, and there are no
// verdicts.
func TestServeTogether(t *testing.T) {
	a, finish := unfinished(t)
	finish()
	b, _ := unfinished(t)
	c := filepath.Join(t.TempDir(), "c")
	if status := run(t.Context(), []string{"run", filepath.Join(a, "experiment.yaml"), "--out", c, "--quiet", "--steps", "20", "--seed", "2", "--set", "discount=0.5"}, nil, io.Discard, io.Discard); status != 0 {
		t.Fatal(status)
	}
	_, page := get(t, at(served(t, a, b, c, "--addr", "127.0.0.1:0"), "api/state"), "")
	if want := fmt.Sprintf("arms in %s and %s: steps differ (50 and 20), discounts differ (0.99 and 0.5).", a, c); strings.Count(page, want) != 1 || strings.Count(page, "Do not compare") != 1 {
		t.Errorf("the page does not say once that %s", want)
	}
	url := served(t, a, b, "--addr", "127.0.0.1:0")
	for query, want := range map[string]string{"": "[%[1]s:greedy %[1]s:thompson %[2]s:greedy %[2]s:thompson]", "?experiment=1": "[greedy thompson]"} {
		var state struct {
			Agents       []string
			Environments []string
			Comparison   *struct{}
			OK           [][]int
			Progress     *struct{ Done, Planned, Processes int }
		}
		_, body := get(t, at(url, "api/state"+query), "")
		if err := json.Unmarshal([]byte(body), &state); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		if query == "" {
			want = fmt.Sprintf(want, a, b)
		}
		p := state.Progress
		if fmt.Sprint(state.Agents) != want || len(state.Environments) != 1 || state.Comparison != nil || p == nil || p.Processes != 0 || p.Planned-p.Done != 30 {
			t.Errorf("%q: %+v", query, state)
		}
	}
}

// Runs that go on are shown, with what is left to do, and are in no other number.
func TestServeRunningRuns(t *testing.T) {
	dir, _ := unfinished(t)
	must.Do(t, os.Mkdir(filepath.Join(dir, ".live"), 0o777))
	live := `{"steps_per_second": 10, "cells": [{"environment": "arms", "agent": "thompson", "runs": 4, "steps": 100,
		"curves": [{"metric": "reward", "runs": [4, 4, 2], "mean": [0.25, 0.5, 0.75]}]}]}`
	must.Do(t, os.WriteFile(filepath.Join(dir, ".live", "run.json"), []byte(live), 0o666))
	_, body := get(t, at(served(t, dir, "--addr", "127.0.0.1:0"), "api/state"), "")
	var state struct {
		Progress struct {
			Done, Planned, Processes int
			Rate, Left               float64
			Cells                    []struct {
				A, Running int
				Share      float64
			}
		}
		Metrics []struct{ ID string }
		Curves  []struct {
			M    int
			Live string
		}
	}
	if err := json.Unmarshal([]byte(body), &state); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	p := state.Progress
	if p.Done != 30 || p.Planned != 60 || p.Processes != 1 || p.Rate != 10 || p.Left != (30*50-100)/10. || len(p.Cells) != 2 || p.Cells[1].Running != 4 || p.Cells[1].Share != 0.5 {
		t.Errorf("%+v", p)
	}
	for _, c := range state.Curves {
		raw := must.Get(base64.StdEncoding.DecodeString(c.Live))(t)
		var got []float32
		for ; len(raw) > 0; raw = raw[4:] {
			got = append(got, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
		}
		want := "[]"
		if state.Metrics[c.M].ID == "reward" {
			nan := strings.Repeat("NaN ", 9)
			want = "[" + nan + "0.25 0.5 0.75 " + strings.TrimSpace(strings.Repeat("NaN ", 6)) + "]"
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", state.Metrics[c.M].ID, got, want)
		}
	}
}
