package outside

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/output/outputtest"
	"github.com/rlrun/rlrun/framework/output/page"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/must"
)

func render(t testing.TB, s *result.Summary, p page.Page) string {
	t.Helper()
	var b strings.Builder
	must.Do(t, page.WriteHTML(&b, s, p))
	return b.String()
}

// open shows a page of a summary at a width, light or dark.
func open(t *testing.T, ctx context.Context, s *result.Summary, p page.Page, width int64, theme string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	must.Do(t, os.WriteFile(file, []byte(render(t, s, p)), 0o600))
	must.Do(t, chromedp.Run(ctx, chromedp.EmulateViewport(width, 900),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}),
		chromedp.Navigate("file://"+file), chromedp.WaitVisible("#scores figure svg")))
}

func evaluate[T any](t *testing.T, ctx context.Context, js string) (out T) {
	t.Helper()
	if err := chromedp.Run(ctx, chromedp.Evaluate(js, &out)); err != nil {
		t.Fatalf("%s: %v", js, err)
	}
	return out
}

// What is in sight is drawn at once, not in the next frame: chromium --headless --screenshot waits for none.
func TestPageIsDrawnAtOnce(t *testing.T) {
	ctx := browser(t)
	s, p := swept(t)
	open(t, ctx, s, p, 1400, "light")
	if n := evaluate[int](t, ctx, `(() => { document.querySelector("#theme").click(); return document.querySelectorAll("#scores figure .drawing > svg").length; })()`); n == 0 {
		t.Error("the task that drew the page anew has left its figures blank")
	}
}

// scrollAll brings every figure into view, so that it is drawn.
const scrollAll = `(async () => {
  for (const f of document.querySelectorAll("figure")) { f.scrollIntoView(); await new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))); }
  return document.querySelectorAll("figure").length - document.querySelectorAll("figure .drawing > svg").length;
})()`

func await(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// swept is an experiment of a sweep, with its comparison.
func swept(t *testing.T) (*result.Summary, page.Page) {
	t.Helper()
	p := page.Page{Sweeps: []page.Sweep{{Name: "ε-greedy", Keys: []string{"ε", "step"}}}, Config: "name: demo\n"}
	var labels []string
	for i := range 12 {
		values := []string{fmt.Sprintf("%.2g", 0.01*float64(1+i%4)), fmt.Sprintf("%.2g", 0.1*float64(1+i/4))}
		labels = append(labels, "ε-greedy ε="+values[0]+" step="+values[1])
		p.Sweeps[0].Agents, p.Sweeps[0].Values = append(p.Sweeps[0].Agents, i), append(p.Sweeps[0].Values, values)
	}
	s := outputtest.Demo(t, labels, 1000, 40, 12, true)
	var err error
	p.Comparison, err = compare.Compare([]*compare.Input{{Dir: "demo", Summary: s}}, compare.Config{Metric: result.Regret, Pairs: "first", Alpha: 0.05, Correction: compare.Holm})
	if err != nil {
		t.Fatal(err)
	}
	return s, p
}

// The page fits its window, wide and narrow, light and dark: nothing is wider than the
// page, and every figure has a drawing whose texts are inside it.
func TestPageInABrowser(t *testing.T) {
	ctx := browser(t)
	s, p := swept(t)
	for _, width := range []int64{1400, 400} {
		for _, theme := range []string{"light", "dark"} {
			open(t, ctx, s, p, width, theme)
			var empty int
			must.Do(t, chromedp.Run(ctx, chromedp.Evaluate(scrollAll, &empty, await)))
			if empty != 0 {
				t.Errorf("%d %s: %d figures without a drawing", width, theme, empty)
			}
			if wide := evaluate[int64](t, ctx, `document.documentElement.scrollWidth`); wide > width {
				t.Errorf("%d %s: the page is %d wide", width, theme, wide)
			}
			cut := evaluate[[]string](t, ctx, `[...document.querySelectorAll("figure .drawing:not(.wide) text")].filter((x) => {
  const a = x.getBoundingClientRect(), b = x.closest("figure").getBoundingClientRect();
  return a.left < b.left - 1 || a.right > b.right + 1;
}).map((x) => x.textContent)`)
			if len(cut) > 0 {
				t.Errorf("%d %s: texts are cut: %q", width, theme, cut)
			}
			if got := evaluate[string](t, ctx, `document.documentElement.dataset.theme`); got != theme {
				t.Errorf("the page is %s, the browser %s", got, theme)
			}
		}
	}
}

// Every chart of report.js draws its section, in their order, and no section is without
// content. Sections that there is nothing for are not shown.
func TestPageSections(t *testing.T) {
	ctx := browser(t)
	s, p := swept(t)
	full := *s
	env, agent := s.Meta.Environments[1], s.Meta.Agents[0]
	full.Choices = []result.Choices{{Environment: env, Agent: agent, Kept: 1200, Explored: 300, Hold: 12.34, Share: 0.01}}
	full.Failures = []result.Failure{{Key: result.Key{Environment: env, Agent: agent, Run: 3}, Steps: 2, Error: "no"}}
	some := *s
	some.Failures = nil
	const filled = `[...document.querySelectorAll("main > section")].filter((s) => !s.hidden).map((s) =>
  (s.id || s.querySelector("h2").id) + (s.querySelector("figure, tbody tr, dl, pre") ? "" : " is empty"))`
	for _, tt := range []struct {
		s    *result.Summary
		p    page.Page
		want string
	}{
		{&full, p, "scores curves sweeps comparisons decisions results failures meanings-title reproduce-title"},
		{&some, page.Page{}, "scores curves results meanings-title reproduce-title"},
	} {
		open(t, ctx, tt.s, tt.p, 1400, "light")
		if got := strings.Join(evaluate[[]string](t, ctx, filled), " "); got != tt.want {
			t.Errorf("sections are %s, want %s", got, tt.want)
		}
	}
}

// Paper is white, and has every chart, also those that were never in view. The optimum
// is named.
func TestPageOnPaper(t *testing.T) {
	ctx := browser(t)
	s, p := swept(t)
	open(t, ctx, s, p, 1400, "dark")
	type state struct {
		Theme    string
		Figures  int
		Drawings int
		Optimum  int
	}
	const look = `({ theme: document.documentElement.dataset.theme, figures: document.querySelectorAll("figure").length,
  drawings: document.querySelectorAll("figure .drawing > svg").length, optimum: [...document.querySelectorAll("figure text")].filter((x) => x.textContent.includes("optimum")).length })`
	evaluate[bool](t, ctx, `(() => { const m = document.getElementById("metric"); m.value = [...m.options].find((o) => o.text === "Mean reward").value; m.dispatchEvent(new Event("change")); return true; })()`)
	if got := evaluate[state](t, ctx, look); got.Drawings == got.Figures {
		t.Fatalf("all is drawn before it is seen, so this test shows nothing: %+v", got)
	}
	got := evaluate[state](t, ctx, `(() => { dispatchEvent(new Event("beforeprint")); return `+look+`; })()`)
	if got.Theme != "light" || got.Drawings != got.Figures {
		t.Errorf("in print: %+v", got)
	}
	if got.Optimum != 2 { // a score and a learning curve of the one environment with an optimum
		t.Errorf("%d charts name the optimum, want 2", got.Optimum)
	}
	if got := evaluate[string](t, ctx, `(() => { dispatchEvent(new Event("afterprint")); return document.documentElement.dataset.theme; })()`); got != "dark" {
		t.Errorf("after printing the page is %s", got)
	}
	// A4 with the margins of browsers. Tables are not cut off at its edge.
	must.Do(t, chromedp.Run(ctx, emulation.SetEmulatedMedia().WithMedia("print"), emulation.SetDeviceMetricsOverride(718, 1000, 1, false)))
	if got := evaluate[[]string](t, ctx, `[...document.querySelectorAll(".scroll")].filter((s) => s.scrollWidth > s.clientWidth).map((s) => s.innerText.slice(0, 60) + " " + s.scrollWidth + " " + s.clientWidth)`); len(got) > 0 {
		t.Errorf("tables wider than the paper: %q", got)
	}
}

// Where names do not fit, the words with which all begin are left out, and no name is cut
// inside a parameter.
func TestPageShortensNames(t *testing.T) {
	ctx := browser(t)
	s, p := swept(t)
	open(t, ctx, s, p, 320, "light")
	must.Do(t, chromedp.Run(ctx, chromedp.Evaluate(scrollAll, nil, await)))
	got := evaluate[[]string](t, ctx, `[...document.querySelectorAll("#scores text")].map((x) => x.textContent).filter((x) => x.includes("ε="))`)
	if len(got) == 0 {
		t.Fatal("no chart has names")
	}
	for _, name := range got {
		if !strings.HasPrefix(name, "…ε=0.0") || !strings.Contains(name, " step=") {
			t.Errorf("a name is shortened to %q", name)
		}
	}
}

// A reader can choose a metric, search, sort, filter, point at a line, and
// save.
func TestPageAnswers(t *testing.T) {
	ctx := browser(t)
	s, p := swept(t)
	open(t, ctx, s, p, 1400, "light")
	if got := evaluate[string](t, ctx, `document.querySelector("#metric").selectedOptions[0].text`); got != "Regret" {
		t.Errorf("the page begins with %s, not with the metric that is compared", got)
	}
	set := func(id, value, event string) {
		evaluate[bool](t, ctx, fmt.Sprintf(`(() => { const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event(%q)); return true; })()`, id, value, event))
	}
	// The comparisons say better and worse in words.
	verdicts := evaluate[[]string](t, ctx, `[...document.querySelectorAll("#comparison-table tbody tr")].map((r) => r.cells[1].textContent)`)
	for i, c := range p.Comparison.Comparisons {
		want := map[string]string{"": "not decided", c.A: "better", c.B: "worse"}[c.Better]
		if verdicts[i] != want {
			t.Errorf("%s against %s: %q, want %q", c.A, c.B, verdicts[i], want)
		}
	}
	// A table is sorted by the column that is clicked.
	evaluate[bool](t, ctx, `(() => { document.querySelectorAll("#comparison-table thead button")[5].click(); return true; })()`)
	sorted := evaluate[bool](t, ctx, `(() => { const xs = [...document.querySelectorAll("#comparison-table tbody tr")].map((r) => parseFloat(r.cells[5].textContent.replace("−", "-").replace(/,/g, ""))); return xs.every((x, i) => i === 0 || xs[i-1] <= x); })()`)
	if !sorted {
		t.Error("differences are not sorted")
	}
	// A search leaves the agents that match.
	set("search", "step=0.1 0.03", "input")
	if err := chromedp.Run(ctx, chromedp.Poll(`document.querySelector("#shown").textContent === "1 of 12 agents"`, nil)); err != nil {
		t.Errorf("the search shows %q", evaluate[string](t, ctx, `document.querySelector("#shown").textContent`))
	}
	set("search", "", "input")
	must.Do(t, chromedp.Run(ctx, chromedp.Poll(`document.querySelector("#shown").textContent === "12 agents"`, nil)))
	// Pointing at the first score names its agent.
	must.Do(t, chromedp.Run(ctx, chromedp.WaitVisible("#scores figure svg")))
	name := evaluate[string](t, ctx, `(() => {
  const d = document.querySelector("#scores .drawing"), b = d.querySelector("svg").getBoundingClientRect();
  d.dispatchEvent(new PointerEvent("pointermove", { clientX: b.left + b.width / 2, clientY: b.top + 40, bubbles: true }));
  return document.querySelector("#tip b").textContent;
})()`)
	best, least := "", 0.0
	for _, agent := range s.Meta.Agents {
		if r := s.Row(s.Meta.Environments[0], agent, result.Regret); best == "" || r.Mean < least {
			best, least = agent, r.Mean
		}
	}
	if evaluate[string](t, ctx, `document.querySelector("#scores figcaption span").firstChild.textContent`) == s.Meta.Environments[0] && name != best {
		t.Errorf("the first row is %q, the best agent %q", name, best)
	}
	// Every chart can be saved in three forms.
	saved := evaluate[[]string](t, ctx, `(() => {
  window.saved = [];
  URL.createObjectURL = (b) => { window.saved.push(b); return "#"; };
  for (const b of document.querySelectorAll("#curves figure:first-child .saves button")) b.click();
  return [...document.querySelectorAll("#curves figure:first-child .saves button")].map((b) => b.textContent);
})()`)
	if strings.Join(saved, " ") != "SVG PNG CSV" {
		t.Fatalf("charts are saved as %v", saved)
	}
	must.Do(t, chromedp.Run(ctx, chromedp.Poll(`window.saved.length === 3`, nil)))
	var contents []string
	must.Do(t, chromedp.Run(ctx, chromedp.Evaluate(`Promise.all(window.saved.map(async (b) => b.type + " " + b.size + " " + (b.type === "image/png" ? "" : await b.text())))`, &contents, await)))
	all := strings.Join(contents, "\n")
	for _, want := range []string{"image/svg+xml ", "image/png ", "text/csv ", "environment,agent,step,metric,mean,ci_low,ci_high,averaged_points\r\n", "</svg>"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in what was saved", want)
		}
	}
	// A picture stands alone: it names its lines, its metric and its environment.
	named := evaluate[[]string](t, ctx, `[...document.querySelectorAll("#curves .legend button")].map((b) => b.textContent)`)
	for _, want := range append(named, "Regret over", s.Meta.Environments[0][:9]) {
		if !strings.Contains(contents[0], want) {
			t.Errorf("the picture does not say %q", want)
		}
	}
}

// A page of 1,000 agents in 10 environments draws only what is in view.
func TestPageOfAThousandAgents(t *testing.T) {
	ctx := browser(t)
	var labels []string
	for i := range 1000 {
		labels = append(labels, fmt.Sprintf("agent %d", i))
	}
	s := outputtest.Invented(labels, 10, 50)
	open(t, ctx, s, page.Page{}, 1400, "light")
	if n := evaluate[int](t, ctx, `document.querySelectorAll("*").length`); n > 20_000 {
		t.Errorf("the page has %d elements", n)
	}
	if n := evaluate[int](t, ctx, `document.querySelectorAll("#curves .legend li button").length`); n == 0 || n > 20 {
		t.Errorf("the legend has %d entries", n)
	}
}

// How long pages take to open in a browser that runs: until what is in view is drawn.
func BenchmarkOpenPage(b *testing.B) {
	for _, size := range []struct{ agents, environments int }{{3, 1}, {100, 10}, {1000, 1}, {1000, 10}} {
		b.Run(fmt.Sprintf("agents=%d/environments=%d", size.agents, size.environments), func(b *testing.B) {
			ctx := browser(b)
			var labels []string
			for i := range size.agents {
				labels = append(labels, fmt.Sprintf("agent %d", i))
			}
			text := render(b, outputtest.Invented(labels, size.environments, 200), page.Page{})
			file := filepath.Join(b.TempDir(), "report.html")
			must.Do(b, os.WriteFile(file, []byte(text), 0o600))
			open := func() (ms float64) {
				const drawn = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(performance.now())))))`
				if err := chromedp.Run(ctx, chromedp.EmulateViewport(1400, 900), chromedp.Navigate("file://"+file),
					chromedp.WaitVisible("#scores figure svg"), chromedp.Evaluate(drawn, &ms, await)); err != nil {
					b.Fatal(err)
				}
				return ms
			}
			open() // fills the browser's caches
			sum := 0.0
			for b.Loop() {
				sum += open()
			}
			b.ReportMetric(sum/1000/float64(b.N), "s-to-open")
			b.ReportMetric(float64(len(text))/1e6, "MB")
		})
	}
}

// No label is cut off, neither the name of an optimum at the top of a panel nor the last
// label of an axis. Labels of tiny numbers differ.
func TestLabelsAreWhole(t *testing.T) {
	ctx := browser(t)
	for _, scale := range []float64{1, 1e-9, 1e15} {
		s := outputtest.Invented([]string{"a", "b", "c"}, 2, 20)
		s.Meta.Optimum = map[string]float64{}
		for _, env := range s.Meta.Environments {
			s.Meta.Optimum[env] = 5 * scale
		}
		for i := range s.Curves {
			for k := range s.Curves[i].Mean {
				s.Curves[i].Mean[k], s.Curves[i].Low[k], s.Curves[i].High[k] = scale*s.Curves[i].Mean[k], scale*s.Curves[i].Low[k], scale*s.Curves[i].High[k]
			}
		}
		for i := range s.Rows {
			r := &s.Rows[i]
			r.Mean, r.Low, r.High = scale*r.Mean, scale*r.Low, scale*r.High
		}
		open(t, ctx, s, page.Page{}, 1400, "light")
		if n := evaluate[int](t, ctx, `[...document.querySelectorAll("#curves svg text")].filter((e) => e.textContent === "optimum").length`); n != 2 {
			t.Errorf("%g: %d optima", scale, n)
		}
		cut := evaluate[string](t, ctx, `[...document.querySelectorAll("#curves figure, #scores figure")].flatMap((f) => {
			const around = f.getBoundingClientRect(), top = f.querySelector("svg").getBoundingClientRect().top + 23;
			return [...f.querySelectorAll("svg text")].filter((e) => {
				const r = e.getBoundingClientRect();
				return r.right > around.right || r.left < around.left || f.closest("#curves") && e.textContent === "optimum" && r.top < top;
			}).map((e) => e.textContent);
		}).join(" ")`)
		if cut != "" {
			t.Errorf("%g: cut off: %s", scale, cut)
		}
		twice := evaluate[string](t, ctx, `[...document.querySelectorAll("#curves [aria-label='y-axis tick label']")].map((e) => [...e.querySelectorAll("text")].map((e) => e.textContent))
			.filter((l) => new Set(l).size < l.length || l.some((x) => x.length > 7)).join(" ")`)
		if twice != "" {
			t.Errorf("%g: axis labels %s", scale, twice)
		}
	}
}

// A logarithmic axis begins where the values do: those of evaluations come late.
func TestLateCurvesFillTheirAxis(t *testing.T) {
	ctx := browser(t)
	s := outputtest.Demo(t, []string{"a", "b"}, 1000, 40, 5, true)
	for i := range s.Curves {
		for k, step := range s.Meta.Grid {
			if step < 500 {
				s.Curves[i].Mean[k], s.Curves[i].Low[k], s.Curves[i].High[k] = math.NaN(), math.NaN(), math.NaN()
			}
		}
	}
	open(t, ctx, s, page.Page{}, 1400, "light")
	ticks := evaluate[string](t, ctx, `document.querySelector("#logx").checked + [...document.querySelectorAll("#curves figure svg [aria-label='x-axis tick label'] text")].map((e) => e.textContent).join(" ")`)
	if !strings.HasPrefix(ticks, "true") || strings.Contains(" "+ticks+" ", " 10 ") {
		t.Errorf("the axis is marked at %s", ticks)
	}
}
