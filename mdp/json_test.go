package mdp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

const twoStates = `{
 "S": 2, "A": 2,
 "transitions": [[0,0,1,1.0], [0,1,0,0.25], [0,1,1,0.75],
                 [1,0,0,1], [1,1,1,1]],
 "rewards": [[1,1,2.5]]
}`

func TestParseModel(t *testing.T) {
	m := must.Get(ParseModel(strings.NewReader(twoStates)))(t)
	next, prob := m.Transition(0, 1)
	if m.NumStates() != 2 || m.NumActions() != 2 || fmt.Sprint(next, prob) != "[0 1] [0.25 0.75]" {
		t.Errorf("row (0,1) is %v %v", next, prob)
	}
	if m.Reward(1, 1) != 2.5 || m.Reward(0, 0) != 0 {
		t.Errorf("rewards %v, %v", m.Reward(1, 1), m.Reward(0, 0))
	}
}

// Everything a definition can hold survives writing and reading.
func TestModelRoundTrip(t *testing.T) {
	m := must.Get(NewModel(Definition{
		Name: "all", Description: "of it", States: 3, Actions: 2, ActionNames: []string{"stay", "go"},
		Transitions:      []Transition{{0, 0, 1, .5}, {0, 0, 2, .5}, {0, 1, 0, 1}, {1, 0, 2, 1}, {1, 1, 0, 1. / 3}, {1, 1, 1, 2. / 3}},
		Rewards:          []Reward{{1, 0, .25}, {0, 1, -3}},
		SuccessorRewards: []SuccessorReward{{0, 0, 2, 7}},
		GaussianNoise:    []Reward{{0, 1, .5}},
		Bernoulli:        []Pair{{1, 0}},
		Initial:          []Weight{{0, .25}, {1, .75}},
		Terminal:         []int{2},
	}))(t)
	first := must.Get(json.Marshal(m))(t)
	again, err := ParseModel(bytes.NewReader(first))
	if err != nil {
		t.Fatalf("%v in %s", err, first)
	}
	second, err := json.Marshal(again)
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("wrote %s, then %s (%v)", first, second, err)
	}
	if r := again.Reward(0, 0); r != 3.5 {
		t.Errorf("expected reward of (0,0) is %v", r)
	}
	if !again.Terminal(2) || again.Terminal(1) || again.Noise(0, 1).SD != .5 || !again.Noise(1, 0).Bernoulli {
		t.Error("terminal states or noise are lost")
	}
	if names := again.ActionNames(); fmt.Sprint(names) != "[stay go]" {
		t.Errorf("names of actions %v", names)
	}
	if s, p := again.Initial(); fmt.Sprint(s, p) != "[0 1] [0.25 0.75]" {
		t.Errorf("initial distribution %v %v", s, p)
	}
}

func TestParseModelErrors(t *testing.T) {
	edit := func(old, new string) string { return strings.Replace(twoStates, old, new, 1) }
	for name, c := range map[string]struct{ input, want string }{
		"empty":            {"", "line 1, column 1: the input ends"},
		"truncated":        {twoStates[:60], "line 3, column 42: the input ends"},
		"cut at the end":   {strings.TrimSuffix(twoStates, "}"), "line 6, column 1: the input ends"},
		"not an object":    {"[]", `line 1, column 1: want an object, got "["`},
		"string":           {edit("0.25", `"0.25"`), `line 3, column 31: transitions[1]: want a number, got the string "0.25"`},
		"NaN":              {edit("0.25", "NaN"), "line 3, column 31: transitions[1]: invalid character 'N'"},
		"1e400":            {edit("0.25", "1e400"), "line 3, column 31: transitions[1]: 1e400 is too large"},
		"fraction":         {edit("[0,1,0,", "[0,1.5,0,"), "line 3, column 31: transitions[1]: want a whole number, got 1.5"},
		"negative":         {edit("0.25", "-0.25"), "line 3, column 31: transitions[1]: state 0, action 1: probability -0.25 is outside [0,1]"},
		"sum":              {edit("0.25", "0.2"), "line 3, column 31: state 0, action 1: probabilities sum to 0.95, not 1"},
		"duplicate":        {edit("[1,0,0,1]", "[0,0,1,1]"), "line 4, column 18: transitions[3]: repeats entry 0"},
		"no action":        {edit("[1,0,0,1], [1,1,1,1]", "[0,0,0,0]"), "line 2, column 7: state 1 has no transition: a state has an action, or is terminal"},
		"row of zeros":     {edit("[1,0,0,1]", "[1,0,0,0]"), "line 4, column 18: state 1, action 0: probabilities sum to 0, not 1"},
		"range":            {edit("[1,0,0,1]", "[1,0,2,1]"), "line 4, column 18: transitions[3]: state 1, action 0: next state 2 is outside 0..1"},
		"reward":           {edit("[1,1,2.5]", "[1,2,2.5]"), "line 5, column 14: rewards[0]: action 2 is outside 0..1"},
		"short entry":      {edit("[1,1,2.5]", "[1,1]"), "line 5, column 14: rewards[0]: want 3 numbers, got 2"},
		"long entry":       {edit("[1,1,2.5]", "[1,1,2.5,3]"), "line 5, column 14: rewards[0]: want 3 numbers, got 4"},
		"huge":             {edit(`"S": 2`, `"S": 2000000000`), "line 2, column 7: state 2 has no transition: a state has an action, or is terminal"},
		"huge, terminal":   {`{"S": 1, "A": 2147483647, "transitions": [], "terminal": [0]}`, "line 1, column 7: 1 states × 2147483647 actions make 2147483647 rows that are not given: too many"},
		"reward of none":   {edit(", [1,1,1,1]", ""), "line 5, column 14: state 1, action 1: no transition is given, so the state lacks the action"},
		"noise of none":    {edit(`[1,0,0,1], [1,1,1,1]],`, `[1,1,1,1]], "bernoulli": [[1,0]],`), "line 4, column 44: state 1, action 0: no transition is given, so the state lacks the action"},
		"wide and empty":   {`{"S": 1, "A": 2147483647, "transitions": [[0,0,0,1]]}`, "make 2147483646 rows that are not given: too many"},
		"eight digits off": {edit("0.25", "0.2500011"), "probabilities sum to 1.0000011, not 1"},
		"null model":       {"null", "line 1, column 1: want an object, got null"},
		"absurd":           {edit(`"S": 2`, `"S": 99999999999999999999`), "line 2, column 7: want a whole number"},
		"no states":        {edit(`"S": 2`, `"S": 0`), "line 2, column 7: number of states 0"},
		"no size":          {edit(`"S": 2,`, ``), `key "S" is missing`},
		"unknown key":      {edit("rewards", "reward"), `line 5, column 2: unknown key "reward"`},
		"key twice":        {edit(`"A": 2`, `"A": 2, "S": 2`), `line 2, column 18: key "S" is given twice`},
		"trailing":         {twoStates + " 7", "line 6, column 3: 7 follows the model"},
		"null":             {edit("0.25", "null"), "transitions[1]: want a number, got null"},
		"initial":          {edit(`"A": 2`, `"A": 2, "initial": [[0, 0.5]]`), "initial distribution: probabilities sum to 0.5"},
		"initial long":     {edit(`"A": 2`, `"A": 2, "initial": [0, 0.5, 0.5]`), "line 2, column 38: initial[2]: state 2 is outside"},
		"terminal":         {edit(`"A": 2`, `"A": 2, "terminal": [0]`), "state 0, action 0: a terminal state must keep to itself"},
		"noise":            {edit(`"A": 2`, `"A": 2, "noise": [[1,0,0.5], [0,1,-1]]`), "line 3, column 31: state 0, action 1: noise -1 is not a standard deviation"},
		"bernoulli":        {edit(`"A": 2`, `"A": 2, "bernoulli": [[0,0], [1,1]]`), "line 4, column 29: state 1, action 1: mean 2.5 of a Bernoulli reward is outside [0,1]"},
		"noise on both":    {edit(`"A": 2`, `"A": 2, "bernoulli": [[0,0]], "noise": [[0,0,1]]`), "line 3, column 18: state 0, action 0: a Bernoulli reward has no Gaussian noise"},
		"vast reward":      {edit("[1,1,2.5]", "[1,1,1e305]"), "line 4, column 29: state 1, action 1: reward 1e+305 is too large"},
		"few names":        {edit(`"A": 2`, `"A": 2, "actions": ["left"]`), "line 2, column 7: 1 names for 2 actions"},
		"many names":       {edit(`"A": 2`, `"A": 2, "actions": ["a", "b", "c"]`), `line 2, column 40: actions[2]: more names than the 2 actions`},
		"name twice":       {edit(`"A": 2`, `"A": 2, "actions": ["a", "a"]`), `line 2, column 35: actions[1]: the name "a" is given twice`},
		"no name":          {edit(`"A": 2`, `"A": 2, "actions": ["", "a"]`), "line 2, column 30: actions[0]: the name is empty"},
		"number as name":   {edit(`"A": 2`, `"A": 2, "actions": [0, 1]`), "actions[0]: want a string, got 0"},
		"deep":             {strings.Repeat("[", 100000), "want an object"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseModel(strings.NewReader(c.input))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

// Whatever the bytes, the parser returns a valid model or an error that begins
// with a position; and what it accepts it writes so that it is accepted again.
func FuzzParseModel(f *testing.F) {
	f.Add([]byte(twoStates))
	f.Add([]byte(`{"S":1,"A":1,"transitions":[],"terminal":[0],"initial":[1]}`))
	f.Add([]byte(`{"S":1,"A":1,"transitions":[[0,0,0,1]],"successor_rewards":[[0,0,0,1e308]],"rewards":[[0,0,1e308]]}`))
	f.Add([]byte(`{"S":2,"A":1,"transitions":[[0,0,1,0.5],[0,0,0,0.5],[1,0,1,1]],"noise":[[0,0,1]],"bernoulli":[[1,0]]}`))
	f.Add([]byte(`{"S":1e9,"A":-1,"transitions":[[0,0,0,1e400]],"initial":[[0,NaN]]}`))
	f.Add([]byte(`{"S":2,"A":3,"transitions":[[0,1,1,1],[1,0,0,0.3333333],[1,0,1,0.6666666],[1,2,1,1]],"rewards":[[1,2,3]],"notes":["a"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseModel(bytes.NewReader(data))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "mdp: line ") {
				t.Fatalf("error without a position: %v", err)
			}
			return
		}
		for s := range m.NumStates() {
			for a := range m.NumActions() {
				next, prob := m.Transition(s, a)
				sum := 0.0
				for k, p := range prob {
					sum += p
					if !(p > 0) || int(next[k]) >= m.NumStates() || k > 0 && next[k] <= next[k-1] {
						t.Fatalf("row (%d,%d): %v %v", s, a, next, prob)
					}
				}
				if !(math.Abs(sum-1) < 1e-9) || math.IsNaN(m.Reward(s, a)) || math.IsInf(m.Reward(s, a), 0) {
					t.Fatalf("row (%d,%d): sum %v, reward %v", s, a, sum, m.Reward(s, a))
				}
			}
		}
		out := must.Get(json.Marshal(m))(t)
		if _, err := ParseModel(bytes.NewReader(out)); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
	})
}

// A byte order mark before the model is no part of it, and does not move columns.
func TestParseModelAfterAByteOrderMark(t *testing.T) {
	m, err := ParseModel(strings.NewReader("\ufeff" + twoStates))
	if err != nil || m.NumStates() != 2 {
		t.Errorf("%v, %v", m, err)
	}
	if _, err := ParseModel(strings.NewReader("\ufeff[")); err == nil || !strings.Contains(err.Error(), "line 1, column 1") {
		t.Error(err)
	}
}
