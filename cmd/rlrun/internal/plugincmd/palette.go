package plugincmd

import (
	"image"
	"image/color"
	"slices"
)

// maxColours is how many colours a frame of a GIF can have.
const maxColours = 256

// paletted returns a part of an opaque picture in at most 256 colours. They are its own
// colours if these are no more. Otherwise the median cut (Heckbert 1982) chooses them, over
// colours of 15 bits.
func paletted(from *image.RGBA, part image.Rectangle) *image.Paletted {
	out := image.NewPaletted(part, nil)
	number := map[[3]uint8]uint8{}
	each(from, part, func(at int, c [3]uint8) bool {
		k, known := number[c]
		if !known {
			if len(number) == maxColours {
				number = nil
				return false
			}
			k = uint8(len(number))
			number[c] = k
			out.Palette = append(out.Palette, color.RGBA{c[0], c[1], c[2], 0xff})
		}
		out.Pix[at] = k
		return true
	})
	if number != nil {
		return out
	}
	var bins [1 << 15]bin
	each(from, part, func(_ int, c [3]uint8) bool {
		b := &bins[fifteen(c)]
		b.pixels++
		for i, x := range c {
			b.sum[i] += int(x)
		}
		return true
	})
	var of [1 << 15]uint8
	out.Palette = cut(&bins, &of)
	each(from, part, func(at int, c [3]uint8) bool {
		out.Pix[at] = of[fifteen(c)]
		return true
	})
	return out
}

// each calls f for the pixels of a part, row by row, until f says stop.
func each(from *image.RGBA, part image.Rectangle, f func(at int, c [3]uint8) bool) {
	at := 0
	for y := part.Min.Y; y < part.Max.Y; y++ {
		row := from.Pix[from.PixOffset(part.Min.X, y):][:4*part.Dx()]
		for x := 0; x < len(row); x += 4 {
			if !f(at, [3]uint8(row[x:x+3])) {
				return
			}
			at++
		}
	}
}

// bin is what the pixels are like that agree in the upper five bits of every channel.
type bin struct {
	pixels int
	sum    [3]int // of their channels
}

func fifteen(c [3]uint8) int { return int(c[0])>>3<<10 | int(c[1])>>3<<5 | int(c[2])>>3 }

// cut divides the bins that have pixels into at most 256 groups, and writes which group
// every bin is in. It halves the pixels of a group along its longest side, beginning with
// the group of most pixels × length.
func cut(bins *[1 << 15]bin, of *[1 << 15]uint8) color.Palette {
	all := make([]int, 0, len(bins))
	for k := range bins {
		if bins[k].pixels > 0 {
			all = append(all, k)
		}
	}
	groups := []group{newGroup(bins, all)}
	for len(groups) < maxColours {
		widest := 0
		for i := range groups {
			if groups[i].weight() > groups[widest].weight() {
				widest = i
			}
		}
		g := groups[widest]
		if g.length == 0 {
			break
		}
		slices.SortStableFunc(g.bins, func(a, b int) int { return channel(a, g.side) - channel(b, g.side) })
		half, at := 0, 0
		for at < len(g.bins)-1 && (at == 0 || 2*half < g.pixels) {
			half += bins[g.bins[at]].pixels
			at++
		}
		groups[widest] = newGroup(bins, g.bins[:at])
		groups = append(groups, newGroup(bins, g.bins[at:]))
	}
	palette := make(color.Palette, len(groups))
	for i, g := range groups {
		var sum [3]int
		for _, k := range g.bins {
			of[k] = uint8(i)
			for j := range sum {
				sum[j] += bins[k].sum[j]
			}
		}
		palette[i] = color.RGBA{uint8(sum[0] / g.pixels), uint8(sum[1] / g.pixels), uint8(sum[2] / g.pixels), 0xff}
	}
	return palette
}

// channel is a bin's place along red, green or blue, 0 to 31.
func channel(bin, i int) int { return bin >> (10 - 5*i) & 31 }

// group is a set of bins, and the channel in which they differ most.
type group struct {
	bins                 []int
	pixels, side, length int
}

func (g *group) weight() int { return g.pixels * g.length }

func newGroup(bins *[1 << 15]bin, members []int) group {
	g := group{bins: members}
	for side := range 3 {
		low, high := 31, 0
		for _, k := range members {
			low, high = min(low, channel(k, side)), max(high, channel(k, side))
		}
		if high-low > g.length {
			g.side, g.length = side, high-low
		}
	}
	for _, k := range members {
		g.pixels += bins[k].pixels
	}
	return g
}
