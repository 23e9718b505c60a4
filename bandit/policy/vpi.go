package policy

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/bandit"
)

// VPI selects argmax_i q̄_i + VPI_i, with the myopic value of perfect information (Dearden, Friedman
// & Russell 1998). With j the greedy arm and s the second best,
//
//	VPI_i = E(q_i − q̄_j)⁺ for i ≠ j,   VPI_j = E(q̄_s − q_j)⁺.
type VPI struct{}

func (VPI) build(*setting) (maker, error) {
	return func(b beliefs) Policy { return newVPI(b) }, nil
}

// vpi visits the arms i ≠ j in descending order of ℓ_i, the root in ℓ of q̄_i +
// E(q_i−ℓ)⁺ = ℓ + η. Here η ≥ 0 is any number; for η = 0 the root is the index
// λ^V_i(½) of docs/theory.md §1.9. The left side falls no faster than −ℓ. Hence
// q̄_i + E(q_i−q̄_j)⁺ ≤ η + ℓ_i + (ℓ_i−q̄_j)⁺, and the search ends where this
// falls below the best score so far.
type vpi struct {
	ranked
	bounds  ranking // by ℓ_i, but for the greedy arm's, which may be old
	greedy  int
	weights []float64 // of a population: weights[m] = 1/(1+m/K)
	eta     float64
	excess  tuner // of the winner's score over q̄_j
}

func newVPI(b beliefs) *vpi {
	v := &vpi{ranked: newRanked(b), excess: newTuner(b.len())}
	if b.populations != nil {
		k := b.populations[0].Len()
		v.weights = make([]float64, k+1)
		for m := range v.weights {
			v.weights[m] = 1 / (1 + float64(m)/float64(k))
		}
	}
	v.bounds = newRanking(b.len(), v.bound)
	v.greedy = v.means.first()
	return v
}

// bound returns ℓ for an arm. For a population it is the largest of
// (q̄ + (x_1+…+x_m)/K − η)/(1 + m/K), which rises until x_{m+1} lies below it.
func (v *vpi) bound(arm int) float64 {
	if v.populations == nil {
		return bandit.Index(bandit.V, v.learners[arm], 0.5, 0)
	}
	p := &v.populations[arm]
	base := p.Mean() - v.eta
	l, sum := base, 0.0
	for m := range p.Len() {
		x := p.Member(m)
		if x <= l {
			break
		}
		sum += x
		l = (base + sum/float64(p.Len())) * v.weights[m+1]
	}
	return l
}

// regret returns E(x − q)⁺ of an arm with mean ≥ x.
func (v *vpi) regret(arm int, x float64) float64 {
	if v.populations == nil {
		b := v.learners[arm]
		return max(0, b.Gain(x)-(b.Mean()-x))
	}
	p := &v.populations[arm]
	sum := 0.0
	for m := p.Len() - 1; m >= 0; m-- {
		d := x - p.Member(m)
		if d <= 0 {
			break
		}
		sum += d
	}
	return sum / float64(p.Len())
}

func (v *vpi) gain(arm int32, x float64) float64 {
	if v.populations != nil {
		return v.populations[arm].Gain(x)
	}
	return v.learners[arm].Gain(x)
}

func (v *vpi) SelectArm(*rand.Rand) int {
	top := v.means.entries[0]
	best, selected := top.key, top.arm
	if len(v.means.entries) > 1 {
		second := v.means.entries[1].key
		if v.populations == nil || v.populations[top.arm].Min() < second { // else the regret is 0
			best += v.regret(int(top.arm), second)
		}
	}
	margin := 1e-12 * (math.Abs(top.key) + math.Abs(v.bounds.entries[0].key))
	if v.populations == nil {
		margin *= 1e4 // the index is found to relative 1e-9
	}
	end := v.end(best-margin, top.key)
	for _, e := range v.bounds.entries {
		if e.key < end {
			break
		}
		if e.arm == top.arm {
			continue
		}
		score := v.mean(int(e.arm)) + v.gain(e.arm, top.key)
		if score > best || score == best && e.arm < selected {
			best, selected = score, e.arm
			end = v.end(best-margin, top.key)
		}
	}
	if v.populations != nil && v.excess.observe(best-top.key) {
		v.eta = v.excess.value / 2
		v.bounds.rebuild(v.bound)
	}
	return int(selected)
}

// end returns the ℓ at which η + ℓ + (ℓ−q)⁺ is score.
func (v *vpi) end(score, q float64) float64 {
	l := score - v.eta
	return min(l, (l+q)/2)
}

func (v *vpi) Update(arm int, reward float64, rng *rand.Rand) {
	v.ranked.Update(arm, reward, rng)
	top := v.means.first()
	if v.pass != nil {
		v.greedy = top
		v.bounds.rebuild(v.bound)
		return
	}
	if v.greedy != top {
		v.bounds.set(v.greedy, v.bound(v.greedy))
		v.greedy = top
	}
	if arm != top {
		v.bounds.set(arm, v.bound(arm))
	}
}
