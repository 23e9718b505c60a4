package page

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/output"
	"github.com/rlrun/rlrun/framework/output/outputtest"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/internal/must"
)

func render(t testing.TB, s *result.Summary, p Page) string {
	t.Helper()
	var buf bytes.Buffer
	must.Do(t, WriteHTML(&buf, s, p))
	return buf.String()
}

// elements parses a page and returns its elements by tag.
func elements(t *testing.T, file string) map[string][]*html.Node {
	t.Helper()
	root := must.Get(html.Parse(strings.NewReader(file)))(t)
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
func embedded(t *testing.T, file string) (d pageData) {
	t.Helper()
	for _, n := range elements(t, file)["script"] {
		if attribute(n, "id") == "data" {
			must.Do(t, json.Unmarshal([]byte(textOf(n)), &d))
			return d
		}
	}
	t.Fatal("no data")
	return d
}

func TestPageIsDeterministicAndWhole(t *testing.T) {
	s := outputtest.Demo(t, []string{"ε-greedy", "Thompson"}, 1000, 40, 6, true)
	p := Page{Config: "name: demo\nruns: 6\n", Provenance: `{"go": "go1.26"}`, Command: "rlrun run x.yaml"}
	file := render(t, s, p)
	if render(t, s, p) != file {
		t.Error("two pages differ")
	}
	for _, want := range []string{
		"ε-greedy", "Thompson", "bernoulli-bandit, 16 arms", "gaussian-bandit", "name: demo", "go1.26", "rlrun run x.yaml",
		"2 of 24 runs failed", "An invented experiment.", new(result.Meta).Define(result.Regret).Text,
		"Copyright 2010-2026 Mike Bostock\n\nPermission to use, copy", "Observable, Inc.",
	} {
		if !strings.Contains(file, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	if strings.Contains(file, "Incomplete") {
		t.Error("the page says that runs are missing")
	}
}

// The built libraries have what report.js uses of them, and no more.
func TestChartsOfLibraries(t *testing.T) {
	names := func(text, pattern string) []string {
		var out []string
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			out = append(out, m[1])
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	for _, library := range []string{"Plot", "d3"} {
		built := regexp.MustCompile(`globalThis\.` + library + `=\{([^}]*)\}`).FindStringSubmatch(chartsJS)
		if got, want := names(built[1], `(\w+):`), names(pageJS, `\b`+library+`\.(\w+)`); !slices.Equal(got, want) {
			t.Errorf("%s has %v, report.js uses %v", library, got, want)
		}
	}
}

// The page works offline: nothing in it names an address to load from, as its program
// has only the names of XML. Its policy forbids to load anything.
func TestPageLoadsNothing(t *testing.T) {
	file := render(t, outputtest.Demo(t, []string{"a", "b"}, 100, 10, 4, false), Page{})
	if len(file) > 200<<10 {
		t.Errorf("a small page has %d bytes", len(file))
	}
	for _, scheme := range []string{"http://", "https://"} {
		if i := strings.Index(file+pageJS, scheme); i >= 0 {
			t.Errorf("…%s…", (file + pageJS)[max(0, i-40):i+40])
		}
	}
	els := elements(t, file)
	if got := attribute(els["meta"][2], "content"); !strings.HasPrefix(got, "default-src 'none'; ") || strings.Contains(got, "connect-src") {
		t.Errorf("content policy %q", got)
	}
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
	s := outputtest.Demo(t, []string{evil, "b"}, 100, 10, 4, false)
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
	file := render(t, s, Page{Command: evil, Config: evil, Provenance: evil})
	els := elements(t, file)
	if n := len(els["script"]); n != 2 {
		t.Errorf("%d scripts, want 2", n)
	}
	if n := len(els["b"]); n != 0 {
		t.Errorf("%d elements came from a name", n)
	}
	if got := textOf(els["h1"][0]); got != evil {
		t.Errorf("title is %q", got)
	}
	d := embedded(t, file)
	if d.Agents[0] != evil || d.Environments[0] != evil || d.Failures[0].Error != evil {
		t.Errorf("data hold %q, %q and %q", d.Agents[0], d.Environments[0], d.Failures[0].Error)
	}
	var errs int
	for _, n := range els["pre"] {
		if textOf(n) == evil {
			errs++
		}
	}
	if errs != 3 {
		t.Errorf("%d blocks hold the text, want 3", errs)
	}
}

// Every control has a label, ids are unique and references go somewhere. The page's
// script is tested in a browser.
func TestPageIsAccessible(t *testing.T) {
	els := elements(t, render(t, outputtest.Demo(t, []string{"a", "b", "c"}, 100, 10, 4, false), Page{Config: "x: 1"}))
	if lang := attribute(els["html"][0], "lang"); lang != "en" {
		t.Errorf("language is %q", lang)
	}
	if len(els["main"]) != 1 || len(els["h1"]) != 1 {
		t.Error("main or heading missing")
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
		}
	}
	for _, ref := range references {
		if !ids[ref] {
			t.Errorf("nothing has the id %s", ref)
		}
	}
}

// The page's numbers are those of the summary, to the digits of 32-bit floats.
func TestPageData(t *testing.T) {
	s := outputtest.Demo(t, []string{"a", "b"}, 1000, 40, 6, true)
	d := embedded(t, render(t, s, Page{}))
	if len(d.Environments) != 2 || fmt.Sprint(d.Steps) != fmt.Sprint(s.Meta.Grid) || !d.Log {
		t.Fatalf("%d environments, steps %v", len(d.Environments), d.Steps)
	}
	near := func(got, want float64) bool {
		return math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= 1e-6*math.Abs(want)
	}
	curves := 0
	for _, holder := range d.Curves {
		for a, agent := range d.Agents {
			c := s.Curve(d.Environments[holder.Environment], agent, d.Metrics[holder.Metric].ID)
			curves++
			for k := range c.Mean {
				i := a*len(d.Steps) + k
				low, high := s.Meta.Clamp(c.Environment, c.Metric, c.Steps[k], c.Low[k], c.High[k])
				if !near(holder.Mean[i], c.Mean[k]) || !near(holder.Low[i], low) || !near(holder.High[i], high) {
					t.Fatalf("%s %s %s point %d: %g, want %g", c.Environment, agent, c.Metric, k, holder.Mean[i], c.Mean[k])
				}
			}
		}
	}
	if curves != len(s.Curves) {
		t.Errorf("%d curves on the page, %d in the summary", curves, len(s.Curves))
	}
	for _, holder := range d.Rows {
		for a, agent := range d.Agents {
			r := s.Row(d.Environments[holder.Environment], agent, d.Metrics[holder.Metric].ID)
			if !near(holder.Mean[a], r.Mean) || !near(holder.IQM[a], r.IQM) || holder.N[a] != float64(r.N) {
				t.Fatalf("%s: %g, want %g", agent, holder.Mean[a], r.Mean)
			}
			if r.Difference != nil && !near(holder.Difference[a], r.Difference.Mean) {
				t.Errorf("%s: difference %g, want %g", agent, holder.Difference[a], r.Difference.Mean)
			}
		}
	}
	d = embedded(t, render(t, s, Page{Metrics: []result.Metric{result.Regret}}))
	if ms := d.Metrics; len(ms) != 1 || ms[0].ID != result.Regret || ms[0].Better != -1 {
		t.Errorf("chosen metrics: %v", ms)
	}
}

// The page of some agents of two experiments has their labels, curves, and comparisons.
func TestTogether(t *testing.T) {
	results := func() *output.Results {
		var recs []result.Record
		for run := range 8 {
			for a, agent := range []string{"a", "b"} {
				recs = append(recs, outputtest.OK("e", agent, run, float64(10*a+run%3)))
			}
		}
		r := outputtest.Results(t, result.Meta{Name: "x", Environments: []string{"e"}, Agents: []string{"a", "b"}, Grid: []int{1}, Steps: 1, Runs: 8, Seed: 1}, recs...)
		must.Do(t, os.WriteFile(filepath.Join(r.Dir.Path, store.ConfigFile), []byte("steps: 1\n"), 0o666))
		return r
	}
	one, two := results(), results()
	one.Dir.Path, two.Dir.Path = must.Get(link(t, one.Dir.Path, "one"))(t), must.Get(link(t, two.Dir.Path, "two"))(t)
	inputs := []*compare.Input{{Dir: one.Dir.Path, Summary: one.Summary}, {Dir: two.Dir.Path, Summary: two.Summary, Agents: []string{"b"}}}
	found := must.Get(compare.Compare(inputs, compare.Config{Metric: result.Reward, Pairs: "one:a,two:b", Alpha: 0.05, Correction: compare.Holm}))(t)
	s, p, err := Together(inputs, []*output.Results{one, two})
	must.Do(t, err)
	p.Comparison = found
	d := embedded(t, render(t, s, p))
	if want := []string{"one:a", "one:b", "two:b"}; !slices.Equal(d.Agents, want) {
		t.Fatalf("agents %q, want %q", d.Agents, want)
	}
	if rows := d.Comparison.Rows; len(rows) != 1 || d.Agents[rows[0].A] != "one:a" || d.Agents[rows[0].B] != "two:b" || rows[0].Difference != -10 || rows[0].Verdict != -1 {
		t.Errorf("comparisons %+v", rows)
	}
	if mean := d.Rows[0].Mean; len(mean) != 3 || mean[0]+10 != mean[2] || mean[1] != mean[2] {
		t.Errorf("means %v", mean)
	}
}

// link names a directory.
func link(t *testing.T, to, name string) (string, error) {
	from := filepath.Join(t.TempDir(), name)
	return from, os.Symlink(to, from)
}

// Bands stay within what a metric can be.
func TestBounds(t *testing.T) {
	var meta result.Meta
	if low, high := meta.Clamp("e", result.OptimalAction, 10, -0.1, 1.2); low != 0 || high != 1 {
		t.Errorf("a share is in [%g, %g]", low, high)
	}
	if low, high := meta.Clamp("e", result.Reward, 10, -0.1, 1.2); low != -0.1 || high != 1.2 {
		t.Errorf("a reward is in [%g, %g]", low, high)
	}
	zero, one := 0.0, 1.0
	meta.Tasks = map[string]result.Task{"e": {States: 1, RewardLow: &zero, RewardHigh: &one}, "f": {States: 2, RewardHigh: &one}}
	inf := math.Inf(1)
	for _, tt := range []struct {
		env       string
		m         result.Metric
		low, high float64
	}{
		{"e", result.Reward, 0, 1}, {"f", result.Reward, -inf, 1}, {"g", result.Reward, -inf, inf},
		{"e", result.CumulativeReward, 0, 10}, {"f", result.CumulativeReward, -inf, 10},
		{"e", result.Regret, 0, 10}, {"f", result.Regret, -inf, inf}, {"e", result.MixingTime, 0, inf},
	} {
		if low, high := meta.Bounds(tt.env, tt.m, 10); low != tt.low || high != tt.high {
			t.Errorf("%s in %s is in [%g, %g], want [%g, %g]", tt.m, tt.env, low, high, tt.low, tt.high)
		}
	}
	if low, _ := meta.Clamp("e", result.OptimalAction, 10, math.NaN(), 1); !math.IsNaN(low) {
		t.Errorf("an unknown bound became %g", low)
	}
}

// The more curves, the fewer points each: pages stay small.
func TestPageOfManyAgentsIsSmall(t *testing.T) {
	var labels []string
	for i := range 3000 {
		labels = append(labels, fmt.Sprintf("agent %d", i))
	}
	file := render(t, outputtest.Invented(labels, 5, 100), Page{})
	d := embedded(t, file)
	if n := len(d.Steps); n < leastPoints || n > 60 {
		t.Errorf("%d points a curve", n)
	}
	if len(file) > 24<<20 {
		t.Errorf("the page has %d MiB", len(file)>>20)
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
			s := must.Get(result.Aggregate(meta, result.Sorted(recs)))(t)
			file := render(t, s, Page{})
			missing := "2,999 of 3,000"
			if len(recs) == 0 {
				missing = "3,000 of 3,000"
			}
			if !strings.Contains(file, "Incomplete: "+missing) {
				t.Error("the page does not say that runs are missing")
			}
			embedded(t, file)
		})
	}
}

func TestManyFailuresAreCut(t *testing.T) {
	s := outputtest.Demo(t, []string{"a", "b"}, 10, 5, 4, false)
	s.Counts[0].Failed += 250
	for run := range 250 {
		s.Failures = append(s.Failures, result.Failure{Key: result.Key{Environment: "e", Agent: "a", Run: 1000 + run}, Error: "no"})
	}
	d := embedded(t, render(t, s, Page{}))
	if d.Failed != 252 || len(d.Failures) != 100 {
		t.Errorf("%d failures of %d are listed", len(d.Failures), d.Failed)
	}
}

func TestPageReportsErrors(t *testing.T) {
	if err := WriteHTML(full{}, outputtest.Demo(t, []string{"a"}, 10, 5, 2, false), Page{}); err == nil {
		t.Error("a full disk was not reported")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

// UnmarshalJSON reads what MarshalJSON writes, as the page does.
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
