// Package optiontest holds an option agent for tests: small, complete, and with
// every kind of thing that can go wrong across a process boundary in it.
package optiontest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/options"
)

// K is the number of members.
const K = 4

// Plugin provides Tables.
func Plugin() *vector.AgentPlugin {
	return &vector.AgentPlugin{
		Description: vector.Description{
			ID: "test/tables@1", Kind: vector.KindAgent, Doc: "Tables of action values.",
			Params: json.RawMessage(`{"type":"object"}`), Abilities: []string{"options"},
		},
		Open: func(_ json.RawMessage, spec framework.Spec, lanes int) (vector.Agent, error) {
			return New(spec, lanes)
		},
	}
}

// Tables is K tables of action values, each with random initial values and
// learning from a random half of the steps, with discount 0.9 and step size 0.2.
type Tables struct {
	states, actions int
	first           int64 // action
	start           int64 // state
	kinds           []options.Kind
	lanes           []lane
}

var _ vector.OptionAgent = (*Tables)(nil)

const gamma = 0.9

type lane struct {
	q          []float64 // [k][s][a]
	masks      *rand.Rand
	explore    *rand.Rand // draws of the option uniform
	s, a       int
	follow     followed
	candidates []followed // of the last problem
	arms       []options.Arm
	values     []float64
	optimal    []float64
}

// followed is an option: the greedy one, that of member n, action n, or uniform.
type followed struct {
	kind options.Kind
	n    int
}

// New returns lanes for a task with Discrete spaces.
func New(spec framework.Spec, lanes int) (*Tables, error) {
	o, ok := spec.Observation.(space.Discrete)
	a, ok2 := spec.Action.(space.Discrete)
	if !ok || !ok2 {
		return nil, fmt.Errorf("tables are for discrete spaces: %w", framework.ErrUnsupported)
	}
	return &Tables{states: int(o.N), actions: int(a.N), start: o.Start, first: a.Start, lanes: make([]lane, lanes)}, nil
}

// Abilities implements vector.Agent.
func (t *Tables) Abilities() vector.AgentAbilities { return vector.AgentAbilities{Options: t} }

// SetOptionKinds implements vector.OptionAgent.
func (t *Tables) SetOptionKinds(_ context.Context, kinds []options.Kind) error {
	for _, k := range kinds {
		if !slices.Contains([]options.Kind{options.Greedy, options.Members, options.Constants, options.Uniform}, k) {
			return fmt.Errorf("tables make no options of kind %s: %w", k.String(), framework.ErrUnsupported)
		}
	}
	t.kinds = append([]options.Kind(nil), kinds...)
	return nil
}

// Step implements vector.Agent: it is greedy until an option is chosen.
func (t *Tables) Step(ctx context.Context, in *vector.Feedback, actions *space.Column) error {
	return t.StepOptions(ctx, in, make([]bool, len(t.lanes)), actions, nil)
}

// StepOptions implements vector.OptionAgent.
func (t *Tables) StepOptions(_ context.Context, in *vector.Feedback, epochs []bool, actions *space.Column, problems []options.Problem) error {
	for i, signal := range in.Signals {
		if signal == vector.Idle {
			continue
		}
		l, s := &t.lanes[i], int(in.Observations.Int64[i]-t.start)
		switch signal {
		case vector.NewRun:
			t.begin(l, in.Seeds[i])
		case vector.Continue:
			t.learn(l, in.Rewards[i], s, in.Terminated[i])
			if in.Terminated[i] || in.Truncated[i] {
				continue
			}
		}
		l.s = s
		if epochs[i] {
			t.face(l, &problems[i])
		} else {
			actions.Int64[i] = t.act(l)
		}
	}
	return nil
}

func (t *Tables) begin(l *lane, s uint64) {
	priors := seed.Stream(s, seed.Bootstrap)
	l.q = make([]float64, K*t.states*t.actions)
	for i := range l.q {
		l.q[i] = 10 * priors.Float64()
	}
	l.masks, l.explore, l.follow = priors, seed.Stream(s, seed.Exploration), followed{}
}

func (t *Tables) row(l *lane, k, s int) []float64 {
	i := (k*t.states + s) * t.actions
	return l.q[i : i+t.actions]
}

func (t *Tables) learn(l *lane, r float64, next int, terminated bool) {
	for k := range K {
		if l.masks.Uint64()&1 == 0 {
			continue
		}
		target := r
		if !terminated {
			row := t.row(l, k, next)
			target += gamma * row[best(row)]
		}
		q := &t.row(l, k, l.s)[l.a]
		*q += 0.2 * (target - *q)
	}
}

func best(row []float64) int {
	b := 0
	for a, x := range row {
		if x > row[b] {
			b = a
		}
	}
	return b
}

func (t *Tables) greedy(l *lane, s int) int {
	sum := make([]float64, t.actions)
	for k := range K {
		for a, x := range t.row(l, k, s) {
			sum[a] += x
		}
	}
	return best(sum)
}

// action returns what an option does in s, −1 for the uniform one.
func (t *Tables) action(l *lane, o followed, s int) int {
	switch o.kind {
	case options.Members:
		return best(t.row(l, o.n, s))
	case options.Constants:
		return o.n
	case options.Uniform:
		return -1
	}
	return t.greedy(l, s)
}

func (t *Tables) act(l *lane) int64 {
	if l.a = t.action(l, l.follow, l.s); l.a < 0 {
		l.a = l.explore.IntN(t.actions)
	}
	return t.first + int64(l.a)
}

// face describes the decision in l.s: values as in docs/theory.md §3.4.
func (t *Tables) face(l *lane, p *options.Problem) {
	l.candidates, l.arms, l.values, l.optimal = l.candidates[:0], l.arms[:0], l.values[:0], l.optimal[:0]
	add := func(o followed, arm options.Arm) {
		a := t.action(l, o, l.s)
		l.candidates, l.arms = append(l.candidates, o), append(l.arms, arm)
		for k := range K {
			row := t.row(l, k, l.s)
			v := 0.0
			if a >= 0 {
				v = row[a]
			} else {
				for _, x := range row {
					v += x / float64(t.actions)
				}
			}
			l.values = append(l.values, (1-gamma)*v)
		}
	}
	add(followed{}, options.Arm{Name: "greedy"})
	for _, kind := range t.kinds {
		switch kind {
		case options.Members:
			for k := range K {
				add(followed{kind, k}, options.Arm{Name: fmt.Sprint("member ", k)})
			}
		case options.Constants:
			for a := range t.actions {
				add(followed{kind, a}, options.Arm{Name: fmt.Sprint("action ", a)})
			}
		case options.Uniform:
			add(followed{kind, 0}, options.Arm{Name: "uniform", Class: options.Uninformed, RevealProbability: 0.5})
		}
	}
	for k := range K {
		row := t.row(l, k, l.s)
		l.optimal = append(l.optimal, (1-gamma)*row[best(row)])
	}
	*p = options.Problem{Arms: l.arms, Values: l.values, Optimal: l.optimal}
}

// Choose implements vector.OptionAgent.
func (t *Tables) Choose(_ context.Context, choices []int, actions *space.Column) error {
	for i, c := range choices {
		if c < 0 {
			continue
		}
		l := &t.lanes[i]
		if c >= len(l.candidates) {
			return &vector.LaneError{Lane: i, Err: fmt.Errorf("option %d of %d: %w", c, len(l.candidates), framework.ErrInvalidAction)}
		}
		l.follow = l.candidates[c]
		actions.Int64[i] = t.act(l)
	}
	return nil
}

// GreedyPolicy implements vector.OptionAgent.
func (t *Tables) GreedyPolicy(_ context.Context, lane int, dst []int) ([]int, error) {
	dst = dst[:0]
	for s := range t.states {
		dst = append(dst, t.greedy(&t.lanes[lane], s))
	}
	return dst, nil
}

// Close implements vector.Agent.
func (t *Tables) Close() error { return nil }
