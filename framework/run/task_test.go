package run

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// States that no run reaches change nothing of a task but the number of its states, even
// if more can be earned in them.
func TestUnreachableStates(t *testing.T) {
	small := must.Get(catalog.RiverSwim(6))(t)
	m := small.Model
	const more = 3
	starts, prob := m.Initial()
	d := mdp.Definition{States: m.NumStates() + more, Actions: m.NumActions()}
	for k, s := range starts {
		d.Initial = append(d.Initial, mdp.Weight{S: int(s), P: prob[k]})
	}
	large := must.Get(mdp.Generate(d, func(s, a int, row *mdp.Row) {
		if s >= m.NumStates() {
			row.AddRewarded(s, 1, 100)
			return
		}
		next, p := m.Transition(s, a)
		for k, y := range next {
			row.Add(int(y), p[k])
		}
		row.Reward(m.Reward(s, a))
	}))(t)
	want, got := describe(m, continues), describe(large, continues)
	if want.Gain == nil || want.RandomGain == nil || want.Diameter == nil || want.Mixing == nil {
		t.Fatalf("the task without these states is not described: %+v", want)
	}
	want.States += more
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

var continues = framework.Spec{Continuing: true}

// Random actions are those of the agent random, which with masks takes allowed ones alone. A model that does
// not say which these are has no scale.
func TestScalesWithMasks(t *testing.T) {
	row := func(s, a, next int) mdp.Transition { return mdp.Transition{S: s, A: a, Next: next, P: 1} }
	d := mdp.Definition{States: 2, Actions: 3, Transitions: []mdp.Transition{row(0, 0, 1), row(0, 1, 1), row(1, 0, 0), row(1, 1, 0), row(1, 2, 0)},
		Rewards: []mdp.Reward{{S: 0, A: 0, R: 1}}}
	for masks, want := range map[bool]float64{true: 0.25, false: 1. / 3} { // number 2 stands for action 0 in state 0
		task := describe(must.Get(mdp.NewModel(d))(t), framework.Spec{Continuing: true, Masks: masks})
		if task.RandomGain == nil || math.Abs(*task.RandomGain-want) > 1e-9 {
			t.Errorf("masks %t: %+v, want %v", masks, task.RandomGain, want)
		}
	}
	d.Transitions = append(d.Transitions, row(0, 2, 0))
	if task := describe(must.Get(mdp.NewModel(d))(t), framework.Spec{Masks: true}); task.Gain != nil || task.RandomGain != nil {
		t.Errorf("%+v", task)
	}
}

// Where episodes are truncated before the goal can be reached, the optimum is not to reach it.
func TestScalesOfTruncatedEpisodes(t *testing.T) {
	d := mdp.Definition{States: 4, Actions: 2, EpisodeSteps: 2, Terminal: []int{3}, Initial: []mdp.Weight{{S: 0, P: 1}}}
	m := must.Get(mdp.Generate(d, func(s, a int, row *mdp.Row) {
		switch {
		case s == 3:
		case a == 0:
			row.AddRewarded(s, 1, 0.1)
		default:
			row.AddRewarded(s+1, 1, float64(s/2))
		}
	}))(t)
	for limit, want := range map[int][2]float64{2: {0.1, 0.05}, 3: {1. / 3, 0.05 + 0.125/3}, 0: {1. / 3, 0.05 + 1./6}} {
		task := describe(m.TruncatedAfter(limit), framework.Spec{})
		if math.Abs(*task.Gain-want[0]) > 1e-9 || math.Abs(*task.RandomGain-want[1]) > 1e-9 {
			t.Errorf("limit %d: %v and %v, want %v", limit, *task.Gain, *task.RandomGain, want)
		}
	}
}

// A run that can err for good still has an optimum, since it begins in one state.
func TestOptimumFromTheStart(t *testing.T) {
	m := must.Get(mdp.NewModel(mdp.Definition{States: 3, Actions: 2, Transitions: []mdp.Transition{
		{S: 0, A: 0, Next: 1, P: 1}, {S: 0, A: 1, Next: 2, P: 1}, {S: 1, A: 0, Next: 1, P: 1}, {S: 1, A: 1, Next: 1, P: 1},
		{S: 2, A: 0, Next: 2, P: 1}, {S: 2, A: 1, Next: 2, P: 1},
	}, Rewards: []mdp.Reward{{S: 1, A: 0, R: 1}, {S: 1, A: 1, R: 0.5}}}))(t)
	task := describe(m, continues)
	if task.Gain == nil || *task.Gain != 1 || task.RandomGain == nil || *task.RandomGain != 0.375 {
		t.Errorf("optimal and random reward per step: %+v", task)
	}
}

// swing has two states. Action 1 leads to the other one, and each step pays paid.
type swing struct {
	model *mdp.Tabular
	paid  float64
	limit int // steps after which an episode is truncated; 0: none ends
	state int64
	steps int
}

func (s *swing) Spec() framework.Spec {
	return framework.Spec{ID: "test/swing@1", Observation: space.Discrete{N: 2}, Action: space.Discrete{N: 2}, Continuing: s.limit == 0}
}
func (s *swing) Model(context.Context) (*mdp.Tabular, error) { return s.model, nil }
func (s *swing) Reset(context.Context, uint64) (space.Value, error) {
	s.state, s.steps = 0, 0
	return space.Value{}, nil
}
func (s *swing) Step(_ context.Context, a space.Value) (framework.TimeStep, error) {
	s.state = (s.state + a.Int) % 2
	s.steps++
	return framework.TimeStep{Observation: space.Value{Int: s.state}, Reward: s.paid, Truncated: s.steps == s.limit}, nil
}

// An environment that does what its model does not allow is refused before anything runs. Rewards other
// than the model's are noted, since a model may give expected rewards alone, and so are other limits of episodes.
func TestModelsAreTried(t *testing.T) {
	row := func(s, a, next int) mdp.Transition { return mdp.Transition{S: s, A: a, Next: next, P: 1} }
	for _, c := range []struct {
		leads      int // action 1 in state 1
		paid       float64
		limit      int
		note, fail string
	}{
		{0, 1, 0, "", ""},
		{0, 1, 30, "an episode was truncated after 30 steps, and the model has no limit: give it episode_steps; regret and scores are computed from the model", ""},
		{0, 2, 0, "action 0 in state 0 pays 2, and the model pays 1; regret and scores are computed from the model", ""},
		{1, 1, 0, "", "invalid answer: it does not follow the model that it gives: action 1 in state 1 led to state 0, which has the probability 0 in the model"},
	} {
		d := mdp.Definition{States: 2, Actions: 2, Transitions: []mdp.Transition{row(0, 0, 0), row(0, 1, 1), row(1, 0, 1), row(1, 1, c.leads)}}
		for pair := range 4 {
			d.Rewards = append(d.Rewards, mdp.Reward{S: pair / 2, A: pair % 2, R: 1})
		}
		m := must.Get(mdp.NewModel(d))(t)
		env := must.Get(vector.Vectorize(func() (framework.Environment, error) { return &swing{model: m, paid: c.paid, limit: c.limit}, nil }, 2))(t)
		_, notes, err := DescribeTask(t.Context(), vector.Description{Abilities: []string{"model"}}, env)
		if c.fail != "" {
			if err == nil || err.Error() != c.fail {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		must.Do(t, err)
		if got := strings.Join(notes, "\n"); got != c.note {
			t.Errorf("%+v: notes %q", c, got)
		}
	}
}
