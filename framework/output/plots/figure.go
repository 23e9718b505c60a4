package plots

import (
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"

	stdfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/rlrun/rlrun/framework/stat"
)

// Figure is a drawing of lines with bands. Equal figures give equal bytes.
type Figure struct {
	Title  string // above the axes
	XLabel string // of the horizontal axis
	YLabel string // of the vertical axis
	LogX   bool   // needs X > 0
	LogY   bool   // needs Y and levels > 0; of a band, what is not is cut off
	Lines  []Line // in the order of the legend
	// Levels are horizontal reference lines.
	Levels []Level
}

// Line is one curve. X increases, but for points. A NaN in Y is a gap in the line. Low and
// High, of the length of X or empty, bound its band.
type Line struct {
	Label        string    // in the legend
	X            []float64 // increasing
	Y, Low, High []float64 // the line and its band
	Reference    bool      // a line to compare with, drawn as levels are
	Points       bool      // a mark at each point, with its interval as a stroke, and no line between them
	// Faint lines are grey, below the others, and not in the legend, which only counts
	// them. They come after the others.
	Faint bool
	// Of is the number of agents whose quantiles a faint line and its band are; 0: it is of one.
	Of int
}

// Level is a horizontal line across a figure.
type Level struct {
	Label string  // in the legend
	Y     float64 // in units of the vertical axis
}

// The size of the axes with their labels, to which title and legend are added.
const (
	axesWidth  = 460 * vg.Length(1)
	axesHeight = 290 * vg.Length(1)
	margin     = 10 * vg.Length(1)
)

// pngScale is the number of pixels to a point: 2 for screens of high density.
const pngScale = 2

// WriteSVG draws the figure as SVG.
func (f *Figure) WriteSVG(w io.Writer) error { return drawSVG(w, f.layout) }

// WritePNG draws the figure as PNG.
func (f *Figure) WritePNG(w io.Writer) error { return drawPNG(w, f.layout) }

// laidOut is a picture with its places worked out.
type laidOut interface {
	size() (width, height vg.Length)
	draw(c draw.Canvas)
}

func drawSVG[L laidOut](w io.Writer, layout func() (L, error)) error {
	l, err := layout()
	if err != nil {
		return err
	}
	c := vgsvg.New(l.size())
	l.draw(draw.New(c))
	return writeSVG(w, c)
}

func drawPNG[L laidOut](w io.Writer, layout func() (L, error)) error {
	l, err := layout()
	if err != nil {
		return err
	}
	c := vgimg.NewWith(vgimg.UseWH(l.size()), vgimg.UseDPI(72*pngScale))
	l.draw(draw.New(&pixels{Canvas: c}))
	// The best speed takes two thirds of the default's time; files are 4 to 10 % larger.
	return (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(w, c.Image())
}

// pixels is a canvas that shows characters which its font lacks, such as Chinese ones, as
// boxes: they would be left out, and with them names of a legend. It is white, and leaves out
// backgrounds, which are white as well and take as long as the rest.
type pixels struct {
	*vgimg.Canvas
	white bool // the colour
}

// SetColor sets the colour of what follows.
func (c *pixels) SetColor(of color.Color) {
	c.white = of == color.White
	c.Canvas.SetColor(of)
}

// Fill fills an area.
func (c *pixels) Fill(area vg.Path) {
	if !c.white {
		c.Canvas.Fill(area)
	}
}

// FillString draws a text.
func (c *pixels) FillString(f font.Face, at vg.Point, text string) {
	var buf sfnt.Buffer
	c.Canvas.FillString(f, at, strings.Map(func(r rune) rune {
		if i, err := f.Face.GlyphIndex(&buf, r); err == nil && i == 0 {
			return '□'
		}
		return r
	}, text))
}

// extent is the size of a picture.
type extent struct{ width, height vg.Length }

func (e extent) size() (width, height vg.Length) { return e.width, e.height }

// layout is a figure with its places worked out.
type layout struct {
	extent
	plot        *plot.Plot
	legend      *legend
	title       string
	titleStyle  text.Style
	titleHeight vg.Length
}

func (f *Figure) layout() (*layout, error) {
	p, err := f.plot()
	if err != nil {
		return nil, err
	}
	l := &layout{plot: p, legend: newLegend(f)}
	l.width, l.height = axesWidth+2*margin, axesHeight+2*margin
	if l.legend.beside {
		l.width += l.legend.width + margin
		l.height = max(l.height, l.legend.height+2*margin)
	} else {
		l.height += l.legend.height + margin
	}
	if f.Title != "" {
		l.titleStyle = headline(13)
		l.title = fit(&l.titleStyle, clean(f.Title), l.width-2*margin)
		l.titleHeight = l.titleStyle.Height(l.title) + 8
		l.height += l.titleHeight
	}
	return l, nil
}

// headline is the style of a title.
func headline(size float64) text.Style {
	style := text.Style{Color: ink, Font: sans(size), Handler: plot.DefaultTextHandler, YAlign: text.YTop}
	style.Font.Weight = stdfont.WeightBold
	return style
}

func sans(size float64) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)}
}

func (l *layout) draw(c draw.Canvas) {
	c.SetColor(l.plot.BackgroundColor)
	c.Fill(c.Rectangle.Path())
	axes, at := l.place(c)
	if l.title != "" {
		c.FillText(l.titleStyle, vg.Point{X: c.Min.X + margin, Y: c.Max.Y - margin}, l.title)
	}
	l.plot.Draw(axes)
	l.legend.draw(c, at)
}

// place returns where on a canvas the axes are and the top left corner of the
// legend.
func (l *layout) place(c draw.Canvas) (axes draw.Canvas, legend vg.Point) {
	c = draw.Crop(c, margin, -margin, margin, -margin-l.titleHeight)
	if l.legend.beside {
		axes = draw.Crop(c, 0, -(l.legend.width + margin), 0, 0)
		return axes, vg.Point{X: axes.Max.X + margin, Y: l.plot.DataCanvas(axes).Max.Y}
	}
	axes = draw.Crop(c, 0, 0, l.legend.height+margin, 0)
	x := min(l.plot.DataCanvas(axes).Min.X, c.Max.X-l.legend.width)
	return axes, vg.Point{X: max(c.Min.X, x), Y: c.Min.Y + l.legend.height}
}

// errNothing: a figure has no point.
var errNothing = errors.New("nothing to draw")

func (f *Figure) check() error {
	points := 0
	for i := range f.Lines {
		l := &f.Lines[i]
		n := len(l.X)
		if len(l.Y) != n || len(l.Low) != len(l.High) || (len(l.Low) != 0 && len(l.Low) != n) {
			return fmt.Errorf("line %q of figure %q: lengths differ", l.Label, f.Title)
		}
		for k, x := range l.X {
			if math.IsNaN(x) || math.IsInf(x, 0) || (f.LogX && x <= 0) {
				return fmt.Errorf("line %q of figure %q: x is %g", l.Label, f.Title, x)
			}
			if f.LogY && l.Y[k] <= 0 {
				return fmt.Errorf("line %q of figure %q: y is %g", l.Label, f.Title, l.Y[k])
			}
			if !math.IsNaN(l.Y[k]) {
				points++
			}
		}
	}
	for _, v := range f.Levels {
		if f.LogY && v.Y <= 0 {
			return fmt.Errorf("level %q of figure %q: y is %g", v.Label, f.Title, v.Y)
		}
	}
	if points == 0 {
		return fmt.Errorf("figure %q: %w", f.Title, errNothing)
	}
	return nil
}

// logarithms returns the figure with the decimal logarithms of y in place of y.
func (f *Figure) logarithms() *Figure {
	g := *f
	g.Lines, g.Levels = slices.Clone(f.Lines), slices.Clone(f.Levels)
	for i := range g.Lines {
		l := &g.Lines[i]
		logs := func(ys []float64) []float64 {
			out := make([]float64, len(ys))
			for k, y := range ys {
				out[k] = max(math.Log10(max(y, 0)), math.Log10(l.Y[k])-100) // NaN stays
			}
			return out
		}
		l.Y, l.Low, l.High = logs(l.Y), logs(l.Low), logs(l.High)
	}
	for i := range g.Levels {
		g.Levels[i].Y = math.Log10(g.Levels[i].Y)
	}
	return &g
}

// logarithmTicks are those of a logarithmic axis where logarithms are drawn.
func logarithmTicks(lo, hi float64) []plot.Tick {
	ticks := logTicks(math.Pow(10, lo), math.Pow(10, hi))
	for i := range ticks {
		ticks[i].Value = math.Log10(ticks[i].Value)
	}
	return ticks
}

// plot returns the axes with the lines.
func (f *Figure) plot() (*plot.Plot, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if f.LogY {
		f = f.logarithms()
	}
	p := plot.New()
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = sans(11)
		a.Label.TextStyle.Color = ink
		a.Label.Padding = vg.Points(4)
		a.Tick.Label.Font = sans(10)
		a.Tick.Label.Color = ink
		a.Tick.LineStyle.Color, a.LineStyle.Color = grey, grey
		a.Padding = 0
	}
	p.X.Label.Text, p.Y.Label.Text = clean(f.XLabel), clean(f.YLabel)
	p.Add(grid{})
	for i := range f.Lines {
		if f.Lines[i].Faint {
			style := faintStroke()
			if f.Lines[i].Of > 0 {
				style = draw.LineStyle{Color: grey, Width: vg.Points(1.2)}
			}
			p.Add(&band{&f.Lines[i], faintBand}, &curve{line: &f.Lines[i], style: style})
		}
	}
	for i := range f.Lines { // bands first: no band over a line
		if f.Lines[i].Faint {
			continue
		}
		p.Add(&band{&f.Lines[i], bandColor(i, len(f.Lines))})
	}
	for i := range f.Lines {
		if f.Lines[i].Faint {
			continue
		}
		style := stroke(i)
		if f.Lines[i].Reference {
			style = levelStroke()
		}
		c := &curve{line: &f.Lines[i], style: style}
		if f.Lines[i].Points {
			c.mark = mark(i)
		} else if !f.Lines[i].Reference && len(f.Lines) > 1 {
			c.mark, c.shift = mark(i), (float64(i%len(marks))+0.5)/float64(len(marks))
		}
		p.Add(c)
	}
	for i := range f.Levels {
		p.Add(&level{f.Levels[i].Y})
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = f.ranges()
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(linearTicks), plot.TickerFunc(linearTicks)
	if f.LogX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.TickerFunc(logTicks)
	}
	if f.LogY {
		p.Y.Tick.Marker = plot.TickerFunc(logarithmTicks)
	}
	return p, nil
}

// ranges are those of the lines and levels. A band counts at most to the lines'
// own height on either side, so that a wide band at the start does not flatten
// the rest.
func (f *Figure) ranges() (x0, x1, y0, y1 float64) {
	x0, x1, y0, y1 = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	low, high := y0, y1
	var faint []float64
	for i := range f.Lines {
		l := &f.Lines[i]
		for k, y := range l.Y {
			if l.Of > 0 && !math.IsNaN(l.Low[k]) {
				x0, x1, y0, y1 = min(x0, l.X[k]), max(x1, l.X[k]), min(y0, l.Low[k]), max(y1, l.High[k])
			}
			if math.IsNaN(y) || math.IsInf(y, 0) || l.Of > 0 {
				continue
			}
			if l.Faint {
				faint = append(faint, y)
				continue
			}
			x0, x1 = min(x0, l.X[k]), max(x1, l.X[k])
			y0, y1 = min(y0, y), max(y1, y)
			if len(l.Low) > 0 && !math.IsNaN(l.Low[k]) && !math.IsNaN(l.High[k]) {
				low, high = min(low, l.Low[k]), max(high, l.High[k])
			}
		}
	}
	if len(faint) > 0 { // but for the odd ones
		slices.Sort(faint)
		y0, y1 = min(y0, stat.Quantile(faint, 0.02)), max(y1, stat.Quantile(faint, 0.98))
	}
	height := y1 - y0
	for _, v := range f.Levels {
		y0, y1 = min(y0, v.Y), max(y1, v.Y)
	}
	if height > 0 {
		y0, y1 = min(y0, max(low, y0-height)), max(y1, min(high, y1+height))
	} else {
		y0, y1 = min(y0, low), max(y1, high)
	}
	if y1-y0 <= 1e-12*max(math.Abs(y0), math.Abs(y1)) { // but for rounding they are equal
		pad := max(math.Abs(y0)*0.05, 0.5)
		y0, y1 = y0-pad, y1+pad
	} else {
		pad := 0.03 * (y1 - y0)
		y0, y1 = y0-pad, y1+pad
	}
	if !f.LogX && x0 > 0 && x0 < 0.05*x1 {
		x0 = 0
	}
	if f.LogX && !slices.ContainsFunc(f.Lines, func(l Line) bool { return !l.Points }) { // no point is on an axis
		x0, x1 = x0/1.1, x1*1.1
	}
	if x0 == x1 {
		if f.LogX {
			x0, x1 = x0/2, x1*2
		} else {
			x0, x1 = x0-0.5, x1+0.5
		}
	}
	return x0, x1, y0, y1
}

// clean removes what cannot be drawn from a label.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
