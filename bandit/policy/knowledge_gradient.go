package policy

import (
	"cmp"
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/bandit"
)

// KnowledgeGradient selects argmax_i q̄_i + w·ν_i (Ryzhov, Powell & Frazier 2012).
// ν_i = E max_j q̄′_j − max_j q̄_j is the expected growth of the largest mean by one reward of arm i.
// w is the weight of all later rewards in units of the next one's: γ/(1−γ), or the number of pulls
// left. It assumes that only one more pull gives information. A step takes time proportional to the
// number of arms.
type KnowledgeGradient struct{ Horizon }

func (p KnowledgeGradient) build(*setting) (maker, error) {
	c, err := p.clock(1)
	return func(b beliefs) Policy { return &knowledgeGradient{timed{newRanked(b), c}} }, cmp.Or(err, p.outlasts(1))
}

type knowledgeGradient struct{ timed }

func (k *knowledgeGradient) SelectArm(*rand.Rand) int {
	left := k.left()
	weight := left.Tail(1) / left.Head(1)
	best, selected := 0.0, -1
	for i, b := range k.learners {
		score := b.Mean()
		if bestOther, ok := k.bestOther(i); ok {
			score += weight * improvement(gainAfterOneMore(b, bestOther), score, bestOther)
		}
		if selected < 0 || score > best {
			best, selected = score, i
		}
	}
	return selected
}

// improvement returns E max(q̄′, bestOther) − max(q̄, bestOther) for a mean q̄ that will
// change to q̄′, with E q̄′ = q̄ and gain = E(q̄′−bestOther)⁺.
func improvement(gain, mean, bestOther float64) float64 {
	return max(0, gain-max(0, mean-bestOther))
}

// gainAfterOneMore returns E(q̄′−x)⁺, where q̄′ is the mean after one more reward.
func gainAfterOneMore(b bandit.Learner, x float64) float64 {
	switch d := b.(type) {
	case *bandit.Beta:
		n := d.A + d.B
		return bandit.TwoPoint{Lo: d.A / (n + 1), Hi: (d.A + 1) / (n + 1), W: d.A / n}.Gain(x)
	case *bandit.Gaussian:
		moves := d.Sigma * (d.Sigma / math.Hypot(d.Sigma, d.Noise))
		if moves == 0 { // below the floats
			return max(0, d.Mu-x)
		}
		return bandit.Gaussian{Mu: d.Mu, Sigma: moves}.Gain(x)
	case *bandit.NormalGamma:
		// The next reward is Student's t with scale² β(λ+1)/(αλ), and moves
		// the mean by a share 1/(λ+1).
		return bandit.NormalGamma{Mu: d.Mu, Lambda: d.Lambda * (d.Lambda + 1), Alpha: d.Alpha, Beta: d.Beta}.Gain(x)
	}
	panic("policy: no look-ahead for this belief")
}
