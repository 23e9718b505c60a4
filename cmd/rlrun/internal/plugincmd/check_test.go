package plugincmd

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/rltest"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
	"github.com/rlrun/rlrun/internal/must"
)

// poor is an environment that pays NaN and never asks for a reset.
type poor struct{}

func (poor) Spec() framework.Spec {
	return framework.Spec{ID: "test/poor@1", Observation: space.Discrete{N: 1}, Action: space.Discrete{N: 2}, RewardHigh: 1}
}

func (poor) Step(_ context.Context, in *vector.Actions, out *vector.TimeSteps) error {
	for i := range in.Signals {
		out.Rewards[i] = math.NaN()
	}
	return nil
}

func (poor) Abilities() vector.EnvironmentAbilities { return vector.EnvironmentAbilities{} }

func (poor) Close() error { return nil }

func TestCheckTellsEveryBrokenRule(t *testing.T) {
	p := &vector.EnvironmentPlugin{
		Description: vector.Description{ID: "test/poor@1", Kind: vector.KindEnvironment, Doc: "Pays NaN.", Params: json.RawMessage("{}")},
		Open:        func(json.RawMessage, int) (vector.Environment, error) { return poor{}, nil },
	}
	a := &host.App{Bundled: func() []vector.Plugin { return []vector.Plugin{p} }, Log: "off"}
	v, err := check(a, t.Context(), plan.Component{Plugin: "poor"}, checkOptions{lanes: 16}, func(string) {})
	if err != nil || v.OK {
		t.Fatalf("%+v, %v", v, err)
	}
	rules := map[string]bool{}
	for _, b := range v.Violations {
		if b.Rule == "" || !strings.Contains(b.Error, string(b.Rule)) {
			t.Errorf("violation %+v does not name its rule", b)
		}
		rules[string(b.Rule)] = true
	}
	if len(rules) < 2 || !rules["finite-reward"] {
		t.Errorf("broken rules are %v, want finite-reward and others", rules)
	}
}

// Rules that could not be tested because of a broken rule are listed in one
// line.
func TestUntriedRulesAreOneLine(t *testing.T) {
	untried := func(rule rltest.Rule) error { return &rltest.Violation{Rule: rule, Err: rltest.ErrUntried} }
	v := verdict{Plugin: "walk", ID: "me/walk@1", Kind: vector.KindEnvironment}
	v.add(errors.Join(&rltest.Violation{Rule: rltest.Works, Err: errors.New("no")}, untried(rltest.SameSeedSameEpisode), untried(rltest.FiniteReward)), "")
	want := "walk (me/walk@1, environment) breaks 1 rule:\nworks: no\nnot tried because of that: same-seed-same-episode, finite-reward"
	if got := v.text(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// generous is an environment of episodes of one step that pays 5 or 9, and declares no bounds.
type generous struct{ poor }

func (generous) Spec() framework.Spec {
	return framework.Spec{ID: "test/generous@1", Observation: space.Discrete{N: 1}, Action: space.Discrete{N: 2}, RewardLow: math.Inf(-1), RewardHigh: math.Inf(1)}
}

func (generous) Step(_ context.Context, in *vector.Actions, out *vector.TimeSteps) error {
	for i, s := range in.Signals {
		out.Rewards[i], out.Terminated[i] = 0, s == vector.Continue
		if s == vector.Continue {
			out.Rewards[i] = 5 + 4*float64(in.Actions.Int64[i])
		}
	}
	return nil
}

// The beginning of an episode has no reward, so it is not among those that were seen.
func TestRewardsThatWereSeen(t *testing.T) {
	p := &vector.EnvironmentPlugin{Open: func(json.RawMessage, int) (vector.Environment, error) { return generous{}, nil }}
	got := must.Get(rewards(t.Context(), p, nil))(t)
	if !strings.Contains(got, "steps gave rewards from 5 to 9") {
		t.Error(got)
	}
}

// A rule that is broken for one reason on several environments is told once.
func TestOneCauseOnce(t *testing.T) {
	why := func(spec, text string) error {
		return &rltest.SpecError{Spec: spec, Err: errors.Join(&rltest.Violation{Rule: rltest.RoundTrips, Err: errors.New(text)})}
	}
	var v verdict
	v.add(errors.Join(why("a", "no pickle\n\ttraceback 1"), why("b", "no pickle\n\ttraceback 2"), why("c", "another reason")), "")
	v.add(&rltest.Violation{Rule: rltest.Works, Err: errors.New("no")}, "")
	var got []string
	for _, b := range v.Violations {
		got = append(got, b.String())
	}
	want := []string{
		"on a and 1 other environment: save-and-load-round-trips: no pickle\n\ttraceback 1",
		"on c: save-and-load-round-trips: another reason",
		"works: no",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// constant is an agent that takes the last action whatever happens: the numbers of actions
// matter to it.
type constant struct{ action int64 }

func (c constant) Step(_ context.Context, in *vector.Feedback, actions *space.Column) error {
	for i, signal := range in.Signals {
		if signal != vector.Idle {
			actions.Int64[i] = c.action
		}
	}
	return nil
}

func (constant) Abilities() vector.AgentAbilities { return vector.AgentAbilities{} }

func (constant) Close() error { return nil }

// --laws names the law that an agent breaks, unless it is declared. Without --laws none is checked.
func TestCheckLaws(t *testing.T) {
	for _, tt := range []struct {
		laws   bool
		breaks map[string]string
		want   []string
	}{
		{true, nil, []string{string(rltest.RelabelledActions)}},
		{true, map[string]string{string(rltest.RelabelledActions): "it takes the last action"}, nil},
		{false, nil, nil},
	} {
		p := &vector.AgentPlugin{
			Description: vector.Description{ID: "test/constant@1", Kind: vector.KindAgent, Doc: "Takes the last action.", Params: json.RawMessage("{}"), Breaks: tt.breaks},
			Open: func(_ json.RawMessage, spec framework.Spec, _ int) (vector.Agent, error) {
				actions, ok := spec.Action.(space.Discrete)
				if _, finite := spec.Observation.(space.Discrete); !ok || !finite {
					return nil, framework.ErrUnsupported
				}
				return constant{actions.Start + actions.N - 1}, nil
			},
		}
		v := must.Get(check(&host.App{Bundled: func() []vector.Plugin { return []vector.Plugin{p} }, Log: "off"}, t.Context(), plan.Component{Plugin: "constant"}, checkOptions{lanes: 3, laws: tt.laws}, func(string) {}))(t)
		var broken []string
		for _, b := range v.Violations {
			broken = append(broken, string(b.Rule))
		}
		if !slices.Equal(broken, tt.want) {
			t.Errorf("laws %v, declared %v: broken %v, want %v", tt.laws, tt.breaks, broken, tt.want)
		}
	}
}
