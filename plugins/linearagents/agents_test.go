package linearagents

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/rltest"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/plugintest"
)

// boxed describes a small task whose observations are numbers.
var boxed = framework.Spec{
	ID:          "test/boxed@1",
	Observation: space.Box{Low: []float64{-1}, High: []float64{1}, Shape: []int{2}},
	Action:      space.Discrete{N: 3, Start: 1}, RewardLow: -1, RewardHigh: 1,
}

// variants are parameters of every agent that reach all of its code.
var variants = map[string][]string{
	"sarsa-linear": {
		``,
		`{"traces":"accumulating","lambda":0.5,"step":0.1,"initial":2}`,
		`{"lambda":0,"epsilon":0,"features":{"tilings":2,"tiles":3}}`,
		`{"features":{"memory":64,"low":[-0.5,-1],"high":[0.5,1]}}`,
	},
	"bootstrap-linear": {
		``,
		`{"behaviour":"mean","epsilon":0.2,"update":"bernoulli","traces":"cut"}`,
		`{"update":"bernoulli","mask":0.3,"members":3,"lambda":0,"redraw":"geometric","gamma":0.9}`,
		`{"update":"drawn","members":5,"traces":"cut"}`,
		`{"update":"exponential","features":{"memory":128}}`,
		`{"update":"poisson","mean":3,"sd":2}`,
		`{"members":4,"update":"bernoulli"}`,
		`{"members":70,"update":"bernoulli","features":{"tilings":1,"tiles":1}}`,
	},
}

// every calls f with every agent and each of its variants.
func every(t *testing.T, f func(t *testing.T, p vector.Plugin, params string)) {
	t.Helper()
	agenttest.Every(t, Plugins(), variants, f)
}

// Every variant conforms, and the first of each agent through the seam, too: with
// observations of all types, in tasks with ends and without.
func TestConform(t *testing.T) {
	single, bytes, endless := boxed, boxed, boxed
	single.Observation = space.Box{Low: []float64{-1}, High: []float64{1, 2}, Shape: []int{2}, Type: space.Float32}
	bytes.Observation = space.Box{Low: []float64{0}, High: []float64{255}, Shape: []int{2}, Type: space.Uint8}
	endless.Continuing = true
	every(t, func(t *testing.T, p vector.Plugin, params string) {
		t.Parallel()
		if params == "" {
			plugintest.Conform(t, p, nil, single, bytes)
		}
		specs := []framework.Spec{boxed}
		if strings.Contains(params, "geometric") {
			specs = append(specs, endless)
		}
		if err := rltest.CheckPlugin(t.Context(), p, json.RawMessage(params), specs...); err != nil {
			t.Error(err)
		}
	})
}

func TestRefusals(t *testing.T) {
	table, continuous, many, open := boxed, boxed, boxed, boxed
	table.Observation = space.Discrete{N: 3}
	continuous.Action = space.Box{Low: []float64{0}, High: []float64{1}}
	many.Action = space.Discrete{N: 1 << 20}
	open.Observation = space.Box{Low: []float64{-1, math.Inf(-1)}, High: []float64{1}, Shape: []int{2}}
	every(t, func(t *testing.T, p vector.Plugin, params string) {
		for _, tt := range []struct {
			spec framework.Spec
			want string
		}{{table, "not a box"}, {continuous, "discrete actions"}, {many, "actions"}} {
			if _, err := p.OpenAgent(t.Context(), json.RawMessage(params), tt.spec, 1); !errors.Is(err, framework.ErrUnsupported) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, %v: %v", tt.spec.Observation, tt.spec.Action, err)
			}
		}
		if _, err := p.OpenAgent(t.Context(), json.RawMessage(params), boxed, 1); err != nil {
			t.Errorf("a box: %v", err)
		}
		if _, err := p.OpenAgent(t.Context(), nil, open, 1); err != nil {
			t.Errorf("without bounds: %v", err)
		}
		if _, err := p.OpenAgent(t.Context(), json.RawMessage(`{"features":{"low":[-1,-2]}}`), open, 1); err != nil {
			t.Errorf("with bounds given: %v", err)
		}
	})
}

func TestWrongParameters(t *testing.T) {
	agenttest.Refuse(t, Plugins(), boxed, []agenttest.Wrong{
		{"sarsa-linear", `{"gama":1}`, "gama"},
		{"sarsa-linear", `{"gamma":2}`, "gamma"},
		{"sarsa-linear", `{"step":0}`, "step"},
		{"sarsa-linear", `{"lambda":-1}`, "lambda"},
		{"sarsa-linear", `{"traces":"x"}`, "traces"},
		{"sarsa-linear", `{"epsilon":2}`, "epsilon"},
		{"sarsa-linear", `{"features":{"tilings":0}}`, "tilings"},
		{"sarsa-linear", `{"features":{"memory":3}}`, "memory"},
		{"sarsa-linear", `{"features":{"low":[1]}}`, "low has 1 elements"},
		{"sarsa-linear", `{"features":{"low":[1,1]}}`, "element 0"},
		{"bootstrap-linear", `{"members":0}`, "members"},
		{"bootstrap-linear", `{"gamma":-1}`, "gamma"},
		{"bootstrap-linear", `{"sd":-1}`, "sd"},
		{"bootstrap-linear", `{"update":"x"}`, "update"},
		{"bootstrap-linear", `{"mask":0}`, "mask"},
		{"bootstrap-linear", `{"lambda":2}`, "lambda"},
		{"bootstrap-linear", `{"traces":"x"}`, "traces"},
		{"bootstrap-linear", `{"step":2}`, "step"},
		{"bootstrap-linear", `{"behaviour":"x"}`, "behaviour"},
		{"bootstrap-linear", `{"redraw":"x"}`, "redraw"},
		{"bootstrap-linear", `{"epsilon":2}`, "epsilon"},
		{"bootstrap-linear", `{"reveal":0}`, "reveal"},
		{"bootstrap-linear", `{"features":{"high":[1,2,3]}}`, "high has 3 elements"},
	})
}

// Parameters for another environment or host are not wrong in themselves.
func TestUnsuitable(t *testing.T) {
	endless := boxed
	endless.Continuing = true
	for _, tt := range []struct{ agent, params, want string }{
		{"sarsa-linear", ``, "continues"},
		{"bootstrap-linear", `{"gamma":1}`, "continues"},
		{"bootstrap-linear", `{"members":1024,"features":{"tiles":1024,"memory":16777216}}`, "features.memory"},
	} {
		_, err := find(t, tt.agent).OpenAgent(t.Context(), json.RawMessage(tt.params), endless, 1)
		if !errors.Is(err, framework.ErrUnsupported) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s: %v", tt.agent, tt.params, err)
		}
	}
	for _, tt := range []struct {
		params string
		kind   options.Kind
		want   string
	}{
		{``, options.CountBonus, "count-bonus"},
		{``, options.RecencyBonus, "recency-bonus"},
		{`{"gamma":1}`, options.Members, "gamma is 1"},
	} {
		a := must.Get(find(t, "bootstrap-linear").OpenAgent(t.Context(), json.RawMessage(tt.params), boxed, 1))(t)
		host := a.Abilities().Options
		if err := host.SetOptionKinds(t.Context(), []options.Kind{tt.kind}); !errors.Is(err, framework.ErrUnsupported) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.kind, err)
		}
		if _, err := host.GreedyPolicy(t.Context(), 0, nil); !errors.Is(err, framework.ErrUnsupported) {
			t.Errorf("greedy policy: %v", err)
		}
	}
}

// Calls out of turn, and rewards that are no numbers, name their lane.
func TestLaneErrors(t *testing.T) {
	every(t, func(t *testing.T, p vector.Plugin, params string) {
		a := must.Get(p.OpenAgent(t.Context(), json.RawMessage(params), boxed, 2))(t)
		in, actions := vector.NewFeedback(boxed, 2), space.NewColumn(boxed.Action, 2)
		for _, tt := range []struct {
			signal vector.Signal
			reward float64
			want   error
		}{
			{vector.NewEpisode, 0, framework.ErrNeedsReset},
			{vector.Continue, 0, framework.ErrNeedsReset},
			{vector.NewRun, 0, nil},
			{vector.Continue, math.NaN(), framework.ErrInvalidAnswer},
		} {
			in.Signals[1], in.Rewards[1] = tt.signal, tt.reward
			var lane *vector.LaneError
			if err := a.Step(t.Context(), in, &actions); !errors.Is(err, tt.want) || tt.want != nil && (!errors.As(err, &lane) || lane.Lane != 1) {
				t.Errorf("%v: %v", tt, err)
			}
		}
	})
}

// A step allocates nothing.
func TestNoAllocation(t *testing.T) {
	for _, agent := range []string{"sarsa-linear", "bootstrap-linear"} {
		e, a := pair(t, "mountaincar", ``, agent, ``, 1)
		actions, in := vector.NewActions(e.Spec(), 1), vector.NewFeedback(e.Spec(), 1)
		step := func() {
			must.Do(t, e.Step(t.Context(), actions, &in.TimeSteps))
			copy(in.Signals, actions.Signals)
			must.Do(t, a.Step(t.Context(), in, &actions.Actions))
			actions.Signals[0] = vector.Continue
			if in.Terminated[0] || in.Truncated[0] {
				actions.Signals[0] = vector.NewEpisode
			}
		}
		actions.Signals[0] = vector.NewRun
		step()
		if n := testing.AllocsPerRun(1000, step); n != 0 {
			t.Errorf("%s: %v allocations per step", agent, n)
		}
	}
}
