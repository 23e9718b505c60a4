package run

import (
	"reflect"
	"testing"

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
	want, got := describe(m, true), describe(large, true)
	if want.Gain == nil || want.RandomGain == nil || want.Diameter == nil || want.Mixing == nil {
		t.Fatalf("the task without these states is not described: %+v", want)
	}
	want.States += more
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A run that can err for good still has an optimum, since it begins in one state.
func TestOptimumFromTheStart(t *testing.T) {
	m := must.Get(mdp.NewModel(mdp.Definition{States: 3, Actions: 2, Transitions: []mdp.Transition{
		{S: 0, A: 0, Next: 1, P: 1}, {S: 0, A: 1, Next: 2, P: 1}, {S: 1, A: 0, Next: 1, P: 1}, {S: 1, A: 1, Next: 1, P: 1},
		{S: 2, A: 0, Next: 2, P: 1}, {S: 2, A: 1, Next: 2, P: 1},
	}, Rewards: []mdp.Reward{{S: 1, A: 0, R: 1}, {S: 1, A: 1, R: 0.5}}}))(t)
	task := describe(m, true)
	if task.Gain == nil || *task.Gain != 1 || task.RandomGain == nil || *task.RandomGain != 0.375 {
		t.Errorf("optimal and random reward per step: %+v", task)
	}
}
