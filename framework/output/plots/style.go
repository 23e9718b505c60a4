package plots

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/rlrun/rlrun/internal/each"
)

// palette begins with the colours of Okabe & Ito (2008, "Color universal design"). People with any
// colour vision tell them apart. Their yellow is too faint on white, and black is for text. The other
// colours were searched for: all keep a distance from each other in Oklab, also for people without
// red or green cones. The page and the Python package have the same colours.
var palette = [...]color.NRGBA{
	{0x00, 0x72, 0xB2, 0xFF}, // blue
	{0xD5, 0x5E, 0x00, 0xFF}, // vermilion
	{0x00, 0x9E, 0x73, 0xFF}, // bluish green
	{0xCC, 0x79, 0xA7, 0xFF}, // reddish purple
	{0xE6, 0x9F, 0x00, 0xFF}, // orange
	{0x56, 0xB4, 0xE9, 0xFF}, // sky blue
	{0x51, 0x49, 0x89, 0xFF}, // indigo
	{0x81, 0x38, 0x05, 0xFF}, // brown
	{0x83, 0xB2, 0x76, 0xFF}, // sage
	{0xAB, 0x0A, 0x56, 0xFF}, // wine
	{0x06, 0x1A, 0x90, 0xFF}, // navy
	{0x3D, 0xCC, 0xBE, 0xFF}, // turquoise
	{0xD2, 0x0C, 0xC5, 0xFF}, // magenta
	{0x10, 0x5A, 0x3E, 0xFF}, // dark green
	{0x95, 0x8B, 0xFB, 0xFF}, // lavender
	{0xEA, 0x7E, 0x43, 0xFF}, // apricot
	{0x8C, 0x75, 0x4E, 0xFF}, // khaki
	{0x55, 0x1B, 0x56, 0xFF}, // plum
	{0x40, 0x80, 0x7C, 0xFF}, // petrol
	{0xF4, 0x30, 0x5E, 0xFF}, // red
}

// dashes and marks differ from line to line, so that lines can also be told apart without
// colour, up to 20 of them. Colour and dash repeat after 80.
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
	return draw.GlyphStyle{Color: col, Radius: vg.Points(2.6), Shape: marks[(i+i/len(marks))%len(marks)]}
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
	if n > 8 { // many bands on top of each other, or beside grey lines
		col.A = 0x0c
	}
	return col
}
