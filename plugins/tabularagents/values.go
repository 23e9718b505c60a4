package tabularagents

import (
	"math"

	"github.com/rlrun/rlrun/plugins/internal/argmax"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// Values are the parameters of a table of action values and how it learns.
type Values struct {
	Gamma    float64 `json:"gamma" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Discount of the agent's own criterion; the default is a choice of ours. 1 is for episodic tasks only."`
	Step     float64 `json:"step" when:"schedule=constant" jsonschema:"exclusiveMinimum=0,maximum=1" jsonschema_description:"Step size α of schedule constant. The default is a choice of ours, made on development tasks (docs/studies/families.md, Defaults of learners); Sutton & Barto (2018, Example 8.1) have 0.1."`
	Schedule string  `json:"schedule,omitempty" jsonschema:"enum=constant,enum=harmonic" jsonschema_description:"Step sizes. constant: step; default as in Sutton & Barto (2018, §6.5). harmonic: n^-power on the nth visit to a state and action, which averages and converges (Watkins & Dayan 1992)."`
	Power    float64 `json:"power,omitempty" when:"schedule=harmonic" jsonschema:"exclusiveMinimum=0,maximum=1" jsonschema_description:"Exponent of schedule harmonic. Default: 1, which is 1/n; a choice of ours within (1/2,1], so that the sum of the step sizes is infinite and the sum of their squares finite, as Watkins & Dayan (1992) need. With powers below 1, such as 0.77, learning is much faster (Even-Dar & Mansour 2003)."`
	Initial  float64 `json:"initial" when:"optimistic=false" jsonschema_description:"Initial value of every state and action; default as in Sutton & Barto (2018, Example 8.1). A value that is too high makes the agent explore: optimistic initial values (Sutton & Barto 2018, §2.6)."`
	// Optimistic starts from the largest possible value.
	Optimistic bool `json:"optimistic" jsonschema_description:"Start from the largest possible return, in place of initial (Even-Dar & Mansour 2001). The environment must declare a bound, and gamma must be below 1. By default initial is used, as in Sutton & Barto (2018, Example 8.1)."`
}

func defaultValues(step float64) Values {
	return Values{Gamma: 0.99, Step: step, Schedule: "constant", Power: 1}
}

// check validates what the parameters' tags cannot say, and settles the initial value.
func (v *Values) check(t finite.Task) error {
	switch {
	case v.Optimistic && v.Gamma == 1:
		return lanes.Invalid("optimistic needs a gamma below 1")
	case v.Optimistic && math.IsInf(t.Spec.RewardHigh, 0):
		return lanes.Unsupported("optimistic needs an upper bound on rewards, and %s declares none: declare reward_high in the environment, or set initial instead in the params of this agent", t.Spec.ID)
	}
	if v.Optimistic {
		v.Initial = t.LargestReturn(t.Spec.RewardHigh, v.Gamma)
	}
	return lanes.CheckDiscount(v.Gamma, t.Spec)
}

// table is one lane's action values.
type table struct {
	*Values
	actions  int
	q        []float64 // of state s: q[s*actions:(s+1)*actions]
	n        []float64 // visits, parallel to q; nil where the step size is constant
	constant bool
	lacks    []bool    // parallel to q: actions that are not allowed; nil without masks
	masked   []float64 // scratch: a row with argmax.Hidden for these
}

func newTable(v *Values, t finite.Task) table {
	x := table{Values: v, actions: t.Actions, q: make([]float64, t.States*t.Actions), constant: v.Schedule == "constant"}
	if !x.constant {
		x.n = make([]float64, len(x.q))
	}
	if t.Spec.Masks {
		x.lacks, x.masked = make([]bool, len(x.q)), make([]float64, t.Actions)
	}
	return x
}

func (x *table) allow(s int, mask []bool) {
	for a, allowed := range mask {
		x.lacks[s*x.actions+a] = !allowed
	}
}

func (x *table) start() {
	for i := range x.q {
		x.q[i] = x.Initial
	}
	clear(x.n)
	clear(x.lacks)
}

// row returns the values of a state's actions, argmax.Hidden where one is not allowed. It is
// valid until the next call.
func (x *table) row(s int) []float64 {
	if x.lacks != nil {
		return x.rowMasked(s)
	}
	return x.q[s*x.actions : (s+1)*x.actions]
}

func (x *table) rowMasked(s int) []float64 {
	for a := range x.masked {
		i := s*x.actions + a
		if x.masked[a] = x.q[i]; x.lacks[i] {
			x.masked[a] = argmax.Hidden
		}
	}
	return x.masked
}

// size counts a visit to pair i and returns its step size.
func (x *table) size(i int) float64 {
	if x.constant {
		return x.Step
	}
	x.n[i]++
	if x.Power == 1 {
		return 1 / x.n[i]
	}
	return math.Pow(x.n[i], -x.Power)
}
