package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/rlrun/rlrun/framework/result"
)

var (
	//go:embed assets/report.html.tmpl
	pageTemplate string
	//go:embed assets/report.css
	pageCSS string
	//go:embed assets/report.js
	pageJS string
	//go:embed assets/uplot.min.css
	plotCSS string
	//go:embed assets/uplot.min.js
	plotJS string
	//go:embed assets/uplot-LICENSE
	plotLicense string
)

// Page is what the report page shows besides the numbers of a summary.
type Page struct {
	// Smooth is the moving average of Options.
	Smooth int
	// Metrics chooses among those of the summary; nil means all.
	Metrics []result.Metric
	// Command reproduces the experiment. Default: rlrun run experiment.yaml.
	Command string
	// Config and Provenance are shown as they are.
	Config, Provenance string
}

// maxFailures bounds the failures that the page lists.
const maxFailures = 100

// WriteHTML writes the report page: one file that loads nothing else. Equal
// input gives equal bytes.
func WriteHTML(w io.Writer, s *result.Summary, page Page) error {
	data, err := json.Marshal(newChartData(s, page))
	if err != nil {
		return err
	}
	if page.Command == "" {
		page.Command = "rlrun run experiment.yaml --out again"
	}
	v := &view{
		Page: page, Meta: s.Meta, Mixed: s.Mixed, Notices: s.Notices, Tables: newTables(s, page.Metrics), Tasks: newTasks(s.Meta), Choices: newChoices(s),
		Failures: s.Failures[:min(len(s.Failures), maxFailures)],
		Data:     template.JS(data), // json.Marshal escapes what could end the script
		CSS:      template.CSS(pageCSS), PlotCSS: template.CSS(plotCSS),
		JS: template.JS(pageJS), PlotJS: template.JS(licensed(plotJS)),
	}
	for _, c := range s.Counts {
		v.Missing += c.Missing
		v.Failed += c.Failed
		v.GivenUp += c.GivenUp
		v.Planned += c.OK + c.Failed + c.Missing
	}
	seen := map[result.Metric]bool{}
	for _, env := range s.Meta.Environments {
		for _, m := range chosen(s.MetricsOf(env, false), page.Metrics) {
			if !seen[m] {
				seen[m] = true
				v.Definitions = append(v.Definitions, newDefinition(s, m))
			}
		}
	}
	t, err := template.New("report").Funcs(template.FuncMap{"group": group}).Parse(pageTemplate)
	if err != nil {
		return err
	}
	var buf bytes.Buffer
	if err := t.Execute(&buf, v); err != nil {
		return err
	}
	_, err = buf.WriteTo(w)
	return err
}

// licensed puts the licence of uPlot in the place of its first line, which only
// names the project.
func licensed(js string) string {
	_, code, _ := strings.Cut(js, "*/")
	return "/* uPlot\n" + plotLicense + "*/" + code
}

// view is what the template reads.
type view struct {
	Page
	Meta                     result.Meta
	Mixed                    string
	Notices                  []string
	Tables                   []resultTable
	Tasks                    []task
	Choices                  []choices
	Definitions              []definition
	Failures                 []result.Failure
	Failed, Missing, Planned int
	GivenUp                  int // of Failed
	Data, JS, PlotJS         template.JS
	CSS, PlotCSS             template.CSS
}

type definition struct {
	Metric result.Metric
	Title  string
	Text   string
}

func newDefinition(s *result.Summary, m result.Metric) definition {
	def := s.Meta.Define(m)
	return definition{m, strings.ToUpper(def.Title[:1]) + def.Title[1:], def.Text}
}

// group writes a whole number with its thousands apart.
func group(n int) string { return formatWhole(strconv.Itoa(n)) }

// chartData is what the page's script draws.
type chartData struct {
	Agents       []string           `json:"agents"`
	Colors       []string           `json:"colors"`
	Dashes       [][]float64        `json:"dashes"`
	Log          bool               `json:"log"`
	Steps        []int              `json:"steps"`
	Environments []chartEnvironment `json:"environments"`
}

type chartEnvironment struct {
	Name    string        `json:"name"`
	Metrics []chartMetric `json:"metrics"`
}

type chartMetric struct {
	ID      result.Metric  `json:"id"`
	Title   string         `json:"title"`
	Axis    string         `json:"axis"`
	Text    string         `json:"text"`
	Optimum *result.Number `json:"optimum"`
	Lines   []*chartLine   `json:"lines"` // one an agent, null where it has none
}

type chartLine struct {
	Y    result.Values `json:"y"`
	Low  result.Values `json:"low"`
	High result.Values `json:"high"`
}

func newChartData(s *result.Summary, page Page) *chartData {
	d := &chartData{Agents: s.Meta.Agents, Log: isLog(s.Meta.Grid), Environments: []chartEnvironment{}}
	for _, c := range palette {
		d.Colors = append(d.Colors, hex(c))
	}
	for _, dash := range dashes {
		d.Dashes = append(d.Dashes, append([]float64{}, dash...))
	}
	for _, env := range s.Meta.Environments {
		e := chartEnvironment{Name: env}
		for _, m := range chosen(s.MetricsOf(env, true), page.Metrics) {
			def := newDefinition(s, m)
			cm := chartMetric{ID: m, Title: def.Title, Axis: s.Meta.Define(m).Axis, Text: def.Text}
			if best, ok := s.Meta.Optimum[env]; ok && m == result.Reward {
				x := result.Number(best)
				cm.Optimum = &x
			}
			for _, agent := range s.Meta.Agents {
				c := s.Curve(env, agent, m)
				if c == nil {
					cm.Lines = append(cm.Lines, nil)
					continue
				}
				l := newLine(agent, c, s.Meta.Define(m).Cumulative(), page.Smooth, maxPoints)
				cm.Lines = append(cm.Lines, &chartLine{short(l.Y), short(l.Low), short(l.High)})
				if d.Steps == nil {
					for _, x := range l.X {
						d.Steps = append(d.Steps, int(x))
					}
				}
			}
			e.Metrics = append(e.Metrics, cm)
		}
		if len(e.Metrics) > 0 {
			d.Environments = append(d.Environments, e)
		}
	}
	return d
}

// short rounds to six significant digits, more than a screen shows.
func short(xs []float64) result.Values {
	out := make(result.Values, len(xs))
	for i, x := range xs {
		out[i] = x
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			out[i], _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
		}
	}
	return out
}
