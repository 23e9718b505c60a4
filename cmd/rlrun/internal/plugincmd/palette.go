package plugincmd

import (
	"image"
	"image/color"
	"image/color/palette"

	"golang.org/x/image/draw"
)

// paletted returns a part of an opaque picture in at most 256 colours: its own if these are no
// more, otherwise those of Plan 9, dithered.
func paletted(from *image.RGBA, part image.Rectangle) *image.Paletted {
	out := image.NewPaletted(part, nil)
	number := map[color.RGBA]uint8{}
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			c := from.RGBAAt(x, y)
			i, known := number[c]
			if !known && len(number) == len(palette.Plan9) {
				out.Palette = palette.Plan9
				draw.FloydSteinberg.Draw(out, part, from, part.Min)
				return out
			}
			if !known {
				i = uint8(len(number))
				number[c], out.Palette = i, append(out.Palette, c)
			}
			out.SetColorIndex(x, y, i)
		}
	}
	return out
}
