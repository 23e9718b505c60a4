package rltest

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// known follows a model, but for a bug. Of the states 0 and 1, action 0 stays and action 1 leads to
// 1, or with probability 0.1 to the terminal state 2. Episodes end after 12 steps.
type known struct {
	bug     string
	model   *mdp.Tabular
	rng     *rand.Rand
	state   int
	steps   int
	running bool
}

func newKnown(t *testing.T, bug string) *known {
	d := mdp.Definition{
		States: 3, Actions: 2,
		Transitions: []mdp.Transition{{S: 0, A: 0, Next: 0, P: 1}, {S: 1, A: 0, Next: 1, P: 1},
			{S: 0, A: 1, Next: 1, P: 0.9}, {S: 0, A: 1, Next: 2, P: 0.1}, {S: 1, A: 1, Next: 1, P: 0.9}, {S: 1, A: 1, Next: 2, P: 0.1}},
		Rewards:       []mdp.Reward{{S: 0, A: 0, R: 0.5}, {S: 1, A: 0, R: 0.25}, {S: 1, A: 1, R: 0.1}},
		Initial:       []mdp.Weight{{S: 0, P: 0.5}, {S: 1, P: 0.5}},
		Bernoulli:     []mdp.Pair{{S: 1, A: 0}},
		GaussianNoise: []mdp.Reward{{S: 1, A: 1, R: 0.01}},
		Terminal:      []int{2},
		EpisodeSteps:  12,
	}
	switch bug {
	case "starts elsewhere in the model":
		d.Initial = []mdp.Weight{{S: 1, P: 1}}
	case "starts more often in the model":
		d.Initial = []mdp.Weight{{S: 0, P: 0.7}, {S: 1, P: 0.3}}
	case "has no limit in the model":
		d.EpisodeSteps = 0
	case "has another limit in the model":
		d.EpisodeSteps = 13
	case "gives the expected reward alone":
		d.Rewards[0].R, d.Bernoulli = 0.5, nil // rewards that vary are not judged
	}
	return &known{bug: bug, model: must.Get(mdp.NewModel(d))(t)}
}

func (x *known) Spec() framework.Spec {
	return framework.Spec{ID: "test/known@1", Observation: space.Discrete{N: 3}, Action: space.Discrete{N: 2}, RewardLow: -10, RewardHigh: 10}
}

func (x *known) Model(context.Context) (*mdp.Tabular, error) { return x.model, nil }

func (x *known) Reset(_ context.Context, seed uint64) (space.Value, error) {
	x.rng = rand.New(rand.NewPCG(seed, 0))
	x.state, x.steps, x.running = x.rng.IntN(2), 0, true
	return space.Value{Int: int64(x.state)}, nil
}

func (x *known) Step(_ context.Context, a space.Value) (framework.TimeStep, error) {
	if a.Int < 0 || a.Int > 1 {
		return framework.TimeStep{}, framework.ErrInvalidAction
	}
	if !x.running {
		return framework.TimeStep{}, framework.ErrNeedsReset
	}
	s, leave := x.state, 0.1
	if x.bug == "ends more often" {
		leave = 0.15
	}
	r, spread := []float64{0.5, 0}[a.Int], 0.01
	if s == 1 && a.Int == 0 {
		p := 0.25
		if x.bug == "pays more often" {
			p = 0.35
		}
		if r = 0; x.rng.Float64() < p {
			r = 1
		}
	}
	switch x.bug {
	case "pays another reward":
		if s == 0 && a.Int == 0 {
			r = 0.6
		}
	case "pays half of a success":
		r /= 2
	case "pays another sum":
		if s == 0 && a.Int == 1 {
			r = 0.2
		}
	case "has more noise":
		spread = 0.015
	}
	if s == 1 && a.Int == 1 {
		r = 0.1 + spread*x.rng.NormFloat64()
	}
	switch {
	case a.Int == 1 && x.rng.Float64() < leave:
		x.state = 2
	case a.Int == 1:
		x.state = 1
	case x.bug == "moves":
		x.state = 1 - s
	}
	x.steps++
	ts := framework.TimeStep{Observation: space.Value{Int: int64(x.state)}, Reward: r, Terminated: x.state == 2, Truncated: x.steps == 12}
	if x.bug == "truncates the end" {
		ts.Terminated, ts.Truncated = false, ts.Terminated || ts.Truncated
	}
	x.running = !ts.Terminated && !ts.Truncated
	return ts, nil
}

// What contradicts the model is found, and what agrees with it, or says less, is not.
func TestModelsAreFollowed(t *testing.T) {
	for bug, want := range map[string]string{
		"":                                "",
		"gives the expected reward alone": "",
		"moves":                           "action 0 in state 0 led to state 1, which has the probability 0 in the model",
		"pays another reward":             "action 0 in state 0 pays 0.6, and the model pays 0.5",
		"pays another sum":                "action 1 in state 0 pays 0.2, and the model pays 0",
		"pays half of a success":          "paid 0.5, and the model pays 0 or 1 (Bernoulli)",
		"pays more often":                 "rewards of action 0 in state 1: they are not as frequent as in the model: χ² is",
		"has more noise":                  "rewards of action 1 in state 1: they are not as frequent as in the model: χ² is",
		"ends more often":                 ": they are not as frequent as in the model: χ² is",
		"starts more often in the model":  "first states of episodes: they are not as frequent as in the model: χ² is",
		"starts elsewhere in the model":   "an episode began in state 0, in which none of the model begins",
		"truncates the end":               "led to state 2 and terminated is false, but in the model terminal is true",
		"has no limit in the model":       "an episode was truncated after 12 steps, and the model has no limit",
		"has another limit in the model":  "truncated is true after 12 steps, and episodes of the model are truncated after 13",
	} {
		err := checkCopies(t, func() (framework.Environment, error) { return newKnown(t, bug), nil })
		broken := found(err)
		if want == "" && err != nil || want != "" && (len(broken) != 1 || broken[0] != ModelFits || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", bug, err, want)
		}
	}
}
