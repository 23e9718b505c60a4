package policy

import "math"

// KLUCB is KL-UCB for Bernoulli rewards (Garivier & Cappé 2011, Algorithm 1). In the t-th step the
// index of arm i is the largest q with n_i·d(q̄_i, q) ≤ ln t + c·ln ln t, where d(p, q) =
// p·ln(p/q) + (1−p)·ln((1−p)/(1−q)) is the relative entropy of Bernoulli distributions. It holds for
// any rewards in [0,1], to which those of the task are scaled. Their proof needs c = 3.
type KLUCB struct {
	Confidence *float64 `json:"confidence,omitempty" jsonschema:"minimum=0,default=0" jsonschema_description:"c of ln t + c ln ln t. Default: as Garivier & Cappé (2011) recommend."`
}

func (p KLUCB) build(t *setting) (maker, error) {
	width, err := t.width()
	return func(beliefs) Policy { return newKLUCB(t.Arms, t.Low, width, *p.Confidence) }, err
}

func newKLUCB(n int, low, width, c float64) *upperConfidence {
	u := &upperConfidence{tally: newTally(n, 0)}
	level := func(rewards float64) float64 {
		l := math.Log(rewards + 1)
		return l + c*math.Log(max(1, l))
	}
	u.rising = newRising(n, 1e-11, level, func(arm int, level float64) float64 {
		return low + width*bernoulliBound((u.means[arm]-low)/width, level/float64(u.pulls[arm]))
	})
	return u
}

// bernoulliBound returns the largest q ≤ 1 with d(p, q) ≤ x, for x ≥ 0. Newton's
// method on the convex d falls to it from two upper bounds: that of Pinsker's
// inequality, and the root of p ln p + (1−p) ln((1−p)/(1−q)) = x.
func bernoulliBound(p, x float64) float64 {
	p = min(max(p, 0), 1)
	if p == 1 || x <= 0 {
		return p
	}
	entropy := 0.0
	if p > 0 {
		entropy = p * math.Log(p)
	}
	rest := min(1, (1-p)*math.Exp(-(x-entropy)/(1-p))) // 1−q, kept for q near 1
	if pinsker := 1 - p - math.Sqrt(x/2); pinsker > rest {
		rest = pinsker
	}
	if p == 0 {
		return 1 - math.Exp(-x)
	}
	for range 100 {
		q := 1 - rest
		if q == 1 { // and 1−p over a rest that small may be infinite
			return 1
		}
		excess := p*math.Log(p/q) + (1-p)*math.Log((1-p)/rest) - x
		step := excess * q * rest / (q - p)
		if !(step > 1e-14*rest) {
			break
		}
		rest += step
	}
	return 1 - rest
}
