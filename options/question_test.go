package options

import (
	"math"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// A question has the share of the horizon of every option, and an answer becomes a decision.
func TestQuestions(t *testing.T) {
	d := must.Get(NewDecider(DeciderConfig{Horizon: bandit.Finite(99)}))(t)
	p := &Problem{Arms: []Arm{{Name: "greedy"}, {Name: "short", Steps: 3, Ends: true}, {Name: "long", Steps: 50}}, Values: []float64{1, 2, 3, 4, 0, 9}, Step: 60, Hold: 10}
	var q Question
	must.Do(t, d.Ask(&q, p))
	if q.Left != 40 || q.Shares[0] != 0.25 || q.Shares[1] != 0.075 || q.Shares[2] != 1 {
		t.Errorf("%v rewards are left, with shares %v", q.Left, q.Shares)
	}
	for choice, want := range []Decision{
		{Step: 60, Choice: 0, Option: "greedy", Hold: 10, Share: 0.25, Other: 2},
		{Step: 60, Choice: 1, Option: "short", Explore: true, Hold: 3, Share: 0.075, Other: 1},
		{Step: 60, Choice: 2, Option: "long", Explore: true, Hold: 50, Share: 1, Other: 2},
	} {
		if choice == 0 {
			p.Values[2] = 0 // so that the last option has the largest mean
		}
		if got, err := q.Take(Answer{Option: choice}); err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
	for _, bad := range []Answer{{Option: 3}, {Option: -1}, {Numbers: []Number{{"x", math.NaN()}}}, {Numbers: []Number{{"x", math.Inf(1)}}}} {
		if _, err := q.Take(bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
	p.Pairs = []Pair{{Steps: 1}}
	if err := d.Ask(&q, p); err == nil || !strings.Contains(err.Error(), "gain") {
		t.Errorf("pairs: %v", err)
	}
}

// corridor has states 0 to n−1. Action 1 goes up, with a reward of 1 at the upper end, and
// action 0 stays.
func corridor(t testing.TB, n int) *mdp.Tabular {
	return must.Get(mdp.Generate(mdp.Definition{States: n, Actions: 2}, func(s, a int, row *mdp.Row) {
		row.Add(min(s+a, n-1), 1)
		if s == n-1 {
			row.Reward(1)
		}
	}))(t)
}

// up goes up to a state.
func up(name string, n, to int) DeclaredOption {
	o := DeclaredOption{Name: name, Initiation: make([]bool, n), Actions: make(mdp.Deterministic, n), End: make([]float64, n)}
	for s := range n {
		o.Actions[s], o.Initiation[s] = 1, s < to
		if s >= to {
			o.End[s] = 1
		}
	}
	return o
}

// In models the value of a declared option is that of its steps and of the greedy policy after
// it, and it is offered where it may begin.
func TestDeclaredOptionsOfModels(t *testing.T) {
	const n, gamma = 6, 0.9
	m := corridor(t, n)
	wait := up("wait, then up", n, 3)
	wait.Actions = nil
	for range n {
		wait.Rows = append(wait.Rows, []float64{0.5, 0.5})
	}
	red := must.Get(reduce([]*mdp.Tabular{m}, ReduceConfig{Discount: gamma, Kinds: []Kind{Declared}, Declared: []DeclaredOption{up("up to 3", n, 3), wait}}))(t)
	var p Problem
	red.AtMember(&p, 1, 0)
	if len(p.Arms) != 3 {
		t.Fatalf("options %+v", p.Arms)
	}
	optimal := math.Pow(gamma, 4) // from 1 to the end, where the reward is for ever
	x := gamma / 2 / (1 - gamma/2)
	late := x * x * gamma * gamma // two steps that take a geometric time each
	for i, want := range []float64{optimal, optimal, late} {
		if got := p.Values[i]; math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is worth %v, want %v", p.Arms[i].Name, got, want)
		}
	}
	if steps := (1 - gamma*gamma) / (1 - gamma); p.Arms[1].Steps != int(math.Ceil(steps)) || !p.Arms[1].Ends {
		t.Errorf("duration %+v, want %v", p.Arms[1], steps)
	}
	if red.AtMember(&p, 4, 0); len(p.Arms) != 1 {
		t.Errorf("options beyond their states: %+v", p.Arms)
	}
}

func TestBadDeclaredOptions(t *testing.T) {
	for want, change := range map[string]func(o *DeclaredOption){
		"action 2 in state 1":               func(o *DeclaredOption) { o.Actions[1] = 2 },
		"action -1 in state 0":              func(o *DeclaredOption) { o.Actions[0] = -1 },
		"never ends":                        func(o *DeclaredOption) { clear(o.End) },
		"initiation set is empty":           func(o *DeclaredOption) { clear(o.Initiation) },
		"ending in state 2 is 2":            func(o *DeclaredOption) { o.End[2] = 2 },
		"is NaN":                            func(o *DeclaredOption) { o.End[2] = math.NaN() },
		"the task has 4":                    func(o *DeclaredOption) { o.End = o.End[:3] },
		"the sum 1.5":                       func(o *DeclaredOption) { o.Actions, o.Rows = nil, [][]float64{{1, 0}, {1, 0.5}, {1, 0}, {1, 0}} },
		"3 probabilities":                   func(o *DeclaredOption) { o.Actions, o.Rows = nil, [][]float64{{1, 0, 0}, {1, 0}, {1, 0}, {1, 0}} },
		"no name":                           func(o *DeclaredOption) { o.Name = "" },
		`name "greedy", which is the agent`: func(o *DeclaredOption) { o.Name = "greedy" },
		`name " member 12", as options of`:  func(o *DeclaredOption) { o.Name = " member 12" },
		`name "pair 0 1", as options of`:    func(o *DeclaredOption) { o.Name = "pair 0 1" },
		`name "uniform", as options of`:     func(o *DeclaredOption) { o.Name = "uniform" },
	} {
		o := up("up", 4, 3)
		must.Do(t, CheckDeclared([]DeclaredOption{o}, 4, 2))
		change(&o)
		if err := CheckDeclared([]DeclaredOption{o}, 4, 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// The names of numbers for the log can be read back from NAME=VALUE NAME=VALUE, and are distinct.
func TestNamesOfLoggedNumbers(t *testing.T) {
	q := &Question{Problem: &Problem{Arms: make([]Arm, 2)}}
	for name, good := range map[string]bool{
		"advantage": true, "p.best_of-2": true, "δ": true,
		"": false, "a b": false, "a=1": false, "a\n": false, "a\u00a0b": false, strings.Repeat("x", 101): false,
	} {
		if err := q.CheckAnswer(Answer{Option: 1, Numbers: []Number{{Name: name, Value: 2}}}); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
	if q.CheckAnswer(Answer{Numbers: []Number{{Name: "a", Value: 1}, {Name: "b", Value: 1}, {Name: "a", Value: 2}}}) == nil {
		t.Error("two numbers of one name are accepted")
	}
}
