package plugin_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/internal/actortest"
	"github.com/rlrun/rlrun/framework/internal/optiontest"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/plugin/internal/server"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// TestMain lets the test binary be a plugin, or the host of one, when a test
// starts it again with a role as its first argument.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "serve-environment":
			plugin.Serve(faultyEnvironment())
			return
		case "serve-interruptibly", "serve-terminably":
			interrupts := make(chan os.Signal, 1)
			signal.Notify(interrupts, map[string]os.Signal{"serve-interruptibly": os.Interrupt, "serve-terminably": syscall.SIGTERM}[os.Args[1]])
			go func() {
				<-interrupts
				os.Exit(3)
			}()
			plugin.Serve(faultyEnvironment())
			return
		case "serve-described": // by an identity and a text
			p := faultyEnvironment().(*vector.EnvironmentPlugin)
			p.Description.ID = os.Args[2]
			p.Description.Doc = strings.Repeat(os.Args[3], 32<<20)
			plugin.Serve(p)
			return
		case "serve-requiring":
			plugin.Serve(plugin.Requires(os.Args[2], faultyEnvironment()))
			return
		case "serve-compiling":
			plugin.Serve(plugin.PreferLanes(2, compiling()))
			return
		case "serve-agent":
			plugin.Serve(faultyAgent())
			return
		case "serve-options":
			plugin.Serve(optiontest.Plugin())
			return
		case "serve-mixer":
			plugin.Serve(plugin.MaxActors(actortest.Most, actortest.Plugin()))
			return
		case "serve-hostile-environment":
			serveHostile(hostileServer{server.New(faultyEnvironment())})
			return
		case "serve-one-handle":
			serveHostile(oneHandle{server.New(faultyEnvironment())})
			return
		case "serve-hostile-agent":
			serveHostile(hostileServer{server.New(faultyAgent())})
			return
		case "serve-hostile-socket-environment":
			serveHostileSocket(faultyEnvironment())
			return
		case "serve-hostile-socket-agent":
			serveHostileSocket(faultyAgent())
			return
		case "serve-beside-a-stranger":
			serveBesideAStranger()
			return
		case "serve-alien":
			serveAlien(os.Args[2])
			return
		case "serve-noisily-environment":
			noise()
			plugin.Serve(faultyEnvironment())
			return
		case "serve-noisily-agent":
			noise()
			plugin.Serve(faultyAgent())
			return
		case "serve-with-children":
			serveWithChildren(os.Args[2])
			return
		case "serve-nothing":
			fmt.Fprintln(os.Stderr, "cannot find my data")
			os.Exit(3)
		case "serve-endless-close":
			plugin.Serve(plugin.NewEnvironment("test/endless@1", "Its Close does not return.", walkParams{Length: 3}, newEndless))
			return
		case "serve-never":
			fmt.Fprintln(os.Stderr, "thinking")
			select {}
		case "serve-version-2":
			fmt.Println("1|2|unix|/nowhere|grpc|")
			select {}
		case "host":
			host(os.Args[2:])
			return
		}
	}
	os.Exit(m.Run())
}

// noise is what a plugin prints before the handshake.
func noise() {
	fmt.Println("hello")
	fmt.Print(strings.Repeat("x", 1<<20), "\nno newline before the handshake")
}

// host is a program that launches a plugin, says which process it is and steps it
// for ever.
func host(command []string) {
	call, _ := time.ParseDuration(os.Getenv("HOST_CALL"))
	started, _ := time.ParseDuration(os.Getenv("HOST_START"))
	p, err := plugin.Launch(context.Background(), plugin.LaunchConfig{Command: command[0], Args: command[1:], CallTimeout: call, StartTimeout: started})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	env, err := p.OpenEnvironment(context.Background(), nil, 2)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(pidOf(env.Spec()))
	signal.Ignore(syscall.SIGINT)
	in, out := start(env.Spec(), 2)
	for err == nil {
		err = env.Step(context.Background(), in, &out)
		time.Sleep(time.Millisecond)
	}
}

// launch starts this test binary in a role and closes it with the test.
func launch(t testing.TB, o plugin.LaunchConfig, role ...string) *plugin.Process {
	t.Helper()
	o.Command, o.Args = os.Args[0], role
	o.Env = append(o.Env, "GORACE=atexit_sleep_ms=0") // else every exit takes a second under -race
	if o.Name == "" {
		o.Name = "faulty"
	}
	p := must.Get(plugin.Launch(t.Context(), o))(t)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// start returns columns with which every lane starts a run.
func start(spec framework.Spec, lanes int) (*vector.Actions, vector.TimeSteps) {
	in := vector.NewActions(spec, lanes)
	for i := range lanes {
		in.Signals[i], in.Seeds[i] = vector.NewRun, uint64(i)
	}
	return in, vector.NewTimeSteps(spec, lanes)
}

// proceed makes every lane continue.
func proceed(signals []vector.Signal) {
	for i := range signals {
		signals[i] = vector.Continue
	}
}

// faults says how the environment and agent of the tests misbehave, and at which step
// after the lane's episode or run began. It names the lane (−1: none), or the seeds
// of the runs that fail. testdata/faulty.py knows most of it.
type faults struct {
	Fault string   `json:"fault"`
	Lane  int      `json:"lane"`
	Seeds []uint64 `json:"seeds,omitempty"`
	Step  int      `json:"at"`
	Once  string   `json:"once,omitempty"` // a file: misbehave only if it is not there yet, and make it
	ID    string   `json:"name,omitempty"` // of the environment; default: with the process's id
	Work  int      `json:"work,omitempty"` // turns of a loop in every step of a lane
	// Copies makes lanes of single copies.
	Copies bool `json:"copies,omitempty"`
}

// parse reads the parameters that say how to misbehave.
func parse(params json.RawMessage) (faults, error) {
	f := faults{Lane: -1}
	if len(params) > 0 {
		if err := json.Unmarshal(params, &f); err != nil {
			return f, fmt.Errorf("%w: %w", framework.ErrInvalidParams, err)
		}
	}
	return f, nil
}

// strikes tells whether it is time to misbehave.
func (f *faults) strikes(lane int, seed uint64, step int) bool {
	if step != f.Step || lane != f.Lane && !slices.Contains(f.Seeds, seed) {
		return false
	}
	if f.Once == "" {
		return true
	}
	file, err := os.OpenFile(f.Once, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false
	}
	return file.Close() == nil
}

// strike misbehaves in ways that environments and agents share.
func (f *faults) strike() error {
	sabotage.Store(f.Fault)
	switch f.Fault {
	case "panic":
		panic("out of cheese")
	case "crash":
		fmt.Fprintln(os.Stderr, "first line\nlast line")
		go panic("in a goroutine of its own")
		select {}
	case "exit":
		fmt.Fprintln(os.Stderr, "I give up")
		os.Exit(3)
	case "kill":
		fmt.Fprintln(os.Stderr, "goodbye")
		kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "loop":
		fmt.Fprintln(os.Stderr, "round and round")
		for i := 0; i >= 0; i %= 7 {
		}
	case "stop":
		fmt.Fprintln(os.Stderr, "wait for me")
		kill(os.Getpid(), sigstop)
		select {} // for the instant until the signal arrives
	case "error":
		return fmt.Errorf("no luck: %w", framework.ErrInvalidAction)
	case "long error": // longer than an answer may be, no UTF-8, and a line that looks like the host's
		return fmt.Errorf("no \xff\r\nrlrun: fine: %s%w", strings.Repeat("blah ", 1<<20), framework.ErrInvalidAction)
	case "stdout":
		fmt.Println("printed to standard output")
		syscall.Write(1, []byte(strings.Repeat("y", 1<<20)))
	case "flood":
		for range 64 {
			syscall.Write(1, []byte(strings.Repeat("y", 1<<17)))
			syscall.Write(2, []byte(strings.Repeat("z", 1<<17)))
		}
	default:
		fmt.Fprintln(os.Stderr, "here it comes")
	}
	return nil
}

// faultyEnvironment is an environment whose observation is how often its lane
// has stepped, modulo 5. An episode ends after 4 steps. The reward is 0, but where
// the action is 2 it is in [1,2), as the seed of the lane's run says. Its id
// carries the id of its process unless the parameters name another.
func faultyEnvironment() vector.Plugin {
	return &vector.EnvironmentPlugin{
		Description: vector.Description{
			ID: "test/faulty@1", Kind: vector.KindEnvironment, Doc: "Misbehaves on demand.",
			Params: json.RawMessage(`{"type":"object"}`), Abilities: []string{"model"},
		},
		Open: func(params json.RawMessage, lanes int) (vector.Environment, error) {
			f, err := parse(params)
			if err != nil {
				return nil, err
			}
			if f.Fault == "open" {
				panic("cannot open")
			}
			if f.Copies {
				return openCopies(f, lanes)
			}
			e := &counters{faults: f, counts: make([]int64, lanes)}
			if f.Fault == "no model" {
				return vector.WithAbilities(e, vector.EnvironmentAbilities{}), nil
			}
			return e, nil
		},
	}
}

type counters struct {
	faults
	counts []int64
	seeds  []uint64 // of the lanes' runs
	waste  uint64
}

func (c *counters) Spec() framework.Spec {
	return framework.Spec{
		ID:          cmp.Or(c.ID, fmt.Sprintf("test/faulty-%d@1", os.Getpid())),
		Observation: space.Discrete{N: 5}, Action: space.Discrete{N: 3},
		RewardLow: 0, RewardHigh: math.Inf(1),
	}
}

func pidOf(spec framework.Spec) (pid int) {
	fmt.Sscanf(spec.ID, "test/faulty-%d@1", &pid)
	return pid
}

func (c *counters) Step(_ context.Context, in *vector.Actions, out *vector.TimeSteps) error {
	if c.seeds == nil {
		c.seeds = make([]uint64, len(c.counts))
	}
	for i, s := range in.Signals {
		switch s {
		case vector.Idle:
			continue
		case vector.NewEpisode, vector.NewRun:
			if s == vector.NewRun {
				c.seeds[i] = in.Seeds[i]
			}
			c.counts[i] = 0
			out.Rewards[i], out.Terminated[i], out.Truncated[i] = 0, false, false
		default:
			c.counts[i]++
			out.Rewards[i] = 0
			for range c.Work {
				c.waste = c.waste*6364136223846793005 + 1
			}
			if in.Actions.Int64[i] == 2 {
				out.Rewards[i] = 1 + float64(c.seeds[i]%1000)/1000
			}
			out.Terminated[i] = c.counts[i] == 4 && c.Fault != "endless"
		}
		out.Observations.Int64[i] = c.counts[i] % 5
		if s == vector.Continue && c.strikes(i, c.seeds[i], int(c.counts[i])) {
			if err := c.strike(); err != nil {
				return &vector.LaneError{Lane: i, Err: err}
			}
			switch c.Fault {
			case "nan":
				out.Rewards[i] = math.NaN()
			case "inf":
				out.Rewards[i] = math.Inf(1)
			case "outside":
				out.Observations.Int64[i] = 5
			case "short":
				defer func() { out.Rewards = out.Rewards[:i] }()
			case "wrong lane":
				return &vector.LaneError{Lane: 1000, Err: fmt.Errorf("not mine")}
			}
		}
	}
	return nil
}

// Abilities has one model for even lanes and one for odd ones.
func (c *counters) Abilities() vector.EnvironmentAbilities {
	return vector.EnvironmentAbilities{Models: c.models}
}

func (c *counters) models(context.Context) ([]*mdp.Tabular, error) {
	if c.Fault == "models" {
		return nil, fmt.Errorf("lost: %w", framework.ErrUnsupported)
	}
	var two [2]*mdp.Tabular
	for k := range two {
		m, err := mdp.NewModel(mdp.Definition{
			States: 1, Actions: 1,
			Transitions: []mdp.Transition{{S: 0, A: 0, Next: 0, P: 1}},
			Rewards:     []mdp.Reward{{S: 0, A: 0, R: 0.1 + float64(k)}},
		})
		if err != nil {
			return nil, err
		}
		two[k] = m
	}
	models := make([]*mdp.Tabular, len(c.counts))
	for i := range models {
		models[i] = two[i%2]
	}
	return models, nil
}

func (c *counters) Close() error {
	switch c.Fault {
	case "close":
		return fmt.Errorf("cannot close")
	case "endless close":
		select {}
	}
	return nil
}

// faultyAgent answers with the observation modulo 3.
func faultyAgent() vector.Plugin {
	return &vector.AgentPlugin{
		Description: vector.Description{ID: "test/modulo@1", Kind: vector.KindAgent},
		Open: func(params json.RawMessage, spec framework.Spec, lanes int) (vector.Agent, error) {
			f, err := parse(params)
			if err == nil && f.Copies {
				return openAgentCopies(f, spec, lanes)
			}
			return &modulo{faults: f, steps: make([]int, lanes), seeds: make([]uint64, lanes)}, err
		},
	}
}

type modulo struct {
	faults
	steps []int
	seeds []uint64 // of the lanes' runs
}

func (m *modulo) Step(_ context.Context, in *vector.Feedback, actions *space.Column) error {
	for i, s := range in.Signals {
		if s == vector.Idle {
			continue
		}
		actions.Int64[i] = in.Observations.Int64[i] % 3
		if s == vector.NewRun {
			m.steps[i], m.seeds[i] = 0, in.Seeds[i]
			continue
		}
		m.steps[i]++
		if m.strikes(i, m.seeds[i], m.steps[i]) {
			if err := m.strike(); err != nil {
				return &vector.LaneError{Lane: i, Err: err}
			}
			switch m.Fault {
			case "outside":
				actions.Int64[i] = 3
			case "short":
				defer func() { actions.Int64 = actions.Int64[:i] }()
			case "wrong lane":
				return &vector.LaneError{Lane: 1000, Err: fmt.Errorf("not mine")}
			}
		}
	}
	return nil
}

func (m *modulo) Abilities() vector.AgentAbilities { return vector.AgentAbilities{} }

func (m *modulo) Close() error { return nil }
