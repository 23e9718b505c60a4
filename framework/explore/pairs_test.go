package explore

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/options"
)

// scout goes down the river except for one pair: to go up in state 2, counted from 0.
// It offers that for as long as it has tried it less than times, and says that it
// pays.
type scout struct {
	times int
	tried int
	pair  options.Pair
}

func (a *scout) down(context.Context, space.Value) (space.Value, error) {
	return space.Value{Int: 5}, nil
}

func (a *scout) up(context.Context, space.Value) (space.Value, error) {
	return space.Value{Int: 6}, nil
}

func (a *scout) SelectAction(ctx context.Context, o space.Value) (space.Value, error) {
	return a.down(ctx, o)
}

func (a *scout) Update(_ context.Context, t framework.Transition) error {
	if t.Observation.Int == 4 && t.Action.Int == 6 {
		a.tried++
	}
	return nil
}

func (a *scout) Options(_ context.Context, _ space.Value, kinds []options.Kind) (framework.Candidates, error) {
	if len(kinds) != 1 || kinds[0] != options.Pairs {
		return framework.Candidates{}, framework.ErrUnsupported
	}
	c := framework.Candidates{
		Problem:  options.Problem{Arms: []options.Arm{{Name: "greedy"}}, Pairs: []options.Pair{a.pair}},
		Policies: []framework.Policy{a.down, a.up},
	}
	if a.tried >= a.times {
		c.Pairs[0].Gain = 0
	}
	return c, nil
}

// A lane goes for a pair whose gain exceeds its cost until it has tried it, and decides
// again then. It tries the pair as often as that pays, and is greedy from then on.
func TestPairsAreTried(t *testing.T) {
	spec := (&river{length: 6}).Spec()
	pair := options.Pair{State: 2, Action: 1, Gain: 3, Cost: 1, Steps: 4.5}
	scouts := map[uint64]*scout{}
	open := func(p options.Pair, c Config) (Explorer, error) {
		lanes := must.Get(vector.VectorizeAgent(func(s uint64) (framework.Agent, error) {
			scouts[s] = &scout{times: 3, pair: p}
			return scouts[s], nil
		}, spec, 2))(t)
		c.Decider.Horizon = bandit.Finite(199)
		return New(t.Context(), lanes.Abilities().Options, spec, 2, c)
	}
	play := func(p options.Pair, c Config) []loop.Outcome {
		agent := must.Get(open(p, c))(t)
		b := batch(t, []int{0, 1}, 200, paired(nil))
		b.Agent = agent
		return run(t, b)
	}
	for _, o := range play(pair, Config{Kinds: []options.Kind{options.Pairs}, Log: 1000}) {
		explored := 0
		for _, d := range o.Decisions {
			if !d.Explore {
				if d.Option != "greedy" || d.Hold != 1 {
					t.Errorf("not explored: %+v", d)
				}
				continue
			}
			explored++
			if d.Option != "pair 2 1" || d.Hold != 5 || d.Delta != 3 || d.Advantage != 2 {
				t.Errorf("explored: %+v", d)
			}
		}
		if last := o.Decisions[len(o.Decisions)-1]; explored < 3 || last.Explore {
			t.Errorf("%d times explored, and last %+v", explored, last)
		}
	}
	for s, a := range scouts {
		if s != 0 && a.tried != 3 && a.tried != 0 { // the seed 0 is a probe's
			t.Errorf("the pair was tried %d times, want 3", a.tried)
		}
	}
	for _, o := range play(pair, Config{Decider: options.DeciderConfig{Rule: options.RuleNever}, Kinds: []options.Kind{options.Pairs}, Log: 1000}) {
		if o.Curves[result.ExplorationShare] != nil && o.Curves[result.ExplorationShare][len(o.Curves[result.ExplorationShare])-1] != 0 {
			t.Error("the rule never explored")
		}
	}
	for _, tt := range []struct {
		c    Config
		want error
		text string
	}{
		{Config{Decider: options.DeciderConfig{Rule: options.RuleOptimistic}, Kinds: []options.Kind{options.Pairs}}, framework.ErrInvalidParams, "use the rule gain"},
		{Config{Decider: options.DeciderConfig{Rule: options.RuleGain}, Kinds: []options.Kind{options.Members}}, framework.ErrInvalidParams, "of kind pair, and no others"},
	} {
		if _, err := open(pair, tt.c); !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%v, want %q", err, tt.text)
		}
	}
	// A pair that does not exist is the agent's fault, and names the lane.
	pair.State = 6
	agent := must.Get(open(pair, Config{Decider: options.DeciderConfig{Rule: options.RuleGain}}))(t)
	in, actions := vector.NewFeedback(spec, 2), space.NewColumn(spec.Action, 2)
	in.Signals[0], in.Signals[1] = vector.Idle, vector.NewRun
	in.Observations.Int64[0], in.Observations.Int64[1] = 2, 2
	var lane *vector.LaneError
	if err := agent.Step(t.Context(), in, &actions); !errors.As(err, &lane) || lane.Lane != 1 || !errors.Is(err, framework.ErrInvalidAnswer) {
		t.Errorf("a pair of state 6 of 6: %v", err)
	}
}
