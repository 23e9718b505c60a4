package mdp_test

import (
	"encoding/json"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// The reachable part keeps rows, rewards, noise, starts and ends, with other numbers.
func TestReachable(t *testing.T) {
	m := must.Get(mdp.NewModel(mdp.Definition{
		Name: "islands", States: 5, Actions: 1, ActionNames: []string{"go"},
		Transitions: []mdp.Transition{{0, 0, 3, 1}, {1, 0, 1, 0.5}, {1, 0, 3, 0.25}, {1, 0, 4, 0.25}, {2, 0, 1, 1}, {3, 0, 1, 1}},
		Rewards:     []mdp.Reward{{3, 0, 0.5}, {0, 0, 9}}, SuccessorRewards: []mdp.SuccessorReward{{1, 0, 4, 7}},
		GaussianNoise: []mdp.Reward{{1, 0, 2}}, Bernoulli: []mdp.Pair{{3, 0}},
		Initial: []mdp.Weight{{1, 0.25}, {3, 0.75}}, Terminal: []int{4},
	}))(t)
	want := must.Get(mdp.NewModel(mdp.Definition{
		Name: "islands", States: 3, Actions: 1, ActionNames: []string{"go"},
		Transitions: []mdp.Transition{{0, 0, 0, 0.5}, {0, 0, 1, 0.25}, {0, 0, 2, 0.25}, {1, 0, 0, 1}},
		Rewards:     []mdp.Reward{{1, 0, 0.5}}, SuccessorRewards: []mdp.SuccessorReward{{0, 0, 2, 7}},
		GaussianNoise: []mdp.Reward{{0, 0, 2}}, Bernoulli: []mdp.Pair{{1, 0}},
		Initial: []mdp.Weight{{0, 0.25}, {1, 0.75}}, Terminal: []int{2},
	}))(t)
	got := must.Get(m.Reachable())(t)
	a := must.Get(json.Marshal(got))(t)
	if b, _ := json.Marshal(want); string(a) != string(b) {
		t.Errorf("got  %s\nwant %s", a, b)
	}
	if again, err := got.Reachable(); again != got || err != nil {
		t.Errorf("a model whose states are all reached is copied (%v)", err)
	}
}
