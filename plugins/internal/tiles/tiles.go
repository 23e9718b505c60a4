// Package tiles is tile coding. A point of a box is described by the tiles that
// contain it, one of each of several grids that are displaced against each other
// (Albus 1981, CMAC; Sutton & Barto 2018, §9.5.4). A function that is linear in
// these features generalises over a tile's width and resolves a tile's width over
// the number of grids.
package tiles

import "math"

// Coder codes the points of a box. It is immutable, and may be shared.
type Coder struct {
	zero     []float64 // of dimensions without bounds; NaN in others
	low      []float64
	high     []float64
	scale    []float64 // tiles a unit
	tilings  int
	across   int       // cells along a side of a tiling: tiles+1
	offset   []float64 // of tiling t along dimension i: offset[t*d+i], in tiles, in [0,1)
	features int
	hash     bool
}

// New returns a coder of tilings grids, each with tiles tiles along every dimension
// of the box [low, high], and one more that the displacement makes room for. Grid t
// is displaced along dimension i by t(2i+1)/tilings tiles, modulo 1. This is the
// asymmetric displacement of Miller & Glanz (1996). It needs at least 4 grids a
// dimension, and a power of two.
//
// A dimension with an infinite bound is compressed first, to d/(1+|d|). There d is the
// distance from its other bound, or from 0 if both are infinite. So tiles are narrow near
// there and wider far away: of 8 tiles between -1 and 1 the edges are at 0, ±1/3, ±1, ±3
// and ±∞.
//
// Features are numbered densely if there are at most memory of them, which is a power of two.
// Otherwise they share memory numbers by hashing (Sutton & Barto 2018, §9.5.4). Each
// element of low is below that of high. Neither slice is kept.
func New(low, high []float64, tilings, tiles, memory int) *Coder {
	d := len(low)
	c := &Coder{tilings: tilings, across: tiles + 1, offset: make([]float64, tilings*d)}
	for i := range d {
		l, h, zero := low[i], high[i], math.NaN()
		if math.IsInf(l, -1) || math.IsInf(h, 1) || math.IsInf(h-l, 1) {
			l, h, zero = open(l, h)
		}
		c.zero = append(c.zero, zero)
		c.low = append(c.low, l)
		c.scale = append(c.scale, float64(tiles)/(h-l))
		c.high = append(c.high, h)
		for t := range tilings {
			c.offset[t*d+i] = float64(t*(2*i+1)%tilings) / float64(tilings)
		}
	}
	c.features = tilings
	for range d {
		if c.features > memory/c.across {
			c.hash = true
			break
		}
		c.features *= c.across
	}
	if c.hash {
		c.features = memory
	}
	return c
}

// open returns the bounds of a compressed dimension, and the point that is 0 in it.
func open(low, high float64) (float64, float64, float64) {
	switch {
	case !math.IsInf(low, -1) && math.IsInf(high, 1):
		return 0, 1, low
	case math.IsInf(low, -1) && !math.IsInf(high, 1):
		return -1, 0, high
	}
	return -1, 1, 0
}

// Features returns the number of features: Active's numbers are below it.
func (c *Coder) Features() int { return c.features }

// Tilings returns the number of features that are active at a time.
func (c *Coder) Tilings() int { return c.tilings }

// Dimensions returns the number of coordinates of a point.
func (c *Coder) Dimensions() int { return len(c.low) }

// Active writes the features of x into dst, which has one place a tiling. A point
// outside the box counts as the nearest one in it; NaN counts as the low bound.
// point is scratch of one place a dimension.
func (c *Coder) Active(dst []int32, x, point []float64) {
	for i, v := range x {
		if o := c.zero[i]; o == o {
			v = math.Copysign(1-1/(1+math.Abs(v-o)), v-o)
		}
		if !(v > c.low[i]) {
			v = c.low[i]
		}
		point[i] = (min(v, c.high[i]) - c.low[i]) * c.scale[i]
	}
	d := len(point)
	for t := range dst {
		cell := uint64(t)
		for i, o := range c.offset[t*d : (t+1)*d] {
			cell = cell*uint64(c.across) + uint64(point[i]+o)
		}
		if c.hash {
			cell = mix(cell) & uint64(c.features-1)
		}
		dst[t] = int32(cell)
	}
}

// mix is the finalizer of SplitMix64 (Steele, Lea & Flood 2014), a bijection.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
