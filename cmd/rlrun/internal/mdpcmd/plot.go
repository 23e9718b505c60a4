package mdpcmd

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/rlrun/rlrun/mdp"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/plotting"
)

// lineColours are told apart with any colour vision (Okabe & Ito 2008).
var lineColours = []color.Color{
	plotting.Blue, plotting.Red, color.RGBA{0x00, 0x9e, 0x73, 0xff}, color.RGBA{0xcc, 0x79, 0xa7, 0xff},
	color.RGBA{0xe6, 0x9f, 0x00, 0xff}, color.RGBA{0x56, 0xb4, 0xe9, 0xff}, plotting.Black,
}

// chart is a plot with its legend above it.
type chart struct {
	p      *plot.Plot
	l      plot.Legend
	strips int // lines of the legend
}

func (x chart) extra() vg.Length { return max(0, vg.Length(x.strips)-2) * 0.5 * vg.Centimeter }

func (x chart) draw(c draw.Canvas) {
	strip := vg.Length(x.strips) * 0.5 * vg.Centimeter
	x.p.Draw(draw.Crop(c, 0, 0, 0, -strip-0.15*vg.Centimeter))
	x.l.Draw(draw.Crop(c, 1.6*vg.Centimeter, 0, c.Max.Y-c.Min.Y-strip, 0))
}

// plot draws T_ε.
func (q *forgetting) plot(file string) error {
	if q.sample != nil {
		return cli.Usagef("--plot is for models of up to %d states, not %d", exactStates, q.model.NumStates())
	}
	curves, err := q.curves()
	if err != nil {
		return err
	}
	f := figure{title: q.title(fmt.Sprintf("ε = %.3g, η = %.3g, |S| = %d", q.Epsilon, q.Eta, q.model.NumStates())), panels: []panel{curves}}
	if q.layout != nil {
		longest := make([]float64, q.model.NumStates())
		for s, row := range q.T {
			longest[s] = float64(slices.Max(row))
			switch {
			case slices.Max(row) == mdp.Never:
				longest[s] = math.Inf(1)
			case q.over[s]:
				longest[s] = math.NaN()
			}
		}
		h := newHeatMap("T_ε(s), after the action that is felt longest", "steps", q.layout, longest, math.Max)
		h.sign, h.empty = make([]string, len(h.value)), "end"
		for i, x := range h.value {
			if !math.IsNaN(x) {
				h.sign[i] = cli.Num(x)
			}
		}
		f.panels = append(f.panels, h)
	} else {
		points, err := q.timesByState()
		if err != nil {
			return err
		}
		f.panels = append(f.panels, points)
	}
	return f.save(file)
}

// timesByState draws T_ε of every state and action that the policy does not take,
// the actions side by side.
func (q *forgetting) timesByState() (chart, error) {
	c := chart{p: plotting.NewPanel("state", "T_ε(s,a), steps"), l: plotting.NewLegend()}
	// Actions without a point take no room.
	beside, drawn := make([]int, len(q.actions)), 0
	for a := range q.actions {
		for s, row := range q.T {
			if q.taken(s) != a && row[a] != mdp.Never {
				beside[a] = drawn
				drawn++
				break
			}
		}
	}
	groups := make([]plotter.XYs, len(q.actions))
	never := make([]int, len(q.actions))
	top := 1
	for s, row := range q.T {
		for a, t := range row {
			switch {
			case q.taken(s) == a:
			case t == mdp.Never:
				never[a]++
			default:
				offset := (float64(beside[a])+0.5)/float64(drawn) - 0.5
				groups[a] = append(groups[a], plotter.XY{X: float64(s) + 0.6*offset, Y: float64(t)})
				top = max(top, t)
			}
		}
	}
	names := slices.Clone(q.actions)
	for a, n := range never {
		if n > 0 {
			names[a] += fmt.Sprintf(" (∞ in %d %s)", n, cli.Plural(n, "state", "states"))
		}
	}
	if err := c.scatter(groups, names); err != nil {
		return c, err
	}
	c.p.X.Min, c.p.X.Max, c.p.Y.Min, c.p.Y.Max = -0.6, float64(len(q.T))-0.4, 0, 1.08*float64(top)
	c.p.X.Tick.Marker, c.p.Y.Tick.Marker = wholeTicks{}, wholeTicks{}
	return c, nil
}

// scatter adds groups of points with their names.
func (x *chart) scatter(groups []plotter.XYs, names []string) error {
	for i, g := range groups {
		if len(g) == 0 {
			continue
		}
		points, err := plotter.NewScatter(g)
		if err != nil {
			return err
		}
		points.GlyphStyle = draw.GlyphStyle{Color: lineColours[i%len(lineColours)], Radius: vg.Points(3.5), Shape: draw.CircleGlyph{}}
		x.p.Add(points)
		if x.strips < 6 {
			x.strips++
			x.l.Add(names[i], points)
		}
	}
	return nil
}

func (p *process) title(more string) string {
	policy := "optimal policy, " + p.criterion()
	if p.solution == nil {
		policy = "policy " + p.policyName
	}
	return p.label + ", " + policy + "  (" + more + ")"
}

// slowest returns, of every action, the pair that is forgotten last, the slowest first
// and at most six. Until end, in steps, the curves of these pairs are worth drawing.
func (q *forgetting) slowest() (pairs []mdp.Pair, end int) {
	const most, longest = 6, 2000
	for a := range q.model.NumActions() {
		best := -1
		for s := range q.T {
			if q.taken(s) != a && q.model.Available(s, a) && (best < 0 || q.T[s][a] > q.T[best][a]) {
				best = s
			}
		}
		if best >= 0 {
			pairs = append(pairs, mdp.Pair{S: best, A: a})
		}
	}
	slices.SortStableFunc(pairs, func(x, y mdp.Pair) int { return cmp.Compare(q.T[y.S][y.A], q.T[x.S][x.A]) })
	pairs = pairs[:min(len(pairs), most)]
	end = 8
	for _, x := range pairs {
		if t := q.T[x.S][x.A]; t < longest {
			end = max(end, t+max(4, t/3))
		} else {
			end = max(end, 40)
			if t != mdp.Never {
				end = longest
			}
		}
	}
	return pairs, end
}

// curves draws d_T of each action in the state where it is felt longest, ε, and
// T_ε.
func (q *forgetting) curves() (chart, error) {
	pairs, end := q.slowest()
	p := plotting.NewPanel("T, steps after the choice", "d_T(s,a), difference felt")
	c := chart{p: p, l: plotting.NewLegend()}
	top := q.Epsilon
	var marks []plot.Plotter
	curves := make([][]float64, len(pairs))
	same := make([][]mdp.Pair, len(pairs)) // that share the line; none: another's line is theirs
	for i, x := range pairs {
		d, err := mdp.Forgetting(q.model, q.policy, x.S, x.A, end)
		if err != nil {
			return c, err
		}
		curves[i], same[i] = d, []mdp.Pair{x}
		for j, earlier := range curves[:i] { // actions that do the same share a line
			if same[j] != nil && slices.Equal(earlier, d) {
				same[j], same[i] = append(same[j], x), nil
				break
			}
		}
	}
	lines := 0
	for _, pairs := range same {
		if pairs != nil {
			lines++
		}
	}
	for i, x := range pairs {
		if same[i] == nil {
			continue
		}
		d := curves[i]
		xy := make(plotter.XYs, end)
		for t := range xy {
			xy[t] = plotter.XY{X: float64(t + 1), Y: d[t]}
		}
		top = max(top, d[0])
		line, err := plotter.NewLine(xy)
		if err != nil {
			return c, err
		}
		// Where lines coincide, the first ones are seen beside the last.
		line.LineStyle = draw.LineStyle{Color: lineColours[c.strips], Width: vg.Points(1.6 + 0.8*float64(lines-1-c.strips))}
		if c.strips > 0 {
			line.Dashes = []vg.Length{vg.Points(2 + 2*float64(c.strips)), vg.Points(2)}
		}
		p.Add(line)
		name := fmt.Sprintf("%s: T_ε = %s", q.names(same[i]), steps(q.T[x.S][x.A]))
		if t := q.T[x.S][x.A]; t <= end {
			mark, err := plotter.NewScatter(plotter.XYs{{X: float64(t), Y: d[t-1]}})
			if err != nil {
				return c, err
			}
			mark.GlyphStyle = draw.GlyphStyle{Color: lineColours[c.strips], Radius: vg.Points(3.5), Shape: draw.CircleGlyph{}}
			marks = append(marks, mark)
			c.l.Add(name, line, mark)
		} else {
			if q.T[x.S][x.A] == mdp.Never {
				name += fmt.Sprintf(", d_∞ = %s", cli.Num(q.Limit[x.S][x.A]))
			}
			c.l.Add(name, line)
		}
		c.strips++
	}
	c.strips++
	threshold, err := plotter.NewLine(plotter.XYs{{X: 1, Y: q.Epsilon}, {X: float64(end), Y: q.Epsilon}})
	if err != nil {
		return c, err
	}
	threshold.LineStyle = draw.LineStyle{Color: plotting.Black, Width: vg.Points(1), Dashes: []vg.Length{vg.Points(5), vg.Points(3)}}
	p.Add(threshold)
	p.Add(marks...)
	c.l.Add(fmt.Sprintf("ε = 2η/|S| = %.3g", q.Epsilon), threshold)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 1, float64(end), 0, 1.08*top
	p.X.Tick.Marker = wholeTicks{}
	return c, nil
}

// names lists pairs by their states, "a, b in state 3", as far as a legend has room.
func (q *forgetting) names(pairs []mdp.Pair) string {
	const room = 34 // letters
	text, left := "", len(pairs)
	for i, x := range pairs {
		part := q.actions[x.A]
		if i > 0 {
			part = ", " + part
		}
		if i > 0 && utf8.RuneCountInString(text+part) > room-10 {
			break
		}
		if left--; i == len(pairs)-1 || pairs[i+1].S != x.S {
			part += fmt.Sprintf(" in state %d", x.S)
		}
		text += part
	}
	if left > 0 {
		text += fmt.Sprintf(" and %d more", left)
	}
	return text
}

// plot draws value, policy and visits.
func (q *solution) plot(file string) error {
	name, unit := "value", "reward"
	if q.gain != nil {
		name = "bias h, the worth of starting there"
	}
	info := "value from the start " + cli.Num(q.start(q.value))
	if q.gain != nil {
		info = "gain " + cli.Num(q.start(q.gain)) + " per step"
	}
	f := figure{title: q.title(info)}
	value := slices.Clone(q.value)
	if q.layout == nil {
		return q.plotStates(f, file)
	}
	for s, over := range q.over {
		if over && q.restart {
			value[s] = math.NaN() // not reached
		}
	}
	several := make([]int, q.layout.Rows*q.layout.Cols)
	for _, cell := range q.layout.Cell {
		if cell >= 0 {
			several[cell]++
		}
	}
	per := slices.Max(several)
	h := newHeatMap(name, unit, q.layout, value, math.Max)
	h.empty = "end"
	if per > 1 {
		h.title += ", greatest of the states in a cell"
	} else {
		h.sign = make([]string, len(h.value))
		for s, cell := range q.layout.Cell {
			if cell >= 0 {
				h.sign[cell] = q.sign(s)
			}
		}
		if len(h.value) <= drawnCells && slices.ContainsFunc(h.sign, func(sign string) bool { return sign != "" }) {
			h.title += ", and the policy"
		}
	}
	f.panels = append(f.panels, h)
	if q.stationary != nil && !q.model.HasTerminal() {
		share := slices.Clone(q.stationary)
		for s, x := range value {
			if math.IsNaN(x) {
				share[s] = x
			}
		}
		v := newHeatMap("stationary distribution: share of visits in the long run", "share", q.layout, share, func(a, b float64) float64 { return a + b })
		v.empty = h.empty
		f.panels = append(f.panels, v)
	}
	return f.save(file)
}

// plotStates draws value and visits over the numbers of the states.
func (q *solution) plotStates(f figure, file string) error {
	label := "value"
	if q.gain != nil {
		label = "bias h"
	}
	p := plotting.NewPanel("state", label)
	c := chart{p: p, l: plotting.NewLegend()}
	// The states by what is done there; the last group at random.
	groups := make([]plotter.XYs, len(q.actions)+1)
	for s, v := range q.value {
		a := q.taken(s)
		if a < 0 {
			a = len(q.actions)
		}
		groups[a] = append(groups[a], plotter.XY{X: float64(s), Y: v})
	}
	var names []string
	for _, a := range q.actions {
		names = append(names, "the policy takes "+a)
	}
	names = append(names, "the policy is random")
	if err := c.scatter(groups, names); err != nil {
		return err
	}
	low, high := extremes(q.value)
	margin := 0.06 * max(high-low, 1e-9)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.6, float64(len(q.value))-0.4, low-margin, high+margin
	p.X.Tick.Marker = wholeTicks{}
	f.panels = append(f.panels, c)
	if q.stationary != nil {
		visits := plotting.NewPanel("state", "share of visits in the long run")
		bars := make(plotter.Values, len(q.stationary))
		copy(bars, q.stationary)
		width := 8 * vg.Centimeter / vg.Length(len(bars))
		chartOf, err := plotter.NewBarChart(bars, max(0.75*width, 0.5))
		if err != nil {
			return err
		}
		chartOf.Color, chartOf.LineStyle.Width = plotting.Blue, 0
		visits.Add(chartOf)
		_, most := extremes(q.stationary)
		visits.X.Min, visits.X.Max, visits.Y.Min, visits.Y.Max = p.X.Min, p.X.Max, 0, 1.06*most
		visits.X.Tick.Marker = wholeTicks{}
		f.panels = append(f.panels, chart{p: visits, l: plotting.NewLegend(), strips: c.strips})
	}
	return f.save(file)
}

// wholeTicks marks whole numbers, at most nine.
type wholeTicks struct{}

func (wholeTicks) Ticks(low, high float64) (ticks []plot.Tick) {
	step := 1.0
	for k := 0; (high-low)/step > 9; k++ {
		step *= []float64{2, 2.5, 2}[k%3]
	}
	for x := math.Ceil(low/step) * step; x <= high; x += step {
		ticks = append(ticks, plot.Tick{Value: x, Label: fmt.Sprint(int(x))})
	}
	return ticks
}
