package bandit

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// foldBelow is the scale under which a population whose members all learn alike
// is written out again. By then 1/scale is so large that members are equal up
// to rounding, unless all of them have decayed to zero.
const foldBelow = 0x1p-500

// negligible is the size below which such a member is set to zero, long before
// subnormal numbers would slow the arithmetic down.
const negligible = 0x1p-900

// Update moves members towards the reward, q ← (1−α)q + α·reward (the paper's
// equation "bootstrap", corrected), which ones and how far being a matter of
// the options. With AllMembers and a constant step it costs O(1), else O(K).
// Only the randomised modes, and DrawnMember when nothing was drawn since the
// last update, use rng.
func (p *Population) Update(reward float64, rng *rand.Rand) {
	p.pulls++
	rule := p.rule
	step := rule.Step
	if rule.varies {
		if rule.Schedule != nil {
			step = min(max(rule.Schedule(int(p.pulls)), 0), 1)
		}
		if rule.Mode != AllMembers {
			p.updateMembers(step, reward, rng)
			return
		}
	}
	p.scale *= 1 - step
	p.shift += float64(step * (reward - p.shift))
	if p.scale < foldBelow {
		p.fold()
	}
}

// fold writes scale and shift into the members.
func (p *Population) fold() {
	for m := range p.x {
		v := p.at(m)
		if math.Abs(v) < negligible {
			v = 0
		}
		p.x[m] = v
	}
	p.scale, p.shift = 1, 0
	p.resum()
}

// updateMembers is Update for the modes in which members differ; there
// scale = 1 and shift = 0.
func (p *Population) updateMembers(step, reward float64, rng *rand.Rand) {
	x, mode := p.x, p.rule.Mode
	if mode == DrawnMember || mode == IndependentMember {
		m := int(p.drawn)
		if m < 0 || mode == IndependentMember {
			m = rng.IntN(len(x))
		}
		p.drawn = -1
		x[m] += float64(step * (reward - x[m]))
		p.sift(m)
		p.resum()
		return
	}
	var room [16]float64
	for left := x; len(left) > 0; {
		weights := room[:min(len(left), len(room))]
		x, left = left[:len(weights)], left[len(weights):]
		mode.Draw(weights, p.rule.Mask, -1, rng)
		for m, w := range weights {
			q := x[m]
			if mode == PoissonWeights {
				for ; w > 0; w-- {
					q += float64(step * (reward - q))
				}
			} else {
				if w *= step; w > 1 { // faster than min, which minds NaN and −0
					w = 1
				}
				q += float64(w * (reward - q))
			}
			x[m] = q
		}
	}
	p.resort()
	p.resum()
}

// sift moves member m, which has changed, to its place.
func (p *Population) sift(m int) {
	x, ids := p.x, p.rule.ids
	v, id := x[m], ids[m]
	for ; m > 0 && x[m-1] < v; m-- {
		x[m], ids[m] = x[m-1], ids[m-1]
	}
	for ; m+1 < len(x) && x[m+1] > v; m++ {
		x[m], ids[m] = x[m+1], ids[m+1]
	}
	x[m], ids[m] = v, id
}

// resort restores descending order. After an update the members are nearly in
// order, so that insertion is close to linear; a first sort of many is not.
func (p *Population) resort() {
	x, ids := p.x, p.rule.ids
	if p.pulls == 0 && len(x) > 32 {
		value := slices.Clone(x)
		slices.SortFunc(ids, func(a, b int32) int {
			return cmp.Or(cmp.Compare(value[b], value[a]), cmp.Compare(a, b))
		})
		for m, id := range ids {
			x[m] = value[id]
		}
		return
	}
	for m := 1; m < len(x); m++ {
		v := x[m]
		if !(x[m-1] < v) {
			continue
		}
		id, k := ids[m], m
		for ; k > 0 && x[k-1] < v; k-- {
			x[k], ids[k] = x[k-1], ids[k-1]
		}
		x[k], ids[k] = v, id
	}
}

// resum takes the mean of the members afresh, so that it never drifts: its
// error is below K·2⁻⁵³ times the largest member. It follows every change of members.
func (p *Population) resum() {
	var s [4]float64
	x := p.x
	for ; len(x) >= 4; x = x[4:] {
		s[0] += x[0]
		s[1] += x[1]
		s[2] += x[2]
		s[3] += x[3]
	}
	for m, v := range x {
		s[m] += v
	}
	p.mean = ((s[0] + s[1]) + (s[2] + s[3])) / float64(len(p.x))
	p.rule.above.kind = -1
}
