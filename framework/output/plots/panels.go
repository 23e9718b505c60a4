package plots

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/internal/printable"
)

// Panels are small multiples: figures beside and below each other under one title, with
// one legend. All have the lines of the same agents in the same order, so that colours
// mean the same. Equal panels give equal bytes.
type Panels struct {
	Title   string    // above all panels
	Figures []*Figure // their titles are those of the panels
}

// The size of a panel with its axes and title, and the most in a row.
const (
	panelWidth  = 250 * vg.Length(1)
	panelHeight = 160 * vg.Length(1)
	panelTitle  = 16 * vg.Length(1)
	mostColumns = 4
)

// NewPanels draws one metric in every environment that has it. Of more than 20 agents
// the 10 with the best mean rank over environments are in colour. It fails where there
// is nothing to draw.
func NewPanels(s *result.Summary, m result.Metric, opts Config) (*Panels, error) {
	p := &Panels{Title: opts.Title}
	if p.Title == "" {
		p.Title = Capital(s.Meta.Define(m).Axis) + ", over " + s.Meta.Axis()
	}
	if len(s.Meta.Agents) > mostColored && opts.Agents == nil {
		opts.Agents, opts.best = byRank(s, m), true
	}
	for _, env := range s.Meta.Environments {
		opts.Title = env
		f, err := NewFigure(s, env, m, opts)
		if errors.Is(err, errNothing) {
			continue
		}
		if err != nil {
			return nil, err
		}
		p.Figures = append(p.Figures, f)
	}
	if len(p.Figures) == 0 {
		return nil, errNothing
	}
	return p, nil
}

// byRank returns the agents from the best to the worst by the mean of their ranks.
func byRank(s *result.Summary, m result.Metric) []string {
	sign := 1.0
	if s.Meta.Define(m).Better == metric.Lower {
		sign = -1
	}
	type agent struct {
		name       string
		sum, count float64
	}
	agents := make([]agent, len(s.Meta.Agents))
	for i, name := range s.Meta.Agents {
		agents[i].name = name
	}
	for _, env := range s.Meta.Environments {
		type scored struct {
			agent int
			value float64
		}
		var list []scored
		for i := range agents {
			if r := s.Row(env, agents[i].name, m); r != nil && !math.IsNaN(r.Mean) {
				list = append(list, scored{i, sign * r.Mean})
			}
		}
		slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(b.value, a.value) })
		for rank, x := range list {
			agents[x.agent].sum += float64(rank)
			agents[x.agent].count++
		}
	}
	rank := func(a agent) float64 {
		if a.count == 0 {
			return math.Inf(1)
		}
		return a.sum / a.count
	}
	slices.SortStableFunc(agents, func(a, b agent) int { return cmp.Compare(rank(a), rank(b)) })
	return each.Of(agents, func(a agent) string { return a.name })
}

// sparse leaves out labels where there are more than most.
func sparse(ticker plot.Ticker, most int) plot.Ticker {
	return plot.TickerFunc(func(lo, hi float64) []plot.Tick {
		ticks, labels := ticker.Ticks(lo, hi), 0
		for _, t := range ticks {
			if !t.IsMinor() {
				labels++
			}
		}
		every := (labels + most - 1) / most
		labels = 0
		for i := range ticks {
			if !ticks[i].IsMinor() {
				if labels%every > 0 {
					ticks[i].Label = ""
				}
				labels++
			}
		}
		return ticks
	})
}

// panelsLayout is the panels with their places worked out.
type panelsLayout struct {
	extent
	plots         []*plot.Plot
	titles        []string
	columns, rows int
	legend        *legend
	title         string
	titleStyle    text.Style
	panelStyle    text.Style
}

func (p *Panels) layout() (*panelsLayout, error) {
	if len(p.Figures) == 0 {
		return nil, errNothing
	}
	l := &panelsLayout{columns: min(mostColumns, len(p.Figures))}
	if n := len(p.Figures); n == 5 || n == 6 || n == 9 {
		l.columns = 3 // fewer places stay empty
	}
	l.rows = (len(p.Figures) + l.columns - 1) / l.columns
	l.titleStyle, l.panelStyle = headline(13), headline(11)
	all := &Figure{} // its legend has every line that a panel has
	for _, f := range p.Figures {
		plot, err := f.plot()
		if err != nil {
			return nil, err
		}
		plot.X.Label.Text, plot.Y.Label.Text = "", "" // they stand in the title
		plot.X.Tick.Marker, plot.Y.Tick.Marker = sparse(plot.X.Tick.Marker, 4), sparse(plot.Y.Tick.Marker, 6)
		l.plots = append(l.plots, plot)
		l.titles = append(l.titles, fit(&l.panelStyle, clean(f.Title), panelWidth-margin))
		for i := range f.Lines {
			switch {
			case i == len(all.Lines):
				all.Lines = append(all.Lines, f.Lines[i])
			case len(parts(all.Lines[i].Y)) == 0:
				all.Lines[i] = f.Lines[i]
			}
		}
		if len(all.Levels) == 0 {
			all.Levels = f.Levels
		}
	}
	l.width = vg.Length(l.columns)*panelWidth + 2*margin
	l.legend = newLegend(all)
	l.legend.under(l.width - 2*margin)
	l.title = fit(&l.titleStyle, clean(p.Title), l.width-2*margin)
	l.height = vg.Length(l.rows)*(panelHeight+panelTitle) + l.legend.height + 3*margin + l.titleStyle.Height(l.title)
	return l, nil
}

func (l *panelsLayout) draw(c draw.Canvas) {
	c.SetColor(l.plots[0].BackgroundColor)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	c.FillText(l.titleStyle, vg.Point{X: c.Min.X, Y: c.Max.Y}, l.title)
	top := c.Max.Y - l.titleStyle.Height(l.title) - margin
	for i, p := range l.plots {
		x, y := c.Min.X+vg.Length(i%l.columns)*panelWidth, top-vg.Length(i/l.columns)*(panelHeight+panelTitle)
		c.FillText(l.panelStyle, vg.Point{X: x + margin, Y: y}, l.titles[i])
		p.Draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: x, Y: y - panelTitle - panelHeight + margin}, Max: vg.Point{X: x + panelWidth - margin, Y: y - panelTitle}}})
	}
	l.legend.draw(c, vg.Point{X: c.Min.X, Y: c.Min.Y + l.legend.height})
}

// WriteSVG draws the panels as SVG.
func (p *Panels) WriteSVG(w io.Writer) error { return drawSVG(w, p.layout) }

// WritePNG draws the panels as PNG.
func (p *Panels) WritePNG(w io.Writer) error { return drawPNG(w, p.layout) }

// writeSVG writes a drawing. If the font is not installed, another one takes its place,
// at the widths of this one: so it neither is cut off nor covers anything.
func writeSVG(w io.Writer, c *vgsvg.Canvas) error {
	var buf bytes.Buffer
	if _, err := c.WriteTo(&buf); err != nil {
		return err
	}
	text := strings.ReplaceAll(printable.Text(buf.String()), "font-family:Liberation Sans;",
		"font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")
	_, err := io.WriteString(w, withWidths(text))
	return err
}

// svgText is a text of an SVG: its attributes, weight, size and characters.
var svgText = regexp.MustCompile(`<text ([^>]*font-weight:(normal|bold);[^>]*font-size:([0-9.]+)px[^>]*)>([^<]+)</text>`)

// withWidths says in every text of an SVG how wide it is.
func withWidths(svg string) string {
	return svgText.ReplaceAllStringFunc(svg, func(element string) string {
		m := svgText.FindStringSubmatch(element)
		size, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			return element
		}
		f := sans(size)
		if m[2] == "bold" {
			f.Weight = stdfont.WeightBold
		}
		face := font.DefaultCache.Lookup(f, f.Size)
		width := face.Width(html.UnescapeString(m[4]))
		return fmt.Sprintf(`<text textLength="%.5g" lengthAdjust="spacingAndGlyphs" %s>%s</text>`, width.Points(), m[1], m[4])
	})
}
