package plugin_test

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/internal/cputime"
	"github.com/rlrun/rlrun/internal/must"
)

// pythonCommand returns the interpreter that has the package rlrun. If none
// has, tests that need it are skipped, unless RLRUN_PYTHON names one.
func pythonCommand(t testing.TB) string {
	t.Helper()
	named := os.Getenv("RLRUN_PYTHON")
	python := cmp.Or(named, "python3")
	out, err := exec.Command(python, "-c", "import rlrun.serve").CombinedOutput()
	switch {
	case err == nil:
		return python
	case named != "":
		t.Fatalf("RLRUN_PYTHON is %s: %v: %s", named, err, out)
	}
	t.Skip("python3 with the package rlrun is not here (python/test.sh install makes one)")
	return ""
}

// launchPython starts a plugin of this directory's testdata or of the SDK's examples.
func launchPython(t testing.TB, o plugin.LaunchConfig, script ...string) *plugin.Process {
	t.Helper()
	o.Command, o.Args = pythonCommand(t), script
	o.Name = cmp.Or(o.Name, "faulty")
	p := must.Get(plugin.Launch(t.Context(), o))(t)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

const faultyPython = "testdata/faulty.py"

// Errors in Python are reported like errors in Go: with the plugin, the step,
// the lane, and the last output of the process.
func TestPythonFaults(t *testing.T) {
	const lane = 2
	for _, f := range []stepFault{
		{fault: "exception", agent: true, lane: lane, text: "RuntimeError: out of cheese", tail: "faulty.py"},
		{fault: "error", agent: true, is: framework.ErrInvalidAction, lane: lane, text: "no luck"},
		{fault: "base exception", agent: true, lane: lane, text: "BaseException: out of wine", tail: "faulty.py"},
		{fault: "interrupt", agent: true, lane: lane, text: "KeyboardInterrupt", tail: "faulty.py"},
		{fault: "sys.exit", agent: true, lane: lane, text: "SystemExit: exit status 3", tail: "faulty.py"},
		{fault: "sys.exit text", agent: true, lane: lane, text: "SystemExit: exit status 1: I have had enough", tail: "faulty.py"},
		{fault: "nothing", is: framework.ErrInvalidAnswer, lane: lane, text: "step returned None"},
		{fault: "no reward", is: framework.ErrInvalidAnswer, lane: lane, text: "the reward is None"},
		{fault: "no observation", is: framework.ErrInvalidAnswer, lane: lane, text: "the observation has the type NoneType (None), must be numbers"},
		{fault: "exit", agent: true, is: plugin.ErrDied, lane: -1, text: "the process died (exit status 3)", tail: "I give up", dies: true},
		{fault: "crash", agent: true, is: plugin.ErrDied, lane: -1, text: "the process died (signal: aborted", tail: "no way on", dies: true},
		{fault: "kill", is: plugin.ErrDied, lane: -1, text: "the process died (signal: killed", dies: true},
		{fault: "stop", is: plugin.ErrTimeout, lane: -1, text: "no answer within 1s", dies: true},
		{fault: "loop", agent: true, is: plugin.ErrTimeout, lane: -1, text: "no answer within 1s", dies: true},
		{fault: "sleep", is: plugin.ErrTimeout, lane: -1, text: "no answer within 1s", dies: true},
		{fault: "nan", is: framework.ErrInvalidAnswer, lane: lane, text: "reward is NaN"},
		{fault: "inf", is: framework.ErrInvalidAnswer, lane: lane, text: "reward is +Inf"},
		{fault: "outside", agent: true, is: framework.ErrInvalidAnswer, lane: lane, text: "not in discrete"},
		{fault: "fraction", agent: true, is: framework.ErrInvalidAnswer, lane: lane, text: "0.5 is of type float64, must be an integer"},
	} {
		if testing.Short() && !slices.Contains([]string{"exception", "exit", "loop", "no reward"}, f.fault) {
			continue // each starts an interpreter or two; make ci does them
		}
		t.Run(f.fault, func(t *testing.T) {
			t.Parallel()
			f.test(t, launchPython(t, f.options(), faultyPython), stepEnvironment)
		})
		if f.agent {
			t.Run("agent/"+f.fault, func(t *testing.T) {
				t.Parallel()
				f.test(t, launchPython(t, f.options(), faultyPython, "agent"), stepAgent)
			})
		}
	}
	t.Run("stdout", func(t *testing.T) {
		t.Parallel()
		if err := stepEnvironment(t, launchPython(t, plugin.LaunchConfig{}, faultyPython), "stdout", struck); err != nil {
			t.Error(err)
		}
	})
}

// The same in experiments, whose other records are those of the plugins in Go, bit for
// bit.
func TestPythonFaultsInAnExperiment(t *testing.T) {
	if testing.Short() {
		t.Skip("starts dozens of interpreters; make ci does it")
	}
	python, undisturbed := pythonCommand(t), undisturbedRecords(t)
	for _, e := range []experimentFault{
		{"exception", true, []string{"lane 1: RuntimeError: out of cheese", "faulty.py"}},
		{"exit", true, []string{"lane 0: the process died (exit status 3)", "I give up"}},
		{"loop", false, []string{"lane 0: no answer within 1s"}},
		{"nan", false, []string{"lane 1: ", "reward is NaN"}},
		{"none", true, nil},
	} {
		for part, records := range undisturbed {
			if part == "environment" || e.agent {
				o := plugin.LaunchConfig{Command: python, Args: []string{faultyPython, part}}
				e.test(t, part, faults{Fault: e.fault, Copies: true}, o, records[true])
			}
		}
	}
}

// A Python plugin ends with its host, however the host ends, and when it is told
// to; interrupts it ignores.
func TestPythonEnds(t *testing.T) {
	python, script := pythonCommand(t), faultyPython
	for name, command := range map[string][]string{
		"direct":                         {python, script},
		"through a shell":                {"/bin/sh", "-c", `"$0" "$1" & wait`, python, script},
		"hidden from its parent's death": {"/bin/sh", "-c", `trap "" HUP TERM; ("$0" "$1") & wait`, python, script},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := exec.Command(os.Args[0], append([]string{"host"}, command...)...)
			host.Stderr = os.Stderr
			out := must.Get(host.StdoutPipe())(t)
			must.Do(t, host.Start())
			line := must.Get(bufio.NewReader(out).ReadString('\n'))(t)
			var pid int
			if _, err := fmt.Sscan(line, &pid); err != nil || !alive(pid) {
				t.Fatalf("the host says %q; %v", line, err)
			}
			must.Do(t, host.Process.Kill())
			host.Wait()
			waitForEnd(t, pid)
		})
	}
	t.Run("signals", func(t *testing.T) {
		t.Parallel()
		p := launchPython(t, plugin.LaunchConfig{}, script)
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			must.Do(t, kill(p.Pid(), signal))
			if err := stepEnvironment(t, p, "none", struck); err != nil {
				t.Errorf("after %v: %v", signal, err)
			}
		}
	})
}

// BenchmarkPython steps environments in Python, one that numpy steps and one that Python steps,
// and the latter in turn with an agent in Python, over the socket and over gRPC. The plain loop
// steps the same environment and agent in one process of Python.
func BenchmarkPython(b *testing.B) {
	b.Run("river/plain", func(b *testing.B) {
		out := must.Get(exec.Command(pythonCommand(b), "testdata/plain.py", strconv.Itoa(max(b.N, 1000))).Output())(b)
		b.ReportMetric(must.Get(strconv.ParseFloat(strings.TrimSpace(string(out)), 64))(b), "cpu-ns/lane")
	})
	for name, o := range map[string]plugin.LaunchConfig{"socket": {}, "grpc": overGRPC} {
		example := func(name string) *plugin.Process {
			return launchPython(b, o, filepath.Join("../../python/examples", name+".py"))
		}
		b.Run("vector_river/"+name, func(b *testing.B) { benchmarkSteps(b, example("vector_river"), nil, "") })
		b.Run("river/"+name, func(b *testing.B) { benchmarkSteps(b, example("river"), example("epsilon_greedy"), "") })
	}
}

// BenchmarkCartPolePython plays whole episodes of Gymnasium's CartPole with an agent in Python, and
// the plain loop of the same two. cpu-ns/lane is the processor time of a lane's step, of all processes.
func BenchmarkCartPolePython(b *testing.B) {
	const script = "testdata/cartpole.py"
	b.Run("plain", func(b *testing.B) {
		out := must.Get(exec.Command(pythonCommand(b), script, strconv.Itoa(max(b.N, 10000))).Output())(b)
		b.ReportMetric(must.Get(strconv.ParseFloat(strings.TrimSpace(string(out)), 64))(b), "cpu-ns/lane")
	})
	envs := launchPython(b, plugin.LaunchConfig{}, "-m", "rlrun.from_gymnasium", "CartPole-v1")
	agents := launchPython(b, plugin.LaunchConfig{}, script)
	both := launchPython(b, plugin.LaunchConfig{Guest: "gymnasium:CartPole-v1"}, script)
	guest := must.Get(both.Guest(b.Context()))(b)
	for _, lanes := range []int{1, 4, 16, 64} {
		for name, p := range map[string][2]*plugin.Process{"apart": {envs, agents}, "together": {guest, both}} {
			benchmarkCartPole(b, name, p[0], p[1], lanes)
		}
	}
}

func benchmarkCartPole(b *testing.B, name string, envs, agents *plugin.Process, lanes int) {
	b.Run(fmt.Sprintf("%s/lanes=%d", name, lanes), func(b *testing.B) {
		env := must.Get(envs.OpenEnvironment(b.Context(), nil, lanes))(b)
		defer env.Close()
		agent := must.Get(agents.OpenAgent(b.Context(), nil, env.Spec(), lanes))(b)
		defer agent.Close()
		pids := slices.Compact([]int{envs.Pid(), agents.Pid()})
		began := cputime.Whole(pids...)
		must.Get(loop.Run(b.Context(), loop.Batch{Environment: env, Agent: agent, Runs: make([]int, lanes),
			Seeds: seed.NewSource(1, env.Spec().ID), Steps: b.N, Discount: 1, Ahead: agent.Abilities().Join(env)}))(b)
		b.ReportMetric(float64(cputime.Whole(pids...)-began)/float64(b.N*lanes), "cpu-ns/lane")
	})
}
