package thresholdcmd

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
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

// plot draws U over δ, and where exploring pays over horizon × uncertainty.
func (q *comparison) plot(file string) error {
	format, err := plotting.Format(file)
	if err != nil {
		return err
	}
	bound, boundLegend, err := q.plotBound()
	if err != nil {
		return err
	}
	region, regionLegend, err := q.plotRegion()
	if err != nil {
		return err
	}
	const width, height = 24 * vg.Centimeter, 13 * vg.Centimeter
	canvas, err := draw.NewFormattedCanvas(width, height, format)
	if err != nil {
		return err
	}
	whole := draw.New(canvas)
	whole.SetColor(color.White)
	whole.Fill(whole.Rectangle.Path())
	title := fmt.Sprintf("%s against Q = %s  (%s, T = %d, lower bound %s): %s",
		q.belief, cli.Given(q.against.Known), q.horizonText(), q.against.Hold, cli.Given(q.against.LowerBound), q.verdict())
	why := "δ* is where φ is greatest, so exploring pays at δ* if it pays at any δ. It is the same for every horizon; where U is greatest is not."
	style := plotting.Sans(text.Style{Color: plotting.Black, Handler: plot.DefaultTextHandler, XAlign: text.XCenter, YAlign: text.YTop}, 12)
	whole.FillText(style, vg.Point{X: whole.Center().X, Y: whole.Max.Y - 0.3*vg.Centimeter}, title)
	below := 0.3 * vg.Centimeter
	if !math.IsNaN(q.DeltaStar) {
		style = plotting.Sans(style, 9)
		whole.FillText(style, vg.Point{X: whole.Center().X, Y: whole.Min.Y + 0.55*vg.Centimeter}, why)
		below = 0.9 * vg.Centimeter
	}
	whole = draw.Crop(whole, 0.4*vg.Centimeter, -0.5*vg.Centimeter, below, -1.1*vg.Centimeter)
	half := (whole.Max.X - whole.Min.X) / 2
	const gap, strip = 0.5 * vg.Centimeter, 2.1 * vg.Centimeter
	for i, panel := range []struct {
		p *plot.Plot
		l plot.Legend
	}{{bound, boundLegend}, {region, regionLegend}} {
		c := draw.Crop(whole, vg.Length(i)*(half+gap/2), -vg.Length(1-i)*(half+gap/2), 0, 0)
		panel.p.Draw(draw.Crop(c, 0, 0, 0, -strip))
		panel.l.Draw(draw.Crop(c, 1.6*vg.Centimeter, 0, c.Max.Y-c.Min.Y-strip+0.1*vg.Centimeter, 0))
	}
	return plotting.Save(file, format, canvas)
}

func (q *comparison) verdict() string {
	if q.explore {
		return "explore"
	}
	return "stay greedy"
}

// plotBound draws U(δ) beside the worth of staying greedy.
func (q *comparison) plotBound() (*plot.Plot, plot.Legend, error) {
	const points = 800
	top := q.deltaRange()
	u := make(plotter.XYs, points+1)
	for i := range u {
		delta := top * float64(i) / points
		u[i] = plotter.XY{X: delta, Y: bandit.ExplorationBound(q.h, q.against, delta, q.belief.is.Exceed(q.against.Known+delta))}
	}
	greedy := q.h.Total() * q.against.Known
	p := plotting.NewPanel("δ, improvement looked for", "expected weighted return")
	curve, err := plotter.NewLine(u)
	if err != nil {
		return nil, plot.Legend{}, err
	}
	curve.LineStyle = draw.LineStyle{Color: plotting.Blue, Width: vg.Points(1.8)}
	stay, err := plotter.NewLine(plotter.XYs{{X: 0, Y: greedy}, {X: top, Y: greedy}})
	if err != nil {
		return nil, plot.Legend{}, err
	}
	stay.LineStyle = draw.LineStyle{Color: plotting.Black, Width: vg.Points(1.2), Dashes: []vg.Length{vg.Points(5), vg.Points(3)}}
	p.Add(stay, curve)
	l := plotting.NewLegend()
	l.Add("U(δ), worth of exploring", curve)
	l.Add("G·Q, worth of staying greedy", stay)
	if !math.IsNaN(q.DeltaStar) {
		mark, err := plotter.NewScatter(plotter.XYs{{X: q.DeltaStar, Y: q.u}})
		if err != nil {
			return nil, l, err
		}
		mark.GlyphStyle = draw.GlyphStyle{Color: plotting.Red, Radius: vg.Points(4), Shape: draw.CircleGlyph{}}
		p.Add(mark)
		l.Add(fmt.Sprintf("δ* = %.3g, where φ is greatest", q.DeltaStar), mark)
		greatest := u[0]
		for _, xy := range u {
			if xy.Y > greatest.Y {
				greatest = xy
			}
		}
		peak, err := plotter.NewScatter(plotter.XYs{greatest})
		if err != nil {
			return nil, l, err
		}
		peak.GlyphStyle = draw.GlyphStyle{Color: plotting.Blue, Radius: vg.Points(5), Shape: draw.RingGlyph{}}
		p.Add(peak)
		l.Add(fmt.Sprintf("δ = %.3g, where U is greatest", greatest.X), peak)
	}
	low, high := greedy, greedy
	for _, xy := range u {
		low, high = min(low, xy.Y), max(high, xy.Y)
	}
	margin := 0.06 * max(high-low, 1e-9*math.Abs(greedy), 1e-12)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, top, low-margin, high+margin
	return p, l, nil
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
func (q *comparison) plotRegion() (*plot.Plot, plot.Legend, error) {
	axis := q.horizonAxis()
	p := plotting.NewPanel(axis.label, "standard deviation of the belief, mean kept")
	l := plotting.NewLegend()
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
	stay, err := plotter.NewPolygon(plotter.XYs{{X: 0, Y: 0}, {X: right, Y: 0}, {X: right, Y: top}, {X: 0, Y: top}})
	if err != nil {
		return nil, l, err
	}
	stay.Color, stay.LineStyle.Width = fillStay, 0
	p.Add(stay)
	if border := within(edges, right); len(border) > 0 {
		outline := plotter.XYs{{X: right, Y: top}, {X: right, Y: border[0].Y}}
		if border[0].X == 0 { // the region goes on to a belief without spread
			outline = append(outline, plotter.XY{X: right, Y: 0}, plotter.XY{X: 0, Y: 0})
		}
		explore, err := plotter.NewPolygon(append(outline, border...))
		if err != nil {
			return nil, l, err
		}
		explore.Color, explore.LineStyle.Width = fillAway, 0
		line, err := plotter.NewLine(border)
		if err != nil {
			return nil, l, err
		}
		line.LineStyle = draw.LineStyle{Color: plotting.Red, Width: vg.Points(1.5)}
		p.Add(explore, line)
		l.Add("exploring pays", explore)
	}
	l.Add("staying greedy pays", stay)
	mark, err := plotter.NewScatter(plotter.XYs{{X: here, Y: min(unit, top)}})
	if q.sd == 0 {
		mark, err = plotter.NewScatter(plotter.XYs{{X: here, Y: 0}})
	}
	if err != nil {
		return nil, l, err
	}
	mark.GlyphStyle = draw.GlyphStyle{Color: plotting.Black, Radius: vg.Points(4), Shape: draw.CircleGlyph{}}
	p.Add(mark)
	l.Add("here", mark)
	p.X.Tick.Marker = axis.ticks(right)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, right, 0, top
	return p, l, nil
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
