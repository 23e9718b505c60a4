// Package plotting holds the style of the drawings that commands make.
package plotting

import (
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

// Save writes a drawing in a format of Format. In an SVG, names from models and plugins
// are printable.
func Save(file, format string, drawing io.WriterTo) error {
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

// NewPanel is an empty plot in the house style.
func NewPanel(x, y string) *plot.Plot {
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
	return p
}

// NewLegend is an empty legend in the upper left corner.
func NewLegend() plot.Legend {
	l := plot.NewLegend()
	l.Top, l.Left = true, true
	l.TextStyle = Sans(l.TextStyle, 10)
	l.ThumbnailWidth = 0.9 * vg.Centimeter
	l.Padding = vg.Points(3)
	return l
}

// Sans is a text style with the sans-serif typeface at a size in points.
func Sans(s text.Style, size vg.Length) text.Style {
	s.Font = font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	return s
}
