package explore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/bandit/policy"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/options"
)

const (
	arms, members = 5, 8
	step          = 0.3
	low           = -0.5
)

// populations is an option agent for bandits, whose members are those of the
// policies of package policy.
type populations struct {
	b     []bandit.Population
	rng   *rand.Rand
	arm   int // pulled last
	order []int
	p     options.Problem
}

func newPopulations(t *testing.T, s uint64) *populations {
	t.Helper()
	b := must.Get(bandit.NewPopulations(arms, members, bandit.Uniform{Lo: low, Hi: 1},
		bandit.PopulationConfig{Mode: bandit.BernoulliMask, Step: step}, seed.Stream(s, seed.Bootstrap)))(t)
	return &populations{b: b, rng: seed.Stream(s, seed.Exploration)}
}

func (a *populations) SetOptionKinds(context.Context, []options.Kind) error { return nil }
func (a *populations) Abilities() vector.AgentAbilities                     { return vector.AgentAbilities{} }
func (a *populations) Close() error                                         { return nil }
func (a *populations) Step(context.Context, *vector.Feedback, *space.Column) error {
	panic("the host did not decide")
}

func (a *populations) StepOptions(_ context.Context, in *vector.Feedback, epochs []bool, _ *space.Column, problems []options.Problem) error {
	if in.Signals[0] == vector.Continue {
		a.b[a.arm].Update(in.Rewards[0], a.rng)
	}
	if !epochs[0] {
		panic("with one state, every step is an epoch")
	}
	greedy := 0
	for i := range a.b {
		if a.b[i].Mean() > a.b[greedy].Mean() {
			greedy = i
		}
	}
	a.order = append(a.order[:0], greedy)
	for i := range a.b {
		if i != greedy {
			a.order = append(a.order, i)
		}
	}
	a.p.Arms, a.p.Values = a.p.Arms[:0], a.p.Values[:0]
	for _, i := range a.order {
		a.p.Arms = append(a.p.Arms, options.Arm{Name: fmt.Sprint("action ", i)})
		for k := range members {
			a.p.Values = append(a.p.Values, a.b[i].Identified(k))
		}
	}
	problems[0] = a.p
	return nil
}

func (a *populations) Choose(_ context.Context, choices []int, actions *space.Column) error {
	a.arm = a.order[choices[0]]
	actions.Int64[0] = int64(a.arm)
	return nil
}

func (a *populations) GreedyPolicy(context.Context, int, []int) ([]int, error) {
	panic("with one state there is nothing to forget")
}

// With one state, the host makes the decisions of bandit policies, reward after
// reward and draw after draw (docs/theory.md §3.3).
func TestOneStateDecidesAsTheBandit(t *testing.T) {
	gamma, bound := 0.98, low
	spec := framework.Spec{ID: "test/bandit@1", Observation: space.Discrete{N: 1}, Action: space.Discrete{N: arms}, RewardLow: low, RewardHigh: 1, Continuing: true}
	weights := policy.Horizon{Gamma: &gamma}
	for name, tt := range map[string]struct {
		policy policy.Spec
		rule   options.DeciderConfig
	}{
		"mean U":            {policy.Optimistic{Horizon: weights, LowerBound: &bound}, options.DeciderConfig{Rule: options.RuleOptimistic}},
		"mean V":            {policy.Optimistic{Horizon: weights, Bound: "V"}, options.DeciderConfig{Rule: options.RuleOptimistic, Bound: bandit.V}},
		"paired V":          {policy.Optimistic{Horizon: weights, Bound: "V", Compare: "pairs"}, options.DeciderConfig{Rule: options.RuleCommonModel, Bound: bandit.V}},
		"index U":           {policy.Index{Horizon: weights, Bound: "U", LowerBound: &bound}, options.DeciderConfig{Rule: options.RuleIndex}},
		"index U+":          {policy.Index{Horizon: weights, Bound: "U+"}, options.DeciderConfig{Rule: options.RuleIndex, Bound: bandit.UPlus}},
		"stochastic common": {policy.OptimisticStochastic{Horizon: weights, LowerBound: &bound, Draw: "common"}, options.DeciderConfig{Rule: options.RuleOptimisticStochastic, Common: true}},
		"never":             {policy.Greedy{}, options.DeciderConfig{Rule: options.RuleNever}},
	} {
		t.Run(name, func(t *testing.T) {
			tt.rule.Horizon = bandit.Discounted(gamma)
			explored := 0
			for s := range uint64(20) {
				k, alpha := members, step
				pol := must.Get(policy.New(tt.policy, policy.PopulationBelief{Members: &k, Update: "bernoulli", Steps: policy.Steps{Step: &alpha}},
					policy.Task{Arms: arms, Low: low, High: 1}, seed.Stream(s, seed.Bootstrap)))(t)
				agent := must.Get(New(t.Context(), newPopulations(t, s), spec, 1, Config{Decider: tt.rule}))(t)
				decisions, updates := seed.Stream(s, seed.Decisions), seed.Stream(s, seed.Exploration)
				rewards := rand.New(rand.NewPCG(s, 99))
				in, actions := vector.NewFeedback(spec, 1), space.NewColumn(spec.Action, 1)
				in.Signals[0], in.Seeds[0] = vector.NewRun, s
				var got, want []int
				for range 200 {
					must.Do(t, agent.Step(t.Context(), in, &actions))
					arm := pol.SelectArm(decisions)
					got, want = append(got, int(actions.Int64[0])), append(want, arm)
					in.Signals[0], in.Rewards[0] = vector.Continue, low+(1-low)*rewards.Float64()*float64(1+arm)/arms
					pol.Update(arm, in.Rewards[0], updates)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("seed %d: arms %v, the policy's %v", s, got, want)
				}
				n, hold := agent.Exploration(0)
				if explored += n; hold != 1 {
					t.Errorf("an option is held for %d steps", hold)
				}
			}
			if t.Logf("%d of 4000 pulls explored", explored); (explored == 0) != (tt.rule.Rule == options.RuleNever) {
				t.Errorf("%d of 4000 pulls explored", explored)
			}
		})
	}
}
