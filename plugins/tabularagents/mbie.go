package tabularagents

import (
	"math"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// mbieParams are the parameters of MBIE-EB.
type mbieParams struct {
	Gamma float64 `json:"gamma" jsonschema:"minimum=0,exclusiveMaximum=1" jsonschema_description:"Discount; the default is a choice of ours."`
	Beta  float64 `json:"beta" jsonschema:"minimum=0" jsonschema_description:"Bonus of a pair seen once, in units of the range of rewards. The theory asks for √(ln(2SAm/δ)/2)/(1-gamma), m being the visits after which a pair would no longer be updated (Strehl & Littman 2008, Theorem 2), which is far too much in practice; the default is a choice of ours. Where episodes end it has to be smaller, as the bonuses of wandering on count for 1/(1-gamma) steps."`
	Bounds
}

// MBIEEB returns model-based interval estimation with exploration bonus (Strehl &
// Littman 2008) as a plugin: acting greedily by the solution of
//
//	Q(s,a) = r̂(s,a) + β/√n(s,a) + γ Σ_u p̂(u|s,a) max_b Q(u,b),
//
// where pairs that were never tried have the largest return there can be, which no
// other may exceed (the latter is ours; it leaves Q optimistic). It assumes that
// observations are Markov states, that rewards are bounded, and of termination what
// PSRL does. A truncated step teaches like any other.
//
// The solution is kept up to date by sweeps of value iteration from the last one,
// to a residual of 1e-3 of the range of rewards. A step changes the values of one
// pair only: unless these changes have added up to the residual there is no sweep.
func MBIEEB() framework.Plugin {
	return plugin("rlrun/mbie-eb@1",
		"MBIE-EB (Strehl & Littman 2008): the best policy of the model seen, with a bonus of β/√n.",
		mbieParams{Gamma: 0.99, Beta: 0.1},
		func(p mbieParams, t task) (func() learner, error) {
			lane, err := newMBIE(p, t)
			return func() learner { return lane() }, err
		})
}

// newMBIE checks the parameters and returns what makes a lane.
func newMBIE(p mbieParams, t task) (func() *mbie, error) {
	if err := checkDiscount(p.Gamma); err != nil {
		return nil, err
	}
	if !(p.Beta >= 0) || math.IsInf(p.Beta, 0) {
		return nil, lanes.Invalid("beta is %v, must not be negative", p.Beta)
	}
	low, high, err := p.Bounds.of(t)
	if err != nil {
		return nil, err
	}
	return func() *mbie {
		x := &mbie{p: &p, top: largestReturn(t, high, p.Gamma), bonus: p.Beta * (high - low), residual: 1e-3 * (high - low)}
		x.init(t)
		x.q, x.value = make([]float64, t.states*t.actions), make([]float64, t.states)
		return x
	}, nil
}

// checkDiscount validates the discount of an agent that plans for ever.
func checkDiscount(gamma float64) error {
	if !(gamma >= 0 && gamma < 1) {
		return lanes.Invalid("gamma is %v, must be in [0,1)", gamma)
	}
	return nil
}

type mbie struct {
	counting
	p        *mbieParams
	top      float64   // the largest return there can be
	unknown  *unknown  // of an optimistic model, else nil
	bonus    float64   // of a pair seen once
	residual float64   // that is left after sweeps
	q        []float64 // of pair s*A+a
	value    []float64
	stale    float64 // by how much values have changed since the last sweep, added up
	sweeps   int     // made in this run
}

func (x *mbie) Start(s uint64) {
	x.start(s)
	if x.unknown != nil {
		x.unknown.start()
	}
	for i := range x.q {
		x.q[i] = x.untried()
	}
	for s := range x.value {
		x.value[s] = x.untried()
	}
	x.stale, x.sweeps = 0, 0
}

func (x *mbie) Begin(s int) int { return x.Act(s) }

func (x *mbie) Step(r float64, next int) int {
	x.learn(r, next)
	return x.Act(next)
}

func (x *mbie) End(r float64, next int, terminated bool) {
	if terminated && x.mark(next) {
		x.update(next)
	}
	x.learn(r, next)
	if x.unknown != nil && x.unknown.end() {
		x.stale = math.Inf(1)
	}
}

// untried returns the value of a pair that was never tried.
func (x *mbie) untried() float64 {
	if x.unknown != nil {
		return x.unknown.best
	}
	return x.top
}

func (x *mbie) learn(r float64, next int) {
	if x.unknown == nil {
		x.counts.Update(x.state, x.action, r, next)
		x.update(x.state)
		return
	}
	all := x.unknown.visit(x.state)
	before, noisy := x.counts.N(x.state, x.action), x.noisy()
	x.counts.Update(x.state, x.action, r, next)
	x.unknown.step(before, noisy, x.noisy(), r, next)
	if all = x.unknown.visit(next) || all; all {
		x.stale = math.Inf(1)
	}
	x.update(x.state)
}

// noisy tells whether the last pair has had more than one outcome.
func (x *mbie) noisy() bool {
	next, _ := x.counts.Row(x.state, x.action)
	return len(next) > 1 || x.counts.Rewards(x.state, x.action).M2 > 0
}

func (x *mbie) Act(s int) int {
	if x.unmark(s) {
		x.update(s)
	}
	if x.stale > x.residual {
		x.sweep()
	}
	x.state, x.action = s, argmax.Any(x.q[s*x.t.actions:(s+1)*x.t.actions], x.rng)
	return x.action
}

// update backs up a state and remembers by how much its value changed.
func (x *mbie) update(s int) { x.stale += x.backup(s) }

// sweep makes sweeps of Gauss-Seidel value iteration, in alternating directions,
// until one changes no value by more than the residual.
func (x *mbie) sweep() {
	x.stale = 0
	for {
		change := 0.0
		for k := range x.value {
			if x.sweeps%2 == 1 {
				k = len(x.value) - 1 - k
			}
			change = max(change, x.backup(k))
		}
		x.sweeps++
		if change <= x.residual {
			return
		}
	}
}

// backup computes the values of a state's actions and returns by how much that of
// the state changed.
func (x *mbie) backup(s int) float64 {
	old := x.value[s]
	if x.terminal[s] {
		x.value[s] = 0
		return math.Abs(old)
	}
	n := x.t.actions
	row := x.q[s*n : (s+1)*n]
	for a := range row {
		seen := x.counts.N(s, a)
		if seen == 0 {
			row[a] = x.untried()
			continue
		}
		next, count := x.counts.Row(s, a)
		v := 0.0
		for k, u := range next {
			v += count[k] * x.value[u]
		}
		mean, bonus := x.counts.Rewards(s, a).Mean, x.bonus/math.Sqrt(seen)
		if x.unknown != nil {
			row[a] = min(x.top, x.unknown.value(seen, mean+x.p.Gamma*v/seen, bonus))
		} else {
			row[a] = min(x.top, mean+bonus+x.p.Gamma*v/seen)
		}
	}
	x.value[s] = largest(row)
	return math.Abs(x.value[s] - old)
}
