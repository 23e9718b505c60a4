package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/explore"
	"github.com/rlrun/rlrun/framework/internal/optiontest"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/options"
)

var optionSpec = framework.Spec{
	ID: "test/dice@1", Observation: space.Discrete{N: 4, Start: -1}, Action: space.Discrete{N: 3, Start: 2}, RewardHigh: 1e10,
}

// explored plays runs whose exploration the host decides, with the agent of a
// plugin, and returns their outcomes as text.
func explored(t *testing.T, p vector.Plugin, runs []int, o explore.Config) ([]string, error) {
	t.Helper()
	env := must.Get(dicePlugin(optionSpec).OpenEnvironment(t.Context(), nil, len(runs)))(t)
	agent := must.Get(p.OpenAgent(t.Context(), nil, optionSpec, len(runs)))(t)
	able := agent.Abilities().Options
	if able == nil {
		t.Fatalf("a %T has no options", agent)
	}
	explorer, err := explore.New(t.Context(), able, optionSpec, len(runs), o)
	if err != nil {
		return nil, err
	}
	out, err := loop.Run(t.Context(), loop.Batch{
		Environment: env, Agent: explorer, Runs: runs, Seeds: seed.NewSource(1, optionSpec.ID), Steps: 300,
		Grid: loop.LogGrid(10, 300), Discount: 1, Metrics: []result.Metric{result.Reward, result.ExplorationShare, result.MixingTime},
	})
	var text []string
	for _, o := range out {
		text = append(text, fmt.Sprint(o))
	}
	return text, errors.Join(err, explorer.Close())
}

func stochastic() explore.Config {
	return explore.Config{
		Decider: options.DeciderConfig{Rule: options.RuleOptimisticStochastic, Horizon: bandit.Discounted(0.9)},
		Kinds:   []options.Kind{options.Members, options.Constants, options.Uniform}, Log: 1000,
	}
}

// If the host decides about exploration, records are the same bit for bit with the agent
// in this process, behind a connection or in its own process. The same holds for any
// grouping of runs.
func TestOptionsThroughTheSeam(t *testing.T) {
	indexed := stochastic()
	indexed.Decider.Rule, indexed.Decider.Bound = options.RuleIndex, bandit.V
	for name, o := range map[string]explore.Config{"stochastic": stochastic(), "index": indexed} {
		t.Run(name, func(t *testing.T) {
			want := must.Get(explored(t, optiontest.Plugin(), []int{0, 1, 2, 3, 4}, o))(t)
			if n := strings.Count(fmt.Sprint(want), " true "); n == 0 {
				t.Error("nothing was ever explored")
			}
			for name, p := range map[string]vector.Plugin{
				"loopback": loopback(t, optiontest.Plugin()),
				"process":  launch(t, plugin.LaunchConfig{}, "serve-options"),
			} {
				for _, group := range [][]int{{0, 1, 2, 3, 4}, {3}, {4, 0}} {
					got, err := explored(t, p, group, o)
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					for k, run := range group {
						if got[k] != want[run] {
							t.Fatalf("%s: run %d of %v is\n%s, in this process\n%s", name, run, group, got[k], want[run])
						}
					}
				}
			}
		})
	}
}

// An agent without options has none through the seam either, and one with options
// acts as it would by itself without exploration in the config for it.
func TestAgentsWithoutOptions(t *testing.T) {
	agent := must.Get(loopback(t, gamblerPlugin()).OpenAgent(t.Context(), nil, optionSpec, 1))(t)
	if agent.Abilities().Options != nil {
		t.Errorf("a %T has options", agent)
	}
	var logs []string
	for _, p := range []vector.Plugin{optiontest.Plugin(), loopback(t, optiontest.Plugin())} {
		agent := must.Get(p.OpenAgent(t.Context(), nil, optionSpec, 2))(t)
		in, actions := vector.NewFeedback(optionSpec, 2), space.NewColumn(optionSpec.Action, 2)
		in.Signals[0], in.Signals[1], in.Seeds[1] = vector.NewRun, vector.NewRun, 7
		log := ""
		for k := range 20 {
			in.Observations.Int64[0], in.Observations.Int64[1] = int64(k%4-1), int64(k*k%4-1)
			must.Do(t, agent.Step(t.Context(), in, &actions))
			log += fmt.Sprint(actions.Int64)
			in.Signals[0], in.Signals[1] = vector.Continue, vector.Continue
			in.Rewards[0], in.Rewards[1] = float64(k%3), 5
		}
		logs = append(logs, log)
	}
	if logs[0] != logs[1] {
		t.Errorf("in this process %s, through the seam %s", logs[0], logs[1])
	}
}

// broken is an option agent that goes wrong in one way in its second lane, at the
// third call.
type broken struct {
	*optiontest.Tables
	calls  int
	spoil  func(p *options.Problem)
	choose func(actions *space.Column) error
	greedy []int
	offer  error
}

func (b *broken) Abilities() vector.AgentAbilities { return vector.AgentAbilities{Options: b} }

func (b *broken) SetOptionKinds(ctx context.Context, kinds []options.Kind) error {
	return errors.Join(b.offer, b.Tables.SetOptionKinds(ctx, kinds))
}

func (b *broken) StepOptions(ctx context.Context, in *vector.Feedback, epochs []bool, actions *space.Column, problems []options.Problem) error {
	err := b.Tables.StepOptions(ctx, in, epochs, actions, problems)
	if b.calls++; b.calls >= 3 && b.spoil != nil && epochs[1] {
		b.spoil(&problems[1])
	}
	return err
}

func (b *broken) Choose(ctx context.Context, choices []int, actions *space.Column) error {
	err := b.Tables.Choose(ctx, choices, actions)
	if b.choose != nil && choices[1] >= 0 {
		err = errors.Join(err, b.choose(actions))
	}
	return err
}

func (b *broken) GreedyPolicy(ctx context.Context, lane int, dst []int) ([]int, error) {
	if b.greedy != nil {
		return b.greedy, nil
	}
	return b.Tables.GreedyPolicy(ctx, lane, dst)
}

func TestBrokenOptionAgents(t *testing.T) {
	for name, tt := range map[string]struct {
		agent broken
		is    error
		want  []string
	}{
		"a value is NaN": {broken{spoil: func(p *options.Problem) { p.Values[9] = math.NaN() }}, framework.ErrInvalidAnswer,
			[]string{"plugin loopback: ", "lane 1: ", "the value of option member 1 in model 1 is NaN"}},
		"an optimum is infinite": {broken{spoil: func(p *options.Problem) { p.Optimal[2] = math.Inf(1) }}, framework.ErrInvalidAnswer,
			[]string{"plugin loopback: ", "lane 1: ", "the optimal value in model 2 is +Inf"}},
		"too few values": {broken{spoil: func(p *options.Problem) { p.Values = p.Values[:7] }}, framework.ErrInvalidAnswer,
			[]string{"plugin loopback: ", "lane 1: invalid answer: 7 values for 9 options"}},
		"an uninformed option with a probability above 1": {broken{spoil: func(p *options.Problem) { p.Arms[8].RevealProbability = 1.5 }}, framework.ErrInvalidAnswer,
			[]string{"lane 1: ", "option uniform reveals the model with probability 1.5"}},
		"the greedy option is none": {broken{spoil: func(p *options.Problem) { p.Greedy = 9 }}, framework.ErrInvalidAnswer,
			[]string{"lane 1: ", "the greedy option is number 9 of 9"}},
		"no options": {broken{spoil: func(p *options.Problem) { *p = options.Problem{} }}, framework.ErrInvalidAnswer,
			[]string{"lane 1: invalid answer: 0 values for 0 options"}},
		"an action outside its space": {broken{choose: func(a *space.Column) error { a.Int64[1] = 99; return nil }}, framework.ErrInvalidAnswer,
			[]string{"plugin loopback: ", "lane 1: ", "99"}},
		"choosing fails": {broken{choose: func(*space.Column) error {
			return &vector.LaneError{Lane: 1, Err: framework.ErrInvalidAction}
		}}, framework.ErrInvalidAction, []string{"call 2: plugin loopback: lane 1: invalid action"}},
		"choosing panics": {broken{choose: func(*space.Column) error { panic("oops") }}, nil, []string{"call 2: plugin loopback: lanes 0 to 1: panic: oops"}},
		"a greedy action that is none": {broken{greedy: []int{0, 1, 3, 0}}, framework.ErrInvalidAnswer,
			[]string{"plugin loopback: ", "lane 0: ", "action 3 in observation 2 of an agent with 3 actions"}},
		"a policy of three states": {broken{greedy: []int{0, 1, 2}}, framework.ErrInvalidAnswer, []string{"greedy policy: column of 12 bytes, want 16"}},
		"an offer refused":         {broken{offer: framework.ErrUnsupported}, framework.ErrUnsupported, []string{"plugin loopback: unsupported"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := optiontest.Plugin()
			p.Open = func(_ json.RawMessage, spec framework.Spec, lanes int) (vector.Agent, error) {
				tables, err := optiontest.New(spec, lanes)
				tt.agent.Tables = tables
				return &tt.agent, err
			}
			_, err := explored(t, loopback(t, p), []int{0, 1}, stochastic())
			if err == nil || tt.is != nil && !errors.Is(err, tt.is) || slices.ContainsFunc(tt.want, func(w string) bool { return !strings.Contains(err.Error(), w) }) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
