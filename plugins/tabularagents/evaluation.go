package tabularagents

import (
	"reflect"
	"slices"

	"github.com/rlrun/rlrun/options"
)

// evaluation has the values of policies for the members of an ensemble. They
// are learned off policy, from the same steps with the same step sizes:
// E_pk(s,a) moves towards r + γ E_pk(s',π_p(s')) (expected Sarsa; van Seijen et
// al. 2009).
type evaluation struct {
	*ensemble
	policies []evaluatedPolicy
	values   []float64 // E_pk(s,a) at ((s*actions+a)*P+p)*K+k
	mixed    []float64 // scratch: what follows a uniform action, by member
	options  []optionValues
	probs    []float64 // scratch
}

// optionValues has the values of a declared option for the members. They are learned by
// intra-option value learning (Sutton, Precup & Singh 1999, §6): from every step, whoever chose
// its action, E_ok(s,a) moves towards
//
//	r + γ ((1−β(s')) Σ_b π(b|s') E_ok(s',b) + β(s') E_yk(s',y(s'))).
type optionValues struct {
	option *options.DeclaredOption
	values []float64 // E_ok(s,a) at (s*actions+a)*K+k
}

// evaluatedPolicy is the policy of member, or takes action always, or, if mixed, random
// actions; else, with -1 for both, it is the greedy one.
type evaluatedPolicy struct {
	member, action int
	mixed          bool
}

func newEvaluation(x *ensemble, policies []options.TableOption) *evaluation {
	e := &evaluation{ensemble: x, values: make([]float64, len(policies)*len(x.q)), mixed: make([]float64, x.Members)}
	for _, o := range policies {
		p := evaluatedPolicy{member: -1, action: -1, mixed: o.Kind == options.Uniform}
		switch o.Kind {
		case options.Members:
			p.member = o.Of
		case options.Constants:
			p.action = o.Of
		}
		e.policies = append(e.policies, p)
	}
	return e
}

// start gives all policies the initial values of the actions.
func (e *evaluation) start() {
	k, n := e.Members, len(e.policies)
	for i := range e.mean {
		for p := range n {
			copy(e.values[(i*n+p)*k:], e.q[i*k:(i+1)*k])
		}
	}
	for _, v := range e.options {
		copy(v.values, e.q)
	}
}

// declare sets the declared options. One that was there already keeps its values; others begin
// with those of the actions.
func (e *evaluation) declare(list []options.DeclaredOption) {
	before := e.options
	e.options, e.probs = nil, make([]float64, e.actions)
	for i := range list {
		o := &list[i]
		at := slices.IndexFunc(before, func(v optionValues) bool { return reflect.DeepEqual(v.option, o) })
		if at >= 0 {
			e.options = append(e.options, optionValues{o, before[at].values})
		} else {
			e.options = append(e.options, optionValues{o, slices.Clone(e.q)})
		}
	}
}

// declaredValue writes into dst, by member, what option i is worth in s.
func (e *evaluation) declaredValue(dst []float64, i, s int) {
	v := &e.options[i]
	clear(dst)
	v.option.Distribution(e.probs, s, 0)
	for a, p := range e.probs {
		if p == 0 {
			continue
		}
		for m, x := range v.values[(s*e.actions+a)*e.Members:][:e.Members] {
			dst[m] += p * x
		}
	}
}

// learnOptions moves the values of the declared options of pair i.
func (e *evaluation) learnOptions(i int, r, gamma float64, next, greedy int) {
	k := e.Members
	after := e.state(next)[greedy*len(e.policies)*k:][:k] // of the greedy policy, number 0
	for j := range e.options {
		v := &e.options[j]
		then, end := after, v.option.End[next]
		if end < 1 {
			e.declaredValue(e.mixed, j, next)
			for m := range e.mixed {
				e.mixed[m] = (1-end)*e.mixed[m] + end*after[m]
			}
			then = e.mixed
		}
		e.move(v.values[i*k:], then, r, gamma)
	}
}

// state returns the values in s, at (a*P+p)*K+k.
func (e *evaluation) state(s int) []float64 {
	n := len(e.policies) * e.Members * e.actions
	return e.values[s*n : (s+1)*n]
}

// learn moves the values of pair i; the ensemble has learned from the step, and its
// sizes are those of the step.
func (e *evaluation) learn(i int, r, gamma float64, next int) {
	k := e.Members
	stride := len(e.policies) * k
	after, own := e.state(next), e.values[i*stride:][:stride]
	greedy := e.greedy(next)
	e.learnOptions(i, r, gamma, next, greedy)
	for p, o := range e.policies {
		a := greedy
		switch {
		case o.member >= 0:
			a = e.prefers(o.member, next)
		case o.action >= 0:
			a = o.action
		case o.mixed:
			clear(e.mixed)
			for a := range e.actions {
				for m, v := range after[a*stride+p*k:][:k] {
					e.mixed[m] += v / float64(e.actions)
				}
			}
			e.move(own[p*k:], e.mixed, r, gamma)
			continue
		}
		e.move(own[p*k:], after[a*stride+p*k:], r, gamma)
	}
}

// move moves members' values towards r + gamma·after.
func (e *evaluation) move(values, after []float64, r, gamma float64) {
	size := e.size
	values, after = values[:len(size)], after[:len(size)]
	for m, w := range size {
		values[m] += w * (r + gamma*after[m] - values[m])
	}
}
