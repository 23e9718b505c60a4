// Package banditagent is the agent that plays bandits: any policy of
// bandit/policy on any belief it works with.
package banditagent

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/bandit/policy"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/params"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/snapshot"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// ID names the agent.
const ID = "rlrun/bandit@1"

// Params are the parameters of the agent.
type Params struct {
	Policy params.Choice[policies] `json:"policy" jsonschema:"required" jsonschema_description:"How arms are selected."`
	Belief params.Choice[beliefs]  `json:"belief,omitempty" jsonschema_description:"The belief about the mean reward of an arm. Default: one that suits the policy; as in the paper, a population, or a point for epsilon-greedy."`
}

// policies are the kinds of policies.
type policies struct{}

func (policies) Kinds() (kinds []params.Kind) {
	for _, k := range policy.Kinds() {
		kinds = append(kinds, params.Kind{Name: k.Name, Doc: "Selects " + k.Doc + ".", Params: k.Spec})
	}
	return kinds
}

// beliefs are the kinds of beliefs.
type beliefs struct{}

func (beliefs) Kinds() (kinds []params.Kind) {
	for _, k := range policy.BeliefKinds() {
		kinds = append(kinds, params.Kind{Name: k.Name, Doc: k.Doc + ".", Params: k.Spec})
	}
	return kinds
}

// Specs returns what the parameters say. The belief is nil if they leave it out.
func (p Params) Specs() (policy.Spec, policy.BeliefSpec, error) {
	given, err := p.Policy.Decode()
	if err != nil {
		return nil, nil, fmt.Errorf("policy: %w", err)
	}
	s := given.(policy.Spec)
	if p.Belief == nil {
		return s, nil, nil
	}
	belief, err := p.Belief.Decode()
	if err != nil {
		return nil, nil, fmt.Errorf("belief: %w", err)
	}
	return s, belief.(policy.BeliefSpec), nil
}

// Plugin returns the agent as a plugin.
func Plugin() vector.Plugin {
	return &vector.AgentPlugin{
		Description: vector.Description{
			ID:     ID,
			Kind:   vector.KindAgent,
			Doc:    "Plays multi-armed bandits with any policy (ε-greedy, Thompson, the paper's Algorithms 1 and 2, indices, upper confidence bounds, …) and any belief.",
			Params: params.Schema(&Params{}),

			Abilities: []string{"greedy", "checkpoint"},
			Breaks:    map[string]string{"duplicated-actions": "every copy of an arm is learned separately"},
		},
		Open: open,
	}
}

func open(raw json.RawMessage, spec framework.Spec, n int) (vector.Agent, error) {
	var p Params
	if err := params.Decode(raw, &p); err != nil {
		return nil, err
	}
	arms, ok := space.Enumerate(spec.Action, math.MaxInt32)
	if !ok {
		return nil, fmt.Errorf("%s plays bandits, whose actions are discrete, not %T: %w", ID, spec.Action, framework.ErrUnsupported)
	}
	first, discrete := spec.Action.(space.Discrete)
	if _, ok := space.Enumerate(spec.Observation, 1); !ok {
		return nil, fmt.Errorf("%s plays bandits, which have one state; %s has more: %w", ID, spec.ID, framework.ErrUnsupported)
	}
	task := policy.Task{Arms: int(arms.N), Low: spec.RewardLow, High: spec.RewardHigh}
	s, b, err := p.Specs()
	if err != nil {
		return nil, err
	}
	maker, err := policy.NewMaker(s, b, task)
	if err != nil {
		// Parameters that suit other tasks are not wrong in themselves.
		if _, elsewhere := policy.NewMaker(s, b, policy.Task{Arms: task.Arms, High: 1}); elsewhere == nil {
			return nil, fmt.Errorf("%s: %w: %w", spec.ID, err, framework.ErrUnsupported)
		}
		return nil, fmt.Errorf("%w: %w", err, framework.ErrInvalidParams)
	}
	of, err := lanes.Describe(ID, p, spec)
	x := &agent{task: task, maker: maker, first: first.Start, discrete: discrete, arms: arms, low: max(task.Low, -math.MaxFloat64), high: min(task.High, math.MaxFloat64), lanes: make([]lane, n), of: of}
	x.stoppingTime = x.newStoppingTime()
	return x, err
}

type agent struct {
	task     policy.Task
	maker    *policy.Maker
	first    int64 // smallest action, where they are Discrete
	discrete bool
	arms     space.Enumeration // of actions
	// low and high are the least and greatest rewards that are finite.
	low, high float64
	lanes     []lane
	of        snapshot.Of
	// stoppingTime is a metric of policies that stop; nil for others.
	stoppingTime *vector.Measures
}

// lane is one run. Policies break ties by the numbers of arms. So that the environment's numbers
// carry no meaning, a policy knows arms by numbers that are drawn for each run.
type lane struct {
	policy      policy.Policy // nil before the first run
	action      []int32       // from 0, by the policy's number of an arm
	arm         int           // selected last, by the policy's number
	evaluates   bool          // the arm is the greedy one
	exploration *rand.Rand
	bootstrap   *rand.Rand
}

// Step implements vector.Agent.
func (a *agent) Step(_ context.Context, in *vector.Feedback, actions *space.Column) error {
	n := len(in.Signals)
	rewards, terminated, truncated := in.Rewards[:n], in.Terminated[:n], in.Truncated[:n]
	for i, s := range in.Signals {
		switch s {
		case vector.Idle:
			continue
		case vector.NewRun:
			a.lanes[i] = a.start(in.Seeds[i])
		case vector.Continue:
			l := &a.lanes[i]
			if l.policy == nil || !(rewards[i] >= a.low && rewards[i] <= a.high) {
				return a.refuse(i, rewards[i])
			}
			l.policy.Update(l.arm, rewards[i], l.bootstrap)
			if terminated[i] || truncated[i] {
				continue
			}
		}
		l := &a.lanes[i]
		if s != vector.Continue && s != vector.Evaluate {
			l.evaluates = s == vector.EvaluateEpisode
		}
		if l.policy == nil {
			return &vector.LaneError{Lane: i, Err: fmt.Errorf("an episode before the first run: %w", framework.ErrNeedsReset)}
		}
		if l.evaluates {
			l.arm = l.greedyArm()
		} else {
			l.arm = l.policy.SelectArm(l.exploration)
		}
		if a.discrete {
			actions.Int64[i] = a.first + int64(l.action[l.arm])
		} else {
			a.arms.Set(actions, i, int64(l.action[l.arm]))
		}
	}
	return nil
}

// greedyArm returns the greedy arm of a policy that has one, else the one that it selects.
func (l *lane) greedyArm() int {
	if g, ok := l.policy.(policy.Greedier); ok {
		return g.Greedy()
	}
	return l.policy.SelectArm(l.exploration)
}

// Abilities implements vector.Agent.
func (a *agent) Abilities() vector.AgentAbilities {
	return vector.AgentAbilities{Lane: a, Greedy: true, Calls: vector.JoinCalls(vector.Checkpoint(a.save, a.load), vector.Recommendation(a.recommend)), Measures: a.stoppingTime}
}

// recommend returns the arm that a lane would stay with.
func (a *agent) recommend(_ context.Context, i int) (int64, error) {
	l := &a.lanes[i]
	switch p := l.policy.(type) {
	case nil:
		return 0, a.refuse(i, 0)
	case policy.Greedier:
		return a.first + int64(l.action[p.Greedy()]), nil
	case policy.Recommender:
		return a.first + int64(l.action[p.Recommend()]), nil
	}
	return 0, fmt.Errorf("the policy recommends no arm: %w", framework.ErrUnsupported)
}

// newStoppingTime returns the metric of policies that stop, nil for others.
func (a *agent) newStoppingTime() *vector.Measures {
	if _, stops := a.start(0).policy.(policy.Stopper); !stops {
		return nil
	}
	m := framework.Metric{Name: "stopping_time", Unit: "steps", Better: framework.Lower, Total: framework.Time, Doc: "Steps until one arm was left; no value before."}
	return &vector.Measures{Metrics: []framework.Metric{m}, Read: func(_ context.Context, lanes []int, dst []float64) error {
		for k, i := range lanes {
			dst[k] = math.NaN()
			if s, begun := a.lanes[i].policy.(policy.Stopper); begun {
				if steps, is := s.Stopped(); is {
					dst[k] = float64(steps)
				}
			}
		}
		return nil
	}}
}

// StepLane implements vector.LaneAgent.
func (a *agent) StepLane(i int, _ int64, reward float64) (action int64, err error) {
	l := &a.lanes[i]
	if l.policy == nil || !(reward >= a.low && reward <= a.high) {
		return 0, a.refuse(i, reward)
	}
	l.policy.Update(l.arm, reward, l.bootstrap)
	l.arm = l.policy.SelectArm(l.exploration)
	return a.first + int64(l.action[l.arm]), nil
}

// refuse is the error about a reward that lane i cannot take.
func (a *agent) refuse(i int, reward float64) error {
	if a.lanes[i].policy == nil {
		return &vector.LaneError{Lane: i, Err: fmt.Errorf("a step before the first run: %w", framework.ErrNeedsReset)}
	}
	return &vector.LaneError{Lane: i, Err: fmt.Errorf("%w: %w", a.task.Check(reward), framework.ErrInvalidAnswer)}
}

// start returns a lane at the beginning of a run.
func (a *agent) start(s uint64) lane {
	l := lane{exploration: seed.Stream(s, seed.Exploration), bootstrap: seed.Stream(s, seed.Bootstrap)}
	l.action = make([]int32, a.task.Arms)
	for i := range l.action {
		l.action[i] = int32(i)
	}
	l.exploration.Shuffle(len(l.action), func(i, j int) { l.action[i], l.action[j] = l.action[j], l.action[i] })
	l.policy = a.maker.New(l.bootstrap)
	return l
}

func (a *agent) save(_ context.Context, i int) ([]byte, error) {
	if err := snapshot.Lane(i, len(a.lanes)); err != nil {
		return nil, err
	}
	if a.lanes[i].policy == nil {
		return nil, &vector.LaneError{Lane: i, Err: fmt.Errorf("no run has begun: %w", framework.ErrNeedsReset)}
	}
	fresh := a.start(0)
	return a.of.Save(&a.lanes[i], &fresh)
}

// load restores what save returned. After an error the lane is as it
// was.
func (a *agent) load(_ context.Context, i int, state []byte) error {
	if err := snapshot.Lane(i, len(a.lanes)); err != nil {
		return err
	}
	l := a.start(0)
	if err := a.of.Load(&l, state); err != nil {
		return err
	}
	a.lanes[i] = l
	return nil
}

// Close implements vector.Agent.
func (a *agent) Close() error { return nil }
