// Command bootstrap is an agent for rlrun whose exploration the host decides: it
// shows what the author of such an agent writes. K tables of Q-learning begin
// elsewhere and learn from half of the steps each, so that they disagree about what
// they have not seen (Dimitrakakis 2006).
package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/options"
)

func main() { plugin.ServeAgent(id, doc, defaults, newAgent) }

const (
	id  = "example/bootstrap@1"
	doc = "Bootstrapped Q-learning: K tables that disagree about what they have not seen; greedy if left alone."
)

type params struct {
	Members int     `json:"members" jsonschema:"minimum=1,maximum=1000" jsonschema_description:"K, the number of tables."`
	Gamma   float64 `json:"gamma" jsonschema:"minimum=0,maximum=0.999999" jsonschema_description:"Discount γ, below 1."`
	Step    float64 `json:"step" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Step size α."`
}

var defaults = params{Members: 16, Gamma: 0.99, Step: 0.1}

// maxValues bounds the tables.
const maxValues = 1 << 24

// agent is one copy. States and actions are counted from 0.
type agent struct {
	params
	rng     *rand.Rand
	first   [2]int64 // observation and action
	states  int
	actions int
	q       []float64 // Q_k(s,a) at (k·states + s)·actions + a
}

func newAgent(p params, spec plugin.Spec, seed uint64) (*agent, error) {
	o, ok := spec.Observation.(plugin.Discrete)
	x, ok2 := spec.Action.(plugin.Discrete)
	if !ok || !ok2 || o.N > maxValues/x.N/int64(p.Members) {
		return nil, fmt.Errorf("%s is for discrete observations and actions, at most %d values: %w", id, maxValues, plugin.ErrUnsupported)
	}
	if math.IsInf(spec.RewardLow, 0) || math.IsInf(spec.RewardHigh, 0) {
		return nil, fmt.Errorf("%s begins between the bounds of rewards, which the environment does not state: %w", id, plugin.ErrUnsupported)
	}
	a := &agent{
		params: p, rng: rand.New(rand.NewPCG(seed, 0)), first: [2]int64{o.Start, x.Start},
		states: int(o.N), actions: int(x.N), q: make([]float64, int64(p.Members)*o.N*x.N),
	}
	for i := range a.q {
		a.q[i] = (spec.RewardLow + a.rng.Float64()*(spec.RewardHigh-spec.RewardLow)) / (1 - p.Gamma)
	}
	return a, nil
}

// row returns the values of the actions in a state, in member k's opinion.
func (a *agent) row(k, s int) []float64 {
	i := (k*a.states + s) * a.actions
	return a.q[i : i+a.actions]
}

// prefers returns the action that member k holds best.
func (a *agent) prefers(k, s int) int { return argmax(a.row(k, s)) }

// greedy returns the action that the members hold best on average.
func (a *agent) greedy(s int) int {
	sum := make([]float64, a.actions)
	for k := range a.Members {
		for x, v := range a.row(k, s) {
			sum[x] += v
		}
	}
	return argmax(sum)
}

func argmax(values []float64) int {
	best := 0
	for x, v := range values {
		if v > values[best] {
			best = x
		}
	}
	return best
}

// SelectAction implements plugin.Agent: it is greedy if the host does not decide.
func (a *agent) SelectAction(ctx context.Context, observation plugin.Value) (plugin.Value, error) {
	return a.policy(a.greedy)(ctx, observation)
}

// policy makes a Policy of what is done in each state.
func (a *agent) policy(does func(s int) int) plugin.Policy {
	return func(_ context.Context, observation plugin.Value) (plugin.Value, error) {
		return plugin.Value{Int: a.first[1] + int64(does(int(observation.Int-a.first[0])))}, nil
	}
}

// Update implements plugin.Agent: each member learns with probability one half.
func (a *agent) Update(_ context.Context, t plugin.Transition) error {
	s, next, action := int(t.Observation.Int-a.first[0]), int(t.NextObservation.Int-a.first[0]), t.Action.Int-a.first[1]
	for k := range a.Members {
		if a.rng.IntN(2) == 0 {
			continue
		}
		target := t.Reward
		if !t.Terminated { // a truncated episode goes on in principle
			target += a.Gamma * a.row(k, next)[a.prefers(k, next)]
		}
		value := &a.row(k, s)[action]
		*value += a.Step * (target - *value)
	}
	return nil
}

// Options implements framework.Optioner: to be greedy, to follow a member, or to take
// one action for ever. Each is worth to every member what the member holds its first
// action to be worth, per step; one stands for all that begin alike.
func (a *agent) Options(_ context.Context, observation plugin.Value, kinds []options.Kind) (plugin.Candidates, error) {
	var c plugin.Candidates
	s := int(observation.Int - a.first[0])
	taken := make([]bool, a.actions)
	add := func(name string, does func(s int) int) {
		action := does(s)
		if taken[action] {
			return
		}
		taken[action] = true
		c.Arms = append(c.Arms, options.Arm{Name: name})
		c.Policies = append(c.Policies, a.policy(does))
		for k := range a.Members {
			c.Values = append(c.Values, (1-a.Gamma)*a.row(k, s)[action])
		}
	}
	add("greedy", a.greedy) // is number 0, as c.Greedy says
	for _, kind := range kinds {
		switch kind {
		case options.Members:
			for k := range a.Members {
				add(fmt.Sprint("member ", k), func(s int) int { return a.prefers(k, s) })
			}
		case options.Constants:
			for x := range a.actions {
				add(fmt.Sprint("action ", x), func(int) int { return x })
			}
		default:
			return c, fmt.Errorf("%s makes no options of kind %s: %w", id, kind, plugin.ErrUnsupported)
		}
	}
	return c, nil
}
