package plugincmd

import (
	"cmp"
	"image"
	"image/color"
	"maps"
	"slices"
)

// maxColours is how many colours a frame of a GIF can have.
const maxColours = 256

// paletted returns a part of an opaque picture in at most 256 colours. They are its own
// colours if these are no more. Otherwise colours that agree in the upper five bits of every
// channel become one, and the most frequent of these stand for those nearest to them.
func paletted(from *image.RGBA, part image.Rectangle) *image.Paletted {
	out := image.NewPaletted(part, nil)
	colours := census(from, part, 0xff)
	mask := uint8(0xff)
	if len(colours) > maxColours {
		mask = 0xf8
		colours = census(from, part, mask)
	}
	byCount := func(a, b *counted) int { return cmp.Or(b.pixels-a.pixels, a.at-b.at) }
	for _, c := range slices.SortedFunc(maps.Values(colours), byCount)[:min(len(colours), maxColours)] {
		out.Palette = append(out.Palette, c.first)
	}
	number := map[color.RGBA]uint8{}
	for key, c := range colours {
		number[key] = uint8(out.Palette.Index(c.first))
	}
	pixels(from, part, mask, func(at int, _, key color.RGBA) bool {
		out.Pix[at] = number[key]
		return true
	})
	return out
}

// counted is a colour of a picture.
type counted struct {
	first      color.RGBA // of the pixels that count as this one
	at, pixels int        // where it is first, and how often
}

// census counts the colours of a part of a picture, whose channels count by the bits of a
// mask. With all bits it stops where there are more than a GIF can have.
func census(from *image.RGBA, part image.Rectangle, mask uint8) map[color.RGBA]*counted {
	out := map[color.RGBA]*counted{}
	pixels(from, part, mask, func(at int, c, key color.RGBA) bool {
		if out[key] == nil {
			out[key] = &counted{first: c, at: at}
		}
		out[key].pixels++
		return mask != 0xff || len(out) <= maxColours
	})
	return out
}

// pixels calls f for the pixels of a part, row by row, until f says stop.
func pixels(from *image.RGBA, part image.Rectangle, mask uint8, f func(at int, c, key color.RGBA) bool) {
	at := 0
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			c := from.RGBAAt(x, y)
			if !f(at, c, color.RGBA{c.R & mask, c.G & mask, c.B & mask, 0xff}) {
				return
			}
			at++
		}
	}
}
