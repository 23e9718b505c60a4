package voi

import (
	"math"
	"slices"
)

// bounds are the unit of rewards: the smallest reward is 0 in it, and the largest is 1. A bound
// that is not known is learned from the mean rewards of pairs.
type bounds struct {
	low, scale            float64
	learnsLow, learnsHigh bool
	absolute              bool      // a constant that is added to all rewards matters
	outside               bool      // a mean reward is far outside the bounds learned
	means                 []float64 // scratch
}

func newBounds(low, high float64) bounds {
	x := bounds{low: low, scale: high - low, learnsLow: math.IsInf(low, -1), learnsHigh: math.IsInf(high, 1)}
	if !x.learnsLow && !x.learnsHigh && math.IsInf(x.scale, 1) { // too far apart to measure by
		x.learnsLow, x.learnsHigh = true, true
	}
	switch {
	case x.learnsLow && x.learnsHigh:
		x.low, x.scale = 0, 1
	case x.learnsLow:
		x.low, x.scale = high-1, 1
	case x.learnsHigh || x.scale <= 0:
		x.scale = 1
	}
	return x
}

// slack is the error of bounds above which they are learned anew, as a share of their distance.
const slack = 0.05

// measure returns a reward in units of the bounds.
func (x *bounds) measure(reward float64) float64 { return (reward - x.low) / x.scale }

// learn moves bounds that are not known. means, in units of the present bounds, are sorted. The k
// different values among them count as draws from a uniform distribution, whose ends are estimated
// without bias. An end is beyond the outermost draw, by the distance of the smallest and largest
// draw divided by k−1. If the other end is known, it is the distance of the outermost draw from
// that end, divided by k. If all draws are equal, it is noise, the standard deviation of rewards. A
// reward r in the old units is factor·r + shift in the new ones. changed is false if the bounds
// stay.
func (x *bounds) learn(means []float64, noise float64) (factor, shift float64, changed bool) {
	if len(means) == 0 {
		return 1, 0, false
	}
	slices.Sort(means)
	low, high := means[0], means[len(means)-1]
	different := 1.0
	for k, r := range means[1:] {
		if r-means[k] > 1e-9*(high-low) {
			different++
		}
	}
	switch {
	case x.learnsLow && x.learnsHigh && low == high:
		if noise <= 0 { // no unit is known
			noise = 0.5
		}
		low, high = low-noise, high+noise
	case x.learnsLow && x.learnsHigh:
		beyond := (high - low) / (different - 1)
		low, high = low-beyond, high+beyond
	case x.learnsLow:
		low, high = min(low, 1), 1
		low -= (high - low) / different
	default:
		low, high = 0, max(high, 0)
		high += (high - low) / different
	}
	scale := (high - low) * x.scale
	if !(scale > 0) || math.IsInf(scale, 1) { // all rewards are at the bound that is known, or they overflow
		return 1, 0, false
	}
	if math.Abs(low) <= slack && math.Abs(high-1) <= slack {
		return 1, 0, false
	}
	x.low += low * x.scale
	x.scale = scale
	return 1 / (high - low), -low / (high - low), true
}

// centre chooses the unit while no bound is known and all rewards so far were equal. Such a reward
// is 1/2 in the unit. The first reward that differs sets the unit: the distance of the two.
func (b *Belief) centre(reward float64) {
	if !b.learnsLow || !b.learnsHigh || b.payments > 1 {
		return
	}
	if b.payments == 0 {
		if size := math.Abs(reward); b.absolute && size > 0 {
			b.scale = size
		}
		b.low = reward - 0.5*b.scale
		return
	}
	first := b.paid[0].reward
	if unit := math.Abs(reward - first); unit > 0 && !math.IsInf(unit, 1) {
		b.low, b.scale = first-unit/2, unit
	}
}

// learnBounds moves the bounds that are not known, and converts the rewards seen to the new units.
// It returns the change of units as learn does.
func (b *Belief) learnBounds() (factor, shift float64, changed bool) {
	x := &b.bounds
	x.outside = false
	x.means = x.means[:0]
	variance := 0.0
	for i := range b.pairs {
		if p := &b.pairs[i]; p.n > 0 && !b.ends(i/b.actions) {
			x.means = append(x.means, p.mean)
			variance = max(variance, p.m2/p.n)
		}
	}
	if factor, shift, changed = x.learn(x.means, math.Sqrt(variance)); !changed {
		return 1, 0, false
	}
	b.common++
	b.spent, b.since, b.sumMeans = factor*b.spent, factor*b.since, 0
	convert := func(p *pair) {
		p.m2 *= factor * factor
		if p.mean = factor*p.mean + shift; len(p.values) == 1 { // without rounding, so that it stays constant
			p.mean = x.measure(p.values[0])
		}
	}
	for i := range b.pairs {
		p := &b.pairs[i]
		if p.n == 0 || b.ends(i/b.actions) {
			continue
		}
		convert(p)
		b.sumMeans += p.mean
		if recent := b.watches[i].recent; recent != nil {
			convert(recent)
		}
	}
	return factor, shift, true
}
