package tabularagents

import (
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
	"github.com/rlrun/rlrun/plugins/internal/finite"
)

// sarsaParams are the parameters of SARSA(λ).
type sarsaParams struct {
	Values
	Behaviour
	Lambda float64 `json:"lambda" when:"gamma!=0" jsonschema:"minimum=0,maximum=1" jsonschema_description:"How slowly a step's share of later errors falls: 0 is one-step SARSA, 1 Monte Carlo. The default is a choice of ours, made on development tasks (docs/studies/families.md, Defaults of learners)."`
	Traces string  `json:"traces,omitempty" when:"lambda!=0 and gamma!=0" jsonschema:"enum=replacing,enum=accumulating" jsonschema_description:"Effect of a visit on its trace: set it to 1 or add 1. Default: set it, which Singh & Sutton (1996) find faster and more reliable. Accumulating traces with large steps can diverge."`
}

// negligibleTrace is where a trace counts as gone.
const negligibleTrace = 1e-6

// SARSA returns tabular SARSA(λ) (Rummery & Niranjan 1994; Sutton & Barto 2018,
// §12.7) as a plugin. Let δ = r + γ Q(s',a') − Q(s,a), where a' is the action
// selected next. Every Q moves by α δ times its trace, and traces fade by γλ. It
// values the policy that it follows, exploration included. It assumes that
// observations are Markov states. The next action is selected before the values
// move. At a truncation a' is selected, but not taken. With harmonic step sizes,
// the step size of the pair visited last counts for all traces. Traces below 1e-6
// are dropped.
func SARSA() vector.Plugin {
	return finite.Plugin("rlrun/sarsa@1",
		"Tabular SARSA(λ) (Rummery & Niranjan 1994) with replacing or accumulating traces, and the exploration of q-learning.",
		sarsaParams{defaultValues(0.4), defaultBehaviour(), 0.5, "replacing"},
		func(p sarsaParams, t finite.Task) (func() finite.Learner, error) {
			if err := p.Values.check(t); err != nil {
				return nil, err
			}
			return func() finite.Learner {
				x := &sarsa{table: newTable(&p.Values, t), fade: p.Gamma * p.Lambda, replacing: p.Traces == "replacing"}
				x.trace = make([]float64, len(x.table.q))
				x.selector.init(&p.Behaviour, t.Actions)
				return x
			}, nil
		})
}

type sarsa struct {
	table     table
	selector  selector
	fade      float64 // γλ
	replacing bool
	trace     []float64 // of each pair
	active    []int     // pairs whose trace is not 0
	last      int       // index of the pair of the last action
}

func (x *sarsa) Start(seed uint64) {
	x.table.start()
	x.selector.start(seed)
	x.forget()
}

// forget ends all traces.
func (x *sarsa) forget() {
	for _, i := range x.active {
		x.trace[i] = 0
	}
	x.active = x.active[:0]
}

func (x *sarsa) Act(s int) int { return x.Begin(s) }

// Allow implements lanes.Masked.
func (x *sarsa) Allow(s int, mask []bool) { x.table.allow(s, mask) }

func (x *sarsa) Begin(s int) int {
	x.selector.interrupt()
	x.forget()
	x.last = x.pair(s)
	return x.last - s*x.table.actions
}

// pair returns the index of s and the action selected there.
func (x *sarsa) pair(s int) int {
	return s*x.table.actions + x.selector.action(x.table.row(s))
}

func (x *sarsa) Step(r float64, next int) int {
	i := x.pair(next)
	x.learn(r + x.table.Gamma*x.table.q[i])
	x.last = i
	return i - next*x.table.actions
}

func (x *sarsa) End(r float64, next int, terminated bool) {
	if !terminated {
		r += x.table.Gamma * x.table.q[x.pair(next)]
	}
	x.learn(r)
}

func (x *sarsa) learn(target float64) {
	q := x.table.q
	if x.trace[x.last] == 0 {
		x.active = append(x.active, x.last)
	}
	if x.replacing {
		x.trace[x.last] = 1
	} else {
		x.trace[x.last]++
	}
	move := x.table.size(x.last) * (target - q[x.last])
	kept := x.active[:0]
	for _, i := range x.active {
		q[i] += move * x.trace[i]
		if x.trace[i] *= x.fade; x.trace[i] < negligibleTrace {
			x.trace[i] = 0
		} else {
			kept = append(kept, i)
		}
	}
	x.active = kept
}

// GreedyAction implements lanes.Greedy.
func (x *sarsa) GreedyAction(s int) int { return argmax.Any(x.table.row(s), x.selector.rng) }
