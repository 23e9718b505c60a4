// Package arms holds what the bundled bandit environments share: arm means that
// are fixed or drawn per run, lanes of them, and their one-state models.
package arms

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/params"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
)

// Params says which arms there are.
type Params struct {
	Arms   int       `json:"arms,omitempty" jsonschema:"minimum=1,maximum=1000000,default=16" jsonschema_description:"Number of arms."`
	Means  []float64 `json:"means,omitempty" jsonschema:"minItems=1" jsonschema_description:"Fixed mean rewards, one per arm; replaces prior."`
	Prior  Prior     `json:"prior,omitempty" when:"means=none" jsonschema_description:"Distribution from which every run draws its arm means."`
	Drift  *float64  `json:"drift,omitempty" jsonschema:"exclusiveMinimum=0,maximum=1e290" jsonschema_description:"Standard deviation by which each mean moves after every pull: a random walk. Where rewards are 0 and 1 it is reflected at these. Default: means stay."`
	Hazard *float64  `json:"hazard,omitempty" when:"means=none" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1" jsonschema_description:"Probability that after a pull all means are drawn anew from prior. Default: they are never."`
}

// Prior is the distribution of arm means.
type Prior struct {
	Kind string  `json:"kind,omitempty" jsonschema:"enum=uniform,enum=beta,enum=normal,default=uniform" jsonschema_description:"uniform on [low,high], beta(a,b), or normal(mean,sd)."`
	Low  float64 `json:"low,omitempty" when:"kind=uniform" jsonschema:"default=0" jsonschema_description:"Lower end of uniform."`
	High float64 `json:"high,omitempty" when:"kind=uniform" jsonschema:"default=1" jsonschema_description:"Upper end of uniform."`
	A    float64 `json:"a,omitempty" when:"kind=beta" jsonschema:"exclusiveMinimum=0,default=1" jsonschema_description:"First parameter of beta."`
	B    float64 `json:"b,omitempty" when:"kind=beta" jsonschema:"exclusiveMinimum=0,default=1" jsonschema_description:"Second parameter of beta."`
	Mean float64 `json:"mean,omitempty" when:"kind=normal" jsonschema:"default=0" jsonschema_description:"Mean of normal."`
	SD   float64 `json:"sd,omitempty" when:"kind=normal" jsonschema:"minimum=0,default=1" jsonschema_description:"Standard deviation of normal."`
}

// Default returns the parameters of the paper's task: 16 arms, means uniform on
// [0,1].
func Default() Params {
	return Params{Arms: 16, Prior: Prior{Kind: "uniform", High: 1, A: 1, B: 1, SD: 1}}
}

// Decode reads and checks all, the parameters of an environment, which hold the defaults. p
// are those of its arms, inside all. By default there are as many arms as means are given.
// Errors wrap framework.ErrInvalidParams.
func Decode(raw json.RawMessage, all any, p *Params) error {
	standard := p.Arms
	p.Arms = 0
	if err := params.Decode(raw, all); err != nil {
		return err
	}
	if p.Arms == 0 && p.Means == nil {
		p.Arms = standard
	} else if p.Arms == 0 {
		p.Arms = len(p.Means)
	}
	if err := p.check(); err != nil {
		return fmt.Errorf("%w: %w", err, framework.ErrInvalidParams)
	}
	return params.Check(all)
}

// largest is the size of the largest mean. Models of package mdp take no larger rewards.
const largest = 1e300

// check checks what the tags leave open.
func (p *Params) check() error {
	for i, m := range p.Means {
		if !(math.Abs(m) <= largest) {
			return fmt.Errorf("means[%d] is %v, must be in [%v,%v]", i, m, -largest, largest)
		}
	}
	q := p.Prior
	for name, end := range map[string]float64{"uniform": max(math.Abs(q.Low), math.Abs(q.High)), "normal": math.Abs(q.Mean) + 40*q.SD} {
		if q.Kind == name && !(end <= largest) { // no normal draw is 40 deviations away
			return fmt.Errorf("prior of kind %s reaches %v, must be in [%v,%v]", name, end, -largest, largest)
		}
	}
	if p.Means != nil && len(p.Means) == 0 {
		return errors.New("means is empty: give one mean an arm")
	}
	if p.Means != nil && p.Arms != len(p.Means) {
		return fmt.Errorf("means has %d entries for %d arms: give one mean an arm, or leave arms out", len(p.Means), p.Arms)
	}
	if q.Kind == "uniform" && q.Low > q.High {
		return fmt.Errorf("prior.low is %v, above prior.high %v", q.Low, q.High)
	}
	if p.Hazard != nil && (q.Kind == "uniform" && q.Low == q.High || q.Kind == "normal" && q.SD == 0) {
		return errors.New("hazard has no effect, as prior draws one value alone")
	}
	return nil
}

// Bounds returns the range of the means: infinite for a normal prior.
func (p *Params) Bounds() (low, high float64) {
	switch {
	case p.Means != nil:
		return slices.Min(p.Means), slices.Max(p.Means)
	case p.Prior.Kind == "uniform":
		return p.Prior.Low, p.Prior.High
	case p.Prior.Kind == "beta":
		return 0, 1
	}
	return math.Inf(-1), math.Inf(1)
}

// Count returns the number of arms.
func (p *Params) Count() int {
	if p.Means != nil {
		return len(p.Means)
	}
	return p.Arms
}

// draw fills dst with the means of one run.
func (p *Params) draw(dst []float64, rng *rand.Rand) {
	if p.Means != nil {
		copy(dst, p.Means)
		return
	}
	var sample func() float64
	switch q := p.Prior; q.Kind {
	case "uniform":
		sample = distuv.Uniform{Min: q.Low, Max: q.High, Src: rng}.Rand
	case "beta":
		sample = distuv.Beta{Alpha: q.A, Beta: q.B, Src: rng}.Rand
	default:
		sample = distuv.Normal{Mu: q.Mean, Sigma: q.SD, Src: rng}.Rand
	}
	for i := range dst {
		dst[i] = sample()
	}
}

// Lanes is a vector.Environment of bandits.
type Lanes struct {
	params Params
	spec   framework.Spec
	n      int // arms
	means  []float64
	lanes  []lane
	noise  mdp.Noise
}

type lane struct {
	rng   rand.PCG
	means []float64 // of Lanes.means; nil before the first reset
	world *world    // nil if the means stay
}

// NewLanes returns lanes of bandits with the given noise.
func NewLanes(id string, p Params, lanes int, noise mdp.Noise) *Lanes {
	n := p.Count()
	low, high := math.Inf(-1), math.Inf(1)
	if noise.Bernoulli {
		low, high = 0, 1
	}
	return &Lanes{
		params: p, n: n, noise: noise,
		spec: framework.Spec{
			ID:          id,
			Observation: space.Discrete{N: 1},
			Action:      space.Discrete{N: int64(n)},
			RewardLow:   low,
			RewardHigh:  high,
			Continuing:  true,
		},
		means: make([]float64, lanes*n),
		lanes: make([]lane, lanes),
	}
}

// Spec implements vector.Environment.
func (l *Lanes) Spec() framework.Spec { return l.spec }

// Step implements vector.Environment. A bandit's only observation is 0
// and its episodes never end.
func (l *Lanes) Step(_ context.Context, in *vector.Actions, out *vector.TimeSteps) error {
	n := len(in.Signals)
	actions, rewards, observations := in.Actions.Int64[:n], out.Rewards[:n], out.Observations.Int64[:n]
	terminated, truncated := out.Terminated[:n], out.Truncated[:n]
	for i, s := range in.Signals {
		switch s {
		case vector.Continue:
			x := &l.lanes[i]
			if uint64(actions[i]) >= uint64(len(x.means)) {
				return l.refuse(i, actions[i])
			}
			l.draw(rewards[i:i+1], &x.rng)
			rewards[i] = pay(l.noise.Bernoulli, rewards[i], x.means[actions[i]])
			if x.world != nil {
				l.pass(x, int(actions[i]))
			}
		case vector.NewEpisode, vector.NewRun:
			x := &l.lanes[i]
			x.rng.Seed(in.Seeds[i], uint64(seed.Environment))
			x.means = l.means[i*l.n : (i+1)*l.n]
			l.params.draw(x.means, rand.New(&x.rng))
			if l.params.changes() {
				x.world = l.params.newWorld(in.Seeds[i])
			}
			rewards[i] = 0
		default: // Idle
			continue
		}
		observations[i], terminated[i], truncated[i] = 0, false, false
	}
	return nil
}

// Abilities implements vector.Environment.
func (l *Lanes) Abilities() vector.EnvironmentAbilities {
	if l.params.changes() { // it has no one model
		return vector.EnvironmentAbilities{Measures: l.measures(), PlayLane: l.play}
	}
	return vector.EnvironmentAbilities{Models: l.models, PlayLane: l.play}
}

// play implements the ability PlayLane. It draws the random numbers of all steps first: if
// it fails, the lane is of no use until its next run.
func (l *Lanes) play(i int, agent vector.LaneAgent, last vector.LaneStep, actions []int64, rewards []float64) (int, vector.LaneStep, error) {
	x, means, bernoulli, reward := &l.lanes[i], l.lanes[i].means, l.noise.Bernoulli, last.Reward
	l.draw(rewards, &l.lanes[i].rng)
	for k, chance := range rewards {
		action, err := agent.StepLane(i, 0, reward)
		if err != nil {
			return k, vector.LaneStep{Reward: reward}, &vector.AgentError{Err: err}
		}
		if uint64(action) >= uint64(len(means)) {
			return k, vector.LaneStep{Reward: reward}, l.refuse(i, action)
		}
		reward = pay(bernoulli, chance, means[action])
		actions[k], rewards[k] = action, reward
		if x.world != nil {
			l.pass(x, int(action))
		}
	}
	return len(actions), vector.LaneStep{Reward: reward}, nil
}

// draw draws the random numbers of steps: uniform on [0,1) for Bernoulli rewards, else the
// noise. There is one a step, whatever the arm: agents that pull the same arm at the same
// step of the same run get the same reward.
func (l *Lanes) draw(chances []float64, rng *rand.PCG) {
	if l.noise.Bernoulli {
		for k := range chances {
			chances[k] = float64(rng.Uint64()>>11) * 0x1p-53
		}
		return
	}
	normal := rand.New(rng)
	for k := range chances {
		chances[k] = l.noise.SD * normal.NormFloat64()
	}
}

// pay returns the reward of an arm by the random number of the step.
func pay(bernoulli bool, chance, mean float64) float64 {
	if !bernoulli {
		return mean + chance
	}
	paid := 0 // set without a branch, which nothing could predict
	if chance < mean {
		paid = 1
	}
	return float64(paid)
}

// refuse is the error about an action that lane i cannot take.
func (l *Lanes) refuse(i int, action int64) error {
	if l.lanes[i].means == nil {
		return &vector.LaneError{Lane: i, Err: framework.ErrNeedsReset}
	}
	return &vector.LaneError{Lane: i, Err: fmt.Errorf("arm %d of %d: %w", action, l.n, framework.ErrInvalidAction)}
}

// models returns each lane's bandit as an MDP with one state.
func (l *Lanes) models(context.Context) ([]*mdp.Tabular, error) {
	models := make([]*mdp.Tabular, len(l.lanes))
	for i := range models {
		m, err := mdp.Generate(mdp.Definition{States: 1, Actions: l.n}, func(_, arm int, row *mdp.Row) {
			row.AddRewarded(0, 1, l.means[i*l.n+arm])
			row.Noise = l.noise
		})
		if err != nil {
			return nil, err
		}
		models[i] = m
	}
	return models, nil
}

// Close implements vector.Environment.
func (l *Lanes) Close() error { return nil }
