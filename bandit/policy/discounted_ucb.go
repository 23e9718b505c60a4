package policy

import (
	"math"
	"math/rand/v2"
)

// DiscountedUCB selects argmax_i q̄_i + 2w·√(ξ·ln n/n_i), for means that change (Garivier & Moulines
// 2011, §3). A reward that is k pulls old has the weight γ^k. n_i is the weight of the rewards of arm i, n that
// of all, q̄_i is their weighted mean, and w is the width of the range of rewards. Each arm is pulled once first.
type DiscountedUCB struct {
	Discount   *float64 `json:"discount,omitempty" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1,default=0.99" jsonschema_description:"γ, the weight of a reward when one more is known; theirs for c changes in H pulls is 1 − √(c/H)/4. The default is a choice of ours; set it for your task."`
	Confidence *float64 `json:"confidence,omitempty" jsonschema:"minimum=0,default=0.6" jsonschema_description:"ξ of the bound 2w sqrt(ξ ln n/n_i); above 1/2 in the theorem. Default: 0.6, a choice of ours."`
}

func (p DiscountedUCB) build(t *setting) (maker, error) {
	width, err := t.width()
	return func(beliefs) Policy {
		return &discountedUCB{weights: make([]float64, t.Arms), sums: make([]float64, t.Arms), discount: *p.Discount, size: 2 * width * math.Sqrt(*p.Confidence)}
	}, err
}

type discountedUCB struct {
	weights, sums  []float64 // by arm: n_i, and the weighted sum of its rewards
	all            float64   // n
	discount, size float64
}

// index is that of an arm. Where its weight underflows it is infinite, as before its first pull.
func (u *discountedUCB) index(arm int) float64 {
	n := u.weights[arm]
	if n < 1e-300 {
		return math.Inf(1)
	}
	return u.sums[arm]/n + u.size*math.Sqrt(math.Log(max(1, u.all))/n)
}

func (u *discountedUCB) SelectArm(*rand.Rand) int {
	best, selected := math.Inf(-1), 0
	for i := range u.weights {
		if x := u.index(i); x > best {
			best, selected = x, i
		}
	}
	return selected
}

func (u *discountedUCB) Update(arm int, reward float64, _ *rand.Rand) {
	for i := range u.weights {
		u.weights[i] *= u.discount
		u.sums[i] *= u.discount
	}
	u.all = u.discount*u.all + 1
	u.weights[arm]++
	u.sums[arm] += reward
}
