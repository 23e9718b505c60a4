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

	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/mdp"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/plotting"
)

// lineColours are told apart with any colour vision (Okabe & Ito 2008).
var lineColours = []color.Color{
	plotting.Blue, plotting.Red, color.RGBA{0x00, 0x9e, 0x73, 0xff}, color.RGBA{0xcc, 0x79, 0xa7, 0xff},
	color.RGBA{0xe6, 0x9f, 0x00, 0xff}, color.RGBA{0x56, 0xb4, 0xe9, 0xff}, plotting.Black,
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
	f := figure{title: q.title(fmt.Sprintf("ε = %.3g, η = %.3g, |S| = %d", q.Epsilon, q.Eta, q.model.NumStates())), panels: []plotting.Drawer{curves}}
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
		f.panels = append(f.panels, q.timesByState())
	}
	return f.save(file)
}

// timesByState draws T_ε of every state and action that the policy does not take,
// the actions side by side.
func (q *forgetting) timesByState() *plotting.Panel {
	p := plotting.NewPanel("state", "T_ε(s,a), steps")
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
	scatter(p, groups, names)
	p.Range(-0.6, float64(len(q.T))-0.4, 0, 1.08*float64(top))
	p.X.Tick.Marker, p.Y.Tick.Marker = wholeTicks{}, wholeTicks{}
	return p
}

// scatter adds groups of points with their names.
func scatter(p *plotting.Panel, groups []plotter.XYs, names []string) {
	for i, g := range groups {
		if len(g) == 0 {
			continue
		}
		points := p.Points(g, lineColours[i%len(lineColours)], 3.5, draw.CircleGlyph{})
		p.Add(points)
		if p.Strips < 6 {
			p.Strips++
			p.Legend.Add(names[i], points)
		}
	}
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
func (q *forgetting) curves() (*plotting.Panel, error) {
	pairs, end := q.slowest()
	p := plotting.NewPanel("T, steps after the choice", "d_T(s,a), difference felt")
	top := q.Epsilon
	var marks []plot.Plotter
	curves := make([][]float64, len(pairs))
	same := make([][]mdp.Pair, len(pairs)) // that share the line; none: another's line is theirs
	for i, x := range pairs {
		d, err := mdp.Forgetting(q.model, q.policy, x.S, x.A, end)
		if err != nil {
			return nil, err
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
		ink := lineColours[p.Strips]
		// Where lines coincide, the first ones are seen beside the last.
		line := p.Line(xy, ink, 1.6+0.8*float64(lines-1-p.Strips))
		if p.Strips > 0 {
			line.Dashes = []vg.Length{vg.Points(2 + 2*float64(p.Strips)), vg.Points(2)}
		}
		p.Add(line)
		name := fmt.Sprintf("%s: T_ε = %s", q.names(same[i]), steps(q.T[x.S][x.A]))
		if t := q.T[x.S][x.A]; t <= end {
			mark := p.Points(plotter.XYs{{X: float64(t), Y: d[t-1]}}, ink, 3.5, draw.CircleGlyph{})
			marks = append(marks, mark)
			p.Legend.Add(name, line, mark)
		} else {
			if q.T[x.S][x.A] == mdp.Never {
				name += fmt.Sprintf(", d_∞ = %s", cli.Num(q.Limit[x.S][x.A]))
			}
			p.Legend.Add(name, line)
		}
		p.Strips++
	}
	p.Strips++
	threshold := p.Line(plotter.XYs{{X: 1, Y: q.Epsilon}, {X: float64(end), Y: q.Epsilon}}, plotting.Black, 1, vg.Points(5), vg.Points(3))
	p.Add(threshold)
	p.Add(marks...)
	p.Legend.Add(fmt.Sprintf("ε = 2η/|S| = %.3g", q.Epsilon), threshold)
	p.Range(1, float64(end), 0, 1.08*top)
	p.X.Tick.Marker = wholeTicks{}
	return p, nil
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
		if len(h.value) <= drawnSigns && slices.ContainsFunc(h.sign, func(sign string) bool { return sign != "" }) {
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
	// The states by what is done there; the last group at random.
	groups := make([]plotter.XYs, len(q.actions)+1)
	for s, v := range q.value {
		a := q.taken(s)
		if a < 0 {
			a = len(q.actions)
		}
		groups[a] = append(groups[a], plotter.XY{X: float64(s), Y: v})
	}
	names := each.Of(q.actions, func(a string) string { return "the policy takes " + a })
	names = append(names, "the policy is random")
	scatter(p, groups, names)
	low, high := extremes(q.value)
	margin := 0.06 * max(high-low, 1e-9)
	p.Range(-0.6, float64(len(q.value))-0.4, low-margin, high+margin)
	p.X.Tick.Marker = wholeTicks{}
	f.panels = append(f.panels, p)
	if q.stationary != nil {
		visits := plotting.NewPanel("state", "share of visits in the long run")
		width := 8 * vg.Centimeter / vg.Length(len(q.stationary))
		bars, err := plotter.NewBarChart(plotter.Values(q.stationary), max(0.75*width, 0.5))
		if err != nil {
			return err
		}
		bars.Color, bars.LineStyle.Width = plotting.Blue, 0
		visits.Add(bars)
		_, most := extremes(q.stationary)
		visits.Range(p.X.Min, p.X.Max, 0, 1.06*most)
		visits.Strips = p.Strips
		visits.X.Tick.Marker = wholeTicks{}
		f.panels = append(f.panels, visits)
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
