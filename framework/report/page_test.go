package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/rlrun/rlrun/framework/result"
)

func page(t *testing.T, s *result.Summary, p Page) string {
	t.Helper()
	var buf bytes.Buffer
	if err := WriteHTML(&buf, s, p); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// elements parses a page and returns its elements by tag.
func elements(t *testing.T, file string) map[string][]*html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]*html.Node{}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			out[n.Data] = append(out[n.Data], n)
		}
	}
	return out
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.TrimSpace(b.String())
}

// embedded returns the numbers that the page's script draws.
func embedded(t *testing.T, file string) (d chartData) {
	t.Helper()
	for _, n := range elements(t, file)["script"] {
		if attribute(n, "id") == "data" {
			if err := json.Unmarshal([]byte(textOf(n)), &d); err != nil {
				t.Fatal(err)
			}
			return d
		}
	}
	t.Fatal("no data")
	return d
}

func TestPageIsDeterministicAndWhole(t *testing.T) {
	s := demo(t, []string{"ε-greedy", "Thompson"}, 1000, 40, 6, true)
	p := Page{Config: "name: demo\nruns: 6\n", Provenance: `{"go": "go1.26"}`, Command: "rlrun run x.yaml"}
	file := page(t, s, p)
	if page(t, s, p) != file {
		t.Error("two pages differ")
	}
	for _, want := range []string{
		"ε-greedy", "Thompson", "bernoulli-bandit, 16 arms", "gaussian-bandit", "name: demo", "go1.26", "rlrun run x.yaml",
		"2 of 24 runs failed", "plugin &#34;demo&#34;, lane 3, step 17", "An invented experiment.",
		"Difference to ε-greedy", new(result.Meta).Define(result.Regret).Text, "Permission is hereby granted",
	} {
		if !strings.Contains(file, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	if strings.Contains(file, "Incomplete") {
		t.Error("the page says that runs are missing")
	}
}

// The page works offline: nothing in it names an address to load from.
func TestPageLoadsNothing(t *testing.T) {
	file := page(t, demo(t, []string{"a", "b"}, 100, 10, 4, false), Page{})
	if i := strings.Index(file, "http://"); i >= 0 {
		t.Errorf("…%s…", file[i-40:i+40])
	}
	if i := strings.Index(file, "https://"); i >= 0 {
		t.Errorf("…%s…", file[i-40:i+40])
	}
	els := elements(t, file)
	for tag, attr := range map[string]string{"script": "src", "link": "href", "img": "src", "iframe": "src", "object": "data", "source": "src"} {
		for _, n := range els[tag] {
			if attribute(n, attr) != "" {
				t.Errorf("<%s %s=%q>", tag, attr, attribute(n, attr))
			}
		}
	}
	for _, n := range els["style"] {
		if strings.Contains(textOf(n), "@import") || strings.Contains(textOf(n), "url(") {
			t.Error("a style loads something")
		}
	}
}

// Names, errors and configs reach the page as text whatever they hold.
func TestPageEmbedsSafely(t *testing.T) {
	const evil = "</script><b id=evil>\u2028<!--<script>alert(1)//' \" & {{.}} ${x}"
	s := demo(t, []string{evil, "b"}, 100, 10, 4, false)
	s.Meta.Name, s.Meta.Description = evil, evil
	s.Meta.Environments[0] = evil
	for i := range s.Curves {
		if s.Curves[i].Environment != "gaussian-bandit" {
			s.Curves[i].Environment = evil
		}
	}
	for i := range s.Failures {
		s.Failures[i].Error = evil
	}
	file := page(t, s, Page{Command: evil, Config: evil, Provenance: evil})
	els := elements(t, file)
	if n := len(els["script"]); n != 3 {
		t.Errorf("%d scripts, want 3", n)
	}
	if n := len(els["b"]); n != 0 {
		t.Errorf("%d elements came from a name", n)
	}
	if got := textOf(els["h1"][0]); got != evil {
		t.Errorf("title is %q", got)
	}
	d := embedded(t, file)
	if d.Agents[0] != evil || d.Environments[0].Name != evil {
		t.Errorf("data hold %q and %q", d.Agents[0], d.Environments[0].Name)
	}
	var errs int
	for _, n := range els["pre"] {
		if textOf(n) == evil {
			errs++
		}
	}
	if errs != 3+len(s.Failures) {
		t.Errorf("%d blocks hold the text, want %d", errs, 3+len(s.Failures))
	}
}

// Tables have headers for both directions, every control a label, ids are unique
// and references go somewhere.
func TestPageIsAccessible(t *testing.T) {
	els := elements(t, page(t, demo(t, []string{"a", "b", "c"}, 100, 10, 4, false), Page{Config: "x: 1"}))
	if lang := attribute(els["html"][0], "lang"); lang != "en" {
		t.Errorf("language is %q", lang)
	}
	if len(els["table"]) == 0 || len(els["main"]) != 1 || len(els["h1"]) != 1 {
		t.Error("tables, main or heading missing")
	}
	for _, th := range els["th"] {
		if scope := attribute(th, "scope"); scope != "col" && scope != "row" {
			t.Errorf("header %q has scope %q", textOf(th), scope)
		}
	}
	for _, row := range els["tr"] {
		if row.FirstChild == nil || row.FirstChild.Data != "th" {
			t.Errorf("row %q does not begin with a header", textOf(row))
		}
	}
	for _, tag := range []string{"select", "input"} {
		for _, n := range els[tag] {
			if n.Parent.Data != "label" || textOf(n.Parent) == "" {
				t.Errorf("%s %q has no label", tag, attribute(n, "id"))
			}
		}
	}
	ids := map[string]bool{}
	var references []string
	for _, nodes := range els {
		for _, n := range nodes {
			if id := attribute(n, "id"); id != "" {
				if ids[id] {
					t.Errorf("id %s is there twice", id)
				}
				ids[id] = true
			}
			if ref := attribute(n, "aria-labelledby"); ref != "" {
				references = append(references, ref)
			}
			if ref, ok := strings.CutPrefix(attribute(n, "href"), "#"); ok {
				references = append(references, ref)
			}
		}
	}
	for _, ref := range references {
		if !ids[ref] {
			t.Errorf("nothing has the id %s", ref)
		}
	}
}

// The chart's numbers are those of the summary, to six digits.
func TestPageData(t *testing.T) {
	s := demo(t, []string{"a", "b"}, 1000, 40, 6, true)
	d := embedded(t, page(t, s, Page{}))
	if len(d.Environments) != 2 || fmt.Sprint(d.Steps) != fmt.Sprint(s.Meta.Grid) || !d.Log {
		t.Fatalf("%d environments, steps %v", len(d.Environments), d.Steps)
	}
	for _, e := range d.Environments {
		for _, m := range e.Metrics {
			for i, l := range m.Lines {
				c := s.Curve(e.Name, d.Agents[i], m.ID)
				for k := range c.Mean {
					if math.Abs(l.Y[k]-c.Mean[k]) > 1e-5*math.Abs(c.Mean[k]) || math.Abs(l.High[k]-c.High[k]) > 1e-5*math.Abs(c.High[k]) {
						t.Fatalf("%s %s %s point %d: %g, want %g", e.Name, d.Agents[i], m.ID, k, l.Y[k], c.Mean[k])
					}
				}
			}
		}
	}
	d = embedded(t, page(t, s, Page{Metrics: []result.Metric{result.Regret}}))
	if ms := d.Environments[0].Metrics; len(ms) != 1 || ms[0].ID != result.Regret {
		t.Errorf("chosen metrics: %v", ms)
	}
}

func TestPageOfUnfinishedExperiments(t *testing.T) {
	meta := result.Meta{Name: "x", Steps: 2, Grid: []int{1, 2}, Environments: []string{"e"}, Agents: []string{"a", "b"}, Runs: 1500}
	for name, recs := range map[string][]result.Record{
		"nothing": nil,
		"one agent": {{Environment: "e", Agent: "b", Status: result.OK, Steps: 2,
			Curves: map[result.Metric][]float64{result.Reward: {1, 2}, result.EpisodeReturn: {math.NaN(), math.NaN()}}}},
		"all failed": {{Environment: "e", Agent: "a", Status: result.Failed, Error: "no"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := result.Aggregate(meta, result.Sorted(recs))
			if err != nil {
				t.Fatal(err)
			}
			file := page(t, s, Page{})
			missing := "2,999 of 3,000"
			if len(recs) == 0 {
				missing = "3,000 of 3,000"
			}
			if !strings.Contains(file, "Incomplete: "+missing) {
				t.Error("the page does not say that runs are missing")
			}
			if rest := strings.Replace(strings.Replace(file, pageJS, "", 1), licensed(plotJS), "", 1); strings.Contains(rest, "NaN") {
				t.Error("NaN on the page")
			}
		})
	}
}

func TestManyFailuresAreCut(t *testing.T) {
	s := demo(t, []string{"a", "b"}, 10, 5, 4, false)
	s.Counts[0].Failed += 250
	for run := range 250 {
		s.Failures = append(s.Failures, result.Failure{Key: result.Key{Environment: "e", Agent: "a", Run: 1000 + run}, Error: "no"})
	}
	file := page(t, s, Page{})
	if !strings.Contains(file, "252 runs failed; the first 100 are shown") {
		t.Error("the page does not say how many failures it leaves out")
	}
	if n := len(elements(t, file)["pre"]) - 1; n != 100 {
		t.Errorf("%d failures are listed", n)
	}
}

func TestPageReportsErrors(t *testing.T) {
	if err := WriteHTML(full{}, demo(t, []string{"a"}, 10, 5, 2, false), Page{}); err == nil {
		t.Error("a full disk was not reported")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestTableNumbers(t *testing.T) {
	for text, want := range map[string]estimate{
		"0.512 ± 0.012":   {Value: "0.512", Half: "0.012"},
		"-3.0 ± 1.5":      {Value: "−3.0", Half: "1.5"},
		"+123456.7 ± 0.5": {Value: "+123,456.7", Half: "0.5"},
		"-12345 ± 67890":  {Value: "−12,345", Half: "67,890"},
		"+1202 ± 186":     {Value: "+1202", Half: "186"},
		"2e+12 ± 1e+12":   {Value: "2e+12", Half: "1e+12"},
		"":                {Value: "–"},
	} {
		if got := newEstimate(text); got != want {
			t.Errorf("%q: got %+v, want %+v", text, got, want)
		}
	}
	if got := six(math.NaN()) + interval(1, math.NaN()); got != "––" {
		t.Errorf("NaN is %s", got)
	}
}
