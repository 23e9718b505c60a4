package tabularagents

import (
	"math"

	"github.com/rlrun/rlrun/bandit"
)

// sizes draws the weights that a step at pair i has for the members and returns
// their step sizes, in memory of its own.
func (x *ensemble) sizes(i, followed int) []float64 {
	size := x.size
	switch x.mode {
	case bandit.AllMembers:
		if x.n == nil {
			return size // as init left it
		}
		for k := range size {
			size[k] = 1
		}
	case bandit.DrawnMember:
		if followed < 0 {
			followed = x.rng.IntN(len(size))
		}
		clear(size)
		size[followed] = x.unit[1]
	case bandit.BernoulliMask:
		x.bernoulli(size)
	case bandit.ExponentialWeights:
		for k := range size {
			size[k] = min(x.rng.ExpFloat64()*x.unit[1], x.most)
		}
	case bandit.PoissonWeights:
		var bits uint64
		for k := range size {
			if bits >>= 32; k&1 == 0 {
				bits = x.pcg.Uint64()
			}
			n := x.poisson.at(bits & math.MaxUint32)
			if x.n == nil {
				size[k] = x.repeats[n]
			} else {
				size[k] = float64(n)
			}
		}
	}
	if x.n != nil {
		x.harmonic(size, x.n[i*len(size):])
	}
	return size
}

// harmonic counts weights and turns them into step sizes.
func (x *ensemble) harmonic(size, n []float64) {
	n = n[:len(size)]
	for k, w := range size {
		n[k] += w
		switch {
		case w == 0:
		case x.Power == 1:
			size[k] = w / n[k]
		default:
			size[k] = min(w*math.Pow(n[k], -x.Power), 1)
		}
	}
}

// bernoulli draws 0 or the unit: from a bit each with probability one half,
// from half a word otherwise.
func (x *ensemble) bernoulli(w []float64) {
	if x.Mask == 0.5 {
		for len(w) > 0 {
			n := min(len(w), 64)
			bits := x.pcg.Uint64()
			for k := range w[:n] {
				w[k] = x.unit[bits&1]
				bits >>= 1
			}
			w = w[n:]
		}
		return
	}
	below := uint64(x.Mask * (1 << 32))
	var bits uint64
	for k := range w {
		if bits >>= 32; k&1 == 0 {
			bits = x.pcg.Uint64()
		}
		w[k] = x.unit[0]
		if bits&math.MaxUint32 < below {
			w[k] = x.unit[1]
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
