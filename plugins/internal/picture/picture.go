// Package picture draws the frames of the bundled environments: filled shapes with
// smooth edges, and lines of text, on a white canvas.
package picture

import (
	"image"
	"image/color"
	"image/draw"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// The colours that environments share, so that the same thing looks the same.
var (
	Black  = color.RGBA{0x20, 0x20, 0x20, 0xff}
	Grey   = color.RGBA{0xd0, 0xd0, 0xd0, 0xff} // lines of grids
	Wall   = color.RGBA{0x50, 0x50, 0x58, 0xff}
	Actor  = color.RGBA{0xd6, 0x40, 0x2a, 0xff} // what the agent moves
	Start  = color.RGBA{0xdc, 0xea, 0xf8, 0xff}
	Goal   = color.RGBA{0x6f, 0xbf, 0x73, 0xff}
	Danger = color.RGBA{0x4a, 0x6f, 0xa5, 0xff} // holes and puddles
	Pay    = color.RGBA{0xf5, 0xc8, 0x42, 0xff}
	Wood   = color.RGBA{0xca, 0x98, 0x65, 0xff}
)

// Point is a place on a canvas, in pixels from its upper left corner.
type Point struct{ X, Y float64 }

// Canvas is a picture that is drawn on.
type Canvas struct {
	*image.RGBA
	raster vector.Rasterizer
}

// New returns a white canvas.
func New(width, height int) *Canvas {
	c := &Canvas{RGBA: image.NewRGBA(image.Rect(0, 0, width, height))}
	draw.Draw(c.RGBA, c.Rect, image.White, image.Point{}, draw.Src)
	return c
}

// Copy returns a canvas with the same picture.
func (c *Canvas) Copy() *Canvas {
	return &Canvas{RGBA: &image.RGBA{Pix: append([]byte(nil), c.Pix...), Stride: c.Stride, Rect: c.Rect}}
}

// Rectangle fills a rectangle of whole pixels, [x0, x1) × [y0, y1).
func (c *Canvas) Rectangle(fill color.Color, x0, y0, x1, y1 int) {
	draw.Draw(c.RGBA, image.Rect(x0, y0, x1, y1), image.NewUniform(fill), image.Point{}, draw.Src)
}

// Polygon fills the area between points. The work is proportional to the area
// of the rectangle around them.
func (c *Canvas) Polygon(fill color.Color, points ...Point) {
	low, high := points[0], points[0]
	for _, p := range points {
		low.X, low.Y, high.X, high.Y = min(low.X, p.X), min(low.Y, p.Y), max(high.X, p.X), max(high.Y, p.Y)
	}
	box := image.Rect(int(math.Floor(low.X)), int(math.Floor(low.Y)), int(math.Ceil(high.X)), int(math.Ceil(high.Y)))
	if box = box.Intersect(c.Rect); box.Empty() {
		return
	}
	c.raster.Reset(box.Dx(), box.Dy())
	for i, p := range points {
		x, y := float32(p.X-float64(box.Min.X)), float32(p.Y-float64(box.Min.Y))
		if i == 0 {
			c.raster.MoveTo(x, y)
		} else {
			c.raster.LineTo(x, y)
		}
	}
	c.raster.ClosePath()
	c.raster.Draw(c.RGBA, box, image.NewUniform(fill), image.Point{})
}

// Disc fills a circle.
func (c *Canvas) Disc(fill color.Color, at Point, radius float64) {
	const corners = 48
	points := make([]Point, corners)
	for i := range points {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		points[i] = Point{at.X + radius*cos, at.Y + radius*sin}
	}
	c.Polygon(fill, points...)
}

// Line draws a line with round ends through points.
func (c *Canvas) Line(stroke color.Color, width float64, points ...Point) {
	for i, p := range points {
		if width > 3 {
			c.Disc(stroke, p, width/2)
		}
		if i == 0 {
			continue
		}
		from := points[i-1]
		length := math.Hypot(p.X-from.X, p.Y-from.Y)
		if length == 0 {
			continue
		}
		dx, dy := width/2*(p.Y-from.Y)/length, width/2*(from.X-p.X)/length
		c.Polygon(stroke, Point{from.X + dx, from.Y + dy}, Point{p.X + dx, p.Y + dy}, Point{p.X - dx, p.Y - dy}, Point{from.X - dx, from.Y - dy})
	}
}

// Text writes a line of ASCII whose lower left corner is at (x, y), 7 pixels a letter.
func (c *Canvas) Text(s string, x, y int) {
	d := font.Drawer{Dst: c.RGBA, Src: image.NewUniform(Black), Face: basicfont.Face7x13, Dot: fixed.P(x, y)}
	d.DrawString(s)
}
