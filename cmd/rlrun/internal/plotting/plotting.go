// Package plotting holds the style of the drawings that commands make.
package plotting

import (
	"cmp"
	"image/color"
	"io"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
)

// Colours that readers with any colour vision tell apart (Okabe & Ito 2008).
var (
	Blue      = color.RGBA{0x00, 0x72, 0xb2, 0xff}
	Red       = color.RGBA{0xd5, 0x5e, 0x00, 0xff}
	Black     = color.RGBA{0x22, 0x22, 0x22, 0xff}
	gridLines = color.RGBA{0xe0, 0xe0, 0xe0, 0xff}
)

// Format returns the format that the extension of a file's name asks for: svg, png
// or pdf. Its error is one of usage, about --plot.
func Format(file string) (string, error) {
	switch format := strings.ToLower(strings.TrimPrefix(filepath.Ext(file), ".")); format {
	case "svg", "png", "pdf":
		return format, nil
	}
	return "", cli.Usagef("--plot %s: the name must end in .svg, .png or .pdf", file)
}

// save writes a drawing. In an SVG, names from models and plugins are printable.
func save(file, format string, drawing io.WriterTo) error {
	return cli.WriteFile(file, func(w io.Writer) error {
		if format != "svg" {
			_, err := drawing.WriteTo(w)
			return err
		}
		var text strings.Builder
		if _, err := drawing.WriteTo(&text); err != nil {
			return err
		}
		_, err := io.WriteString(w, cli.Printable(text.String()))
		return err
	})
}

// Figure is a picture of panels side by side, under a title.
type Figure struct {
	Title         string
	Note          string // below the panels; may be empty
	Width, Height vg.Length
	Panels        []Drawer
}

// Drawer draws itself.
type Drawer interface{ Draw(c draw.Canvas) error }

const gap, left, right = 0.7 * vg.Centimeter, 0.4 * vg.Centimeter, 0.5 * vg.Centimeter

// PanelWidth is the width of each of the panels of a figure.
func PanelWidth(width vg.Length, panels int) vg.Length {
	k := vg.Length(panels)
	return (width - left - right - (k-1)*gap) / k
}

// Save draws the figure into a file of any format of Format.
func (f Figure) Save(file string) error {
	format, err := Format(file)
	if err != nil {
		return err
	}
	canvas, err := draw.NewFormattedCanvas(f.Width, f.Height, format)
	if err != nil {
		return err
	}
	c := draw.New(canvas)
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	size := min(12, 2.1*f.Width/vg.Length(len([]rune(f.Title)))) // so that it fits
	Write(c, c.Center().X, c.Max.Y-0.3*vg.Centimeter, size, text.XCenter, text.YTop, Black, f.Title)
	below := 0.3 * vg.Centimeter
	if f.Note != "" {
		Write(c, c.Center().X, c.Min.Y+0.55*vg.Centimeter, 9, text.XCenter, text.YTop, Black, f.Note)
		below = 0.9 * vg.Centimeter
	}
	c = draw.Crop(c, left, -right, below, -1.1*vg.Centimeter)
	each := PanelWidth(f.Width, len(f.Panels))
	for i, p := range f.Panels {
		at := vg.Length(i) * (each + gap)
		if err := p.Draw(draw.Crop(c, at, at+each-(c.Max.X-c.Min.X), 0, 0)); err != nil {
			return err
		}
	}
	return save(file, format, canvas)
}

// Write writes words at a point.
func Write(c draw.Canvas, x, y vg.Length, size vg.Length, xAlign text.XAlignment, yAlign text.YAlignment, ink color.Color, words string) {
	style := Sans(text.Style{Color: ink, Handler: plot.DefaultTextHandler, XAlign: xAlign, YAlign: yAlign}, size)
	c.FillText(style, vg.Point{X: x, Y: y}, words)
}

// Panel is a plot with its legend above it. It remembers the first error of what it was
// given to draw.
type Panel struct {
	*plot.Plot
	Legend plot.Legend
	Strips int // lines of the legend
	err    error
}

// NewPanel is an empty plot in the house style, with an empty legend.
func NewPanel(x, y string) *Panel {
	p := plot.New()
	p.BackgroundColor = color.White
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle = Sans(a.Label.TextStyle, 11)
		a.Tick.Label = Sans(a.Tick.Label, 10)
		a.LineStyle = draw.LineStyle{Color: Black, Width: vg.Points(0.8)}
		a.Tick.LineStyle = a.LineStyle
		a.Padding = 0
		a.Label.Padding = vg.Points(4)
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = gridLines, gridLines
	p.Add(grid)
	l := plot.NewLegend()
	l.Top, l.Left = true, true
	l.TextStyle = Sans(l.TextStyle, 10)
	l.ThumbnailWidth = 0.9 * vg.Centimeter
	l.Padding = vg.Points(3)
	return &Panel{Plot: p, Legend: l}
}

// Range sets what the axes show.
func (p *Panel) Range(left, right, bottom, top float64) {
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = left, right, bottom, top
}

func (p *Panel) checked(at plotter.XYs) plotter.XYs {
	out, err := plotter.CopyXYs(at)
	p.err = cmp.Or(p.err, err)
	return out
}

// Line is a line for the panel, not yet added.
func (p *Panel) Line(at plotter.XYs, ink color.Color, width float64, dashes ...vg.Length) *plotter.Line {
	return &plotter.Line{XYs: p.checked(at), LineStyle: draw.LineStyle{Color: ink, Width: vg.Points(width), Dashes: dashes}}
}

// Points are marks for the panel, not yet added.
func (p *Panel) Points(at plotter.XYs, ink color.Color, radius float64, shape draw.GlyphDrawer) *plotter.Scatter {
	return &plotter.Scatter{XYs: p.checked(at), GlyphStyle: draw.GlyphStyle{Color: ink, Radius: vg.Points(radius), Shape: shape}}
}

// Area is a polygon for the panel, not yet added.
func (p *Panel) Area(at plotter.XYs, ink color.Color) *plotter.Polygon {
	return &plotter.Polygon{XYs: []plotter.XYs{p.checked(at)}, Color: ink, LineStyle: draw.LineStyle{Color: ink}}
}

// Draw implements Drawer.
func (p *Panel) Draw(c draw.Canvas) error {
	strip := vg.Length(p.Strips) * 0.5 * vg.Centimeter
	p.Plot.Draw(draw.Crop(c, 0, 0, 0, -strip-0.15*vg.Centimeter))
	p.Legend.Draw(draw.Crop(c, 1.6*vg.Centimeter, 0, c.Max.Y-c.Min.Y-strip, 0))
	return p.err
}

// Sans is a text style with the sans-serif typeface at a size in points.
func Sans(s text.Style, size vg.Length) text.Style {
	s.Font = font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	return s
}
