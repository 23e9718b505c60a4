package plots

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// curve draws a line, with gaps where it has no value.
type curve struct {
	line  *Line
	style draw.LineStyle
	// mark stands at some points of the line, shifted by a share of their distance; Shape is nil:
	// none.
	mark  draw.GlyphStyle
	shift float64
}

// marksOfLine is the number of marks on a line.
const marksOfLine = 6

func (c *curve) Plot(da draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&da)
	if c.line.Points {
		interval := c.style
		interval.Dashes = nil
		for k, v := range c.line.Y {
			if len(c.line.Low) > 0 {
				da.StrokeLines(interval, da.ClipLinesY([]vg.Point{{X: x(c.line.X[k]), Y: y(c.line.Low[k])}, {X: x(c.line.X[k]), Y: y(c.line.High[k])}})...)
			}
			da.DrawGlyph(c.mark, vg.Point{X: x(c.line.X[k]), Y: y(v)})
		}
		return
	}
	defer c.drawMarks(da, x, y)
	for _, part := range parts(c.line.Y) {
		pts := make([]vg.Point, 0, part.end-part.start)
		for k := part.start; k < part.end; k++ {
			pts = append(pts, vg.Point{X: x(c.line.X[k]), Y: y(c.line.Y[k])})
		}
		if len(pts) == 1 {
			da.DrawGlyph(draw.GlyphStyle{Color: c.style.Color, Radius: vg.Points(2), Shape: draw.CircleGlyph{}}, pts[0])
			continue
		}
		da.StrokeLines(c.style, da.ClipLinesXY(pts)...)
	}
}

func (c *curve) drawMarks(da draw.Canvas, x, y func(float64) vg.Length) {
	if c.mark.Shape == nil {
		return
	}
	last := -1
	for i := range marksOfLine {
		at := da.Min.X + (da.Max.X-da.Min.X)*vg.Length((float64(i)+c.shift)/marksOfLine)
		best := -1
		for k, v := range c.line.Y {
			if !math.IsNaN(v) && !math.IsInf(v, 0) && (best < 0 || math.Abs(float64(x(c.line.X[k])-at)) < math.Abs(float64(x(c.line.X[best])-at))) {
				best = k
			}
		}
		if best < 0 || best == last {
			continue
		}
		last = best
		if pt := (vg.Point{X: x(c.line.X[best]), Y: y(c.line.Y[best])}); da.Contains(pt) {
			da.DrawGlyph(c.mark, pt)
		}
	}
}

// band fills the space between a line's bounds.
type band struct {
	line  *Line
	color color.NRGBA
}

func (b *band) Plot(da draw.Canvas, p *plot.Plot) {
	if len(b.line.Low) == 0 || b.line.Points {
		return
	}
	x, y := p.Transforms(&da)
	width := make([]float64, len(b.line.Low)) // NaN where either bound is
	for k := range width {
		width[k] = b.line.High[k] - b.line.Low[k]
	}
	for _, part := range parts(width) {
		var pts []vg.Point
		for k := part.start; k < part.end; k++ {
			pts = append(pts, vg.Point{X: x(b.line.X[k]), Y: y(b.line.High[k])})
		}
		for k := part.end - 1; k >= part.start; k-- {
			pts = append(pts, vg.Point{X: x(b.line.X[k]), Y: y(b.line.Low[k])})
		}
		da.FillPolygon(b.color, da.ClipPolygonXY(pts))
	}
}

// part is a half-open range of indices.
type part struct{ start, end int }

// parts are the longest ranges without NaN.
func parts(ys []float64) []part {
	var out []part
	for k, y := range ys {
		switch {
		case math.IsNaN(y) || math.IsInf(y, 0):
		case len(out) > 0 && out[len(out)-1].end == k:
			out[len(out)-1].end++
		default:
			out = append(out, part{k, k + 1})
		}
	}
	return out
}

// level draws a horizontal reference line.
type level struct{ y float64 }

func (l *level) Plot(da draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&da)
	da.StrokeLine2(levelStroke(), da.Min.X, y(l.y), da.Max.X, y(l.y))
}

// grid draws a faint line at every label.
type grid struct{}

func (grid) Plot(da draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&da)
	style := draw.LineStyle{Color: faint, Width: vg.Points(0.5)}
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		if !t.IsMinor() {
			da.StrokeLine2(style, x(t.Value), da.Min.Y, x(t.Value), da.Max.Y)
		}
	}
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if !t.IsMinor() {
			da.StrokeLine2(style, da.Min.X, y(t.Value), da.Max.X, y(t.Value))
		}
	}
}
