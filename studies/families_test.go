package main

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/stat"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/families"
)

// If all kinds have the same variance, the stratified test is the t test of the
// tasks about the means of their kinds. Here se² = (1/4)·(2/3) with 4 degrees
// of freedom, by hand.
func TestStratified(t *testing.T) {
	got := stratified(stat.Scores{{1, 2, 3}, {11, 12, 13}})
	se := math.Sqrt((1.0/3 + 1.0/3) / 4)
	if math.Abs(got.Value-7) > 1e-12 || math.Abs(got.DF-4) > 1e-9 || math.Abs(got.T-7/se) > 1e-9 || math.Abs(got.High-got.Value-2.776445*se) > 1e-5 {
		t.Errorf("%+v", got)
	}
	if same := stratified(stat.Scores{{2, 2}, {4, 4}}); same.P != 1 || same.Value != 3 {
		t.Errorf("without variance: %+v", same)
	}
}

// Scores are 0 for random actions and 1 for the optimum, by step and by episode. The deep
// sea pays per step the reward of an episode over its depth, and a bandit pays the mean
// of its arms.
func TestScales(t *testing.T) {
	for _, kind := range families.Kinds() {
		task := must.Get(newFamilyTask("x", families.Params{Kind: kind, Split: families.Development}, 1000))(t)
		if !(task.step.one > task.step.zero) || task.episode != nil && !(task.episode.one > task.episode.zero) {
			t.Errorf("%s: %+v %+v", kind, task.step, task.episode)
		}
		if kind == "sea" {
			depth := task.episode.one / task.step.one
			if math.Abs(depth-6) > 1e-6 || math.Abs(task.episode.zero/task.step.zero-depth) > 0.05*depth {
				t.Errorf("sea: %+v %+v", task.step, task.episode)
			}
		}
	}
	m, err := mdp.NewModel(mdp.Definition{States: 2, Actions: 2, Transitions: []mdp.Transition{{S: 0, A: 0, Next: 1, P: 1}, {S: 0, A: 1, Next: 0, P: 1}},
		Rewards: []mdp.Reward{{S: 0, A: 0, R: 3}, {S: 0, A: 1, R: -1}}, Terminal: []int{1}})
	if err != nil {
		t.Fatal(err)
	}
	if got := uniformReturn(m); math.Abs(got-2) > 1e-9 { // one step more on average, for −1
		t.Errorf("the return of random actions is %v, want 2", got)
	}
}

// The two parts of a board have the same tasks. Boards are of test seeds, settings
// are chosen on development seeds.
func TestFamilyConfigs(t *testing.T) {
	of := func(name, split string) *study {
		cfg := must.Get(store.ReadConfig("../configs/" + name + ".yaml"))(t)
		p := must.Get(plan.Compile(cfg))(t)
		for _, c := range p.Environments {
			var p families.Params
			if err := json.Unmarshal(c.Params, &p); err != nil || p.Split != split {
				t.Errorf("%s: %s is not of the split %s (%v)", name, c.Params, split, err)
			}
		}
		meta := p.Meta()
		return &study{Summary: &result.Summary{Meta: meta}, name: name}
	}
	of("families-development", families.Development)
	of("families-bootstrap", families.Development)
	of("families-bounds", families.Development)
	for _, name := range []string{"families", "families-long"} {
		if err := sameTasks(of(name, families.Test), of(name+"-ours", families.Test)); err != nil {
			t.Error(err)
		}
	}
}
