package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// openCopies opens counters as lanes of single copies.
func openCopies(f faults, lanes int) (vector.Environment, error) {
	lane := -1
	return vector.Vectorize(func() (framework.Environment, error) {
		lane++
		return &counter{faults: f, lane: lane}, nil
	}, lanes)
}

// counter is one copy of counters, but that a seed is an episode's.
type counter struct {
	faults
	lane  int
	count int64
	seed  uint64
}

func (c *counter) Spec() framework.Spec { return (&counters{faults: c.faults}).Spec() }

func (c *counter) Reset(_ context.Context, seed uint64) (space.Value, error) {
	c.count, c.seed = 0, seed
	return space.Value{}, nil
}

func (c *counter) Step(_ context.Context, a space.Value) (framework.TimeStep, error) {
	c.count++
	ts := framework.TimeStep{Observation: space.Value{Int: c.count % 5}, Terminated: c.count == 4 && c.Fault != "endless"}
	if a.Int == 2 {
		ts.Reward = 1 + float64(c.seed%1000)/1000
	}
	if c.strikes(c.lane, c.seed, int(c.count)) {
		return ts, c.strike()
	}
	return ts, nil
}

// openAgentCopies opens modulo as lanes of single copies. The first ones are made
// lane after lane.
func openAgentCopies(f faults, spec framework.Spec, lanes int) (vector.Agent, error) {
	lane := -2 // one is made to see what it can do
	return vector.VectorizeAgent(func(seed uint64) (framework.Agent, error) {
		lane++
		return &remainder{faults: f, lane: lane, seed: seed}, nil
	}, spec, lanes)
}

// remainder is one copy of modulo, but that a step is an action's outcome.
type remainder struct {
	faults
	lane  int
	steps int
	seed  uint64
}

func (r *remainder) SelectAction(_ context.Context, observation space.Value) (space.Value, error) {
	return space.Value{Int: observation.Int % 3}, nil
}

func (r *remainder) Update(context.Context, framework.Transition) error {
	r.steps++
	if r.strikes(r.lane, r.seed, r.steps) {
		return r.strike()
	}
	return nil
}

// halted tells whether a process is stopped or has ended.
func halted(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(stat), ") ")
	return err != nil || strings.HasPrefix(state, "T") || strings.HasPrefix(state, "Z")
}

// The named lane is the one that the process was in, whatever the call. No lane is
// named if the process ended between calls, or if the lane does not exist.
func TestLaneOfTheDead(t *testing.T) {
	lane := func(t *testing.T, err error) int {
		t.Helper()
		if !errors.Is(err, plugin.ErrDied) && !errors.Is(err, plugin.ErrTimeout) {
			t.Fatalf("got %v, want the end of the process", err)
		}
		var l *vector.LaneError
		if !errors.As(err, &l) {
			return -1
		}
		return l.Lane
	}
	t.Run("rollout", func(t *testing.T) {
		p := launch(t, plugin.LaunchOptions{}, "serve-environment")
		env := must.Get(p.OpenEnvironment(t.Context(), params(t, inCopies+"exit"), 4))(t)
		in := rolloutOf(env.Spec(), 4, 10, 10)
		if got := lane(t, vector.RollOut(t.Context(), env, in, vector.NewTrajectories(env.Spec(), 4, 10))); got != 2 {
			t.Errorf("got lane %d, want 2", got)
		}
	})
	for _, signal := range []syscall.Signal{syscall.SIGKILL, sigstop} {
		t.Run("between calls/"+signal.String(), func(t *testing.T) {
			p := launch(t, plugin.LaunchOptions{CallTimeout: time.Second}, "serve-environment")
			env := must.Get(p.OpenEnvironment(t.Context(), params(t, inCopies+"none"), 4))(t)
			in, out := start(env.Spec(), 4)
			must.Do(t, env.Step(t.Context(), in, &out))
			must.Do(t, kill(p.Pid(), signal))
			for !halted(p.Pid()) {
				time.Sleep(time.Millisecond)
			}
			if got := lane(t, env.Step(t.Context(), in, &out)); got != -1 {
				t.Errorf("got lane %d, want none", got)
			}
		})
	}
	for fault, want := range map[string]int{"lie": 0, "nonsense": -1} {
		t.Run(fault, func(t *testing.T) {
			p := launch(t, plugin.LaunchOptions{}, "serve-environment")
			if got := lane(t, stepEnvironment(t, p, fault, struck)); got != want {
				t.Errorf("got lane %d, want %d", got, want)
			}
		})
	}
	t.Run("another instance", func(t *testing.T) {
		p := launch(t, plugin.LaunchOptions{CallTimeout: time.Second}, "serve-environment")
		idle := must.Get(p.OpenEnvironment(t.Context(), params(t, inCopies+"none"), 4))(t)
		if err := stepEnvironment(t, p, inCopies+"loop", struck); !errors.Is(err, plugin.ErrTimeout) || !strings.Contains(err.Error(), "lane 2: no answer") {
			t.Errorf("got %v, want lane 2 of the second instance to hang", err)
		}
		in, out := start(idle.Spec(), 4)
		var l *vector.LaneError
		if err := idle.Step(t.Context(), in, &out); !errors.Is(err, plugin.ErrTimeout) || errors.As(err, &l) {
			t.Errorf("got %v, want no lane of the first", err)
		}
	})
}
