package compare

import (
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/rlrun/rlrun/framework/stat"
)

// Drawings are SVG. Their colours are CSS variables with defaults for light paper, so
// that a page can set others for a dark one.
const (
	ink   = "var(--ink, #222)"
	faint = "var(--faint, #bbb)"
)

// colors are those of Okabe & Ito (2008), which people with any colour vision tell
// apart.
var colors = []string{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F5FC7", "#8C564B"}

// drawing collects the elements of an SVG.
type drawing struct {
	strings.Builder
	width, height float64
}

func newDrawing(width, height float64, title string) *drawing {
	d := &drawing{width: width, height: height}
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-label="%s" font-family="system-ui, sans-serif" font-size="12">`+"\n",
		width, height, width, height, html.EscapeString(title))
	return d
}

func (d *drawing) line(x1, y1, x2, y2 float64, color string, width float64) {
	fmt.Fprintf(d, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="%g"/>`+"\n", x1, y1, x2, y2, color, width)
}

func (d *drawing) text(x, y float64, anchor, text string) {
	fmt.Fprintf(d, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s">%s</text>`+"\n", x, y, anchor, ink, html.EscapeString(text))
}

func (d *drawing) path(points []float64, color string, width, opacity float64, closed bool) {
	var b strings.Builder
	for i := 0; i < len(points); i += 2 {
		verb := "L"
		if i == 0 {
			verb = "M"
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", verb, points[i], points[i+1])
	}
	fill, stroke := "none", color
	if closed {
		fill, stroke = color, "none"
		b.WriteString("Z")
	}
	fmt.Fprintf(d, `<path d="%s" fill="%s" stroke="%s" stroke-width="%g" opacity="%g"/>`+"\n", b.String(), fill, stroke, width, opacity)
}

func (d *drawing) done() string { return d.String() + "</svg>\n" }

// shorten keeps labels within n characters.
func shorten(label string, n int) string {
	r := []rune(label)
	if len(r) <= n {
		return label
	}
	return string(r[:n-1]) + "…"
}

// labelWidth estimates the width of the longest label.
func labelWidth(labels []string) float64 {
	n := 0
	for _, l := range labels {
		n = max(n, len([]rune(l)))
	}
	return 7 * float64(n)
}

// DifferencesSVG draws the differences in one environment with their intervals, a row
// a comparison, and a line at zero.
func DifferencesSVG(r *Result, env string) string {
	var rows []*Comparison
	var labels, verdicts []string
	low, high := 0.0, 0.0
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		if c.Environment != env {
			continue
		}
		rows = append(rows, c)
		labels = append(labels, shorten(c.A, 26)+" − "+shorten(c.B, 26))
		verdict := NotDecided
		if c.Better != "" {
			verdict = shorten(c.Better, 26) + " is better"
		}
		verdicts = append(verdicts, verdict)
		for _, x := range []float64{c.Difference.Value, c.Difference.Low, c.Difference.High} {
			if !math.IsNaN(x) {
				low, high = min(low, x), max(high, x)
			}
		}
	}
	if len(rows) == 0 {
		return ""
	}
	if low == high {
		low, high = -1, 1
	}
	margin := (high - low) * 0.05
	low, high = low-margin, high+margin
	left := labelWidth(labels) + 10
	const plot, step = 420.0, 20.0
	d := newDrawing(left+plot+labelWidth(verdicts)+16, step*float64(len(rows))+40, "differences in "+env)
	x := func(v float64) float64 { return left + (v-low)/(high-low)*plot }
	bottom := step*float64(len(rows)) + 12
	for _, t := range ticks(low, high, 5) {
		d.line(x(t), 6, x(t), bottom, faint, 0.5)
		d.text(x(t), bottom+16, "middle", six(t))
	}
	d.line(x(0), 6, x(0), bottom, ink, 1)
	for i, c := range rows {
		y := step*float64(i) + 18
		color := faint
		if c.Better != "" {
			color = colors[0]
			if c.Better == c.B {
				color = colors[1]
			}
		}
		d.text(left-8, y+4, "end", labels[i])
		if !math.IsNaN(c.Difference.Low) {
			d.line(x(c.Difference.Low), y, x(c.Difference.High), y, color, 3)
		}
		fmt.Fprintf(d, `<circle cx="%.1f" cy="%.1f" r="4" fill="%s"><title>%s</title></circle>`+"\n", x(c.Difference.Value), y, color, html.EscapeString(c.Sentence()))
		d.text(left+plot+8, y+4, "start", verdicts[i])
	}
	return d.done()
}

// profiled is the number of agents that a profile shows in colour.
const profiled = 8

// ProfileSVG draws the performance profiles with their bands: the agents with the
// largest interquartile means in colour, the others in grey. "" without aggregates.
func ProfileSVG(r *Result) string {
	if r.Overall == nil || len(r.Overall.Aggregates) == 0 {
		return ""
	}
	o := r.Overall
	order := make([]int, len(o.Aggregates))
	iqm := make([]float64, len(order))
	for i := range order {
		order[i], iqm[i] = i, o.Aggregates[i].IQM.Value
	}
	ranks := stat.Ranks(iqm)
	place := func(i int) int { // in the legend; agents with equal means keep their order
		n := 0
		for j := range ranks {
			if ranks[j] < ranks[i] || ranks[j] == ranks[i] && j < i {
				n++
			}
		}
		return n
	}
	const left, plot, height = 60.0, 460.0, 300.0
	d := newDrawing(left+plot+260, height+60, "performance profiles")
	top := o.Tau[len(o.Tau)-1]
	x := func(tau float64) float64 { return left + tau/top*plot }
	y := func(share float64) float64 { return 14 + (1-share)*height }
	for _, t := range ticks(0, top, 6) {
		d.line(x(t), y(0), x(t), y(1), faint, 0.5)
		d.text(x(t), y(0)+16, "middle", six(t))
	}
	for _, s := range []float64{0, 0.25, 0.5, 0.75, 1} {
		d.line(left, y(s), left+plot, y(s), faint, 0.5)
		d.text(left-6, y(s)+4, "end", percent(s))
	}
	d.text(left+plot/2, y(0)+36, "middle", "normalised score τ: 0 random, 1 optimal")
	fmt.Fprintf(d, `<text transform="translate(12 %.1f) rotate(-90)" text-anchor="middle" fill="%s">share of runs above τ</text>`+"\n", y(0.5), ink)
	curve := func(a *Aggregate, value func(stat.Interval) float64) (points []float64) {
		for i, p := range a.Profile {
			points = append(points, x(o.Tau[i]), y(value(p)))
		}
		return points
	}
	for pass := range 2 { // grey below
		for i := range o.Aggregates {
			a, p := &o.Aggregates[i], place(i)
			if (p < profiled) != (pass == 1) {
				continue
			}
			color := faint
			if p < profiled {
				color = colors[p]
				if !math.IsNaN(a.Profile[0].Low) {
					band := curve(a, func(s stat.Interval) float64 { return s.Low })
					high := curve(a, func(s stat.Interval) float64 { return s.High })
					for k := len(high) - 2; k >= 0; k -= 2 {
						band = append(band, high[k], high[k+1])
					}
					d.path(band, color, 0, 0.15, true)
				}
				ly := 24 + 20*float64(p)
				d.line(left+plot+16, ly, left+plot+40, ly, color, 2)
				d.text(left+plot+46, ly+4, "start", shorten(a.Agent, 28))
			}
			d.path(curve(a, func(s stat.Interval) float64 { return s.Value }), color, 2, 1, false)
		}
	}
	if n := len(o.Aggregates) - profiled; n > 0 {
		d.text(left+plot+16, 28+20*profiled, "start", fmt.Sprintf("and %d more in grey", n))
	}
	return d.done()
}

// ranked is the number of agents that a critical-difference diagram shows.
const ranked = 20

// CriticalDifferenceSVG draws the critical-difference diagram: agents at their mean
// ranks, bars over agents that do not differ, and Nemenyi's critical difference as a
// scale. "" with fewer than six environments or three agents.
func CriticalDifferenceSVG(r *Result) string {
	if r.Overall == nil || r.Overall.Ranks == nil || math.IsNaN(r.Overall.Ranks.CriticalDifference) {
		return ""
	}
	k := r.Overall.Ranks
	all := len(k.Agents)
	n := min(all, ranked)
	var labels []string // with the ranks, in the order of drawing
	half := (n + 1) / 2
	for i, agent := range k.Agents[:n] {
		label, rank := shorten(agent, 36), fmt.Sprintf("%.2f", k.Mean[i])
		if i < half {
			labels = append(labels, label+"  "+rank)
		} else {
			labels = append(labels, rank+"  "+label)
		}
	}
	side := max(90, labelWidth(labels)+20)
	const plot, step, bar = 420.0, 20.0, 8.0
	axis := 66.0
	bars := axis + 14
	var cliques [][2]int
	for _, c := range k.Cliques {
		if c[0] < n {
			cliques = append(cliques, [2]int{c[0], min(c[1], n-1)})
		}
	}
	first, last := 1, all // ranks at the ends
	if n < all {
		first, last = int(k.Mean[0]), int(math.Ceil(k.Mean[n-1]))
	}
	span := float64(max(1, last-first))
	rows := bars + bar*float64(len(cliques)) + 18
	d := newDrawing(2*side+plot, rows+step*float64(half)+30, "critical-difference diagram")
	x := func(rank float64) float64 { return side + (rank-float64(first))/span*plot } // the best rank to the left
	d.line(side, axis, x(float64(last)), axis, ink, 1.5)
	every := max(1, (last-first+9)/10)
	for rank := first; rank <= last; rank += every {
		d.line(x(float64(rank)), axis-6, x(float64(rank)), axis, ink, 1)
		d.text(x(float64(rank)), axis-10, "middle", fmt.Sprint(rank))
	}
	d.text(side, 14, "start", fmt.Sprintf("Nemenyi's critical difference %.2f", k.CriticalDifference))
	cd := k.CriticalDifference / span * plot
	d.line(side, 22, side, 30, ink, 2)
	if cd > plot { // an arrow: it goes on beyond the axis
		cd = plot
		d.path([]float64{side + cd - 7, 21, side + cd, 26, side + cd - 7, 31}, ink, 2, 1, false)
	} else {
		d.line(side+cd, 22, side+cd, 30, ink, 2)
	}
	d.line(side, 26, side+cd, 26, ink, 2)
	for i := range n {
		at, row := x(k.Mean[i]), i
		edge, anchor := side-8, "end"
		if i >= half {
			row = n - 1 - i
			edge, anchor = side+plot+8, "start"
		}
		y := rows + step*float64(row)
		d.path([]float64{at, axis, at, y, edge, y}, ink, 1, 0.8, false)
		gap := -4.0
		if i >= half {
			gap = 4
		}
		d.text(edge+gap, y+4, anchor, labels[i])
	}
	if n < all {
		d.text(side+plot/2, rows+step*float64(half)+16, "middle", fmt.Sprintf("the best %d of %d agents", n, all))
	}
	for g, c := range cliques {
		y := bars + bar*float64(g)
		d.line(x(k.Mean[c[0]])-4, y, x(k.Mean[c[1]])+4, y, colors[1], 4)
	}
	return d.done()
}

// ticks returns about n round numbers within [low, high].
func ticks(low, high float64, n int) []float64 {
	step := math.Pow(10, math.Floor(math.Log10((high-low)/float64(n))))
	for _, m := range []float64{1, 2, 5, 10} {
		if (high-low)/(step*m) <= float64(n) {
			step *= m
			break
		}
	}
	var out []float64
	for i := math.Ceil(low / step); i*step <= high; i++ {
		out = append(out, i*step+0) // no negative zero
	}
	return out
}
