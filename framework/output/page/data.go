package page

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/output/plots"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/printable"
)

// Sweep lists the agents, or the environments, that one entry of a config stands for:
// one for each combination of values of its keys.
type Sweep struct {
	Name         string     `json:"name"`                   // template of the labels, as in the config
	Keys         []string   `json:"keys"`                   // swept parameters
	Agents       []int      `json:"agents,omitempty"`       // indices in Meta.Agents
	Environments []int      `json:"environments,omitempty"` // indices in Meta.Environments
	Values       [][]string `json:"values"`                 // of the keys, for each of them
}

// Column holds numbers as base64 of little-endian 32-bit floats, which is compact and
// quick to read. NaN is no value.
type column []float64

func (c column) MarshalJSON() ([]byte, error) {
	raw := make([]byte, 0, 4*len(c))
	for _, x := range c {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(x)))
	}
	return json.Marshal(base64.StdEncoding.EncodeToString(raw))
}

// pageData is what the page's script shows. Environments, agents and metrics are
// named by their indices.
type pageData struct {
	Name         string        `json:"name"`
	Planned      int           `json:"planned"` // runs of each agent in each environment
	Notices      []string      `json:"notices"`
	Agents       []string      `json:"agents"`
	Environments []string      `json:"environments"`
	Metrics      []pageMetric  `json:"metrics"`
	Points       int           `json:"points"` // of the grid
	Axis         string        `json:"axis"`   // what Steps counts
	Steps        []int         `json:"steps"`  // of grid points
	Log          bool          `json:"log"`
	OK           [][]int       `json:"ok"` // runs, by environment and agent
	Rows         []pageRows    `json:"rows"`
	Curves       []pageCurves  `json:"curves"`
	Sweeps       []Sweep       `json:"sweeps"`
	Choices      []pageChoices `json:"choices"`
	Comparison   *pageCompare  `json:"comparison"`
	Live         bool          `json:"live"`
	Unfinished   bool          `json:"unfinished"`
	Optimum      []*float64    `json:"optimum"` // reward per step, by environment
	Failures     []pageFailure `json:"failures"`
	Failed       int           `json:"failed"`
	Progress     *pageProgress `json:"progress"` // of a page that is served; null if all runs are made
}

// pageProgress says how far an experiment is that is not finished.
type pageProgress struct {
	Done      int            `json:"done"` // runs
	Planned   int            `json:"planned"`
	Processes int            `json:"processes"` // that are at work
	Rate      float64        `json:"rate"`      // steps per second
	Left      result.Number  `json:"left"`      // seconds at that rate; null: not known
	Cells     []progressCell `json:"cells"`
}

// progressCell is an agent in an environment.
type progressCell struct {
	Environment int     `json:"e"`
	Agent       int     `json:"a"`
	OK          int     `json:"ok"`
	Failed      int     `json:"failed"`
	Missing     int     `json:"missing"` // without a record
	Running     int     `json:"running"` // of Missing
	Share       float64 `json:"share"`   // of their budget, that running ones have made
}

type pageMetric struct {
	ID     result.Metric `json:"id"`
	Title  string        `json:"title"`
	Axis   string        `json:"axis"`
	Text   string        `json:"text"`
	Better int           `json:"better"` // 1: higher, -1: lower, 0: neither
	Width  int           `json:"width"`  // grid points over which curves are averaged
}

// pageRows sums up one metric in one environment: a number an agent.
type pageRows struct {
	Environment int              `json:"e"`
	Metric      int              `json:"m"`
	N           column           `json:"n"`
	Mean        column           `json:"mean"`
	Low         column           `json:"low"`
	High        column           `json:"high"`
	IQM         column           `json:"iqm"`
	IQMLow      column           `json:"iqmLow"`
	IQMHigh     column           `json:"iqmHigh"`
	Difference  column           `json:"diff"`
	DiffLow     column           `json:"diffLow"`
	DiffHigh    column           `json:"diffHigh"`
	DiffN       column           `json:"diffN"`
	Bounds      [2]result.Number `json:"bounds"` // what the mean can be; null: any
}

// pageCurves holds one metric in one environment: the steps of the first agent, then
// those of the second, and so on.
type pageCurves struct {
	Environment int              `json:"e"`
	Metric      int              `json:"m"`
	Mean        column           `json:"mean"`
	Low         column           `json:"low"`
	High        column           `json:"high"`
	Live        column           `json:"live,omitempty"` // means of runs that are not finished
	Bounds      [2]result.Number `json:"bounds"`
	Partial     string           `json:"partial,omitempty"` // where not all runs have a value
}

type pageChoices struct {
	Environment int     `json:"e"`
	Agent       int     `json:"a"`
	Kept        int     `json:"kept"`
	Explored    float64 `json:"explored"` // share
	Capped      float64 `json:"capped"`
	Hold        float64 `json:"hold"`
	Share       float64 `json:"share"`
	Options     string  `json:"options"`
	Where       string  `json:"where"`
	Early       float64 `json:"early"` // share of what explored
	Gain        float64 `json:"gain"`
	Cost        float64 `json:"cost"`

	Places []result.Place `json:"places,omitempty"`
}

type pageFailure struct {
	Environment string `json:"e"`
	Agent       string `json:"a"`
	Run         int    `json:"run"`
	Steps       int    `json:"steps"`
	Error       string `json:"error"`
}

// pageCompare is what is found by tests.
type pageCompare struct {
	Metric       result.Metric        `json:"metric"`
	Method       string               `json:"method"`
	Correction   string               `json:"correction"`
	Notes        []string             `json:"notes"`
	Rows         []compareRow         `json:"rows"`
	Scales       []string             `json:"scales"`
	Aggregates   *compareAggregates   `json:"aggregates"`
	Improvements []compareImprovement `json:"improvements"`
	Ranks        string               `json:"ranks"`
	Diagram      string               `json:"diagram"` // SVG
	MeanRanks    column               `json:"meanRanks"`
}

type compareRow struct {
	Environment int           `json:"e"`
	A           int           `json:"a"`
	B           int           `json:"b"`
	Runs        string        `json:"runs"`
	Difference  result.Number `json:"d"`
	Low         result.Number `json:"low"`
	High        result.Number `json:"high"`
	Wins        result.Number `json:"wins"`
	P           result.Number `json:"p"`
	Adjusted    result.Number `json:"adjusted"`
	Verdict     int           `json:"v"`      // 1: A is better, -1: worse, 0: not decided
	Within      result.Number `json:"within"` // the margin, if A and B are equivalent, else null
}

// compareAggregates are over environments, by normalised scores: a number an agent;
// Profile one for each agent and tau.
type compareAggregates struct {
	IQM         column    `json:"iqm"`
	Low         column    `json:"low"`
	High        column    `json:"high"`
	Gap         column    `json:"gap"`
	GapLow      column    `json:"gapLow"`
	GapHigh     column    `json:"gapHigh"`
	Tau         []float64 `json:"tau"`
	Profile     column    `json:"profile"`
	ProfileLow  column    `json:"profileLow"`
	ProfileHigh column    `json:"profileHigh"`
}

type compareImprovement struct {
	A    int           `json:"a"`
	B    int           `json:"b"`
	P    result.Number `json:"p"`
	Low  result.Number `json:"low"`
	High result.Number `json:"high"`
}

// WriteData writes what the page shows as JSON, for a page that is served.
func WriteData(w io.Writer, s *result.Summary, page Page) error {
	text, err := json.Marshal(newPageData(s, page))
	if err == nil {
		_, err = io.WriteString(w, printable.JSON(string(text)))
	}
	return err
}

// mostValues bounds the points of all curves of a page together. Pages of many agents
// have fewer points a curve.
const mostValues = 1_200_000

// leastPoints is the least number of points of a curve.
const leastPoints = 16

func newPageData(s *result.Summary, page Page) *pageData {
	meta := &s.Meta
	d := &pageData{
		Name: meta.Name, Planned: meta.Runs, Notices: notices(s, page), Agents: orEmpty(meta.Agents), Environments: orEmpty(meta.Environments),
		Log: plots.IsLog(meta.Grid), Axis: meta.Axis(), Metrics: []pageMetric{}, Points: len(meta.Grid), Steps: []int{}, OK: [][]int{}, Rows: []pageRows{}, Curves: []pageCurves{},
		Sweeps: orEmpty(page.Sweeps), Choices: []pageChoices{}, Live: page.Live, Optimum: []*float64{}, Failures: []pageFailure{},
	}
	environment, agent, at := indices(meta.Environments), indices(meta.Agents), map[result.Metric]int{}
	for _, env := range meta.Environments {
		d.OK = append(d.OK, make([]int, len(meta.Agents)))
		d.Optimum = append(d.Optimum, nil)
		if best, ok := meta.Optimum[env]; ok {
			d.Optimum[len(d.Optimum)-1] = &best
		}
		for _, m := range plots.Chosen(pageMetrics(s, page, env), page.Metrics) {
			if _, seen := at[m]; !seen {
				at[m] = len(d.Metrics)
				def := meta.Define(m)
				d.Metrics = append(d.Metrics, pageMetric{m, plots.Capital(def.Title), def.Axis, def.Text, better(def), plots.Width(def, page.Smooth, len(meta.Grid))})
			}
		}
	}
	for _, c := range s.Counts {
		d.OK[environment[c.Environment]][agent[c.Agent]] = c.OK
		d.Unfinished = d.Unfinished || c.Missing > 0
		d.Failed += c.Failed
	}
	d.addRows(s, environment, agent, at)
	if page.Live {
		d.addProgress(s, page.Running, environment, agent)
	}
	d.addCurves(s, page, environment, agent, at)
	for i := range s.Choices {
		c := newChoice(&s.Choices[i])
		if len(s.Choices) > mostMaps {
			c.Places = nil
		}
		d.Choices = append(d.Choices, pageChoices{environment[c.Environment], agent[c.Agent], c.Kept, float64(c.Explored) / float64(c.Kept),
			float64(c.Capped) / float64(c.Kept), c.Hold, c.Share, c.Text, c.Where, float64(c.Early) / float64(max(1, c.Explored)), c.Gain, c.Cost, c.Places})
	}
	for _, f := range s.Failures[:min(len(s.Failures), maxFailures)] {
		d.Failures = append(d.Failures, pageFailure{f.Environment, f.Agent, f.Run, f.Steps, f.Error})
	}
	if page.Comparison != nil {
		d.Comparison = newPageCompare(page.Comparison, environment, agent)
	}
	return d
}

// pageMetrics lists the metrics that any agent has in an environment. If no run is finished
// there, they are those of runs that go on.
func pageMetrics(s *result.Summary, page Page, environment string) []result.Metric {
	out := s.MetricsOf(environment, false)
	if len(out) > 0 {
		return out
	}
	for _, process := range page.Running {
		for _, cell := range process.Cells {
			for _, c := range cell.Curves {
				if cell.Environment == environment && !slices.Contains(out, c.Metric) {
					out = append(out, c.Metric)
				}
			}
		}
	}
	return out
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func indices(names []string) map[string]int {
	out := map[string]int{}
	for i, name := range names {
		out[name] = i
	}
	return out
}

// better is the direction of a metric, as in pageMetric.
func better(def *metric.Definition) int {
	switch def.Better {
	case metric.Lower:
		return -1
	case metric.Higher:
		return 1
	}
	return 0
}

// nans returns n times no value.
func nans(n int) column { return slices.Repeat(column{math.NaN()}, n) }

func (d *pageData) addRows(s *result.Summary, environment, agent map[string]int, metrics map[result.Metric]int) {
	at := map[[2]int]int{}
	for i := range s.Rows {
		r := &s.Rows[i]
		m, shown := metrics[r.Metric]
		if !shown {
			continue
		}
		key := [2]int{environment[r.Environment], m}
		k, ok := at[key]
		if !ok {
			k = len(d.Rows)
			at[key] = k
			n := len(d.Agents)
			d.Rows = append(d.Rows, pageRows{key[0], key[1], nans(n), nans(n), nans(n), nans(n), nans(n), nans(n), nans(n), nans(n), nans(n), nans(n), nans(n), boundsOf(&s.Meta, r.Environment, r.Metric, []int{s.Meta.Steps})})
		}
		rows, a := &d.Rows[k], agent[r.Agent]
		low, high := s.Meta.Clamp(r.Environment, r.Metric, s.Meta.Steps, r.Low, r.High)
		rows.N[a], rows.Mean[a], rows.Low[a], rows.High[a] = float64(r.N), r.Mean, low, high
		rows.IQM[a], rows.IQMLow[a], rows.IQMHigh[a] = r.IQM, r.IQMLow, r.IQMHigh
		if x := r.Difference; x != nil {
			rows.Difference[a], rows.DiffLow[a], rows.DiffHigh[a], rows.DiffN[a] = x.Mean, x.Low, x.High, float64(x.N)
		}
	}
}

func (d *pageData) addCurves(s *result.Summary, page Page, environment, agent map[string]int, metrics map[result.Metric]int) {
	live := liveCurves(s, page.Running)
	limit := plots.MaxPoints
	if n := len(d.Environments) * len(d.Agents) * len(d.Metrics); n > 0 {
		limit = max(leastPoints, min(plots.MaxPoints, mostValues/n))
	}
	at := map[[2]int]int{}
	// place finds the curves of a metric in an environment.
	place := func(c *result.Curve, l *plots.Line) (curves *pageCurves, n int) {
		if len(d.Steps) == 0 {
			for _, x := range l.X {
				d.Steps = append(d.Steps, int(x))
			}
		}
		n = len(d.Steps)
		key := [2]int{environment[c.Environment], metrics[c.Metric]}
		k, ok := at[key]
		if !ok {
			k = len(d.Curves)
			at[key] = k
			all := n * len(d.Agents)
			d.Curves = append(d.Curves, pageCurves{key[0], key[1], nans(all), nans(all), nans(all), nil, boundsOf(&s.Meta, c.Environment, c.Metric, d.Steps), plots.Partial(s, c.Environment, c.Metric, s.Meta.Agents)})
		}
		return &d.Curves[k], n
	}
	for i := range s.Curves {
		c := &s.Curves[i]
		if _, shown := metrics[c.Metric]; !shown {
			continue
		}
		l := plots.NewLine("", c, s.Meta.Define(c.Metric), page.Smooth, limit)
		curves, n := place(c, &l)
		first := agent[c.Agent] * n
		for j := range min(n, len(l.Y)) {
			low, high := s.Meta.Clamp(c.Environment, c.Metric, int(l.X[j]), l.Low[j], l.High[j])
			curves.Mean[first+j], curves.Low[first+j], curves.High[first+j] = l.Y[j], low, high
		}
	}
	for i := range live {
		c := &live[i]
		if _, shown := metrics[c.Metric]; !shown {
			continue
		}
		l := plots.NewLine("", c, s.Meta.Define(c.Metric), page.Smooth, limit)
		curves, n := place(c, &l)
		if curves.Live == nil {
			curves.Live = nans(n * len(d.Agents))
		}
		copy(curves.Live[agent[c.Agent]*n:][:n], l.Y)
	}
}

// liveCurves are the means over all runs that are not finished, whatever process they
// are of.
func liveCurves(s *result.Summary, running []result.Live) []result.Curve {
	n := len(s.Meta.Grid)
	var out []result.Curve
	at := map[[3]string]int{}
	for _, process := range running {
		for _, cell := range process.Cells {
			for _, live := range cell.Curves {
				key := [3]string{cell.Environment, cell.Agent, string(live.Metric)}
				k, ok := at[key]
				if !ok {
					k = len(out)
					at[key] = k
					c := result.Curve{Environment: cell.Environment, Agent: cell.Agent, Metric: live.Metric, Steps: s.Meta.Grid, Runs: make([]int, n)}
					for _, xs := range []*result.Values{&c.Mean, &c.Low, &c.High} {
						*xs = result.Values(nans(n))
					}
					out = append(out, c)
				}
				c := &out[k]
				for i := range min(n, len(live.Mean), len(live.Runs)) {
					if more := live.Runs[i]; more > 0 {
						if c.Runs[i] == 0 {
							c.Mean[i] = 0
						}
						c.Runs[i] += more
						c.Mean[i] += (live.Mean[i] - c.Mean[i]) * float64(more) / float64(c.Runs[i])
					}
				}
			}
		}
	}
	return out
}

func (d *pageData) addProgress(s *result.Summary, running []result.Live, environment, agent map[string]int) {
	if !d.Unfinished {
		return
	}
	p := &pageProgress{Processes: len(running)}
	cells := map[[2]string]result.LiveCell{}
	var all result.LiveCell
	for _, process := range running {
		p.Rate += process.StepsPerSecond
		for _, c := range process.Cells {
			key := [2]string{c.Environment, c.Agent}
			cells[key] = result.LiveCell{Runs: cells[key].Runs + c.Runs, Steps: cells[key].Steps + c.Steps, Episodes: cells[key].Episodes + c.Episodes}
			all.Steps, all.Episodes = all.Steps+c.Steps, all.Episodes+c.Episodes
		}
	}
	made := func(c result.LiveCell) int {
		if s.Meta.Episodes > 0 {
			return c.Episodes
		}
		return c.Steps
	}
	missing := 0
	for _, c := range s.Counts {
		live := cells[[2]string{c.Environment, c.Agent}]
		cell := progressCell{environment[c.Environment], agent[c.Agent], c.OK, c.Failed, c.Missing, min(live.Runs, c.Missing), 0}
		if live.Runs > 0 {
			cell.Share = float64(made(live)) / float64(live.Runs) / float64(max(1, s.Meta.Budget()))
		}
		p.Cells = append(p.Cells, cell)
		p.Done += c.OK + c.Failed
		missing += c.Missing
	}
	p.Planned, p.Left = p.Done+missing, result.Number(math.NaN())
	if p.Rate > 0 {
		each := 1.0 // steps of an entry of the budget
		if s.Meta.Episodes > 0 {
			each = float64(all.Steps) / float64(all.Episodes)
		}
		p.Left = result.Number(max(0, float64(missing)*float64(s.Meta.Budget())-float64(made(all))) * each / p.Rate)
	}
	d.Progress = p
}

func newPageCompare(r *compare.Result, environment, agent map[string]int) *pageCompare {
	n := len(agent)
	out := &pageCompare{Metric: r.Config.Metric, Method: compare.Method(r), Correction: string(r.Config.Correction),
		Notes: append(append([]string{}, r.Notes...), r.Skipped...), Rows: []compareRow{}, Scales: []string{}, Improvements: []compareImprovement{},
		Ranks: compare.RankSentence(r), Diagram: compare.CriticalDifferenceSVG(r), MeanRanks: nans(n)}
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		row := compareRow{Environment: environment[c.Environment], A: agent[c.A], B: agent[c.B], Runs: c.RunsText(),
			Difference: digits(c.Difference.Value), Low: digits(c.Difference.Low), High: digits(c.Difference.High),
			Wins: digits(c.WinRate), P: digits(c.P), Adjusted: digits(c.Adjusted), Within: result.Number(math.NaN())}
		if c.Equivalent {
			row.Within = digits(c.Margin)
		}
		switch c.Better {
		case "":
		case c.A:
			row.Verdict = 1
		default:
			row.Verdict = -1
		}
		out.Rows = append(out.Rows, row)
	}
	o := r.Overall
	if o == nil {
		return out
	}
	if len(o.Aggregates) > 0 {
		a := &compareAggregates{IQM: nans(n), Low: nans(n), High: nans(n), Gap: nans(n), GapLow: nans(n), GapHigh: nans(n), Tau: o.Tau,
			Profile: nans(n * len(o.Tau)), ProfileLow: nans(n * len(o.Tau)), ProfileHigh: nans(n * len(o.Tau))}
		for k := range o.Aggregates {
			x := &o.Aggregates[k]
			i := agent[x.Agent]
			a.IQM[i], a.Low[i], a.High[i] = x.IQM.Value, x.IQM.Low, x.IQM.High
			a.Gap[i], a.GapLow[i], a.GapHigh[i] = x.OptimalityGap.Value, x.OptimalityGap.Low, x.OptimalityGap.High
			for j, p := range x.Profile {
				a.Profile[i*len(o.Tau)+j], a.ProfileLow[i*len(o.Tau)+j], a.ProfileHigh[i*len(o.Tau)+j] = p.Value, p.Low, p.High
			}
		}
		out.Aggregates = a
		for _, env := range r.Environments {
			if s, ok := o.Scores[env]; ok {
				out.Scales = append(out.Scales, scaleText(env, s))
			}
		}
	}
	for _, i := range o.Improvements {
		out.Improvements = append(out.Improvements, compareImprovement{agent[i.A], agent[i.B], digits(i.Probability.Value), digits(i.Probability.Low), digits(i.Probability.High)})
	}
	if o.Ranks != nil {
		for i, name := range o.Ranks.Agents {
			out.MeanRanks[agent[name]] = o.Ranks.Mean[i]
		}
	}
	return out
}

// digits rounds to six significant digits, more than a page shows.
func digits(x float64) result.Number {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return result.Number(math.NaN())
	}
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
	return result.Number(x)
}

// scaleText says which values of an environment count as 0 and 1.
func scaleText(env string, s compare.Scale) string {
	low, high := "", ""
	if s.Source == "model" {
		low, high = " (uniformly random actions)", " (the optimum)"
	}
	number := func(x float64) string { return strings.Replace(strconv.FormatFloat(x, 'g', 6, 64), "-", "−", 1) }
	return fmt.Sprintf("%s: 0 is %s%s, 1 is %s%s", env, number(s.Low), low, number(s.High), high)
}
