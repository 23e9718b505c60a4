package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/bandit"
)

// ForgettingBelief is a conjugate belief about an arm whose mean may be drawn anew at each pull of any arm: after a pull
// the weight of all that was learned of every arm is multiplied by 1 − hazard (discounted Thompson
// sampling, Raj & Kalyani 2017).
type ForgettingBelief struct {
	Hazard *float64 `json:"hazard,omitempty" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1,default=0.01" jsonschema_description:"Probability that after a pull the mean of an arm is another. What is learned has a weight of at most 1/hazard rewards. The default is a choice of ours; set it for your task."`
	Family string   `json:"family,omitempty" jsonschema:"enum=beta,enum=gaussian" jsonschema_description:"beta, for rewards in [0,1], or gaussian. Default: beta if rewards are in [0,1], else gaussian; a choice of ours."`
	A      *float64 `json:"a,omitempty" when:"family=beta|none" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Number of pseudo-successes. The default, 1 for a uniform prior, is a choice of ours."`
	B      *float64 `json:"b,omitempty" when:"family=beta|none" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Number of pseudo-failures. Default: see a."`
	Mean   *float64 `json:"mean,omitempty" when:"family=gaussian|none" jsonschema_description:"Prior mean. Default: the middle of the range of rewards, 0 if unbounded; a choice of ours."`
	SD     *float64 `json:"sd,omitempty" when:"family=gaussian|none" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Standard deviation of the prior. The default, 1, is a choice of ours; set it for your task."`
	Noise  *float64 `json:"noise,omitempty" when:"family=gaussian|none" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Standard deviation of a reward around its mean. The default, 1, is a choice of ours; set it for your task."`
}

func (p ForgettingBelief) maker(task Task) (beliefMaker, error) {
	unit := task.Low >= 0 && task.High <= 1
	if p.Family == "beta" || p.Family == "" && unit {
		if p.Mean != nil || p.SD != nil || p.Noise != nil {
			return nil, fmt.Errorf("mean, sd and noise have an effect with family gaussian alone, and the default for rewards in [0,1] is beta: what is given has no effect")
		}
		if !unit {
			return nil, fmt.Errorf("family beta needs rewards in [0,1], not in [%v, %v]", task.Low, task.High)
		}
		prior, err := bandit.NewBeta(or(p.A, 1), or(p.B, 1))
		return forgetful[bandit.Beta, *bandit.Beta](task, *p.Hazard, prior), err
	}
	if p.A != nil || p.B != nil {
		return nil, fmt.Errorf("a and b have an effect with family beta alone, and the default for rewards in [%v, %v] is gaussian: what is given has no effect", task.Low, task.High)
	}
	prior, err := bandit.NewGaussian(task.mean(p.Mean), or(p.SD, 1), or(p.Noise, 1))
	return forgetful[bandit.Gaussian, *bandit.Gaussian](task, *p.Hazard, prior), err
}

// forgetful returns what gives every arm a belief that forgets.
func forgetful[T any, P interface {
	pointer[T]
	Forget(hazard float64, prior T)
}](task Task, hazard float64, prior T) beliefMaker {
	return func(*rand.Rand) beliefs {
		arms := slices.Repeat([]T{prior}, task.Arms)
		return beliefs{learners: learners[T, P](arms), pass: func() {
			for i := range arms {
				P(&arms[i]).Forget(hazard, prior)
			}
		}}
	}
}
