package compare

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// The drawing is SVG. The colour of its lines is a CSS variable with a default for light
// paper, so that a page can set another for a dark one. That of the bars is vermilion of
// Okabe & Ito (2008).
const (
	ink       = "var(--ink, #222)"
	vermilion = "#D55E00"
)

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

func (d *drawing) path(points []float64, color string, width, opacity float64) {
	var b strings.Builder
	for i := 0; i < len(points); i += 2 {
		verb := "L"
		if i == 0 {
			verb = "M"
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", verb, points[i], points[i+1])
	}
	fmt.Fprintf(d, `<path d="%s" fill="none" stroke="%s" stroke-width="%g" opacity="%g"/>`+"\n", b.String(), color, width, opacity)
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
		d.path([]float64{side + cd - 7, 21, side + cd, 26, side + cd - 7, 31}, ink, 2, 1)
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
		d.path([]float64{at, axis, at, y, edge, y}, ink, 1, 0.8)
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
		d.line(x(k.Mean[c[0]])-4, y, x(k.Mean[c[1]])+4, y, vermilion, 4)
	}
	return d.done()
}
