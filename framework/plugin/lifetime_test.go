package plugin_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// No plugin outlives its host, however the host dies: not when the kernel kills
// it with its parent, nor when a program between the two hides it from that.
func TestNoOrphans(t *testing.T) {
	for _, tt := range []struct {
		name    string
		command []string
	}{
		{"direct", []string{os.Args[0], "serve-environment"}},
		{"through a shell", []string{"/bin/sh", "-c", `"$0" serve-environment & wait`, os.Args[0]}},
		{"hidden from its parent's death", []string{"/bin/sh", "-c", `trap "" HUP TERM; ("$0" serve-environment) & wait`, os.Args[0]}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			host := exec.Command(os.Args[0], append([]string{"host"}, tt.command...)...)
			host.Stderr = os.Stderr
			out := must.Get(host.StdoutPipe())(t)
			must.Do(t, host.Start())
			line := must.Get(bufio.NewReader(out).ReadString('\n'))(t)
			var pid int
			if _, err := fmt.Sscan(line, &pid); err != nil {
				t.Fatalf("the host says %q", line)
			}
			if !alive(pid) {
				t.Fatalf("the plugin %d is not alive", pid)
			}
			must.Do(t, host.Process.Kill())
			host.Wait()
			waitForEnd(t, pid)
		})
	}
}

// An interrupt at the terminal, and the signal by which a scheduler tells all processes
// of a job to end, are the host's to handle.
func TestSignalsAreTheHosts(t *testing.T) {
	p := launch(t, plugin.LaunchConfig{}, "serve-environment")
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		must.Do(t, kill(p.Pid(), signal))
		if err := stepEnvironment(t, p, "none", struck); err != nil {
			t.Errorf("after %v: %v", signal, err)
		}
	}
}

// Closing ends the process and every call, at once and from then on.
func TestClose(t *testing.T) {
	p := launch(t, plugin.LaunchConfig{}, "serve-environment")
	env := must.Get(p.OpenEnvironment(t.Context(), nil, 2))(t)
	for range 2 {
		must.Do(t, p.Close())
	}
	if alive(p.Pid()) {
		t.Error("the process is alive")
	}
	in, out := start(env.Spec(), 2)
	if err := env.Step(t.Context(), in, &out); !errors.Is(err, plugin.ErrClosed) {
		t.Errorf("step: got %v, want ErrClosed", err)
	}
	if _, err := p.OpenEnvironment(t.Context(), nil, 2); !errors.Is(err, plugin.ErrClosed) {
		t.Errorf("open: got %v, want ErrClosed", err)
	}
	if err := env.Close(); err != nil {
		t.Errorf("closing an instance of a closed plugin: %v", err)
	}
}

// A process that cannot answer is killed when its time to close is up.
func TestCloseOfAStoppedProcess(t *testing.T) {
	p := launch(t, plugin.LaunchConfig{CloseTimeout: 200 * time.Millisecond}, "serve-environment")
	must.Do(t, kill(p.Pid(), sigstop))
	must.Do(t, p.Close())
	waitForEnd(t, p.Pid())
}

func TestCloseInstance(t *testing.T) {
	p := launch(t, plugin.LaunchConfig{}, "serve-environment")
	open := func(fault string) vector.Environment {
		return must.Get(p.OpenEnvironment(t.Context(), []byte(`{"lane":-1,"fault":"`+fault+`"}`), 2))(t)
	}
	first, second, third := open(""), open("close"), open("")
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if err := first.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	in, out := start(first.Spec(), 2)
	if err := first.Step(t.Context(), in, &out); !errors.Is(err, plugin.ErrClosed) {
		t.Errorf("a step of a closed instance: got %v", err)
	}
	if err := second.Close(); err == nil || !strings.Contains(err.Error(), "cannot close") {
		t.Errorf("an instance that fails to close: got %v", err)
	}
	if err := third.Step(t.Context(), in, &out); err != nil {
		t.Errorf("another instance: %v", err)
	}
}

// A cancelled context ends the step under way, and no other.
func TestCancelledStep(t *testing.T) {
	p := launch(t, plugin.LaunchConfig{}, "serve-environment")
	env := must.Get(p.OpenEnvironment(t.Context(), params(t, "loop"), 4))(t)
	in, out := start(env.Spec(), 4)
	for range struck - 1 { // every step with a context of its own, cancelled after it
		ctx, cancel := context.WithCancel(t.Context())
		must.Do(t, env.Step(ctx, in, &out))
		cancel()
		proceed(in.Signals)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(100*time.Millisecond, func() { cancel(errors.New("interrupted")) })
	if err := env.Step(ctx, in, &out); err == nil || !strings.Contains(err.Error(), "plugin faulty: interrupted") {
		t.Errorf("got %v", err)
	}
	if err := env.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
}

func TestStepUnderACancelledContext(t *testing.T) {
	p := launch(t, plugin.LaunchConfig{}, "serve-environment")
	env := must.Get(p.OpenEnvironment(t.Context(), nil, 1))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in, out := start(env.Spec(), 1)
	if err := env.Step(ctx, in, &out); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// One process's instances are stepped by several goroutines.
func TestConcurrentInstances(t *testing.T) {
	p := launch(t, plugin.LaunchConfig{}, "serve-environment")
	done := make(chan error)
	for range 4 {
		go func() {
			env, err := p.OpenEnvironment(t.Context(), nil, 8)
			if err != nil {
				done <- err
				return
			}
			in, out := start(env.Spec(), 8)
			for range 200 {
				if err = env.Step(t.Context(), in, &out); err != nil {
					break
				}
				for i := range in.Signals {
					in.Signals[i] = vector.Continue
					if out.Terminated[i] {
						in.Signals[i] = vector.NewEpisode
					}
				}
			}
			done <- errors.Join(err, env.Close())
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// names returns what is in a directory.
func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// Nothing is left in the directory for temporary files while a plugin runs, nor
// after it.
func TestNoTemporaryFiles(t *testing.T) {
	dir := must.Get(os.MkdirTemp("/tmp", "t"))(t) // t.TempDir is too long for sockets
	defer os.RemoveAll(dir)
	t.Setenv("TMPDIR", dir)
	left := func(when string) {
		t.Helper()
		if list := names(t, dir); len(list) > 0 {
			t.Errorf("%s: %v", when, list)
		}
	}
	p := launch(t, plugin.LaunchConfig{}, "serve-environment")
	left("running")
	if err := stepEnvironment(t, p, "none", struck); err != nil {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	left("closed")
	if _, err := plugin.Launch(t.Context(), plugin.LaunchConfig{Command: os.Args[0], Args: []string{"serve-nothing"}}); err == nil {
		t.Error("it started")
	}
	left("not started")
}

// A plugin inherits what programs need, gets what it is given, and nothing else.
func TestEnvironmentVariables(t *testing.T) {
	t.Setenv("SECRET_TOKEN", "x")
	t.Setenv("RLRUN_SEED", "1")
	t.Setenv("PYTHONPATH", "/somewhere")
	p := launch(t, plugin.LaunchConfig{Env: []string{"MINE=yes"}}, "serve-environment")
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.Pid()))
	if err != nil {
		t.Skip(err)
	}
	env := strings.Split(string(data), "\x00")
	for _, want := range []string{"MINE=yes", "PYTHONPATH=/somewhere", "PATH=" + os.Getenv("PATH")} {
		if !slices.Contains(env, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, e := range env {
		if strings.HasPrefix(e, "SECRET_TOKEN=") || strings.HasPrefix(e, "RLRUN_SEED=") {
			t.Errorf("%s was passed on", e)
		}
	}
}

// A set of texts has the same order in every process of Python, and libraries use one thread,
// unless the user says otherwise.
func TestVariablesOfPlugins(t *testing.T) {
	for _, tt := range []struct{ name, given, want string }{
		{"PYTHONHASHSEED", "", "0"}, {"PYTHONHASHSEED", "7", "7"}, {"OMP_NUM_THREADS", "", "1"}, {"OMP_NUM_THREADS", "4", "4"},
		{"MKL_NUM_THREADS", "2", "2"}, {"CUBLAS_WORKSPACE_CONFIG", ":4096:8", ":4096:8"},
	} {
		t.Setenv(tt.name, tt.given)
		if tt.given == "" {
			os.Unsetenv(tt.name)
		}
		p := launch(t, plugin.LaunchConfig{}, "serve-environment")
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.Pid()))
		if err != nil {
			t.Skip(err)
		}
		if got := strings.Split(string(data), "\x00"); !slices.Contains(got, tt.name+"="+tt.want) {
			t.Errorf("no %s=%s in %s", tt.name, tt.want, got)
		}
	}
}

// When memory runs out, plugins end before their host does.
func TestPluginsEndBeforeTheHost(t *testing.T) {
	score := func(pid int) (n int) {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid))
		if err != nil {
			t.Skip(err)
		}
		fmt.Sscan(string(data), &n)
		return n
	}
	p := launch(t, plugin.LaunchConfig{}, "serve-environment")
	if host, plugin := score(os.Getpid()), score(p.Pid()); plugin != min(host+300, 1000) {
		t.Errorf("plugin %d, host %d", plugin, host)
	}
}

// Run by hand, or by a program that is not rlrun, a plugin says what it is for.
func TestServeByHand(t *testing.T) {
	for _, cookie := range []string{"", "wrong"} {
		cmd := exec.Command(os.Args[0], "serve-environment")
		cmd.Env = append(os.Environ(), "RLRUN_PLUGIN="+cookie)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), "is a plugin for rlrun") || strings.Count(string(out), "\n") != 1 {
			t.Errorf("cookie %q: got %v: %s", cookie, err, out)
		}
	}
}
