package report

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
	"github.com/rlrun/rlrun/framework/result"
)

// Sweep lists the agents that one entry of a config stands for: one for each
// combination of values of its keys.
type Sweep struct {
	Name   string     `json:"name"`
	Keys   []string   `json:"keys"`
	Agents []int      `json:"agents"` // indices in Meta.Agents
	Values [][]string `json:"values"` // of the keys, for each agent
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

func (c *column) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return err
	}
	*c = nil
	for ; len(raw) >= 4; raw = raw[4:] {
		*c = append(*c, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))))
	}
	return nil
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
	Steps        []int         `json:"steps"`
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
}

type pageMetric struct {
	ID     result.Metric `json:"id"`
	Title  string        `json:"title"`
	Axis   string        `json:"axis"`
	Text   string        `json:"text"`
	Better int           `json:"better"` // 1: higher, -1: lower, 0: neither
}

// pageRows sums up one metric in one environment: a number an agent.
type pageRows struct {
	Environment int    `json:"e"`
	Metric      int    `json:"m"`
	N           column `json:"n"`
	Mean        column `json:"mean"`
	Low         column `json:"low"`
	High        column `json:"high"`
	IQM         column `json:"iqm"`
	IQMLow      column `json:"iqmLow"`
	IQMHigh     column `json:"iqmHigh"`
	Difference  column `json:"diff"`
	DiffLow     column `json:"diffLow"`
	DiffHigh    column `json:"diffHigh"`
}

// pageCurves holds one metric in one environment: the steps of the first agent, then
// those of the second, and so on.
type pageCurves struct {
	Environment int    `json:"e"`
	Metric      int    `json:"m"`
	Mean        column `json:"mean"`
	Low         column `json:"low"`
	High        column `json:"high"`
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
	Verdict     int           `json:"v"` // 1: A is better, -1: worse, 0: not decided
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
	return json.NewEncoder(w).Encode(newPageData(s, page))
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
		Log: isLog(meta.Grid), Metrics: []pageMetric{}, Steps: []int{}, OK: [][]int{}, Rows: []pageRows{}, Curves: []pageCurves{},
		Sweeps: orEmpty(page.Sweeps), Choices: []pageChoices{}, Live: page.Live, Optimum: []*float64{}, Failures: []pageFailure{},
	}
	environment, agent, at := indices(meta.Environments), indices(meta.Agents), map[result.Metric]int{}
	for _, env := range meta.Environments {
		d.OK = append(d.OK, make([]int, len(meta.Agents)))
		d.Optimum = append(d.Optimum, nil)
		if best, ok := meta.Optimum[env]; ok {
			d.Optimum[len(d.Optimum)-1] = &best
		}
		for _, m := range chosen(s.MetricsOf(env, false), page.Metrics) {
			if _, seen := at[m]; !seen {
				at[m] = len(d.Metrics)
				def := meta.Define(m)
				d.Metrics = append(d.Metrics, pageMetric{m, capital(def.Title), def.Axis, def.Text, better(def)})
			}
		}
	}
	for _, c := range s.Counts {
		d.OK[environment[c.Environment]][agent[c.Agent]] = c.OK
		d.Unfinished = d.Unfinished || c.Missing > 0
		d.Failed += c.Failed
	}
	d.addRows(s, environment, agent, at)
	d.addCurves(s, page.Smooth, environment, agent, at)
	for i := range s.Choices {
		c := newChoice(&s.Choices[i])
		d.Choices = append(d.Choices, pageChoices{environment[c.Environment], agent[c.Agent], c.Kept, float64(c.Explored) / float64(c.Kept),
			float64(c.Capped) / float64(c.Kept), c.Hold, c.Share, c.Text})
	}
	for _, f := range s.Failures[:min(len(s.Failures), maxFailures)] {
		d.Failures = append(d.Failures, pageFailure{f.Environment, f.Agent, f.Run, f.Steps, f.Error})
	}
	if page.Comparison != nil {
		d.Comparison = newPageCompare(page.Comparison)
	}
	return d
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

func capital(title string) string {
	if title == "" {
		return ""
	}
	return strings.ToUpper(title[:1]) + title[1:]
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
			d.Rows = append(d.Rows, pageRows{key[0], key[1], nans(n), nans(n), nans(n), nans(n), nans(n), nans(n), nans(n), nans(n), nans(n), nans(n)})
		}
		rows, a := &d.Rows[k], agent[r.Agent]
		low, high := bounded(&s.Meta, r.Metric, r.Low, r.High)
		rows.N[a], rows.Mean[a], rows.Low[a], rows.High[a] = float64(r.N), r.Mean, low, high
		rows.IQM[a], rows.IQMLow[a], rows.IQMHigh[a] = r.IQM, r.IQMLow, r.IQMHigh
		if x := r.Difference; x != nil {
			rows.Difference[a], rows.DiffLow[a], rows.DiffHigh[a] = x.Mean, x.Low, x.High
		}
	}
}

func (d *pageData) addCurves(s *result.Summary, smooth int, environment, agent map[string]int, metrics map[result.Metric]int) {
	limit := maxPoints
	if n := len(s.Curves); n > 0 {
		limit = max(leastPoints, min(maxPoints, mostValues/n))
	}
	at := map[[2]int]int{}
	for i := range s.Curves {
		c := &s.Curves[i]
		m, shown := metrics[c.Metric]
		if !shown {
			continue
		}
		l := newLine("", c, s.Meta.Define(c.Metric), smooth, limit)
		if len(d.Steps) == 0 {
			for _, x := range l.X {
				d.Steps = append(d.Steps, int(x))
			}
		}
		n := len(d.Steps)
		key := [2]int{environment[c.Environment], m}
		k, ok := at[key]
		if !ok {
			k = len(d.Curves)
			at[key] = k
			all := n * len(d.Agents)
			d.Curves = append(d.Curves, pageCurves{key[0], key[1], nans(all), nans(all), nans(all)})
		}
		curves, first := &d.Curves[k], agent[c.Agent]*n
		for j := range min(n, len(l.Y)) {
			low, high := bounded(&s.Meta, c.Metric, l.Low[j], l.High[j])
			curves.Mean[first+j], curves.Low[first+j], curves.High[first+j] = l.Y[j], low, high
		}
	}
}

func newPageCompare(r *compare.Result) *pageCompare {
	labels := make([]string, len(r.Agents))
	for i, a := range r.Agents {
		labels[i] = a.Label
	}
	agent, environment := indices(labels), indices(r.Environments)
	out := &pageCompare{Metric: r.Options.Metric, Method: compare.Method(r), Correction: string(r.Options.Correction),
		Notes: append(append([]string{}, r.Notes...), r.Skipped...), Rows: []compareRow{}, Scales: []string{}, Improvements: []compareImprovement{},
		Ranks: compare.RankSentence(r), Diagram: compare.CriticalDifferenceSVG(r), MeanRanks: nans(len(labels))}
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		row := compareRow{Environment: environment[c.Environment], A: agent[c.A], B: agent[c.B], Runs: c.RunsText(),
			Difference: digits(c.Difference.Value), Low: digits(c.Difference.Low), High: digits(c.Difference.High),
			Wins: digits(c.WinRate), P: digits(c.P), Adjusted: digits(c.Adjusted)}
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
		n := len(labels)
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
				out.Scales = append(out.Scales, fmt.Sprintf("%s: %.3g is 0 and %.3g is 1 (%s)", env, s.Low, s.High, s.Source))
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
