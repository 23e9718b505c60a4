package plugin_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// dice is an environment over any spaces: everything is random, and the reward is
// a hash of the action.
type dice struct {
	spec framework.Spec
	rng  *rand.Rand
}

func (d *dice) Spec() framework.Spec { return d.spec }

func (d *dice) Reset(_ context.Context, seed uint64) (space.Value, error) {
	d.rng = rand.New(rand.NewPCG(seed, 0))
	return space.Sample(d.spec.Observation, d.rng), nil
}

func (d *dice) Step(_ context.Context, a space.Value) (framework.TimeStep, error) {
	return framework.TimeStep{
		Observation: space.Sample(d.spec.Observation, d.rng),
		Reward:      hash(a), Terminated: d.rng.IntN(5) == 0, Truncated: d.rng.IntN(5) == 0,
	}, nil
}

func hash(v space.Value) float64 {
	h := fnv.New64()
	fmt.Fprint(h, v.Int, v.Ints, v.Float64, v.Float32, v.Uint8)
	return float64(h.Sum64() >> 11)
}

// gambler acts at random, from a stream that everything it learns stirs.
type gambler struct {
	spec framework.Spec
	rng  *rand.PCG
}

func (g *gambler) SelectAction(_ context.Context, observation space.Value) (space.Value, error) {
	return space.Sample(g.spec.Action, rand.New(rand.NewPCG(g.rng.Uint64(), uint64(hash(observation))))), nil
}

func (g *gambler) Update(_ context.Context, t framework.Transition) error {
	g.rng.Seed(g.rng.Uint64()+uint64(hash(t.Observation)), uint64(hash(t.Action)+hash(t.NextObservation)+t.Reward))
	return nil
}

func dicePlugin(spec framework.Spec) vector.Plugin {
	return &vector.EnvironmentPlugin{
		Description: vector.Description{ID: "test/dice@1", Kind: vector.KindEnvironment},
		Open: func(_ json.RawMessage, lanes int) (vector.Environment, error) {
			return vector.Vectorize(func() (framework.Environment, error) { return &dice{spec: spec}, nil }, lanes)
		},
	}
}

func gamblerPlugin() vector.Plugin {
	return &vector.AgentPlugin{
		Description: vector.Description{ID: "test/gambler@1", Kind: vector.KindAgent},
		Open: func(_ json.RawMessage, spec framework.Spec, lanes int) (vector.Agent, error) {
			return vector.VectorizeAgent(func(seed uint64) (framework.Agent, error) {
				return &gambler{spec: spec, rng: rand.NewPCG(seed, 1)}, nil
			}, spec, lanes)
		},
	}
}

func anySpace(t *rapid.T, name string) space.Space {
	switch rapid.IntRange(0, 2).Draw(t, name) {
	case 0:
		return space.Discrete{N: rapid.Int64Range(1, 1000).Draw(t, "n"), Start: rapid.Int64Range(-5, 5).Draw(t, "start")}
	case 1:
		return space.MultiDiscrete{NVec: rapid.SliceOfN(rapid.Int64Range(1, 9), 1, 4).Draw(t, "nvec")}
	}
	dtype, lows := rapid.SampledFrom([]space.DType{space.Float64, space.Float32, space.Uint8, space.Int64}).Draw(t, "dtype"), []float64{0, math.Inf(-1)}
	if dtype != space.Uint8 { // which has no negative numbers
		lows = append(lows, -1)
	}
	return space.Box{
		Type:  dtype,
		Shape: rapid.SliceOfN(rapid.IntRange(1, 3), 0, 3).Draw(t, "shape"),
		Low:   []float64{rapid.SampledFrom(lows).Draw(t, "low")},
		High:  []float64{rapid.SampledFrom([]float64{1, 200, math.Inf(1)}).Draw(t, "high")},
	}
}

// play runs agent and environment against each other with drawn signals, and a
// new episode after each end. It returns every column of every step, bit for
// bit.
func play(ctx context.Context, envs, agents vector.Plugin, signals [][]vector.Signal) ([]byte, error) {
	lanes := len(signals[0])
	env, err := envs.OpenEnvironment(ctx, nil, lanes)
	if err != nil {
		return nil, err
	}
	agent, err := agents.OpenAgent(ctx, nil, env.Spec(), lanes)
	if err != nil {
		return nil, err
	}
	actions, feedback := vector.NewActions(env.Spec(), lanes), vector.NewFeedback(env.Spec(), lanes)
	var log []byte
	for step, s := range signals {
		for i := range s {
			signal := s[i]
			if signal == vector.Continue && (feedback.Terminated[i] || feedback.Truncated[i]) {
				signal = vector.NewEpisode
			}
			actions.Signals[i], feedback.Signals[i] = signal, signal
			actions.Seeds[i], feedback.Seeds[i] = uint64(1000*step+i), uint64(step+1000*i)
		}
		if err := env.Step(ctx, actions, &feedback.TimeSteps); err != nil {
			return nil, err
		}
		if err := agent.Step(ctx, feedback, &actions.Actions); err != nil {
			return nil, err
		}
		log = feedback.Observations.AppendBytes(log)
		log = space.AppendNumbers(log, feedback.Rewards)
		log = fmt.Append(log, feedback.Terminated, feedback.Truncated)
		log = actions.Actions.AppendBytes(log)
		log = binary.LittleEndian.AppendUint64(log, uint64(step))
	}
	return log, errors.Join(env.Close(), agent.Close())
}

// The seam changes no bit, for any spaces, signals and number of lanes; idle
// lanes keep what they held.
func TestSeamIsTransparent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := framework.Spec{
			ID: "test/dice@1", Observation: anySpace(t, "observation"), Action: anySpace(t, "action"),
			RewardLow: 0, RewardHigh: math.Inf(1),
		}
		lanes := rapid.IntRange(1, 4).Draw(t, "lanes")
		signals := make([][]vector.Signal, rapid.IntRange(1, 6).Draw(t, "steps"))
		any := rapid.SampledFrom([]vector.Signal{vector.Continue, vector.Continue, vector.Idle, vector.NewEpisode, vector.NewRun})
		for k := range signals {
			signals[k] = rapid.SliceOfN(any, lanes, lanes).Draw(t, "signals")
			if k == 0 {
				for i := range signals[k] {
					signals[k][i] = vector.NewRun
				}
			}
		}
		ctx := context.Background()
		want := must.Get(play(ctx, dicePlugin(spec), gamblerPlugin(), signals))(t)
		envs := must.Get(plugin.Loopback(dicePlugin(spec)))(t)
		defer envs.Close()
		agents := must.Get(plugin.Loopback(gamblerPlugin()))(t)
		defer agents.Close()
		got := must.Get(play(ctx, envs, agents, signals))(t)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("the columns differ:\n% x\n% x", got, want)
		}
	})
}

// What a plugin says of itself, its spec, its models and its errors cross a real
// process boundary unchanged.
func TestControl(t *testing.T) {
	direct := faultyEnvironment()
	p := launch(t, plugin.LaunchConfig{}, "serve-environment")
	want, _ := direct.Describe(t.Context())
	if got, err := p.Describe(t.Context()); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("describe: got %+v (%v), want %+v", got, err, want)
	}
	env := must.Get(p.OpenEnvironment(t.Context(), nil, 3))(t)
	wantSpec := (&counters{}).Spec()
	wantSpec.ID = fmt.Sprintf("test/faulty-%d@1", p.Pid())
	if got := env.Spec(); !reflect.DeepEqual(got, wantSpec) {
		t.Errorf("spec: got %+v, want %+v", got, wantSpec)
	}
	models, err := vector.Models(t.Context(), env)
	if err != nil || len(models) != 3 {
		t.Fatalf("models: %v (%v)", models, err)
	}
	if models[0] != models[2] || models[0].Reward(0, 0) != 0.1 || models[1].Reward(0, 0) != 1.1 {
		t.Errorf("models: rewards %v, %v, %v", models[0].Reward(0, 0), models[1].Reward(0, 0), models[2].Reward(0, 0))
	}
}

func TestControlErrors(t *testing.T) {
	p := launch(t, plugin.LaunchConfig{}, "serve-environment")
	open := func(params string, lanes int) error {
		_, err := p.OpenEnvironment(t.Context(), []byte(params), lanes)
		return err
	}
	_, agentErr := p.OpenAgent(t.Context(), nil, (&counters{}).Spec(), 1)
	_, badSpec := p.OpenAgent(t.Context(), nil, framework.Spec{}, 1)
	lost := must.Get(p.OpenEnvironment(t.Context(), []byte(`{"fault":"models"}`), 1))(t)
	_, modelErr := vector.Models(t.Context(), lost)
	for _, tt := range []struct {
		name string
		err  error
		is   error
		want string
	}{
		{"bad parameters", open(`{"lane":"x"}`, 1), framework.ErrInvalidParams, "cannot unmarshal"},
		{"not JSON", open(`{`, 1), framework.ErrInvalidParams, "unexpected end"},
		{"panic", open(`{"fault":"open"}`, 1), nil, "panic: cannot open"},
		{"no lanes", open(``, 0), nil, "0 lanes"},
		{"negative lanes", open(``, -1), nil, "-1 lanes"},
		{"wrong kind", agentErr, framework.ErrUnsupported, "is an environment, not an agent"},
		{"no spaces", badSpec, nil, "observation space"},
		{"models", modelErr, framework.ErrUnsupported, "lost"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) || !strings.HasPrefix(tt.err.Error(), "plugin faulty: ") || tt.is != nil && !errors.Is(tt.err, tt.is) {
				t.Errorf("got %v, want %q wrapping %v", tt.err, tt.want, tt.is)
			}
		})
	}
	env := must.Get(p.OpenEnvironment(t.Context(), []byte(`{"fault":"no model"}`), 1))(t)
	if env.Abilities().Models != nil {
		t.Error("an environment without models has some")
	}
}

// A column of 8 MB crosses either way: gRPC's default limit is 4.
func TestLargeMessages(t *testing.T) {
	wide := space.Box{Shape: []int{1 << 20}, Low: []float64{0}, High: []float64{255}, Type: space.Uint8}
	p := must.Get(plugin.Loopback(dicePlugin(framework.Spec{ID: "test/dice@1", Observation: wide, Action: wide, RewardHigh: 1})))(t)
	defer p.Close()
	env := must.Get(p.OpenEnvironment(t.Context(), nil, 8))(t)
	in, out := start(env.Spec(), 8)
	if err := env.Step(t.Context(), in, &out); err != nil {
		t.Error(err)
	}
}
