package options

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// DeepSea is revealed by uniform actions in an episode with probability 2^−N, by the
// diagonal surely (docs/theory.md §3.6).
func TestRevealDeepSea(t *testing.T) {
	for n := 2; n <= 12; n++ {
		task, err := catalog.DeepSea(catalog.Sea{Size: n, Continuing: true})
		if err != nil {
			t.Fatal(err)
		}
		corner := n*(n-1)/2 + n - 1
		unknown := func(s, a int) bool { return s == corner && a == 1 }
		if got, err := Reveal(task.Model, mdp.Uniform{}, 0, n, unknown); err != nil || got != math.Pow(2, -float64(n)) {
			t.Errorf("N = %d: uniform actions reveal with probability %v, %v", n, got, err)
		}
		right := mdp.Constant(task.Model.NumStates(), 1)
		if got, err := Reveal(task.Model, right, 0, n, unknown); err != nil || got != 1 {
			t.Errorf("N = %d: the diagonal reveals with probability %v, %v", n, got, err)
		}
		if got, err := Reveal(task.Model, right, 0, n-1, unknown); err != nil || got != 0 {
			t.Errorf("N = %d: a shorter commitment reveals with probability %v, %v", n, got, err)
		}
	}
	if _, err := Reveal(twoStates(t), mdp.Uniform{}, 5, 1, nil); err == nil {
		t.Error("there is no state 5")
	}
}

// A visit of s recurs after a random time τ: E γ^τ of a renewal with success
// probability q at every step is γq/(1−γ(1−q)).
func TestReturnDiscount(t *testing.T) {
	m, err := mdp.NewModel(mdp.Definition{States: 2, Actions: 1, Transitions: []mdp.Transition{
		{S: 0, Next: 1, P: 1}, {S: 1, Next: 0, P: 0.25}, {S: 1, Next: 1, P: 0.75}}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReturnDiscount(m, mdp.Constant(2, 0), 0, 0.9)
	if want := 0.9 * 0.9 * 0.25 / (1 - 0.9*0.75); err != nil || math.Abs(got-want) > 1e-14 {
		t.Errorf("γ_s = %v, %v, want %v", got, err, want)
	}
	one := oneState(t, [][]float64{{0}})[0]
	if got, err := ReturnDiscount(one, mdp.Constant(1, 0), 0, 0.9); err != nil || got != 0.9 {
		t.Errorf("with one state γ_s = %v, %v, want γ", got, err)
	}
	if _, err := ReturnDiscount(m, mdp.Constant(2, 0), 2, 0.9); err == nil {
		t.Error("there is no state 2")
	}
}
