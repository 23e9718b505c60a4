// Package page makes the report: one self-contained web page with curves, tables and verdicts.
//
// The page embeds what its charts use of D3 7.9.2 and Observable Plot 0.6.17 (ISC licence),
// which charts/charts.js names. The page's program is compressed, as it would be most of a
// small page. Plot draws SVG, so that every chart can be saved as it is seen, and its axes
// know logarithms.
package page

import (
	"compress/gzip"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"sync"

	"github.com/dustin/go-humanize"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/output/plots"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/printable"
)

var (
	//go:embed assets/report.html.tmpl
	pageTemplate string
	//go:embed assets/report.css
	pageCSS string
	//go:embed assets/report.js
	pageJS string
	//go:embed assets/charts.min.js
	chartsJS string
	//go:embed assets/d3-LICENSE
	d3License string
	//go:embed assets/plot-LICENSE
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
	// Comparison holds the verdicts of tests; nil: none.
	Comparison *compare.Result
	// Sweeps are shown over their parameters.
	Sweeps []Sweep
	// Notices are shown besides those of the summary.
	Notices []string
	// Live makes a page without data: its script gets them, and news of them, from the
	// server.
	Live    bool
	Token   string   // goes with the requests of a live page
	Others  []string // names of the experiments that the server has
	Current int      // index of this one in Others
	// Together says that the page is of several experiments, which may differ in steps,
	// runs, discount and seed.
	Together bool
	// Running is what processes are doing now.
	Running []result.Live
}

// maxFailures bounds the failures that the page lists.
const maxFailures = 100

// WriteHTML writes the report page: one file that loads nothing else. Equal
// input gives equal bytes.
func WriteHTML(w io.Writer, s *result.Summary, page Page) error {
	if page.Command == "" {
		page.Command = "rlrun run experiment.yaml"
	}
	var data any
	if page.Live {
		data = served{true, page.Token, page.Current, len(s.Rows) == 0}
	} else {
		data = newPageData(s, page)
	}
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	v := &view{
		Page: page, Meta: s.Meta, AllNotices: notices(s, page), Tasks: newTasks(s.Meta),
		Data: template.JS(printable.JSON(string(text))), // json.Marshal escapes what could end the script
		CSS:  template.CSS(pageCSS), Program: program(),
		Licences: template.JS("/* D3\n" + d3License + "\nObservable Plot\n" + plotLicense + "*/"),
	}
	seen := map[result.Metric]bool{}
	for _, env := range s.Meta.Environments {
		for _, m := range plots.Chosen(pageMetrics(s, page, env), page.Metrics) {
			if def := s.Meta.Define(m); !seen[m] {
				seen[m] = true
				v.Definitions = append(v.Definitions, definition{plots.Capital(def.Title), def.Text})
			}
		}
	}
	t, err := template.New("report").Funcs(template.FuncMap{"group": group}).Parse(pageTemplate)
	if err != nil {
		return err
	}
	return printable.Page(w, t, v)
}

// served tells the script of a live page where its data are.
type served struct {
	Live    bool   `json:"live"`
	Token   string `json:"token"`
	Current int    `json:"current"`
	Empty   bool   `json:"empty"` // there was no record yet
}

// program is a string of JavaScript: the libraries and report.js, by gzip, in base64.
var program = sync.OnceValue(func() template.JS {
	var b strings.Builder
	b.WriteByte('"')
	base := base64.NewEncoder(base64.StdEncoding, &b)
	z, _ := gzip.NewWriterLevel(base, gzip.BestCompression) // writes to memory cannot fail
	_, _ = io.WriteString(z, chartsJS+pageJS)
	_ = z.Close()
	_ = base.Close()
	b.WriteByte('"')
	return template.JS(b.String())
})

// view is what the template reads.
type view struct {
	Page
	Meta        result.Meta
	AllNotices  []string
	Tasks       []task
	Definitions []definition
	CSS         template.CSS

	Data, Program, Licences template.JS
}

type definition struct{ Title, Text string }

// notices are sentences that a reader must see before the numbers.
func notices(s *result.Summary, page Page) []string {
	out := []string{}
	if s.Mixed != "" {
		out = append(out, s.MixedNote()+". The identities are those of provenance.json.")
	}
	for _, n := range s.Notices {
		out = append(out, strings.TrimSuffix(n, ".")+".")
	}
	out = append(out, page.Notices...)
	all := s.Ended()
	planned := all.Planned()
	if all.NotNeeded > 0 {
		out = append(out, fmt.Sprintf("%s of %s runs were not needed: the comparisons were decided without them.", group(all.NotNeeded), group(planned)))
	}
	if all.Missing > 0 {
		out = append(out, fmt.Sprintf("Incomplete: %s of %s runs have no record yet. The numbers below are those of the finished runs.", group(all.Missing), group(planned)))
	}
	if all.Failed > 0 {
		some := ""
		if all.GivenUp > 0 {
			some = fmt.Sprintf(" (%s of them were given up and not made)", group(all.GivenUp))
		}
		out = append(out, fmt.Sprintf("%s of %s runs failed%s and are left out of the numbers below; the failures are listed at the end.", group(all.Failed), group(planned), some))
	}
	return out
}

// group writes a whole number with its thousands apart.
func group(n int) string { return humanize.Comma(int64(n)) }

// boundsOf are those of a metric's curve, from its first to its last point.
func boundsOf(meta *result.Meta, environment string, m result.Metric, steps []int) [2]result.Number {
	out := [2]result.Number{result.Number(math.Inf(-1)), result.Number(math.Inf(1))}
	if len(steps) > 0 {
		a, b := meta.Bounds(environment, m, steps[0])
		c, d := meta.Bounds(environment, m, steps[len(steps)-1])
		out = [2]result.Number{result.Number(min(a, c)), result.Number(max(b, d))}
	}
	return out
}
