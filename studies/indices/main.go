// Command indices reads the results of configs/indices.yaml, prints the table of
// docs/paper.md that goes beyond the paper, and draws its figure. Both show the
// discounted reward of every policy as a share of the Bayes-optimal value V*.
//
// The first agent must be the Gittins index policy, whose expected reward is V* (Gittins
// 1979). All agents meet the same draws. So V* plus the mean paired difference from it
// estimates a policy's value. As a control variate, this has much less noise than the
// mean of the policy's own rewards.
//
//	go run -C studies ./indices results/indices docs/images/indices
package main

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/studies/checkout"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go run -C studies ./indices DIR FIGURE   (DIR: the output of configs/indices.yaml; FIGURE: path without .svg)")
		os.Exit(2)
	}
	err := checkout.Enter()
	if err == nil {
		err = run(os.Args[1], os.Args[2], os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "indices:", err)
		os.Exit(1)
	}
}

// task is one environment of the study with the Bayes-optimal value of its arms.
type task struct {
	name    string
	optimum float64           // normalised: (1−γ)·V*
	values  []result.Estimate // by agent: normalised discounted reward, its own mean
	behind  []result.Estimate // by agent: paired difference to the first agent, normalised
}

func run(dir, figure string, w io.Writer) error {
	cfg, err := store.ReadConfig(filepath.Join(dir, "experiment.yaml"))
	if err != nil {
		return err
	}
	p, err := plan.Compile(cfg)
	if err != nil {
		return err
	}
	meta := p.Meta()
	summary, err := result.Aggregate(meta, result.ReadRecords(dir))
	if err != nil {
		return err
	}
	var tasks []task
	for _, env := range meta.Environments {
		t, err := read(summary, env, meta)
		if err != nil {
			return err
		}
		tasks = append(tasks, t)
	}
	order := make([]int, len(meta.Agents))
	for i := range order {
		order[i] = i
	}
	last := tasks[len(tasks)-1]
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(last.behind[b].Mean, last.behind[a].Mean) })
	print(w, tasks, meta, order)
	return drawFigure(figure, tasks, meta, order)
}

func read(s *result.Summary, env string, meta result.Meta) (task, error) {
	arms, err := strconv.Atoi(strings.Fields(env)[0])
	if err != nil {
		return task{}, fmt.Errorf("environment %q does not begin with its number of arms", env)
	}
	lo, hi, err := discountedOptimum(slices.Repeat([]bandit.Beta{{A: 1, B: 1}}, arms), meta.Discount, 1e-4)
	if err != nil {
		return task{}, err
	}
	scale := 1 - meta.Discount
	t := task{name: env, optimum: scale * (lo + hi) / 2}
	for _, agent := range meta.Agents {
		row := s.Row(env, agent, result.DiscountedReturn)
		if row == nil {
			return task{}, fmt.Errorf("no discounted return of %s in %s", agent, env)
		}
		t.values = append(t.values, scaled(row.Estimate, scale))
		var d result.Estimate // of the first agent to itself: zero
		if row.Difference != nil {
			d = scaled(*row.Difference, scale)
		}
		t.behind = append(t.behind, d)
	}
	return t, nil
}

func scaled(e result.Estimate, by float64) result.Estimate {
	return result.Estimate{N: e.N, Mean: by * e.Mean, StdErr: by * e.StdErr, Low: by * e.Low, High: by * e.High}
}

func print(w io.Writer, tasks []task, meta result.Meta, order []int) {
	first := meta.Agents[0]
	fmt.Fprintf(w, "Normalised discounted reward (1−γ)·Σ γ^k r_k, γ = %v, %d runs, ± half of the 95 %% interval. %s is Bayes-optimal: its value is exact, its own mean a check. The others: paired difference to it.\n\n| policy |", meta.Discount, meta.Runs, first)
	for _, t := range tasks {
		fmt.Fprintf(w, " %s |", t.name)
	}
	fmt.Fprintf(w, "\n|---|%s\n| Bayes-optimal, exact |", strings.Repeat("---|", len(tasks)))
	for _, t := range tasks {
		fmt.Fprintf(w, " %.4f |", t.optimum)
	}
	fmt.Fprintf(w, "\n| %s, own mean |", first)
	for _, t := range tasks {
		fmt.Fprintf(w, " %.4f ± %.4f |", t.values[0].Mean, (t.values[0].High-t.values[0].Low)/2)
	}
	fmt.Fprintln(w)
	for _, a := range order {
		if a == 0 {
			continue
		}
		fmt.Fprintf(w, "| %s |", meta.Agents[a])
		for _, t := range tasks {
			d := t.behind[a]
			fmt.Fprintf(w, " %+.4f ± %.4f |", d.Mean, (d.High-d.Low)/2)
		}
		fmt.Fprintln(w)
	}
}

// The colours are of Okabe & Ito's palette, which colour-blind readers can tell
// apart; shapes also differ.
var marks = []draw.GlyphStyle{
	{Color: color.NRGBA{0, 114, 178, 255}, Radius: 3.5, Shape: draw.CircleGlyph{}},
	{Color: color.NRGBA{213, 94, 0, 255}, Radius: 3.5, Shape: draw.BoxGlyph{}},
}

func drawFigure(path string, tasks []task, meta result.Meta, order []int) error {
	sans := font.Font{Typeface: "Liberation", Variant: "Sans"}
	plot.DefaultFont, plotter.DefaultFont = sans, sans
	p := plot.New()
	p.Title.Text = fmt.Sprintf("Discounted reward as a share of the Bayes-optimal, γ = %v", meta.Discount)
	p.Title.TextStyle.Font.Size = 13
	p.Title.Padding = 8
	p.X.Label.Text = fmt.Sprintf("share of the Bayes-optimal value (%d paired runs, 95 %% interval)", meta.Runs)
	p.X.Label.TextStyle.Font.Size, p.X.Tick.Label.Font.Size, p.Y.Tick.Label.Font.Size = 11, 10, 11
	p.Y.Label.Text = " " // room for the longest name
	p.X.Tick.Marker = shareTicks{}
	p.Legend.TextStyle.Font.Size, p.Legend.Padding = 11, 3
	p.Legend.Top, p.Legend.Left, p.Legend.XOffs, p.Legend.YOffs = true, true, 12, -10
	names := make([]string, len(order))
	for place, a := range order {
		names[len(order)-1-place] = meta.Agents[a]
	}
	p.NominalY(names...)
	p.Add(plotter.NewGrid())
	one, err := plotter.NewLine(plotter.XYs{{X: 1, Y: -0.6}, {X: 1, Y: float64(len(order)) - 0.4}})
	if err != nil {
		return err
	}
	one.Color, one.Width, one.Dashes = color.Gray{90}, 1, []vg.Length{4, 3}
	p.Add(one)
	for k, t := range tasks {
		shift := 0.14 - 0.28*float64(k)/float64(max(1, len(tasks)-1))
		data := bars{}
		for place, a := range order {
			d := t.behind[a]
			half := (d.High - d.Low) / 2 / t.optimum
			data.XYs = append(data.XYs, plotter.XY{X: 1 + d.Mean/t.optimum, Y: float64(len(order)-1-place) + shift})
			data.XErrors = append(data.XErrors, struct{ Low, High float64 }{half, half})
		}
		mark := marks[k%len(marks)]
		errs, err := plotter.NewXErrorBars(data)
		if err != nil {
			return err
		}
		errs.Color, errs.Width, errs.CapWidth = mark.Color, 1.2, 5
		points, err := plotter.NewScatter(data)
		if err != nil {
			return err
		}
		points.GlyphStyle = mark
		p.Add(errs, points)
		p.Legend.Add(t.name, points)
	}
	p.Legend.Add("Bayes-optimal", one)
	p.X.Max = max(p.X.Max, 1) + 0.01
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	for _, ext := range []string{".svg", ".png"} {
		if err := p.Save(17*vg.Centimeter, 13*vg.Centimeter, path+ext); err != nil {
			return err
		}
	}
	return nil
}

// shareTicks marks every 0.05.
type shareTicks struct{}

// Ticks implements plot.Ticker.
func (shareTicks) Ticks(low, high float64) (ticks []plot.Tick) {
	for k := math.Ceil(low*20 - 1e-9); k <= high*20+1e-9; k++ {
		ticks = append(ticks, plot.Tick{Value: k / 20, Label: strconv.FormatFloat(k/20, 'f', 2, 64)})
	}
	return ticks
}

// bars are points with horizontal error bars.
type bars struct {
	plotter.XYs
	plotter.XErrors
}
