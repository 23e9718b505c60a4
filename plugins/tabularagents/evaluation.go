package tabularagents

import "github.com/rlrun/rlrun/options"

// evaluation is what policies are worth to the members of an ensemble, learned off
// policy from the same steps with the same sizes: E_pk(s,a) moves towards
// r + γ E_pk(s',π_p(s')) (expected Sarsa; van Seijen et al. 2009).
type evaluation struct {
	*ensemble
	policies []options.TableOption
	values   []float64 // E_pk(s,a) at ((s*actions+a)*K+k)*P+p
	after    []int     // where, in the values of a state, those of its policies' actions are to member 0
}

func newEvaluation(x *ensemble, policies []options.TableOption) *evaluation {
	n := len(policies)
	return &evaluation{ensemble: x, policies: policies, values: make([]float64, n*len(x.q)), after: make([]int, n)}
}

// start gives all policies the initial values of the actions.
func (e *evaluation) start() {
	n := len(e.policies)
	for i, v := range e.q {
		for p := range n {
			e.values[i*n+p] = v
		}
	}
}

// state returns the values in s, at (a*K+k)*P+p.
func (e *evaluation) state(s int) []float64 {
	n := len(e.policies) * e.Members * e.actions
	return e.values[s*n : (s+1)*n]
}

// learn moves the values of pair i; the ensemble has learned from the step, and its
// sizes are those of the step.
func (e *evaluation) learn(i int, r, gamma float64, next int) {
	n := len(e.policies)
	stride := e.Members * n
	greedy := e.greedy(next)
	directed := n // policies that take one action
	for p, o := range e.policies {
		a := greedy
		switch o.Kind {
		case options.Members:
			a = e.prefers(o.Of, next)
		case options.Constants:
			a = o.Of
		case options.Uniform:
			directed = p // the last one
		}
		e.after[p] = a*stride + p
	}
	after, own := e.state(next), e.values[i*stride:][:stride]
	for k, w := range e.size {
		if w == 0 {
			continue
		}
		row, after := own[k*n:][:n], after[k*n:]
		for p, at := range e.after[:directed] {
			row[p] += w * (r + gamma*after[at] - row[p])
		}
		if directed < n {
			mean := 0.0
			for a := range e.actions {
				mean += after[a*stride+directed]
			}
			row[directed] += w * (r + gamma*mean/float64(e.actions) - row[directed])
		}
	}
}

// tables make problems of an ensemble.
type tables interface {
	at(p *options.Problem, s int, bonus func(options.Kind) int) error
	Option(arm int) options.TableOption
}

// valueTables value options by their first actions.
type valueTables struct {
	*options.ValueTables
	ensemble *ensemble
}

func (t valueTables) at(p *options.Problem, s int, bonus func(options.Kind) int) error {
	return t.At(p, t.ensemble.values(s), bonus)
}

// policyTables value options by what they do for ever.
type policyTables struct {
	*options.PolicyTables
	evaluation *evaluation
}

func (t policyTables) at(p *options.Problem, s int, bonus func(options.Kind) int) error {
	return t.At(p, t.evaluation.ensemble.values(s), t.evaluation.state(s), bonus)
}
