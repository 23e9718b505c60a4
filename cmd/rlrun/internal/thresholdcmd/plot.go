package thresholdcmd

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/rlrun/rlrun/bandit"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/plotting"
)

// Colours that readers with any colour vision tell apart (Okabe & Ito 2008).
var (
	fillAway = color.RGBA{0xf3, 0xdc, 0xa8, 0xff}
	fillStay = color.RGBA{0xe4, 0xec, 0xf2, 0xff}
)

const legendLines = 4 // room above each panel

// plot draws U over δ, and where exploring pays over horizon × uncertainty.
func (q *comparison) plot(file string) error {
	title := fmt.Sprintf("%s against Q = %s  (%s, T = %d, lower bound %s): %s",
		q.belief, cli.Given(q.against.Known), q.horizonText(), q.against.Hold, cli.Given(q.against.LowerBound), q.verdict())
	why := ""
	if !math.IsNaN(q.DeltaStar) {
		why = "δ* is where φ is greatest, so exploring pays at δ* if it pays at any δ. It is the same for every horizon; where U is greatest is not."
	}
	return plotting.Figure{
		Title: title, Note: why, Width: 24 * vg.Centimeter, Height: 13 * vg.Centimeter,
		Panels: []plotting.Drawer{q.plotBound(), q.plotRegion()},
	}.Save(file)
}

func (q *comparison) verdict() string {
	if q.explore {
		return "explore"
	}
	return "stay greedy"
}

// plotBound draws U(δ) beside the worth of staying greedy.
func (q *comparison) plotBound() *plotting.Panel {
	const points = 800
	top := q.deltaRange()
	u := make(plotter.XYs, points+1)
	for i := range u {
		delta := top * float64(i) / points
		u[i] = plotter.XY{X: delta, Y: bandit.ExplorationBound(q.h, q.against, delta, q.belief.is.Exceed(q.against.Known+delta))}
	}
	greedy := q.h.Total() * q.against.Known
	p := plotting.NewPanel("δ, improvement looked for", "expected weighted return")
	p.Strips = legendLines
	curve := p.Line(u, plotting.Blue, 1.8)
	stay := p.Line(plotter.XYs{{X: 0, Y: greedy}, {X: top, Y: greedy}}, plotting.Black, 1.2, vg.Points(5), vg.Points(3))
	p.Add(stay, curve)
	p.Legend.Add("U(δ), worth of exploring", curve)
	p.Legend.Add("G·Q, worth of staying greedy", stay)
	if !math.IsNaN(q.DeltaStar) {
		mark := p.Points(plotter.XYs{{X: q.DeltaStar, Y: q.u}}, plotting.Red, 4, draw.CircleGlyph{})
		p.Legend.Add(fmt.Sprintf("δ* = %.3g, where φ is greatest", q.DeltaStar), mark)
		greatest := u[0]
		for _, xy := range u {
			if xy.Y > greatest.Y {
				greatest = xy
			}
		}
		peak := p.Points(plotter.XYs{greatest}, plotting.Blue, 5, draw.RingGlyph{})
		p.Add(mark, peak)
		p.Legend.Add(fmt.Sprintf("δ = %.3g, where U is greatest", greatest.X), peak)
	}
	low, high := greedy, greedy
	for _, xy := range u {
		low, high = min(low, xy.Y), max(high, xy.Y)
	}
	margin := 0.06 * max(high-low, 1e-9*math.Abs(greedy), 1e-12)
	p.Range(0, top, low-margin, high+margin)
	return p
}

// deltaRange returns how far to draw δ: to where hardly anything is left of p,
// and well past δ*.
func (q *comparison) deltaRange() float64 {
	known := q.against.Known
	scale := q.sd
	if !(scale > 0) || math.IsInf(scale, 1) {
		scale = max(math.Abs(known), 1)
	}
	if q.Never {
		return scale
	}
	top := scale
	for range 60 {
		if q.belief.is.Exceed(known+top) < 1e-3 {
			break
		}
		top *= 1.5
	}
	for q.belief.is.Exceed(known+top/1.1) < 1e-3 && top > scale/1000 && top/1.1 > 1.6*nonNaN(q.DeltaStar) {
		top /= 1.1
	}
	return max(top, 1.6*nonNaN(q.DeltaStar))
}

func nonNaN(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return x
}

// plotRegion draws where exploring pays: the horizon across, the standard
// deviation of the belief, its mean kept, upwards.
func (q *comparison) plotRegion() *plotting.Panel {
	axis := q.horizonAxis()
	p := plotting.NewPanel(axis.label, "standard deviation of the belief, mean kept")
	p.Strips = legendLines
	here := axis.at
	right := max(3, here+0.5)
	unit := q.sd
	if math.IsInf(unit, 1) {
		unit = 1
		p.Y.Label.Text = "spread of the belief, now 1, mean kept"
	}
	edges := q.edges(axis, unit)
	for _, e := range edges {
		if e.Y >= 0.5*unit && e.Y <= unit && !math.IsInf(e.X, 0) {
			right = max(right, min(e.X+0.3, 8))
		}
	}
	top := 2 * unit
	if len(edges) > 0 {
		top = edges[len(edges)-1].Y
	}
	if top == 0 {
		top = 1
	}
	stay := p.Area(plotter.XYs{{X: 0, Y: 0}, {X: right, Y: 0}, {X: right, Y: top}, {X: 0, Y: top}}, fillStay)
	p.Add(stay)
	if border := within(edges, right); len(border) > 0 {
		outline := plotter.XYs{{X: right, Y: top}, {X: right, Y: border[0].Y}}
		if border[0].X == 0 { // the region goes on to a belief without spread
			outline = append(outline, plotter.XY{X: right, Y: 0}, plotter.XY{X: 0, Y: 0})
		}
		explore := p.Area(append(outline, border...), fillAway)
		p.Add(explore, p.Line(border, plotting.Red, 1.5))
		p.Legend.Add("exploring pays", explore)
	}
	p.Legend.Add("staying greedy pays", stay)
	at := plotter.XY{X: here, Y: min(unit, top)}
	if q.sd == 0 {
		at.Y = 0
	}
	mark := p.Points(plotter.XYs{at}, plotting.Black, 4, draw.CircleGlyph{})
	p.Add(mark)
	p.Legend.Add("here", mark)
	p.X.Tick.Marker = axis.ticks(right)
	p.Range(0, right, 0, top)
	return p
}

// edges are the points from which on exploring pays, by spreads of the belief of up to
// twice its own. X may be infinite.
func (q *comparison) edges(axis horizonAxis, unit float64) (edges plotter.XYs) {
	const steps = 160
	if q.sd <= 0 {
		return nil
	}
	for i := 1; i <= steps; i++ {
		s := 2 * float64(i) / steps
		b, ok := q.belief.scaled(s)
		if !ok {
			break
		}
		edges = append(edges, plotter.XY{X: axis.threshold(bandit.Threshold(b, q.against)), Y: s * unit})
	}
	return edges
}

// within cuts edges to 0 ≤ X ≤ right.
func within(edges plotter.XYs, right float64) (border plotter.XYs) {
	for i, e := range edges {
		if i > 0 && edges[i-1].X > right && e.X < right { // from beyond the right end
			before := edges[i-1]
			y := before.Y
			if !math.IsInf(before.X, 1) {
				y += (e.Y - before.Y) * (before.X - right) / (before.X - e.X)
			}
			border = append(border, plotter.XY{X: right, Y: y})
		}
		if e.X <= right {
			border = append(border, plotter.XY{X: max(e.X, 0), Y: e.Y})
		}
	}
	return border
}

// horizonAxis is the horizontal axis of the region: log₁₀ of the effective
// horizon 1/(1−γ), or of the number of rewards.
type horizonAxis struct {
	label     string
	at        float64                         // of the question
	threshold func(bandit.Thresholds) float64 // where exploring begins to pay
	ticks     func(right float64) plot.Ticker
}

func (q *comparison) horizonAxis() horizonAxis {
	if q.gamma == nil {
		return horizonAxis{
			label: "N+1, rewards that count",
			at:    math.Log10(float64(*q.horizon) + 1),
			threshold: func(t bandit.Thresholds) float64 {
				if t.Never {
					return math.Inf(1)
				}
				return max(0, math.Log10(float64(q.against.Hold)/t.ShareStar))
			},
			ticks: func(right float64) plot.Ticker { return decades(right, func(x float64) string { return cli.Num(x) }) },
		}
	}
	log := func(gamma float64) float64 { return -math.Log1p(-gamma) / math.Ln10 }
	a := horizonAxis{
		label: "γ, discount",
		at:    min(log(*q.gamma), 8),
		threshold: func(t bandit.Thresholds) float64 {
			if t.Never {
				return math.Inf(1)
			}
			return log(t.GammaStar)
		},
		ticks: func(right float64) plot.Ticker {
			return decades(right, func(h float64) string {
				if h == 1 {
					return "0"
				}
				return fmt.Sprintf("%.*f", int(math.Round(math.Log10(h))), 1-1/h)
			})
		},
	}
	if q.horizon != nil {
		n := *q.horizon
		a.label = fmt.Sprintf("γ, discount (N = %d)", n)
		a.threshold = func(t bandit.Thresholds) float64 {
			if g, ok := t.GammaStarWithin(n); ok {
				return log(g)
			}
			return math.Inf(1)
		}
	}
	return a
}

// decades marks 1, 10, 100, … on an axis that shows logarithms, and the
// multiples between them without a label.
func decades(right float64, label func(float64) string) plot.Ticker {
	var ticks plot.ConstantTicks
	every := 1 + int(right/4.5)
	for e := 0; float64(e) <= right; e++ {
		if e%every == 0 {
			ticks = append(ticks, plot.Tick{Value: float64(e), Label: label(math.Pow10(e))})
		}
		for m := 2.0; m < 10; m++ {
			if x := float64(e) + math.Log10(m); x <= right {
				ticks = append(ticks, plot.Tick{Value: x})
			}
		}
	}
	return ticks
}
