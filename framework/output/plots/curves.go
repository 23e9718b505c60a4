package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/stat"
)

// Config chooses what of a summary a figure shows and how.
type Config struct {
	Title  string   // default: environment and metric
	Agents []string // default: all
	Labels []string // of Agents in the legend; default: their own
	// Smooth is the number of grid points in the moving average of a metric that
	// is not cumulative. 1 is none, 0 a twentieth of the points. Points of other runs
	// are not averaged together. The band is the mean of the bands of the averaged
	// points, where equal runs have one without width. So it is no narrower than
	// the band of the average itself.
	Smooth int
	// LogX forces a logarithmic or linear axis of steps; nil means the one on
	// which the recording grid is even.
	LogX *bool

	best bool // Agents come from the best to the worst
}

// maxPoints bounds the points drawn of a curve; more are not seen.
const MaxPoints = 300

// NewFigure draws one metric of the agents in one environment: the means over
// runs with their 95 % bands. Of more than 20 agents the 10 best are in colour and the
// others grey: one by one up to 60, else their median with the middle half and nine tenths. It fails where there is nothing to draw.
func NewFigure(s *result.Summary, environment string, m result.Metric, opts Config) (*Figure, error) {
	def := s.Meta.Define(m)
	agents := opts.Agents
	if agents == nil {
		agents = s.Meta.Agents
	}
	if opts.Labels != nil && len(opts.Labels) != len(agents) {
		return nil, fmt.Errorf("%d labels for %d agents", len(opts.Labels), len(agents))
	}
	f := &Figure{Title: opts.Title, XLabel: s.Meta.Axis(), YLabel: def.Axis, LogX: IsLog(s.Meta.Grid)}
	if f.Title == "" {
		f.Title = fmt.Sprintf("%s: %s", environment, def.Title)
	}
	if Width(def, opts.Smooth, len(s.Meta.Grid)) > 1 {
		f.YLabel += " (moving average)"
	}
	if s.Mixed != "" {
		f.Title += " (mixed programs)"
	}
	if opts.LogX != nil {
		f.LogX = *opts.LogX
	}
	for i, agent := range agents {
		label := agent
		if opts.Labels != nil {
			label = opts.Labels[i]
		}
		c := s.Curve(environment, agent, m)
		if c == nil {
			if !slices.Contains(s.Meta.Agents, agent) {
				return nil, fmt.Errorf("the experiment has no agent %q", agent)
			}
			c = &result.Curve{} // keeps the colours of the others
		}
		l := NewLine(label, c, def, opts.Smooth, MaxPoints)
		for k := range l.Low {
			l.Low[k], l.High[k] = s.Meta.Clamp(environment, m, int(l.X[k]), l.Low[k], l.High[k])
		}
		f.Lines = append(f.Lines, l)
	}
	if len(f.Lines) > mostColored {
		f.fade(s, environment, m, agents, opts.best)
	}
	if text := Partial(s, environment, m, agents); text != "" && opts.Title == "" {
		f.Title += " (" + text + ")"
	}
	if best, ok := s.Meta.Optimum[environment]; ok && m == result.Reward {
		f.Levels = append(f.Levels, Level{"optimum", best})
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	return f, nil
}

// partial says where curves are not of all runs that ended well; "" if they are everywhere.
func Partial(s *result.Summary, environment string, m result.Metric, agents []string) string {
	from := 0 // the first step at which all have one
	for _, agent := range agents {
		c, n := s.Curve(environment, agent, m), s.Count(environment, agent)
		if c == nil || n == nil || s.Meta.Define(m).Sparse {
			continue
		}
		k := len(c.Runs)
		for k > 0 && c.Runs[k-1] >= n.OK {
			k--
		}
		switch {
		case k == len(c.Runs) && k > 0:
			return "not all runs have a value"
		case k > 0:
			from = max(from, c.Steps[k])
		}
	}
	if from == 0 {
		return ""
	}
	return fmt.Sprintf("before step %s not all runs have a value", humanize.Comma(int64(from)))
}

// A figure of more than mostColored agents has colours and a legend for the best ones
// alone.
const (
	mostColored = 20
	bestColored = 10
	faintPoints = 60
	// mostFaint is the number of grey lines from which on their quantiles are drawn: more lines
	// are one grey area.
	mostFaint = 60
)

// fade puts the best agents first, unless they are sorted, and makes the others' lines
// faint.
func (f *Figure) fade(s *result.Summary, environment string, m result.Metric, agents []string, sorted bool) {
	sign := 1.0
	if s.Meta.Define(m).Better == metric.Lower {
		sign = -1
	}
	order, value := make([]int, len(agents)), make([]float64, len(agents))
	for i, agent := range agents {
		order[i], value[i] = i, math.Inf(-1)
		if r := s.Row(environment, agent, m); r != nil && !math.IsNaN(r.Mean) {
			value[i] = sign * r.Mean
		}
	}
	if !sorted {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(value[b], value[a]) })
	}
	lines := make([]Line, len(order))
	for k, i := range order {
		lines[k] = f.Lines[i]
		if k < bestColored {
			continue
		}
		l := &lines[k]
		l.Faint, l.Low, l.High = true, nil, nil
		l.X, l.Y = lasts(l.X, faintPoints), lasts(l.Y, faintPoints)
	}
	if len(lines)-bestColored > mostFaint {
		for k := range bestColored { // its band would cover the others'
			lines[k].Low, lines[k].High = nil, nil
		}
		lines = append(lines[:bestColored:bestColored], quantileLines(lines[bestColored:])...)
	}
	f.Lines = lines
}

// quantileLines are the median of lines with the same X, with the band of the middle half, and the
// band of all but a tenth.
func quantileLines(lines []Line) []Line {
	n := 0
	for i := range lines {
		if len(lines[i].X) > len(lines[n].X) {
			n = i
		}
	}
	xs := lines[n].X
	none := slices.Repeat([]float64{math.NaN()}, len(xs))
	half := Line{X: xs, Y: slices.Clone(none), Low: slices.Clone(none), High: slices.Clone(none), Faint: true, Of: len(lines)}
	most := Line{X: xs, Y: none, Low: slices.Clone(none), High: slices.Clone(none), Faint: true, Of: len(lines)}
	var ys []float64
	for k := range xs {
		ys = ys[:0]
		for i := range lines {
			if k < len(lines[i].Y) && !math.IsNaN(lines[i].Y[k]) {
				ys = append(ys, lines[i].Y[k])
			}
		}
		if len(ys) == 0 {
			continue
		}
		slices.Sort(ys)
		half.Y[k], half.Low[k], half.High[k] = stat.Quantile(ys, 0.5), stat.Quantile(ys, 0.25), stat.Quantile(ys, 0.75)
		most.Low[k], most.High[k] = stat.Quantile(ys, 0.05), stat.Quantile(ys, 0.95)
	}
	return []Line{most, half}
}

// Width is the number of points, of n, over which a curve of a metric is averaged. For smooth see Config.
func Width(def *metric.Definition, smooth, n int) int {
	switch {
	case def.Cumulative() || smooth == 0 && def.Value != metric.Mean:
		return 1
	case smooth == 0:
		return max(1, n/20)
	}
	return smooth
}

func NewLine(label string, c *result.Curve, def *metric.Definition, smooth, limit int) Line {
	n := len(c.Steps)
	l := Line{Label: label, X: make([]float64, n),
		Y: slices.Clone(c.Mean), Low: slices.Clone(c.Low), High: slices.Clone(c.High)}
	widths := make([]float64, n)
	prev := 0
	for i, step := range c.Steps {
		l.X[i] = float64(step)
		widths[i] = float64(step - prev)
		prev = step
		if c.Runs[i] > 1 && math.IsNaN(l.Low[i]) { // all are equal: the band has no width
			l.Low[i], l.High[i] = l.Y[i], l.Y[i]
		}
	}
	all := [][]float64{l.Y, l.Low, l.High}
	if def.Sparse {
		for _, ys := range all {
			bridge(ys)
		}
	}
	first := 0 // point of the same runs
	l.average(widths, n, func(i int) (start, end int) {
		if i > 0 && c.Runs[i] != c.Runs[i-1] {
			first = i
		}
		return max(first, i-Width(def, smooth, n)+1), i + 1
	})
	for i, y := range all[0] {
		if math.IsNaN(y) {
			l.Y[i], l.Low[i], l.High[i] = y, y, y // a point without a value stays so
		}
	}
	if n > limit {
		group := func(i int) (start, end int) { return i * n / limit, (i + 1) * n / limit }
		if def.Cumulative() {
			l.Y, l.Low, l.High = lasts(l.Y, limit), lasts(l.Low, limit), lasts(l.High, limit)
		} else {
			l.average(widths, limit, group)
		}
		l.X = lasts(l.X, limit)
	}
	return l
}

// lasts reduces values to at most limit: the last of each group of neighbours.
func lasts(ys []float64, limit int) []float64 {
	if len(ys) <= limit {
		return ys
	}
	out := make([]float64, limit)
	for i := range out {
		out[i] = ys[(i+1)*len(ys)/limit-1]
	}
	return out
}

// average makes n points, each the mean of the points of a window, weighted by the steps that they
// stand for. Points without a value do not count. A band is known where those of all points are.
func (l *Line) average(widths []float64, n int, window func(i int) (start, end int)) {
	out := [3][]float64{make([]float64, n), make([]float64, n), make([]float64, n)}
	for i := range n {
		start, end := window(i)
		weight, sums := 0.0, [3]float64{}
		for k := start; k < end; k++ {
			if !math.IsNaN(l.Y[k]) {
				weight += widths[k]
				for j, ys := range [][]float64{l.Y, l.Low, l.High} {
					sums[j] += float64(ys[k] * widths[k])
				}
			}
		}
		for j := range out {
			out[j][i] = sums[j] / weight
		}
		if end-start == 1 { // to the bit
			out[0][i], out[1][i], out[2][i] = l.Y[start], l.Low[start], l.High[start]
		}
	}
	l.Y, l.Low, l.High = out[0], out[1], out[2]
}

// bridge replaces NaNs between two values by points on a line from one to the other.
func bridge(ys []float64) {
	last := -1
	for i, y := range ys {
		if math.IsNaN(y) {
			continue
		}
		for k := last + 1; k < i && last >= 0; k++ {
			ys[k] = ys[last] + (y-ys[last])*float64(k-last)/float64(i-last)
		}
		last = i
	}
}

// isLog says whether a grid is nearer to even in log steps than in steps.
func IsLog(grid []int) bool {
	n := len(grid)
	if n < 3 {
		return false
	}
	return float64(grid[n-1]-grid[n-2]) > 5*float64(grid[1]-grid[0])
}

// Capital begins a title with a capital letter.
func Capital(title string) string {
	if title == "" {
		return ""
	}
	return strings.ToUpper(title[:1]) + title[1:]
}
