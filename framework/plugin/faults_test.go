package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// step is the step call of these tests in which a fault strikes lane 2 of 4: the
// third action after the call that starts the runs.
const struck = 4

// stepEnvironment steps four lanes of a faulty environment until an error, at most
// so many times.
func stepEnvironment(t *testing.T, p vector.Plugin, fault string, steps int) error {
	t.Helper()
	env := must.Get(p.OpenEnvironment(t.Context(), params(t, fault), 4))(t)
	defer env.Close()
	in, out := start(env.Spec(), 4)
	for range steps {
		if err := env.Step(t.Context(), in, &out); err != nil {
			return err
		}
		proceed(in.Signals)
	}
	return nil
}

// stepAgent is stepEnvironment of a faulty agent.
func stepAgent(t *testing.T, p vector.Plugin, fault string, steps int) error {
	t.Helper()
	spec := (&counters{}).Spec()
	agent := must.Get(p.OpenAgent(t.Context(), params(t, fault), spec, 4))(t)
	defer agent.Close()
	in := vector.NewFeedback(spec, 4)
	actions := vector.NewActions(spec, 4)
	for i := range in.Signals {
		in.Signals[i] = vector.NewRun
	}
	for range steps {
		if err := agent.Step(t.Context(), in, &actions.Actions); err != nil {
			return err
		}
		proceed(in.Signals)
	}
	return nil
}

// inCopies before a fault makes it one of single copies.
const inCopies = "copies: "

func params(t *testing.T, fault string) json.RawMessage {
	t.Helper()
	fault, copies := strings.CutPrefix(fault, inCopies)
	return must.Get(json.Marshal(faults{Fault: fault, Lane: 2, Step: struck - 1, Copies: copies}))(t)
}

// stepFault is a fault that strikes lane 2 of 4, and what is said of it.
type stepFault struct {
	fault string
	agent bool  // an agent can have it, too
	is    error // what the error wraps
	lane  int   // −1: none can be named
	text  string
	tail  string // part of the stderr tail
	dies  bool   // the process does not survive
}

// test lets the fault strike an instance of a process that step opens and steps. If the
// process survives the next instance is sound.
func (f stepFault) test(t *testing.T, p *plugin.Process, step func(t *testing.T, p vector.Plugin, fault string, steps int) error) {
	err := step(t, p, f.fault, struck)
	var e *plugin.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a *plugin.Error", err)
	}
	if e.Step != struck || e.Plugin != "faulty" {
		t.Errorf("plugin %q, step %d", e.Plugin, e.Step)
	}
	if f.is != nil && !errors.Is(err, f.is) {
		t.Errorf("does not wrap %v", f.is)
	}
	var l *vector.LaneError
	if errors.As(err, &l) != (f.lane >= 0) || l != nil && l.Lane != f.lane {
		t.Errorf("blames %#v, want lane %d", l, f.lane)
	}
	text := err.Error()
	first, last, _ := strings.Cut(text, "\n")
	blamed := fmt.Sprintf("lane %d", f.lane)
	if f.lane < 0 {
		blamed = "lanes 0 to 3"
	}
	for _, part := range []string{fmt.Sprintf("plugin faulty: %s: ", blamed), f.text} {
		if !strings.Contains(first, part) {
			t.Errorf("no %q in the first line", part)
		}
	}
	if !strings.Contains(last, f.tail) {
		t.Errorf("no %q in what the process wrote last", f.tail)
	}
	if t.Failed() {
		t.Logf("the error:\n%s", text)
	}
	if f.dies {
		waitForEnd(t, p.Pid())
	} else if err := step(t, p, "none", struck); err != nil {
		t.Errorf("the next instance: %v", err)
	}
}

// options are those of a process that the fault is to strike.
func (f stepFault) options() (o plugin.LaunchConfig) {
	if f.is == plugin.ErrTimeout {
		o.CallTimeout = time.Second
	}
	return o
}

// Every fault ends the step with an error that names the plugin, the step, the
// lane, or all where none can be told, and shows what the process last wrote.
func TestFaults(t *testing.T) {
	const lane = 2
	for _, f := range []stepFault{
		{fault: "panic", agent: true, lane: -1, text: "panic: out of cheese", tail: "plugin_test.(*faults).strike"},
		{fault: "error", agent: true, is: framework.ErrInvalidAction, lane: lane, text: "no luck"},
		{fault: "long error", agent: true, is: framework.ErrInvalidAction, lane: lane, text: "no \uFFFD; rlrun: fine: blah blah"},
		{fault: "crash", agent: true, is: plugin.ErrDied, lane: -1, text: "exit status 2", tail: "panic: in a goroutine of its own", dies: true},
		{fault: "exit", agent: true, is: plugin.ErrDied, lane: -1, text: "exit status 3", tail: "I give up", dies: true},
		{fault: "kill", agent: true, is: plugin.ErrDied, lane: -1, text: "signal: killed", tail: "goodbye", dies: true},
		{fault: "loop", agent: true, is: plugin.ErrTimeout, lane: -1, text: "no answer within 1s", tail: "round and round", dies: true},
		{fault: "stop", agent: true, is: plugin.ErrTimeout, lane: -1, text: "no answer within 1s", tail: "wait for me", dies: true},
		{fault: "nan", is: framework.ErrInvalidAnswer, lane: lane, text: "reward is NaN", tail: "here it comes"},
		{fault: "inf", is: framework.ErrInvalidAnswer, lane: lane, text: "reward is +Inf", tail: "here it comes"},
		{fault: "outside", agent: true, is: framework.ErrInvalidAnswer, lane: lane, text: "not in discrete", tail: "here it comes"},
		{fault: "short", agent: true, is: framework.ErrInvalidAnswer, lane: -1, text: "column of ", tail: "here it comes"},
		{fault: "wrong lane", agent: true, is: framework.ErrInvalidAnswer, lane: -1, text: "it blames lane 1000 of 4", tail: "here it comes"},
	} {
		if f.fault == "panic" || f.fault == "exit" || f.fault == "loop" {
			t.Run("over grpc/"+f.fault, func(t *testing.T) {
				t.Parallel()
				o := f.options()
				o.Env = overGRPC.Env
				f.test(t, launch(t, o, "serve-environment"), stepEnvironment)
			})
		}
		t.Run("environment/"+f.fault, func(t *testing.T) {
			t.Parallel()
			f.test(t, launch(t, f.options(), "serve-environment"), stepEnvironment)
		})
		if f.agent {
			t.Run("agent/"+f.fault, func(t *testing.T) {
				t.Parallel()
				f.test(t, launch(t, f.options(), "serve-agent"), stepAgent)
			})
		}
	}
}

// Standard output is noise, whenever and however much of it comes; it ends up in
// the tail of standard error.
func TestOutputIsNoise(t *testing.T) {
	p := launch(t, plugin.LaunchConfig{}, "serve-noisily-environment")
	if tail := strings.Join(p.Stderr(), "\n"); !strings.Contains(tail, "no newline before the handshake") {
		t.Errorf("before the handshake: got %q", tail)
	}
	must.Do(t, stepEnvironment(t, p, "stdout", struck))
	must.Do(t, stepEnvironment(t, p, "none", struck))
	for _, want := range []string{"printed to standard output", "yyyyy"} {
		for range 1000 { // it comes through a pipe of its own
			if strings.Contains(strings.Join(p.Stderr(), "\n"), want) {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if tail := strings.Join(p.Stderr(), "\n"); !strings.Contains(tail, want) {
			t.Errorf("after the handshake: got %q, want %q in it", tail, want)
		}
	}
}

// Megabytes without a newline, on either stream, hold nothing up and keep nothing
// but their beginning in memory.
func TestFloodIsNoise(t *testing.T) {
	p := launch(t, plugin.LaunchConfig{}, "serve-environment")
	for range 2 {
		must.Do(t, stepEnvironment(t, p, "flood", struck))
	}
	for _, line := range p.Stderr() {
		if len(line) > 1000 {
			t.Errorf("a line of %d bytes is kept", len(line))
		}
	}
}

// A process that somebody else kills may have been killed by the system.
func TestKilledBySomebody(t *testing.T) {
	p := launch(t, plugin.LaunchConfig{}, "serve-environment")
	must.Do(t, kill(p.Pid(), syscall.SIGKILL))
	waitForEnd(t, p.Pid())
	_, err := p.OpenEnvironment(t.Context(), nil, 1)
	if !errors.Is(err, plugin.ErrDied) || !strings.Contains(err.Error(), "signal: killed, and not by rlrun: the machine may be out of memory") {
		t.Errorf("got %v", err)
	}
}

// A close that does not return is called that, not a slow call.
func TestCloseHangs(t *testing.T) {
	t.Parallel()
	p := launch(t, plugin.LaunchConfig{CallTimeout: 200 * time.Millisecond}, "serve-environment")
	env := must.Get(p.OpenEnvironment(t.Context(), params(t, "endless close"), 1))(t)
	err := env.Close()
	if !errors.Is(err, plugin.ErrTimeout) || !strings.Contains(err.Error(), "close did not return: no answer within 200ms; limits.call allows more") {
		t.Errorf("got %v", err)
	}
}

// A process that does not start is reported with its reason and its last words.
func TestStartFails(t *testing.T) {
	directory := t.TempDir()
	text := filepath.Join(directory, "text")
	must.Do(t, os.WriteFile(text, []byte("no program"), 0o755))
	for _, tt := range []struct {
		name    string
		command []string
		is      error
		want    []string
	}{
		{"exits", []string{os.Args[0], "serve-nothing"}, plugin.ErrDied, []string{"exit status 3", "cannot find my data"}},
		{"never shakes hands", []string{"/bin/sh", "-c", "echo thinking >&2; exec sleep 60"}, plugin.ErrTimeout, []string{"no answer within 2s of its start; limits.start allows more", "thinking"}},
		{"never closes", []string{os.Args[0], "serve-endless-close"}, plugin.ErrTimeout, []string{"no answer within 2s of its start", "Close has not returned after 1s. It was called when the plugin started"}},
		{"another version", []string{os.Args[0], "serve-version-2"}, nil, []string{"it speaks version 2 of the plugin protocol, this rlrun version 1"}},
		{"a newer rlrun", []string{os.Args[0], "serve-requiring", "rlrun >= 99.1"}, plugin.ErrTooOld, []string{"the plugin requires rlrun >= 99.1, this is rlrun " + plugin.Release + ": install a newer rlrun"}},
		{"nonsense required", []string{os.Args[0], "serve-requiring", "luck"}, plugin.ErrProtocol, []string{`it must read "rlrun >= 0.2.0"`}},
		{"an identity of two lines", []string{os.Args[0], "serve-described", "me/a@1\nrlrun: fine", ""}, plugin.ErrProtocol, []string{`an id of 18 bytes, "me/a@1\nrlrun: fine"; it may have at most 256 bytes, and no control characters`}},
		{"a long identity", []string{os.Args[0], "serve-described", strings.Repeat("a", 300), ""}, plugin.ErrProtocol, []string{"an id of 300 bytes"}},
		{"a long description", []string{os.Args[0], "serve-described", "me/a@1", "x"}, plugin.ErrProtocol, []string{"received message larger than max"}},
		{"another program", []string{"/bin/echo", "hello"}, plugin.ErrDied, []string{"exit status 0", "hello"}},
		{"not a program", []string{text}, nil, []string{"exec format error", "no script whose first line names its interpreter"}},
		{"missing", []string{directory + "/nothing"}, os.ErrNotExist, []string{"no such file"}},
		{"missing name", []string{"no-such-program-anywhere"}, nil, []string{"not found in $PATH"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			limit := time.Minute
			if tt.is == plugin.ErrTimeout {
				limit = 2 * time.Second
			}
			p, err := plugin.Launch(t.Context(), plugin.LaunchConfig{
				Name: "x", Command: tt.command[0], Args: tt.command[1:], StartTimeout: limit,
			})
			if err == nil {
				t.Fatalf("it started as process %d", p.Pid())
			}
			for _, part := range append(tt.want, "plugin x: cannot start "+tt.command[0]+": ") {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("got %q, want %q in it", err, part)
				}
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("%v does not wrap %v", err, tt.is)
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(100*time.Millisecond, func() { cancel(errors.New("changed my mind")) })
		if _, err := plugin.Launch(ctx, plugin.LaunchConfig{Command: os.Args[0], Args: []string{"serve-never"}}); err == nil || !strings.Contains(err.Error(), "changed my mind") {
			t.Errorf("got %v", err)
		}
	})
}

// alive reports whether a process runs; one that waits to be reaped does not.
func alive(pid int) bool {
	if err := kill(pid, 0); err != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist) || !isDir("/proc/self")
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// waitForEnd waits until a process has ended. Two seconds are promised; a busy
// machine gets more.
func waitForEnd(t *testing.T, pid int) {
	t.Helper()
	begin := time.Now()
	for alive(pid) {
		if time.Since(begin) > 20*time.Second {
			t.Fatalf("process %d is still alive", pid)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Logf("process %d ended within %v", pid, time.Since(begin).Round(10*time.Millisecond))
}
