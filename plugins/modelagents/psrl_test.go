package modelagents

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
	"github.com/rlrun/rlrun/plugins/plugintest"
)

const average = `{"criterion":"average"}`

func TestAverageConforms(t *testing.T) {
	endless := agenttest.Finite
	endless.Continuing = true
	plugintest.Conform(t, PSRL(), json.RawMessage(average), endless)
}

func TestPSRLRefusals(t *testing.T) {
	endless := agenttest.Finite
	endless.Continuing = true
	large, largest := endless, endless
	large.Observation = space.Discrete{N: 2001}
	largest.Observation = space.Discrete{N: 2897} // two actions: just above 2^24 successors
	for _, tt := range []struct {
		name, params string
		spec         framework.Spec
		ok           bool
	}{
		{"average of an episodic task", average, agenttest.Finite, false},
		{"average of a continuing task", average, endless, true},
		{"average of many states", average, large, false},
		{"discounted, of many states", ``, large, true},
		{"too many successors", ``, largest, false},
	} {
		_, err := PSRL().OpenAgent(t.Context(), json.RawMessage(tt.params), tt.spec, 1)
		if tt.ok && err != nil || !tt.ok && (!errors.Is(err, framework.ErrUnsupported) || errors.Is(err, framework.ErrInvalidParams)) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// newPSRL returns a lane for a task of 3 states and 2 actions in its first run.
func newPSRL(t *testing.T, params string) *modelbased.Learner {
	t.Helper()
	endless := agenttest.Finite
	endless.Continuing = true
	return newAgent(t, "psrl", params, endless)
}

// samples returns the models that were drawn last.
func samples(x *modelbased.Learner) []*mdp.Tabular { return x.Construction.(*posterior).samples }

// resampled reports whether the lane drew a model in f.
func resampled(x *modelbased.Learner, f func()) bool {
	before := samples(x)[0].Reward(0, 0) // a draw of a normal variate: never the same twice
	f()
	return samples(x)[0].Reward(0, 0) != before
}

// A model is drawn when the visits to some pair, n when the last was drawn, have
// become max(1, n) more.
func TestResampleWhenVisitsDouble(t *testing.T) {
	x := newPSRL(t, `{}`)
	rng := rand.New(rand.NewPCG(1, 1))
	x.Begin(0)
	counts, start, drawn := make([]float64, 6), make([]float64, 6), 0
	for range 5000 {
		i := x.State*2 + x.Action
		counts[i]++
		want := counts[i]-start[i] >= max(1, start[i])
		if got := resampled(x, func() { x.Step(0, rng.IntN(3)) }); got != want {
			t.Fatalf("visits %v, %v at the last sample: a model was drawn: %v", counts, start, got)
		}
		if want {
			copy(start, counts)
			drawn++
		}
	}
	if drawn < 10 || drawn > 6*13 {
		t.Errorf("%d models in 5000 steps", drawn)
	}
	if !resampled(x, func() { x.Begin(0) }) {
		t.Error("no model was drawn for an episode")
	}
}

// The number of models in 5000 steps is binomial: within 3.9 standard deviations except
// with a chance of 1e-4, at a fixed seed.
func TestResampleWithProbability(t *testing.T) {
	x := newPSRL(t, `{"resample":"geometric","gamma":0.9}`)
	x.Begin(0)
	drawn := 0.0
	for range 5000 {
		if resampled(x, func() { x.Step(0, 0) }) {
			drawn++
		}
	}
	if sd := math.Sqrt(5000 * 0.1 * 0.9); math.Abs(drawn-500) > 3.9*sd {
		t.Errorf("%v models, want 500 ± %.0f", drawn, sd)
	}
}

// With a horizon, a model is drawn for every episode and every so many steps, and
// the policy is the one for the steps left.
func TestPlanForTheStepsLeft(t *testing.T) {
	x := newPSRL(t, `{"horizon":3}`)
	s := x.Begin(0)
	for k := range 30 {
		left := 3 - k%3
		plan := must.Get(mdp.SolveFinite(samples(x)[0], 3))(t)
		if want := plan.Policy[left][x.State]; s != want {
			t.Fatalf("step %d: action %d, want %d", k, s, want)
		}
		if got := resampled(x, func() { s = x.Step(float64(k%2), k%3) }); got != (left == 1) {
			t.Fatalf("step %d: a model was drawn: %v", k, got)
		}
	}
	x.End(0, 1, false)
	if !resampled(x, func() { x.Begin(0) }) || x.Left() != 2 {
		t.Error("no model was drawn for an episode")
	}
}

// States in which episodes ended are worth nothing, however well rewards there are
// thought of; states in which they were truncated are what the model says. Prior means of
// 100 make it always better to go on than to end for 1. So an action that certainly leads
// to the terminal state is not taken.
func TestTerminalStatesAreWorthNothing(t *testing.T) {
	for _, params := range []string{`{"horizon":5,"mu0":100}`, `{"mu0":100,"gamma":0.9}`, `{"mu0":100,"gamma":0.9,"resample":"geometric"}`} {
		for _, terminated := range []bool{true, false} {
			x := newPSRL(t, params)
			x.Begin(0)
			for range 10_000 { // pairs: (0,0) stays for 100, (0,1) leads to 2 for 101
				x.Construction.(*posterior).belief.Update(0, 0, 100, 0)
				x.Construction.(*posterior).belief.Update(0, 1, 101, 2)
			}
			x.State, x.Action = 0, 1
			x.End(101, 2, terminated)
			if x.Terminals.Is[2] != terminated {
				t.Fatalf("%s: state 2 is terminal: %v", params, x.Terminals.Is[2])
			}
			want := 0
			if !terminated { // about as good, but for 1
				want = 1
				for range 10_000 {
					x.Construction.(*posterior).belief.Update(2, 0, 200, 2)
					x.Construction.(*posterior).belief.Update(2, 1, 200, 2)
				}
			}
			if got := x.Begin(0); got != want {
				t.Errorf("%s, terminated %v: action %d, want %d", params, terminated, got, want)
			}
			x.Begin(2)
			if x.Terminals.Is[2] || x.Terminals.Len() != 0 {
				t.Errorf("%s: a state that an action is taken in is terminal", params)
			}
		}
	}
}

// Datum by datum as TabulaRL updates it, and from the moments: one posterior.
func TestNormalRewardIsConjugate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := normalReward{rapid.Float64Range(-5, 5).Draw(t, "mu0"), rapid.Float64Range(0.1, 5).Draw(t, "tau0"), rapid.Float64Range(0.1, 5).Draw(t, "tau")}
		c := must.Get(mdp.NewCounts(1, 1))(t)
		mean, precision := p.mu0, p.tau0
		for _, r := range rapid.SliceOfN(rapid.Float64Range(-10, 10), 0, 20).Draw(t, "rewards") {
			c.Update(0, 0, r, 0)
			mean = (mean*precision + r*p.tau) / (precision + p.tau)
			precision += p.tau
		}
		if got := p.Mean(c.Rewards(0, 0)); math.Abs(got-mean) > 1e-9 {
			t.Fatalf("mean %v, want %v", got, mean)
		}
		// A sample is the mean plus a standard normal variate over √precision.
		rng, again := rand.New(rand.NewPCG(1, 1)), rand.New(rand.NewPCG(1, 1))
		if got, want := p.Sample(c.Rewards(0, 0), rng), mean+again.NormFloat64()/math.Sqrt(precision); math.Abs(got-want) > 1e-9 {
			t.Fatalf("sample %v, want %v", got, want)
		}
	})
}

// Runs with other seeds draw other models.
func TestModelsDependOnTheSeed(t *testing.T) {
	x := newPSRL(t, `{}`)
	var rewards []float64
	for seed := range uint64(50) {
		x.Start(seed)
		x.Begin(0)
		rewards = append(rewards, samples(x)[0].Reward(0, 0))
	}
	// Draws of N(0,1): mean within 3.9 standard errors.
	if mean, sd := stat.MeanStdDev(rewards, nil); math.Abs(mean) > 3.9/math.Sqrt(50) || sd < 0.5 || sd > 1.6 {
		t.Errorf("mean %v, standard deviation %v", mean, sd)
	}
}

// The agent learns the successor of the last step of a truncated episode, unless
// ignore_last is set. It always learns the reward of this step, and the successor of the
// last step of a terminated episode.
func TestPSRLsLastStep(t *testing.T) {
	for _, tt := range []struct {
		params     string
		terminated bool
		want       float64
	}{
		{`{"horizon":20}`, false, 1}, {`{"horizon":20}`, true, 1},
		{`{"horizon":20,"ignore_last":true}`, false, 0}, {`{"horizon":20,"ignore_last":true}`, true, 1},
	} {
		x := newAgent(t, "psrl", tt.params, agenttest.Finite)
		x.Begin(0)
		x.End(7, 1, tt.terminated)
		if got := x.Construction.(*posterior).belief.N(x.State, x.Action); got != tt.want {
			t.Errorf("%s, terminated %v: %v transitions learned", tt.params, tt.terminated, got)
		}
		if m := x.Construction.(*posterior).belief.Rewards(x.State, x.Action); m.N != 1 || m.Mean != 7 {
			t.Errorf("%s, terminated %v: rewards %+v", tt.params, tt.terminated, m)
		}
	}
}
