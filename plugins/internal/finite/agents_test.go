package finite_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/rltest"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
)

// variants are parameters of every agent that reach all of its code.
var variants = map[string][]string{
	"q-learning": {
		``,
		`{"policy":"epsilon-z-greedy","epsilon":0.3,"decay":"linear","decay_steps":50}`,
		`{"policy":"softmax","temperature":0.5,"schedule":"harmonic"}`,
		`{"schedule":"harmonic","power":0.7,"decay":"harmonic","initial":2}`,
	},
	"sarsa": {
		``,
		`{"traces":"accumulating","lambda":0.5,"schedule":"harmonic","policy":"softmax"}`,
		`{"lambda":0,"policy":"epsilon-z-greedy"}`,
	},
	"dyna-q": {
		``,
		`{"model":"last","kappa":0.001,"policy":"epsilon-z-greedy"}`,
		`{"kappa":0.1,"planning":3,"schedule":"harmonic"}`,
	},
	"bayesian-q": {
		``,
		`{"select":"sampling","update":"moment","mean":0,"sd":1}`,
		`{"select":"greedy","gamma":0.5,"lambda":0.1,"alpha":1.5}`,
	},
	"bootstrap-q": {
		``,
		`{"replays":3,"update":"poisson","members":3,"criterion":"episode","values":"policies"}`,
		`{"replays":50,"update":"drawn","prior_weight":0,"gamma":0.5,"behaviour":"mean"}`,
		`{"replays":0}`,
		`{"replays":0,"behaviour":"mean","epsilon":0.1,"update":"exponential","prior":"normal","mean":1,"sd":0.5}`,
		`{"replays":0,"members":70,"update":"poisson","schedule":"harmonic","redraw":"geometric","evaluated":3}`,
		`{"replays":0,"members":3,"update":"drawn","schedule":"harmonic","power":0.8,"prior_weight":0}`,
		`{"replays":0,"members":1,"update":"all","low":0,"high":0}`,
		`{"replays":0,"mask":0.3,"values":"actions"}`,
	},
	"ucb-q": {``, `{"horizon":3,"bonus":"bernstein","scaling":1}`},
	"bootstrap-model": {
		``,
		`{"belief":"posterior","behaviour":"mean","rewards":"optimistic","members":3}`,
		`{"belief":"posterior","criterion":"average","members":2,"mu0":0}`,
		`{"criterion":"average","update":"exponential","members":3,"growth":2}`,
		`{"update":"double-or-nothing","rewards":"pessimistic","gamma":0.5,"growth":0,"alpha":1,"members":2}`,
	},
	"mbie":          {``, `{"gamma":0.5,"scaling":1}`},
	"rlsvi":         {``, `{"horizon":3,"sigma":1,"lambda":10}`},
	"gaussian-psrl": {``, `{"horizon":3}`},
	"ucbvi":         {``, `{"horizon":3,"scaling":0.1,"epsilon":0.2,"ignore_last":true}`},
	"psrl": {
		``,
		`{"horizon":3}`,
		`{"resample":"geometric","gamma":0.9,"alpha":0.2}`,
		`{"samples":3}`,
	},
	"boss":             {``, `{"horizon":3}`, `{"visits":2,"gamma":0.9}`},
	"ucrl2":            {``, `{"horizon":3,"widths":"tabularl"}`, `{"scaling":0.1}`},
	"kl-ucrl":          {``, `{"horizon":3}`, `{"scaling":0.1}`},
	"beb":              {``, `{"gamma":0.5,"beta":3,"alpha":1}`},
	"mbie-eb":          {``, `{"gamma":0.5,"beta":3}`},
	"optimistic-model": {``, `{"gamma":0.5,"beta":3,"retry":0,"unseen":0}`, `{"unseen":1000}`, `{"criterion":"episode"}`},
	"r-max":            {``, `{"m":1,"horizon":3}`, `{"m":2,"refine":true}`},
	"bamcp":            {`{"simulations":3,"depth":5}`, `{"simulations":8,"depth":3,"gamma":1,"rollout":0}`},
	"e3":               {``, `{"m":1,"horizon":3,"gamma":1}`},
}

// every calls f with every agent and each of its variants.
func every(t *testing.T, f func(t *testing.T, p vector.Plugin, params string)) {
	t.Helper()
	agenttest.Every(t, agents(), variants, f)
}

// Every variant conforms. TestBundledPluginsConform has the defaults.
func TestConform(t *testing.T) {
	if testing.Short() {
		t.Skip("variants take seconds each; make ci runs them")
	}
	every(t, func(t *testing.T, p vector.Plugin, params string) {
		t.Parallel()
		if params == "" {
			return
		} else if err := rltest.CheckPlugin(t.Context(), p, json.RawMessage(params)); err != nil {
			t.Error(err)
		}
	})
}

func TestRefusals(t *testing.T) {
	box := space.Box{Low: []float64{0}, High: []float64{1}}
	huge, wide, many := agenttest.Finite, agenttest.Finite, agenttest.Finite
	huge.Observation = space.Discrete{N: 1 << 40}
	wide.Observation = box
	many.Action = box
	every(t, func(t *testing.T, p vector.Plugin, params string) {
		for _, spec := range []framework.Spec{huge, wide, many} {
			if _, err := p.OpenAgent(t.Context(), json.RawMessage(params), spec, 1); !errors.Is(err, framework.ErrUnsupported) {
				t.Errorf("%v, %v: %v", spec.Observation, spec.Action, err)
			}
		}
		if _, err := p.OpenAgent(t.Context(), json.RawMessage(params), agenttest.Finite, 1); err != nil {
			t.Errorf("a agenttest.Finite task: %v", err)
		}
	})
}

// wrong are parameters that are refused, and the word that says why.
var wrong = []agenttest.Wrong{
	{"q-learning", `{"gama":1}`, "gama"},
	{"q-learning", `{"gamma":1.5}`, "gamma"},
	{"q-learning", `{"step":0}`, "step"},
	{"q-learning", `{"schedule":"x"}`, "schedule"},
	{"q-learning", `{"schedule":"harmonic","power":2}`, "power"},
	{"q-learning", `{"optimistic":true,"gamma":1}`, "optimistic"},
	{"q-learning", `{"policy":"x"}`, "policy"},
	{"q-learning", `{"decay":"x"}`, "decay"},
	{"q-learning", `{"epsilon":-1}`, "epsilon"},
	{"q-learning", `{"final_epsilon":2}`, "final_epsilon"},
	{"q-learning", `{"decay_steps":0}`, "decay_steps"},
	{"q-learning", `{"mu":1}`, "mu"},
	{"q-learning", `{"max_repeat":0}`, "max_repeat"},
	{"q-learning", `{"temperature":0}`, "temperature"},
	{"sarsa", `{"gamma":-1}`, "gamma"},
	{"sarsa", `{"epsilon":2}`, "epsilon"},
	{"sarsa", `{"lambda":1.1}`, "lambda"},
	{"sarsa", `{"traces":"x"}`, "traces"},
	{"dyna-q", `{"gamma":-1}`, "gamma"},
	{"dyna-q", `{"epsilon":2}`, "epsilon"},
	{"dyna-q", `{"planning":-1}`, "planning"},
	{"dyna-q", `{"model":"x"}`, "model"},
	{"dyna-q", `{"kappa":-1}`, "kappa"},
	{"psrl", `{"horizon":-1}`, "horizon"},
	{"psrl", `{"criterion":"x"}`, "criterion"},
	{"psrl", `{"gamma":1}`, "gamma"},
	{"psrl", `{"resample":"x"}`, "resample"},
	{"psrl", `{"alpha":0}`, "alpha"},
	{"psrl", `{"tau0":0}`, "tau0"},
	{"psrl", `{"tau":-1}`, "tau"},
	{"psrl", `{"samples":0}`, "samples"},
	{"psrl", `{"merge":"x"}`, "merge"},
	{"psrl", `{"visits":0}`, "visits"},
	{"boss", `{"alpha":0}`, "alpha"},
	{"ucrl2", `{"horizon":-1}`, "horizon"},
	{"ucrl2", `{"delta":0}`, "delta"},
	{"ucrl2", `{"delta":1}`, "delta"},
	{"ucrl2", `{"scaling":0}`, "scaling"},
	{"ucrl2", `{"widths":"x"}`, "widths"},
	{"ucb-q", `{"horizon":0}`, "horizon"},
	{"ucb-q", `{"bonus":"x"}`, "bonus"},
	{"ucb-q", `{"scaling":-1}`, "scaling"},
	{"ucb-q", `{"delta":0}`, "delta"},
	{"ucb-q", `{"reward_low":2,"reward_high":1}`, "reward_low"},
	{"rlsvi", `{"horizon":0}`, "horizon"},
	{"rlsvi", `{"sigma":0}`, "sigma"},
	{"rlsvi", `{"lambda":0}`, "lambda"},
	{"bamcp", `{"simulations":0}`, "simulations"},
	{"bamcp", `{"depth":0}`, "depth"},
	{"bamcp", `{"exploration":0}`, "exploration"},
	{"bamcp", `{"alpha":0}`, "alpha"},
	{"bamcp", `{"weight":0}`, "weight"},
	{"bamcp", `{"rollout":2}`, "rollout"},
	{"kl-ucrl", `{"scaling":0}`, "scaling"},
	{"kl-ucrl", `{"widths":"jaksch"}`, "widths"},
	{"ucrl2", `{"reward_low":2,"reward_high":1}`, "reward_low"},
	{"beb", `{"alpha":0}`, "alpha"},
	{"mbie-eb", `{"gamma":1}`, "gamma"},
	{"mbie-eb", `{"beta":-1}`, "beta"},
	{"mbie-eb", `{"reward_high":-2}`, "reward_low"},
	{"optimistic-model", `{"gamma":1}`, "gamma"},
	{"optimistic-model", `{"beta":-1}`, "beta"},
	{"optimistic-model", `{"unseen":-1}`, "unseen"},
	{"optimistic-model", `{"retry":-1}`, "retry"},
	{"optimistic-model", `{"criterion":"x"}`, "criterion"},
	{"optimistic-model", `{"reward_high":-2}`, "reward_low"},
	{"r-max", `{"m":0}`, "m is 0"},
	{"r-max", `{"horizon":-1}`, "horizon"},
	{"r-max", `{"gamma":1}`, "gamma"},
	{"r-max", `{"reward_high":-2}`, "reward_high"},
	{"e3", `{"m":0}`, "m is 0"},
	{"e3", `{"horizon":0}`, "horizon"},
	{"e3", `{"gamma":2}`, "gamma"},
	{"e3", `{"escape":0}`, "escape"},
	{"e3", `{"escape":2}`, "escape"},
	{"e3", `{"reward_low":2}`, "reward_low"},
	{"ucbvi", `{"horizon":0}`, "horizon"},
	{"ucbvi", `{"scaling":-1}`, "scaling"},
	{"ucbvi", `{"epsilon":2}`, "epsilon"},
	{"ucbvi", `{"alpha":0}`, "alpha"},
	{"ucbvi", `{"tau0":0}`, "tau0"},
	{"ucbvi", `{"tau":0}`, "tau"},
}

func TestWrongParameters(t *testing.T) { agenttest.Refuse(t, agents(), agenttest.Finite, wrong) }

// Parameters for another environment are not wrong in themselves.
func TestUnsuitableEnvironments(t *testing.T) {
	endless, unbounded := agenttest.Finite, agenttest.Finite
	endless.Continuing = true
	unbounded.RewardHigh = math.Inf(1)
	for _, tt := range []struct {
		params string
		spec   framework.Spec
	}{{`{"gamma":1}`, endless}, {`{"optimistic":true}`, unbounded}} {
		if _, err := agents().Find(t, "q-learning").OpenAgent(t.Context(), json.RawMessage(tt.params), tt.spec, 1); !errors.Is(err, framework.ErrUnsupported) || errors.Is(err, framework.ErrInvalidParams) {
			t.Errorf("%s: %v", tt.params, err)
		}
	}
}

func TestBrokenInput(t *testing.T) {
	every(t, func(t *testing.T, p vector.Plugin, params string) {
		c := agenttest.NewCaller(t, p, params)
		expect := func(what string, err, want error) {
			t.Helper()
			var lane *vector.LaneError
			if !errors.Is(err, want) || want != nil && !errors.As(err, &lane) {
				t.Errorf("%s: %v, want %v", what, err, want)
			}
		}
		expect("a step first", c.Step(vector.Continue, 5, 0, false, false), framework.ErrNeedsReset)
		expect("an episode first", c.Step(vector.NewEpisode, 5, 0, false, false), framework.ErrNeedsReset)
		expect("a run", c.Step(vector.NewRun, 5, 0, false, false), nil)
		expect("a state below", c.Step(vector.Continue, 4, 0, false, false), framework.ErrInvalidAnswer)
		expect("a state above", c.Step(vector.Continue, 8, 0, false, false), framework.ErrInvalidAnswer)
		expect("no number", c.Step(vector.Continue, 7, math.NaN(), false, false), framework.ErrInvalidAnswer)
		expect("infinite", c.Step(vector.Continue, 7, math.Inf(1), false, false), framework.ErrInvalidAnswer)
		expect("the end", c.Step(vector.Continue, 7, 1, true, false), nil)
		expect("after the end", c.Step(vector.Continue, 5, 0, false, false), framework.ErrNeedsReset)
		expect("an episode", c.Step(vector.NewEpisode, 5, 0, false, false), nil)
	})
}

// A step allocates nothing: 1000 steps within episodes and over their ends.
func TestStepsDoNotAllocate(t *testing.T) {
	for _, name := range []string{"bayesian-q", "bootstrap-q", "q-learning", "sarsa", "dyna-q", "ucb-q", "ucbvi", "gaussian-psrl", "rlsvi", "bamcp", "ucrl2", "kl-ucrl", "mbie-eb", "beb", "optimistic-model"} {
		for _, params := range variants[name] {
			t.Run(name+params, func(t *testing.T) {
				c := agenttest.NewCaller(t, agents().Find(t, name), params)
				k, signal := 0, vector.NewRun
				next := func() {
					k++
					ends := k%17 == 0
					must.Do(t, c.Step(signal, 5+int64(k*k%3), 1, ends && k%2 == 0, ends && k%2 == 1))
					if ends && signal == vector.Continue {
						signal = vector.NewEpisode
					} else {
						signal = vector.Continue
					}
				}
				for range 1000 {
					next() // all that is to be seen is seen
				}
				if n := testing.AllocsPerRun(1000, next); n != 0 {
					t.Errorf("%v allocations per step", n)
				}
			})
		}
	}
}
