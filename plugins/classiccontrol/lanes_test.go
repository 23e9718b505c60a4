package classiccontrol

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/rltest"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// open returns a lane of a task.
func open(t testing.TB, p vector.Plugin, params string) *lanes {
	t.Helper()
	env := must.Get(p.(*vector.EnvironmentPlugin).Open(json.RawMessage(params), 1))(t)
	return env.(*lanes)
}

// Tasks conform with parameters. TestBundledPluginsConform has the defaults.
func TestConform(t *testing.T) {
	for _, tt := range []struct {
		p      vector.Plugin
		params string
	}{
		{MountainCar(), `{"max_steps":20,"goal_velocity":0.02}`},
		{CartPole(), `{"max_steps":0,"sutton_barto_reward":true}`},
		{Acrobot(), `{"dynamics":"nips","torque_noise":0.5}`},
		{PuddleWorld(), `{"max_steps":7,"noise":0}`},
	} {
		d, _ := tt.p.Describe(t.Context())
		t.Run(d.ID+tt.params, func(t *testing.T) {
			t.Parallel()
			if err := rltest.CheckPlugin(t.Context(), tt.p, json.RawMessage(tt.params)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWrongParameters(t *testing.T) {
	for _, tt := range []struct {
		p            vector.Plugin
		params, want string
	}{
		{MountainCar(), `{"max_steps":-1}`, "max_steps is -1"},
		{MountainCar(), `{"goal_velocity":1}`, "goal_velocity"},
		{MountainCar(), `{"limit":10}`, `"limit"`},
		{CartPole(), `{"sutton_barto_reward":1}`, "sutton_barto_reward"},
		{Acrobot(), `{"dynamics":"x"}`, "dynamics"},
		{Acrobot(), `{"torque_noise":-1}`, "torque_noise"},
		{PuddleWorld(), `{"noise":2}`, "noise"},
	} {
		_, err := tt.p.OpenEnvironment(t.Context(), json.RawMessage(tt.params), 1)
		if !errors.Is(err, framework.ErrInvalidParams) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.params, err)
		}
	}
}

// First observations come from the documented boxes, and fill them. With 2,000 draws the
// extremes of a uniform coordinate are within 1 % of the ends, except with probability
// 2·0.99^2000 < 1e-8 each.
func TestStarts(t *testing.T) {
	for _, tt := range []struct {
		p         vector.Plugin
		low, high []float64
	}{
		{MountainCar(), []float64{-0.6, 0}, []float64{-0.4, 0}},
		{CartPole(), []float64{-0.05, -0.05, -0.05, -0.05}, []float64{0.05, 0.05, 0.05, 0.05}},
		{Acrobot(), []float64{-0.1, -0.1, -0.1, -0.1}, []float64{0.1, 0.1, 0.1, 0.1}},
		{PuddleWorld(), []float64{0, 0}, []float64{1, 1}},
	} {
		env := open(t, tt.p, ``)
		actions, out := vector.NewActions(env.Spec(), 1), vector.NewTimeSteps(env.Spec(), 1)
		low, high := make([]float64, len(tt.low)), make([]float64, len(tt.low))
		for n := range 2000 {
			actions.Signals[0], actions.Seeds[0] = vector.NewEpisode, uint64(n)
			must.Do(t, env.Step(t.Context(), actions, &out))
			for i := range low {
				x := env.lanes[0].state[i]
				if n == 0 {
					low[i], high[i] = x, x
				}
				low[i], high[i] = min(low[i], x), max(high[i], x)
			}
		}
		for i := range low {
			slack := 0.01 * (tt.high[i] - tt.low[i])
			if low[i] < tt.low[i] || high[i] > tt.high[i] || low[i] > tt.low[i]+slack || high[i] < tt.high[i]-slack {
				t.Errorf("%s: coordinate %d starts in [%v, %v], want [%v, %v]", env.Spec().ID, i, low[i], high[i], tt.low[i], tt.high[i])
			}
		}
	}
}

// BenchmarkRollout is a step of an environment under actions in turn, four lanes at
// a time, on one core.
func BenchmarkRollout(b *testing.B) {
	for _, p := range Plugins() {
		d, _ := p.Describe(b.Context())
		b.Run(strings.TrimSuffix(strings.TrimPrefix(d.ID, "rlrun/"), "@1"), func(b *testing.B) {
			const n, calls = 4, 10_000
			env, err := p.OpenEnvironment(b.Context(), nil, n)
			if err != nil {
				b.Fatal(err)
			}
			actions, out := vector.NewActions(env.Spec(), n), vector.NewTimeSteps(env.Spec(), n)
			for i := range n {
				actions.Signals[i] = vector.NewRun
			}
			arms := int64(env.(*lanes).actions)
			b.ReportAllocs()
			steps := 0
			for b.Loop() {
				for range calls {
					if err := env.Step(b.Context(), actions, &out); err != nil {
						b.Fatal(err)
					}
					for i := range n {
						actions.Signals[i] = vector.Continue
						actions.Actions.Int64[i] = int64(steps) % arms
						steps++
						if out.Terminated[i] || out.Truncated[i] {
							actions.Signals[i] = vector.NewEpisode
						}
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps), "ns/step")
			b.ReportMetric(float64(steps)/b.Elapsed().Seconds()/1e6, "Msteps/s")
		})
	}
}
