package plots

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/rlrun/rlrun/internal/each"
)

// palette holds the colours of Okabe & Ito (2008, "Color universal design"),
// which people with any colour vision tell apart; without their yellow, too
// faint on white. Black comes late: it is for few agents not the best start.
var palette = [...]color.NRGBA{
	{0x00, 0x72, 0xB2, 0xFF}, // blue
	{0xD5, 0x5E, 0x00, 0xFF}, // vermilion
	{0x00, 0x9E, 0x73, 0xFF}, // bluish green
	{0xCC, 0x79, 0xA7, 0xFF}, // reddish purple
	{0xE6, 0x9F, 0x00, 0xFF}, // orange
	{0x56, 0xB4, 0xE9, 0xFF}, // sky blue
	{0x00, 0x00, 0x00, 0xFF}, // black
	{0x8C, 0x56, 0x4B, 0xFF}, // brown
}

// dashes and marks differ from line to line, so that lines can also be told apart without
// colour. With the palette they repeat only after 64 lines.
var (
	dashes = [...][]float64{nil, {7, 2.5}, {7, 2.5, 1.5, 2.5}, {2, 2}}
	marks  = [...]draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{}}
)

// lineStyle is the colour and the dash of the i-th line of a figure.
func lineStyle(i int) (color.NRGBA, []float64) {
	return palette[i%len(palette)], dashes[(i+i/len(palette))%len(dashes)]
}

// mark is the mark of the i-th line.
func mark(i int) draw.GlyphStyle {
	col, _ := lineStyle(i)
	return draw.GlyphStyle{Color: col, Radius: vg.Points(2.6), Shape: marks[(i+i/len(palette))%len(marks)]}
}

func points(ds []float64) []vg.Length {
	return each.Of(ds, vg.Points)
}

var (
	ink   = color.NRGBA{0x22, 0x22, 0x22, 0xFF}
	grey  = color.NRGBA{0x77, 0x77, 0x77, 0xFF}
	faint = color.NRGBA{0xE4, 0xE4, 0xE4, 0xFF}
)

// stroke is the style of the i-th line.
func stroke(i int) draw.LineStyle {
	col, dash := lineStyle(i)
	return draw.LineStyle{Color: col, Width: vg.Points(1.6), Dashes: points(dash)}
}

// faintBand is the colour of the bands of agents that are not drawn one by one.
var faintBand = color.NRGBA{0x77, 0x77, 0x77, 0x38}

// faintStroke is the style of lines that are there for comparison with the others.
func faintStroke() draw.LineStyle {
	return draw.LineStyle{Color: color.NRGBA{0x77, 0x77, 0x77, 0x50}, Width: vg.Points(0.6)}
}

// levelStroke is the style of reference lines.
func levelStroke() draw.LineStyle {
	return draw.LineStyle{Color: ink, Width: vg.Points(1.2), Dashes: points([]float64{1.2, 2.4})}
}

// bandColor is the colour of the i-th of n bands; the more, the fainter.
func bandColor(i, n int) color.NRGBA {
	col, _ := lineStyle(i)
	col.A = uint8(max(0x18, 0x30-4*max(0, n-4)))
	if n > 20 { // beside grey lines: ten bands on top of each other
		col.A = 0x0c
	}
	return col
}
