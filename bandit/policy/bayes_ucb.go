package policy

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/bandit"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// BayesUCB selects the arm whose belief has the largest quantile of level 1 − 1/(t·(ln N)^c) in the
// t-th step of N (Kaufmann, Cappé & Garivier 2012, Algorithm 1). They prove c ≥ 5.
type BayesUCB struct {
	Confidence *float64 `json:"confidence,omitempty" jsonschema:"minimum=0,default=0" jsonschema_description:"c of the quantile 1 - 1/(t (ln horizon)^c). Default: as Kaufmann, Cappé & Garivier (2012) recommend. Other values need a horizon."`
	Horizon    *int     `json:"horizon,omitempty" when:"confidence!=0" jsonschema:"minimum=2,maximum=1000000000000" jsonschema_description:"N, the number of pulls; there is no default."`
}

func (p BayesUCB) build(*setting) (maker, error) {
	logs := 1.0
	if *p.Confidence > 0 {
		if p.Horizon == nil {
			return nil, errors.New("horizon must be given if confidence is not 0")
		}
		logs = math.Pow(math.Log(float64(*p.Horizon)), *p.Confidence)
	}
	return func(b beliefs) Policy { return newBayesUCB(b, logs) }, nil
}

type bayesUCB struct {
	rising
	beliefs
}

func newBayesUCB(b beliefs, logs float64) *bayesUCB {
	u := &bayesUCB{beliefs: b}
	level := func(rewards float64) float64 { return (rewards + 1) * logs }
	u.rising = newRising(b.len(), 1e-8, level, func(arm int, level float64) float64 {
		return upperQuantile(u.learners[arm], 1/level)
	})
	return u
}

func (u *bayesUCB) Update(arm int, reward float64, rng *rand.Rand) {
	u.update(arm, reward, rng)
	if u.learned(arm); u.pass != nil {
		u.until = -1 // the bounds of all arms are out of date
	}
}

// upperQuantile returns the value that a belief exceeds with probability tail.
func upperQuantile(b bandit.Learner, tail float64) float64 {
	tail = min(max(tail, 0), 1)
	switch d := b.(type) {
	case *bandit.Population:
		// The smallest member x with P(q ≤ x) ≥ 1 − tail.
		k := d.Len()
		return d.Member(min(int(tail*float64(k)), k-1))
	case *bandit.Beta:
		return 1 - mathext.InvRegIncBeta(d.B, d.A, tail)
	case *bandit.Gaussian:
		return d.Mu - d.Sigma*distuv.UnitNormal.Quantile(tail)
	case *bandit.NormalGamma:
		t := distuv.StudentsT{Mu: 0, Sigma: math.Sqrt(d.Beta / (d.Alpha * d.Lambda)), Nu: 2 * d.Alpha}
		return d.Mu - t.Quantile(tail)
	}
	return bandit.UpperQuantile(b, tail)
}
