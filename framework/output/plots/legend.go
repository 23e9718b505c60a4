package plots

import (
	"fmt"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legend stands outside the axes, so that it never covers a line: beside them
// where names are short, under them where they are long.
type legend struct {
	entries       []entry
	lines, faint  int
	of            int // agents whose quantiles are drawn
	style         text.Style
	beside        bool
	columns       int
	column        vg.Length // width of a column
	row           vg.Length // height of a row
	width, height vg.Length
}

type entry struct {
	label string
	line  int // index of the line; -1: a level; -2: the faint lines; -3: nothing
	band  bool
	mark  bool // and no line
}

const (
	sampleWidth = 26 * vg.Length(1)
	sampleGap   = 6 * vg.Length(1)
	columnGap   = 16 * vg.Length(1)
	besideLimit = 150 * vg.Length(1) // of the longest name
)

func newLegend(f *Figure) *legend {
	l := &legend{lines: len(f.Lines), style: text.Style{
		Color: ink, YAlign: text.YCenter, Handler: plot.DefaultTextHandler,
		Font: sans(10),
	}}
	for i := range f.Lines {
		if f.Lines[i].Faint {
			if l.faint++; f.Lines[i].Of > 0 {
				l.faint, l.of = 0, f.Lines[i].Of
			}
			continue
		}
		if f.Lines[i].Label != "" && len(parts(f.Lines[i].Y)) > 0 { // and something is drawn
			e := entry{label: clean(f.Lines[i].Label), line: i, band: len(f.Lines[i].Low) > 0 && !f.Lines[i].Points, mark: f.Lines[i].Points}
			if f.Lines[i].Reference {
				e.line = -1
			}
			l.entries = append(l.entries, e)
		}
	}
	for _, v := range f.Levels {
		if v.Label != "" {
			l.entries = append(l.entries, entry{label: clean(v.Label), line: -1})
		}
	}
	if l.of > 0 {
		l.entries = append(l.entries, entry{label: fmt.Sprintf("%s more: median,", humanize.Comma(int64(l.of))), line: -2, band: true}, entry{label: "50 % and 90 % of them", line: -3})
	}
	if l.faint > 0 {
		l.entries = append(l.entries, entry{label: fmt.Sprintf("%s more agents", humanize.Comma(int64(l.faint))), line: -2})
	}
	if len(l.entries) == 0 {
		return l
	}
	l.row = l.style.Height("Mg") * 1.5
	longest := vg.Length(0)
	for i := range l.entries {
		l.entries[i].label = fit(&l.style, l.entries[i].label, axesWidth-sampleWidth-sampleGap)
		longest = max(longest, l.style.Width(l.entries[i].label))
	}
	l.beside = longest <= besideLimit
	l.columns = 1
	l.column = sampleWidth + sampleGap + longest
	if !l.beside {
		l.columns = max(1, min(len(l.entries), int((axesWidth+columnGap)/(l.column+columnGap))))
	}
	l.width = vg.Length(l.columns)*(l.column+columnGap) - columnGap
	l.height = vg.Length(l.rows()) * l.row
	return l
}

// under puts the legend under a drawing of a width.
func (l *legend) under(width vg.Length) {
	if len(l.entries) == 0 {
		return
	}
	l.beside = false
	l.columns = max(1, min(len(l.entries), int((width+columnGap)/(l.column+columnGap))))
	l.width = vg.Length(l.columns)*(l.column+columnGap) - columnGap
	l.height = vg.Length(l.rows()) * l.row
}

func (l *legend) rows() int { return (len(l.entries) + l.columns - 1) / l.columns }

// fit shortens a label to a width.
func fit(style *text.Style, label string, width vg.Length) string {
	if style.Width(label) <= width {
		return label
	}
	for label != "" && style.Width(label+"…") > width {
		_, size := utf8.DecodeLastRuneInString(label)
		label = label[:len(label)-size]
	}
	return label + "…"
}

// draw draws the legend with its top left corner at a point.
func (l *legend) draw(c draw.Canvas, at vg.Point) {
	for i, e := range l.entries {
		x := at.X + vg.Length(i/l.rows())*(l.column+columnGap)
		y := at.Y - (vg.Length(i%l.rows())+0.5)*l.row
		switch {
		case e.line == -3:
		case e.line == -2 && e.band:
			for _, h := range []vg.Length{l.row * 0.4, l.row * 0.2} {
				c.FillPolygon(faintBand, []vg.Point{{X: x, Y: y - h}, {X: x + sampleWidth, Y: y - h}, {X: x + sampleWidth, Y: y + h}, {X: x, Y: y + h}})
			}
			c.StrokeLine2(draw.LineStyle{Color: grey, Width: vg.Points(1.2)}, x, y, x+sampleWidth, y)
		case e.line == -2:
			c.StrokeLine2(faintStroke(), x, y, x+sampleWidth, y)
		case e.line < 0:
			c.StrokeLine2(levelStroke(), x, y, x+sampleWidth, y)
		default:
			if e.band {
				h := l.row * 0.3
				c.FillPolygon(bandColor(e.line, l.lines), []vg.Point{
					{X: x, Y: y - h}, {X: x + sampleWidth, Y: y - h}, {X: x + sampleWidth, Y: y + h}, {X: x, Y: y + h},
				})
			}
			if !e.mark {
				c.StrokeLine2(stroke(e.line), x, y, x+sampleWidth, y)
			}
			if l.lines > 1 {
				c.DrawGlyph(mark(e.line), vg.Point{X: x + sampleWidth/2, Y: y})
			}
		}
		c.FillText(l.style, vg.Point{X: x + sampleWidth + sampleGap, Y: y}, e.label)
	}
}
