package compare

import (
	_ "embed"
	"html/template"
	"io"

	"github.com/rlrun/rlrun/internal/printable"
)

//go:embed page.html.tmpl
var pageTemplate string

// view is what the page's template reads.
type view struct {
	*Result
	Title, Text, Method string
	Header, Counted     []string
	Environments        []viewEnvironment
	Profile, CD         template.HTML
	Ranks               string
	RankHeader          []string
	RankRows            [][]string
	Aggregates          [][]string
	Improvements        [][]string
	Scales              [][]string
}

type viewEnvironment struct {
	Name        string
	Sentences   []string
	Rows        []viewRow
	Standings   [][]string // in place of Rows, of many
	Rest        string
	Differences template.HTML
}

type viewRow struct {
	Cells   []string
	Decided bool
}

// sentences is the number of comparisons up to which the page says each in words.
const sentences = 20

// WriteHTML writes a page of the comparisons: one file that loads nothing else. Equal
// input gives equal bytes.
func WriteHTML(w io.Writer, r *Result) error {
	def := r.Definition
	v := &view{Result: r, Title: def.Title, Text: def.Text, Method: Method(r), Header: comparisonHeader(r), Counted: standingsHeader,
		// The drawings escape every label.
		Profile: template.HTML(ProfileSVG(r)), CD: template.HTML(CriticalDifferenceSVG(r)), Ranks: RankSentence(r)}
	for _, env := range r.Environments {
		e := viewEnvironment{Name: env}
		for i := range r.Comparisons {
			c := &r.Comparisons[i]
			if c.Environment != env {
				continue
			}
			if len(e.Sentences) < sentences {
				e.Sentences = append(e.Sentences, c.Sentence())
			}
			e.Rows = append(e.Rows, viewRow{append([]string{c.A, c.B}, c.cells()...), c.Better != ""})
		}
		if n := len(e.Rows); n > mostRows {
			e.Standings, e.Rest = standingRows(r, env, n)
			e.Sentences, e.Rows = nil, nil
			v.Environments = append(v.Environments, e)
		} else if n > 0 {
			e.Differences = template.HTML(DifferencesSVG(r, env))
			v.Environments = append(v.Environments, e)
		}
	}
	if o := r.Overall; o != nil {
		for _, a := range best(o.Aggregates) {
			v.Aggregates = append(v.Aggregates, []string{a.Agent, Interval(a.IQM), Interval(a.Mean), Interval(a.Median), Interval(a.OptimalityGap)})
		}
		for _, i := range o.Improvements[:min(len(o.Improvements), mostRows)] {
			iqm := "–"
			if i.IQM != nil {
				iqm = Interval(*i.IQM)
			}
			v.Improvements = append(v.Improvements, []string{i.A, i.B, Interval(i.Probability), iqm})
		}
		if o.Ranks != nil {
			v.RankHeader, v.RankRows = o.Ranks.table()
		}
		for _, env := range r.Environments {
			if s, ok := o.Scores[env]; ok {
				v.Scales = append(v.Scales, []string{env, six(s.Low), six(s.High), s.Source})
			}
		}
	}
	t, err := template.New("comparisons").Parse(pageTemplate)
	if err != nil {
		return err
	}
	return printable.Page(w, t, v)
}
