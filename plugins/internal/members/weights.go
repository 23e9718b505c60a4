package members

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/bandit"
)

// Weights draws, for every step, the weights with which the members of an ensemble
// learn from it: the online bootstrap (Oza & Russell 2001). A weight of 1 is a step of
// a size; weights that are counted have no size.
type Weights struct {
	mode    bandit.UpdateMode
	mask    float64
	unit    float64     // what a weight of 1 becomes
	most    float64     // that a weight can become
	repeats [20]float64 // what ν steps become: 1−(1−size)^ν, or ν
	poisson poisson
}

// NewWeights returns the weights of an update, whose name bandit.ParseUpdateMode
// reads. mask is the probability of a weight of 1 with update bernoulli, else 0. size
// in (0,1] is the step size of a weight of 1; 0 means that weights are counted.
func NewWeights(update string, mask, size float64) Weights {
	mode, err := bandit.ParseUpdateMode(update)
	if err != nil {
		panic("members: an update that was not checked: " + err.Error())
	}
	x := Weights{mode: mode, mask: mask, unit: size, most: 1}
	if size == 0 {
		x.unit, x.most = 1, math.Inf(1)
	}
	for n := range x.repeats {
		x.repeats[n] = float64(n)
		if size > 0 {
			x.repeats[n] = 1 - math.Pow(1-size, float64(n))
		}
	}
	x.poisson.init()
	return x
}

// Draw writes the step size of every member, or its weight, into dst. followed is the
// member that selected the action, -1 if none did. rng draws from pcg. pcg itself is
// faster if whole words are needed.
func (x *Weights) Draw(dst []float64, followed int, rng *rand.Rand, pcg *rand.PCG) {
	switch x.mode {
	case bandit.AllMembers:
		for k := range dst {
			dst[k] = x.unit
		}
	case bandit.DrawnMember:
		if followed < 0 {
			followed = rng.IntN(len(dst))
		}
		clear(dst)
		dst[followed] = x.unit
	case bandit.BernoulliMask:
		x.bernoulli(dst, pcg)
	case bandit.ExponentialWeights:
		for k := range dst {
			dst[k] = min(rng.ExpFloat64()*x.unit, x.most)
		}
	case bandit.PoissonWeights:
		var bits uint64
		for k := range dst {
			if bits >>= 32; k&1 == 0 {
				bits = pcg.Uint64()
			}
			dst[k] = x.repeats[x.poisson.at(bits&math.MaxUint32)]
		}
	}
}

// bernoulli draws 0 or the unit: from a bit each with probability one half, from half
// a word otherwise.
func (x *Weights) bernoulli(dst []float64, pcg *rand.PCG) {
	if x.mask == 0.5 {
		unit := [2]float64{0, x.unit}
		for len(dst) > 0 {
			n := min(len(dst), 64)
			bits := pcg.Uint64()
			for k := range dst[:n] {
				dst[k] = unit[bits&1]
				bits >>= 1
			}
			dst = dst[n:]
		}
		return
	}
	below := uint64(x.mask * (1 << 32))
	var bits uint64
	for k := range dst {
		if bits >>= 32; k&1 == 0 {
			bits = pcg.Uint64()
		}
		dst[k] = 0
		if bits&math.MaxUint32 < below {
			dst[k] = x.unit
		}
	}
}

// poisson draws from Poisson(1) with probabilities to 2⁻³², two numbers a word, by
// inversion with a guide table (Chen & Asau 1974).
type poisson struct {
	below [20]uint64 // below[n] = 2³² P(ν ≤ n)
	guide [256]uint8 // the first ν that the highest byte of a number allows
}

func (p *poisson) init() {
	sum, term := 0.0, 1/math.E
	for n := range p.below {
		sum += term
		p.below[n] = uint64(sum * (1 << 32))
		term /= float64(n + 1)
	}
	p.below[len(p.below)-1] = 1 << 32
	n := uint8(0)
	for b := range p.guide {
		for p.below[n] <= uint64(b)<<24 {
			n++
		}
		p.guide[b] = n
	}
}

// at returns the number that 32 random bits stand for.
func (p *poisson) at(bits uint64) int {
	n := int(p.guide[bits>>24])
	for bits >= p.below[n] {
		n++
	}
	return n
}
