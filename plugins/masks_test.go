package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/explore"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/options"
)

// admission is a queue of at most three customers. In an empty queue none can be served, and into
// a full one none is let: actions are wait, serve and admit.
const admission = `{"S": 4, "A": 3, "actions": ["wait", "serve", "admit"], "transitions": [
	[0,0,0,0.5], [0,0,1,0.5], [0,2,1,1],
	[1,0,1,0.5], [1,0,2,0.5], [1,1,0,1], [1,2,2,1],
	[2,0,2,0.5], [2,0,3,0.5], [2,1,1,1], [2,2,3,1],
	[3,0,3,1], [3,1,2,1]],
	"rewards": [[1,1,1], [2,1,1], [3,1,0.8], [2,0,-0.2], [3,0,-0.2]]}`

func admissionParams(t *testing.T) json.RawMessage {
	path := filepath.Join(t.TempDir(), "admission.json")
	must.Do(t, os.WriteFile(path, []byte(admission), 0o600))
	return must.Get(json.Marshal(map[string]any{"file": path, "masks": true}))(t)
}

// watched notes the actions that an environment was given.
type watched struct {
	vector.Environment
	taken map[[2]int64]int // by state and action
	at    []int64
}

func (w *watched) Step(ctx context.Context, in *vector.Actions, out *vector.TimeSteps) error {
	for i, s := range in.Signals {
		if s == vector.Continue {
			w.taken[[2]int64{w.at[i], in.Actions.Int64[i]}]++
		}
	}
	err := w.Environment.Step(ctx, in, out)
	copy(w.at, out.Observations.Int64)
	return err
}

// numbers shows the state of the queue as a number of a box.
type numbers struct{ vector.Environment }

func (x numbers) Spec() framework.Spec { return asNumbers(x.Environment.Spec()) }

func asNumbers(spec framework.Spec) framework.Spec {
	spec.Observation = space.Box{Low: []float64{0}, High: []float64{3}, Shape: []int{1}}
	return spec
}

func (x numbers) Step(ctx context.Context, in *vector.Actions, out *vector.TimeSteps) error {
	inner := *out
	inner.Observations = space.NewColumn(space.Discrete{N: 4}, len(out.Rewards))
	err := x.Environment.Step(ctx, in, &inner)
	for i, s := range inner.Observations.Int64 {
		out.Observations.Float64[i] = float64(s)
	}
	return err
}

// playMasked makes runs of an agent in the queue. Agents for boxes see its state as a number.
func playMasked(t *testing.T, env vector.Environment, agent vector.Agent, steps int, box bool) ([]loop.Outcome, map[[2]int64]int, error) {
	w := &watched{env, map[[2]int64]int{}, make([]int64, 3)}
	env = w
	if box {
		env = numbers{w}
	}
	out, err := loop.Run(t.Context(), loop.Batch{Environment: env, Agent: agent, Runs: []int{0, 1, 2}, Seeds: seed.NewSource(1, "queue"),
		Steps: steps, Grid: []int{steps}, Metrics: []result.Metric{"reward"}})
	return out, w.taken, err
}

// Every bundled agent for which the queue is one takes allowed actions alone, also where the host
// decides when it explores, and the same ones in a process of its own. The others are refused with
// a line that names agents which read masks.
func TestMasksOfEveryAgent(t *testing.T) {
	params := admissionParams(t)
	for _, p := range All() {
		d := must.Get(p.Describe(t.Context()))(t)
		if d.Kind != vector.KindAgent {
			continue
		}
		t.Run(d.ID, func(t *testing.T) {
			env := must.Get(bundled("model").OpenEnvironment(t.Context(), params, 3))(t)
			spec, box := env.Spec(), strings.HasSuffix(d.ID, "-linear@1")
			spec.Steps = 300
			var of json.RawMessage
			if box {
				spec, of = asNumbers(spec), json.RawMessage(`{"gamma": 0.9}`) // the queue continues
			}
			agent, err := p.OpenAgent(t.Context(), of, spec, 3)
			if d.ID == "rlrun/bandit@1" { // the queue has several states; TestMaskErrors has its error about masks
				if !errors.Is(err, framework.ErrUnsupported) || slices.Contains(d.Abilities, "masks") {
					t.Fatalf("%v", err)
				}
				return
			}
			must.Do(t, err)
			direct, taken, err := playMasked(t, env, agent, 300, box)
			must.Do(t, err)
			if taken[[2]int64{0, 1}]+taken[[2]int64{3, 2}] > 0 || len(taken) < 8 {
				t.Errorf("actions by state: %v", taken)
			}
			apart := must.Get(plugin.Loopback(p))(t)
			defer apart.Close()
			envApart := must.Get(plugin.Loopback(bundled("model")))(t)
			defer envApart.Close()
			there, _, err := playMasked(t, must.Get(envApart.OpenEnvironment(t.Context(), params, 3))(t), must.Get(apart.OpenAgent(t.Context(), of, spec, 3))(t), 300, box)
			if err != nil || !reflect.DeepEqual(direct, there) {
				t.Errorf("in a process of its own: %v (%v), want %v", there, err, direct)
			}
			if !slices.Contains(d.Abilities, "options") {
				return
			}
			agent = must.Get(p.OpenAgent(t.Context(), of, spec, 3))(t)
			kinds := []options.Kind{options.Members, options.Uniform, options.Constants}
			if d.ID == "rlrun/threshold-model@1" {
				kinds = []options.Kind{options.Pairs}
			}
			hosted := must.Get(explore.New(t.Context(), agent.Abilities().Options, spec, 3, explore.Config{Kinds: kinds}))(t)
			_, taken, err = playMasked(t, env, hosted, 300, box)
			if err != nil || taken[[2]int64{0, 1}]+taken[[2]int64{3, 2}] > 0 {
				t.Errorf("explored by the host: %v, actions by state: %v", err, taken)
			}
		})
	}
}

// random is uniform among the allowed actions: at a full queue it waits and serves equally often,
// within five standard errors. q-learning and bootstrap-linear find the optimum, and their exploration is uniform, too.
func TestMaskedChoices(t *testing.T) {
	params := admissionParams(t)
	play := func(name, of string) ([]loop.Outcome, map[[2]int64]int) {
		env := must.Get(bundled("model").OpenEnvironment(t.Context(), params, 3))(t)
		spec, box := env.Spec(), strings.HasSuffix(name, "-linear")
		if box {
			spec = asNumbers(spec)
		}
		out, taken, err := playMasked(t, env, must.Get(bundled(name).OpenAgent(t.Context(), json.RawMessage(of), spec, 3))(t), 20_000, box)
		must.Do(t, err)
		return out, taken
	}
	for _, tt := range [][2]string{{"random", "{}"}, {"q-learning", `{"epsilon": 1}`}, {"sarsa-linear", `{"epsilon": 1, "gamma": 0.9}`},
		{"bootstrap-linear", `{"behaviour": "mean", "epsilon": 1}`}, {"linear-bandit", `{"policy": "epsilon-greedy", "epsilon": 1}`}} {
		_, taken := play(tt[0], tt[1])
		for _, pair := range [][4]int64{{3, 0, 3, 1}, {0, 0, 0, 2}} {
			a, b := float64(taken[[2]int64(pair[:2])]), float64(taken[[2]int64(pair[2:])])
			if math.Abs(a-b) > 5*math.Sqrt(a+b) || a+b < 1000 {
				t.Errorf("%s takes actions %v as often as %v and %v", tt[0], pair, a, b)
			}
		}
	}
	for _, policy := range []string{"thompson", "linucb", "greedy"} { // threshold is the default, with which every agent is played
		play("linear-bandit", fmt.Sprintf(`{"policy": %q}`, policy)) // the host refuses what is not allowed
	}
	for _, tt := range [][2]string{{"q-learning", `{"gamma": 0.9, "epsilon": 0.05, "schedule": "harmonic", "power": 0.7}`},
		{"bootstrap-linear", `{"gamma": 0.9, "behaviour": "mean", "epsilon": 0.05}`}} {
		out, _ := play(tt[0], tt[1])
		for _, o := range out { // serve one, admit one: 1/2 a step, less what ε costs
			if got := o.Curves["reward"][0]; got < 0.45 {
				t.Errorf("%s earns %v a step", tt[0], got)
			}
		}
	}
}

// stubborn always takes the same action, and says that it reads masks.
type stubborn struct{ vector.Agent }

func (stubborn) Abilities() vector.AgentAbilities { return vector.AgentAbilities{Masks: true} }
func (stubborn) Close() error                     { return nil }
func (stubborn) Step(_ context.Context, _ *vector.Feedback, actions *space.Column) error {
	for i := range actions.Int64 {
		actions.Int64[i] = 1
	}
	return nil
}

// closed allows nothing in lane 1 from its third call on.
type closed struct {
	vector.Environment
	calls int
}

func (c *closed) Step(ctx context.Context, in *vector.Actions, out *vector.TimeSteps) error {
	err := c.Environment.Step(ctx, in, out)
	if c.calls++; c.calls > 2 {
		clear(out.Mask(1))
	}
	return err
}

// The host refuses an action that is not allowed, and a mask that allows nothing. The error names
// the side, the call and the lane.
func TestMaskErrors(t *testing.T) {
	env := must.Get(bundled("model").OpenEnvironment(t.Context(), admissionParams(t), 3))(t)
	if notes := must.Get(vector.ModelNotes.Ask(t.Context(), env, 0))(t); len(notes) > 0 {
		t.Errorf("notes %q: masks say which actions are missing", notes)
	}
	_, _, err := playMasked(t, env, stubborn{}, 10, false)
	lane := new(vector.LaneError)
	if want := "agent, call 2: lane 0: invalid answer: action 1 is not allowed there: the environment's mask allows 0, 2"; !errors.As(err, &lane) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	_, _, err = playMasked(t, &closed{Environment: env}, must.Get(bundled("random").OpenAgent(t.Context(), nil, env.Spec(), 3))(t), 10, false)
	if want := "environment, call 3: lane 1: invalid answer: the action mask allows no action, and the episode has not terminated"; !errors.As(err, &lane) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	_, err = bundled("bandit").OpenAgent(t.Context(), []byte(`{"policy": {"kind": "thompson"}, "belief": {"kind": "beta"}}`), framework.Spec{ID: "x/y@1", Observation: space.Discrete{N: 1}, Action: space.Discrete{N: 2}, RewardHigh: 1, Masks: true}, 1)
	if !errors.Is(err, framework.ErrUnsupported) || !strings.Contains(err.Error(), "does not read masks: choose one with the ability masks, such as random, linear-bandit for bandits, q-learning") {
		t.Errorf("%v", err)
	}
	path := filepath.Join(t.TempDir(), "whole.json")
	must.Do(t, os.WriteFile(path, []byte(`{"S": 1, "A": 1, "transitions": [[0,0,0,1]]}`), 0o600))
	_, err = bundled("model").OpenEnvironment(t.Context(), must.Get(json.Marshal(map[string]any{"file": path, "masks": true}))(t), 1)
	if !errors.Is(err, framework.ErrInvalidParams) || !strings.Contains(err.Error(), "masks has no effect, as every state of") {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"random", "q-learning", "bootstrap-q", "psrl"} {
		if d := must.Get(bundled(name).Describe(t.Context()))(t); !slices.Contains(d.Abilities, "masks") {
			t.Errorf("%s is named, and does not read masks", name)
		}
	}
}
