// Package contextual has contextual bandits and an agent for them. Each step shows a context, then an arm is pulled, and its
// mean reward depends on the context. No action changes a context (Lattimore & Szepesvári 2020, ch. 18–19).
package contextual

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/params"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
	"github.com/rlrun/rlrun/plugins/internal/arms"
)

const environmentID = "rlrun/contextual-bandit@1"

// Plugins returns the environment and the agent.
func Plugins() []vector.Plugin {
	return []vector.Plugin{Environment(), Agent()}
}

// settings are the parameters of the environment.
type settings struct {
	Arms     int     `json:"arms" jsonschema:"minimum=1,maximum=10000,default=5" jsonschema_description:"Number of arms."`
	Features int     `json:"features" when:"contexts=none" jsonschema:"minimum=1,maximum=1000,default=5" jsonschema_description:"Number d of features of a context. They are normal(0, 1/d) at each step. An arm pays their product with its weights, which each run draws from normal(0,1)."`
	Contexts *int    `json:"contexts,omitempty" jsonschema:"minimum=2,maximum=100000" jsonschema_description:"Number of contexts, in place of features: the observation is the number of a context, each equally likely at each step. Each run draws the mean of each arm in each context from normal(0,1)."`
	Noise    float64 `json:"noise" jsonschema:"minimum=0,maximum=1e100,default=1" jsonschema_description:"Standard deviation of a reward around its mean."`
}

// Environment returns the environment as a plugin.
func Environment() vector.Plugin {
	defaults := settings{Arms: 5, Features: 5, Noise: 1}
	return &vector.EnvironmentPlugin{
		Description: vector.Description{
			ID: environmentID, Kind: vector.KindEnvironment,
			Doc:    "Contextual bandit with normal rewards: means are linear in the features of a context, or there is a finite number of contexts. Each run draws them.",
			Params: params.Schema(&defaults),
		},
		Open: func(raw json.RawMessage, n int) (vector.Environment, error) {
			p := defaults
			if err := params.Decode(raw, &p); err != nil {
				return nil, err
			}
			if err := params.Check(&p); err != nil {
				return nil, err
			}
			return newBandits(p, n), nil
		},
	}
}

type bandits struct {
	params   settings
	contexts int // 0: contexts have features
	rows     int // of weights: the number of contexts or features
	lanes    []lane
}

type lane struct {
	rng     *rand.Rand // nil before the first run
	weights []float64  // by row, then by arm
	means   []float64  // of the arms in the present context
	score   arms.Score
}

func newBandits(p settings, n int) *bandits {
	l := &bandits{params: p, rows: p.Features, lanes: make([]lane, n)}
	if p.Contexts != nil {
		l.contexts, l.rows = *p.Contexts, *p.Contexts
	}
	return l
}

// Spec implements vector.Environment.
func (l *bandits) Spec() framework.Spec {
	s := framework.Spec{
		ID: environmentID, Observation: space.Discrete{N: int64(l.contexts)}, Action: space.Discrete{N: int64(l.params.Arms)},
		RewardLow: math.Inf(-1), RewardHigh: math.Inf(1), Continuing: true,
	}
	if l.contexts == 0 {
		s.Observation = space.Box{Low: []float64{math.Inf(-1)}, High: []float64{math.Inf(1)}, Shape: []int{l.rows}}
	}
	return s
}

// Step implements vector.Environment. The contexts of a run and the noise of its steps do not depend on the arms.
func (l *bandits) Step(_ context.Context, in *vector.Actions, out *vector.TimeSteps) error {
	for i, s := range in.Signals {
		x := &l.lanes[i]
		switch s {
		case vector.Continue:
			a := in.Actions.Int64[i]
			if x.rng == nil {
				return &vector.LaneError{Lane: i, Err: framework.ErrNeedsReset}
			}
			if uint64(a) >= uint64(l.params.Arms) {
				return &vector.LaneError{Lane: i, Err: fmt.Errorf("arm %d of %d: %w", a, l.params.Arms, framework.ErrInvalidAction)}
			}
			best := argmax.Max(x.means)
			x.score.Add(best-x.means[a], x.means[a] == best)
			out.Rewards[i] = x.means[a] + float64(l.params.Noise*x.rng.NormFloat64())
		case vector.NewEpisode, vector.NewRun:
			l.begin(x, in.Seeds[i])
			out.Rewards[i] = 0
		default: // Idle
			continue
		}
		out.Terminated[i], out.Truncated[i] = false, false
		l.show(x, i, &out.Observations)
	}
	return nil
}

// begin draws the weights of a run.
func (l *bandits) begin(x *lane, s uint64) {
	*x = lane{rng: seed.Stream(s, seed.Environment), weights: x.weights, means: x.means}
	if x.weights == nil {
		x.weights, x.means = make([]float64, l.rows*l.params.Arms), make([]float64, l.params.Arms)
	}
	for k := range x.weights {
		x.weights[k] = x.rng.NormFloat64()
	}
}

// show draws the next context of lane i.
func (l *bandits) show(x *lane, i int, to *space.Column) {
	n := len(x.means)
	if l.contexts > 0 {
		c := x.rng.IntN(l.contexts)
		to.Int64[i] = int64(c)
		copy(x.means, x.weights[c*n:(c+1)*n])
		return
	}
	clear(x.means)
	features := to.Float64[i*l.rows : (i+1)*l.rows]
	for k := range features {
		features[k] = x.rng.NormFloat64() / math.Sqrt(float64(l.rows))
		for a, w := range x.weights[k*n : (k+1)*n] {
			x.means[a] += float64(features[k] * w)
		}
	}
}

// Abilities implements vector.Environment.
func (l *bandits) Abilities() vector.EnvironmentAbilities {
	return vector.EnvironmentAbilities{Measures: &vector.Measures{Metrics: arms.Metrics, Read: func(_ context.Context, of []int, dst []float64) error {
		for k, i := range of {
			l.lanes[i].score.Read(dst[2*k : 2*k+2])
		}
		return nil
	}}}
}

// Close implements vector.Environment.
func (l *bandits) Close() error { return nil }
