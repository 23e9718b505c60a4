package vector

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/options"
)

// torn is an agent that offers its mean opinion and two members. By itself it takes
// action 1, greedily 2, and member k takes 3+k, in every observation, until it has
// learned: then the greedy action is 3.
type torn struct {
	scripted
	greedy int64
	faced  []float64 // observations of decisions
	kinds  []options.Kind
	spoil  func(*framework.Candidates) error
}

func (a *torn) SelectAction(context.Context, space.Value) (space.Value, error) {
	return space.Value{Int: 1}, nil
}

func (a *torn) Update(_ context.Context, t framework.Transition) error {
	a.greedy = 3
	a.learnt = append(a.learnt, t)
	return nil
}

func (a *torn) Options(_ context.Context, o space.Value, kinds []options.Kind) (framework.Candidates, error) {
	a.faced, a.kinds = append(a.faced, o.Float64...), kinds
	if slices.Contains(kinds, options.CountBonus) {
		return framework.Candidates{}, fmt.Errorf("nothing is new to it: %w", framework.ErrUnsupported)
	}
	fixed := func(action int64) framework.Policy {
		return func(context.Context, space.Value) (space.Value, error) { return space.Value{Int: action}, nil }
	}
	c := framework.Candidates{
		Problem: options.Problem{
			Arms:   []options.Arm{{Name: "member 0"}, {Name: "greedy"}, {Name: "member 1"}},
			Greedy: 1, Values: []float64{1, 0, 0.5, 0.5, 0, 1},
		},
		Policies: []framework.Policy{fixed(3), func(context.Context, space.Value) (space.Value, error) { return space.Value{Int: a.greedy}, nil }, fixed(4)},
	}
	if a.spoil != nil {
		return c, a.spoil(&c)
	}
	return c, nil
}

func (a *torn) Save(context.Context) ([]byte, error)       { return []byte{byte(a.greedy)}, nil }
func (a *torn) Load(_ context.Context, state []byte) error { a.greedy = int64(state[0]); return nil }

// tornLanes are lanes of torn agents. The last one may be spoiled.
func tornLanes(t *testing.T, spec framework.Spec, lanes int, spoil func(*framework.Candidates) error) (OptionAgent, *[]*torn) {
	t.Helper()
	var made []*torn
	agent := must.Get(VectorizeAgent(func(seed uint64) (framework.Agent, error) {
		made = append(made, &torn{greedy: 2})
		if seed == uint64(lanes) {
			made[len(made)-1].spoil = spoil
		}
		return made[len(made)-1], nil
	}, spec, lanes))(t)
	able := agent.Abilities().Options
	if able == nil {
		t.Fatalf("a %T has no options", agent)
	}
	must.Do(t, able.SetOptionKinds(t.Context(), []options.Kind{options.Greedy, options.Members}))
	made = nil
	return able, &made
}

func fourActions() framework.Spec {
	spec := testSpec()
	spec.Action = space.Discrete{N: 4, Start: 1}
	return spec
}

// A lane acts by itself until an option is chosen. It follows the option from then
// on, including what the option learns itself, and is on its own again in the next
// run.
func TestOptionerFollowsTheChoice(t *testing.T) {
	agent, made := tornLanes(t, fourActions(), 2, nil)
	in, actions := NewFeedback(fourActions(), 2), space.NewColumn(fourActions().Action, 2)
	problems := make([]options.Problem, 2)
	step := func(epochs []bool, choices []int, want ...int64) {
		t.Helper()
		must.Do(t, agent.StepOptions(t.Context(), in, epochs, &actions, problems))
		if choices != nil {
			must.Do(t, agent.Choose(t.Context(), choices, &actions))
		}
		if !slices.Equal(actions.Int64, want) {
			t.Errorf("actions %v, want %v", actions.Int64, want)
		}
	}
	in.Signals[0], in.Signals[1] = NewRun, NewRun
	in.Observations.Float64[0] = 0.25
	step([]bool{true, false}, []int{0, -1}, 3, 1)
	if p := problems[0]; len(p.Arms) != 3 || p.Greedy != 1 || problems[1].Arms != nil {
		t.Errorf("problems %+v", problems)
	}
	in.Signals[0], in.Signals[1] = Continue, Continue
	in.Observations.Float64[0], in.Observations.Float64[1], in.Rewards[0] = 0.5, 0.75, 7
	step([]bool{false, true}, []int{-1, 1}, 3, 3) // having learned, the greedy action of lane 1 is 3
	first := (*made)[0]
	if l := first.learnt; len(l) != 1 || l[0].Action.Int != 3 || l[0].Reward != 7 || !slices.Equal(first.faced, []float64{0.25}) {
		t.Errorf("lane 0 learned %+v, and faced decisions at %v", l, first.faced)
	}
	if second := (*made)[1]; second.learnt[0].Action.Int != 1 || !slices.Equal(second.faced, []float64{0.75}) || !slices.Equal(second.kinds, []options.Kind{options.Members}) {
		t.Errorf("lane 1 learned %+v, and faced decisions at %v between %v", second.learnt, second.faced, second.kinds)
	}
	in.Signals[0], in.Signals[1] = NewRun, Evaluate
	step([]bool{false, false}, nil, 1, 3)
}

// What goes wrong names the lane: here the second one.
func TestOptionerBlamesALane(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(*framework.Candidates) error
		is    error
		want  string
	}{
		{"error", func(*framework.Candidates) error { return framework.ErrUnsupported }, framework.ErrUnsupported, "lane 1: unsupported"},
		{"panic", func(*framework.Candidates) error { panic("oh") }, nil, "lane 1: panic: oh"},
		{"no policies", func(c *framework.Candidates) error { c.Policies = nil; return nil }, framework.ErrInvalidAnswer, "lane 1: invalid answer: 0 policies for 3 options"},
		{"a policy is nil", func(c *framework.Candidates) error { c.Policies[2] = nil; return nil }, framework.ErrInvalidAnswer, "lane 1: invalid answer: option member 1 has no policy"},
		{"no greedy option", func(c *framework.Candidates) error { c.Greedy = 3; return nil }, framework.ErrInvalidAnswer, "lane 1: invalid answer: the greedy option is number 3 of 3"},
		{"a policy fails", func(c *framework.Candidates) error {
			c.Policies[2] = func(context.Context, space.Value) (space.Value, error) { return space.Value{}, framework.ErrNeedsReset }
			return nil
		}, framework.ErrNeedsReset, "lane 1: "},
		{"a policy panics", func(c *framework.Candidates) error {
			c.Policies[2] = func(context.Context, space.Value) (space.Value, error) { panic("no") }
			return nil
		}, nil, "lane 1: panic: no"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			agent, _ := tornLanes(t, fourActions(), 2, tt.spoil)
			in, actions := NewFeedback(fourActions(), 2), space.NewColumn(fourActions().Action, 2)
			for i := range in.Signals {
				in.Signals[i], in.Seeds[i] = NewRun, uint64(i+1)
			}
			err := agent.StepOptions(t.Context(), in, []bool{true, true}, &actions, make([]options.Problem, 2))
			if err == nil {
				err = agent.Choose(t.Context(), []int{0, 2}, &actions)
			}
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestOptionerRefuses(t *testing.T) {
	agent, _ := tornLanes(t, fourActions(), 1, nil)
	if err := agent.SetOptionKinds(t.Context(), []options.Kind{options.Members, options.CountBonus}); !errors.Is(err, framework.ErrUnsupported) {
		t.Errorf("an offer that it cannot make: %v", err)
	}
	if _, err := agent.GreedyPolicy(t.Context(), 0, nil); !errors.Is(err, framework.ErrUnsupported) {
		t.Errorf("a greedy policy where observations are not discrete: %v", err)
	}
	in, actions := NewFeedback(fourActions(), 1), space.NewColumn(fourActions().Action, 1)
	in.Signals[0] = NewRun
	must.Do(t, agent.Step(t.Context(), in, &actions))
	var lane *LaneError
	if err := agent.Choose(t.Context(), []int{0}, &actions); !errors.Is(err, framework.ErrInvalidAction) || !errors.As(err, &lane) {
		t.Errorf("a choice without a decision: %v", err)
	}
	plain := must.Get(VectorizeAgent(func(uint64) (framework.Agent, error) { return &scripted{}, nil }, testSpec(), 1))(t)
	if plain.Abilities().Options != nil {
		t.Error("lanes of agents without options have options")
	}
}

// The greedy policy is the greedy option of the last decision, with the agent's
// present values.
func TestOptionerGreedyPolicy(t *testing.T) {
	spec := fourActions()
	spec.Observation = space.Discrete{N: 3, Start: 5}
	var spoilt framework.Policy
	agent, made := tornLanes(t, spec, 1, func(c *framework.Candidates) error {
		if spoilt != nil {
			c.Policies[1] = spoilt
		}
		return nil
	})
	if _, err := agent.GreedyPolicy(t.Context(), 0, nil); !errors.Is(err, framework.ErrNeedsReset) {
		t.Errorf("before a decision: %v", err)
	}
	if _, err := agent.GreedyPolicy(t.Context(), 1, nil); err == nil {
		t.Error("lane 1 of 1 has a policy")
	}
	in, actions := NewFeedback(spec, 1), space.NewColumn(spec.Action, 1)
	in.Signals[0], in.Seeds[0], in.Observations.Int64[0] = NewRun, 1, 6
	decide := func() {
		t.Helper()
		must.Do(t, agent.StepOptions(t.Context(), in, []bool{true}, &actions, make([]options.Problem, 1)))
	}
	decide()
	for _, want := range []int64{2, 4} {
		(*made)[0].greedy = want
		got, err := agent.GreedyPolicy(t.Context(), 0, make([]int, 9))
		if w := int(want - 1); err != nil || !slices.Equal(got, []int{w, w, w}) {
			t.Errorf("got %v (%v), want %d in 3 observations", got, err, w)
		}
	}
	for name, p := range map[string]framework.Policy{
		"9 is not in": func(context.Context, space.Value) (space.Value, error) { return space.Value{Int: 9}, nil },
		"field Float64": func(context.Context, space.Value) (space.Value, error) {
			return space.Value{Float64: []float64{2}}, nil
		},
		"panic: undecided": func(context.Context, space.Value) (space.Value, error) { panic("undecided") },
		"closed":           func(context.Context, space.Value) (space.Value, error) { return space.Value{}, errors.New("closed") },
	} {
		spoilt = p
		decide()
		var lane *LaneError
		if _, err := agent.GreedyPolicy(t.Context(), 0, nil); !errors.As(err, &lane) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Only the agent's program knows the policy of an option. So a lane that was saved while
// it followed one goes on with an episode or with another choice, and with nothing else.
func TestOptionerIsSavedWithoutItsOption(t *testing.T) {
	agent, made := tornLanes(t, fourActions(), 1, nil)
	in, actions := NewFeedback(fourActions(), 1), space.NewColumn(fourActions().Action, 1)
	step := func(s Signal, epoch bool) error {
		in.Signals[0] = s
		return agent.StepOptions(t.Context(), in, []bool{epoch}, &actions, make([]options.Problem, 1))
	}
	choose := func() error { return agent.Choose(t.Context(), []int{0}, &actions) }
	must.Do(t, errors.Join(step(NewRun, true), choose()))
	(*made)[len(*made)-1].greedy = 4
	state := must.Get(Save(t.Context(), agent, 0))(t)
	for _, tt := range []struct {
		name    string
		proceed func() error
		want    int64
	}{
		{"an episode", func() error { return step(NewEpisode, false) }, 1},
		{"a choice", func() error { return errors.Join(step(Continue, true), choose()) }, 3},
	} {
		must.Do(t, Load(t.Context(), agent, 0, state))
		if greedy := (*made)[len(*made)-1].greedy; greedy != 4 {
			t.Errorf("greedily it takes action %d", greedy)
		}
		if err := tt.proceed(); err != nil || actions.Int64[0] != tt.want {
			t.Errorf("after %s it takes action %d, %v", tt.name, actions.Int64[0], err)
		}
	}
	must.Do(t, Load(t.Context(), agent, 0, state))
	if again, err := Save(t.Context(), agent, 0); err != nil || !bytes.Equal(again, state) {
		t.Errorf("saved again it is another state: %v", err)
	}
	if err := step(Continue, false); !errors.Is(err, framework.ErrNeedsReset) {
		t.Errorf("it goes on without its option: %v", err)
	}
}
