package linearagents

import (
	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
)

// evaluation has the values of policies for the members of an ensemble. They are
// learned off policy, from the same steps with the same weights: E_pk(s,a) moves
// towards r + γ E_pk(s',π_p(s')) (expected Sarsa; van Seijen et al. 2009). Traces
// end for a policy where it would have acted otherwise.
type evaluation struct {
	*ensemble
	policies []options.TableOption
	weights  weights   // of K·P members: that of policy p and member k is k·P+p
	traces   traces    // of them
	e, after []float64 // E_pk(s,a) at (a·K+k)·P+p, here and next
	by       []float64 // scratch
	acts     []int     // what the policies do here; −1 for uniformly random actions
	means    []float64 // scratch
}

func newEvaluation(x *ensemble, policies []options.TableOption) *evaluation {
	p := len(policies)
	v := &evaluation{
		ensemble: x, policies: policies, weights: newWeights(x.here.coder, x.actions, x.Members*p),
		e: make([]float64, p*len(x.q)), after: make([]float64, p*len(x.q)),
		by: make([]float64, p*x.Members), acts: make([]int, p), means: make([]float64, x.actions),
	}
	v.traces = newTraces(&v.weights, x.Gamma*x.Lambda, true, true)
	return v
}

// start gives all policies the initial values of the actions.
func (v *evaluation) start() {
	p := len(v.policies)
	for i, w := range v.ensemble.w {
		for k := range p {
			v.weights.w[i*p+k] = w
		}
	}
}

// look follows the ensemble to where it is, without learning.
func (v *evaluation) look() {
	v.traces.end()
	v.weights.values(v.e, &v.here)
	v.ask()
}

// ask finds what the policies do here.
func (v *evaluation) ask() {
	v.ensemble.means(v.means)
	greedy := argmax.First(v.means)
	for p, o := range v.policies {
		switch o.Kind {
		case options.Members:
			v.member(v.means, o.Of)
			v.acts[p] = argmax.First(v.means)
		case options.Constants:
			v.acts[p] = o.Of
		case options.Uniform:
			v.acts[p] = -1
		default:
			v.acts[p] = greedy
		}
	}
}

// learn moves the values of action a where the ensemble has just learned from it
// and come from.
func (v *evaluation) learn(a int, r, gamma float64) {
	n, k := len(v.policies), v.Members
	if c := v.traces.cut; c != nil {
		for p, b := range v.acts {
			if b == a {
				continue
			}
			for m := range k {
				c.since[m*n+p] = c.now
			}
		}
	}
	v.weights.values(v.after, &v.here)
	v.ask()
	each := 1 / float64(len(v.here.active))
	for p, b := range v.acts {
		for m, share := range v.share {
			next := 0.0
			if b >= 0 {
				next = v.after[(b*k+m)*n+p]
			} else {
				for b := range v.actions {
					next += v.after[(b*k+m)*n+p] / float64(v.actions)
				}
			}
			v.by[m*n+p] = share * each * (r + gamma*next - v.e[(a*k+m)*n+p])
		}
	}
	v.traces.move(&v.next, a, v.by)
	v.weights.values(v.e, &v.here)
}
