// Command claims reads the results of configs/paper-variants.yaml or
// configs/paper-literal.yaml and prints the tables of docs/paper.md. They say for every
// variant of the paper's experiments whether its three claims hold, as paired differences
// with 95 % intervals.
//
//	go run -C studies ./claims results/paper-variants
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/studies/checkout"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run -C studies ./claims DIR   (the output of configs/paper-variants.yaml or configs/paper-literal.yaml)")
		os.Exit(2)
	}
	err := checkout.Enter()
	if err == nil {
		err = run(os.Args[1], os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "claims:", err)
		os.Exit(1)
	}
}

// early is the number of first steps that count as the short run; the long run
// is the last window of the recording grid.
const early = 100

// outcome is one run's mean rewards.
type outcome struct{ short, long, all float64 }

// study holds the outcomes of every agent in every environment, by run.
type study struct {
	runs     map[[2]string][]outcome
	lastFrom int // first step of the last window
	literal  bool
}

func load(dir string) (*study, error) {
	cfg, err := store.ReadConfig(filepath.Join(dir, "experiment.yaml"))
	if err != nil {
		return nil, err
	}
	p, err := plan.Compile(cfg)
	if err != nil {
		return nil, err
	}
	s := &study{runs: map[[2]string][]outcome{}, lastFrom: p.Grid[len(p.Grid)-2] + 1, literal: cfg.Name == "paper-literal"}
	for rec, err := range result.ReadRecords(dir) {
		if err != nil {
			return nil, err
		}
		if rec.Status != result.OK {
			return nil, fmt.Errorf("run %d of %s failed: %s", rec.Run, rec.Agent, rec.Error)
		}
		var o outcome
		prev, sum := 0, 0.0
		rewards := rec.Curves[result.Reward]
		for k, t := range p.Grid {
			sum += rewards[k] * float64(t-prev)
			if prev < early {
				o.short = sum / float64(t)
			}
			prev = t
		}
		o.long, o.all = rewards[len(rewards)-1], sum/float64(prev)
		key := [2]string{rec.Environment, rec.Agent}
		s.runs[key] = append(s.runs[key], o)
	}
	return s, nil
}

// difference is a mean over runs: of what agent a earns more than b in an environment.
type difference struct {
	environment, a, b string
	of                func(outcome) float64
}

// estimate pairs the runs: all agents meet the same draws.
func (s *study) estimate(d difference) (result.Estimate, error) {
	x, y := s.runs[[2]string{d.environment, d.a}], s.runs[[2]string{d.environment, d.b}]
	if len(x) == 0 || len(x) != len(y) {
		return result.Estimate{}, fmt.Errorf("%s: %d runs of %q and %d of %q", d.environment, len(x), d.a, len(y), d.b)
	}
	differences := make([]float64, len(x))
	for i := range x {
		differences[i] = d.of(x[i]) - d.of(y[i])
	}
	return result.EstimateMean(differences), nil
}

func short(o outcome) float64 { return o.short }
func long(o outcome) float64  { return o.long }
func all(o outcome) float64   { return o.all }

// cell writes an estimate with its verdict: ▲ above zero, ▼ below, · neither.
func cell(e result.Estimate) string {
	mark := "·"
	switch {
	case e.Low > 0:
		mark = "▲"
	case e.High < 0:
		mark = "▼"
	}
	return fmt.Sprintf("%s %+.4f [%+.4f, %+.4f]", mark, e.Mean, e.Low, e.High)
}

var (
	environments = []string{"16 arms", "128 arms", "256 arms"}
	steps        = []string{"0.01", "0.1"}
)

// variant is a row of a table, with the names of agents that differ by it.
type variant struct {
	label, step, sampling, vpi string
	opt                        func(gamma string) string
}

// variants returns the rows of claim 1, and those of the other claims. In paper-literal one
// member number is drawn a step for all arms, and rows differ by which members learn.
func (s *study) variants() (first, others []variant) {
	if s.literal {
		for _, step := range steps {
			for _, update := range []string{"drawn", "independent", "bernoulli", "exponential"} {
				v := " α=" + step + " " + update
				others = append(others, variant{"α=" + step + ", " + update, step, "sampling" + v, "VPI" + v,
					func(gamma string) string { return "opt γ=" + gamma + v }})
			}
		}
		return others, others
	}
	updates := []string{"all", "drawn"}
	for _, draw := range []string{"per-arm", "common"} {
		for _, step := range steps {
			for _, update := range updates {
				first = append(first, variant{label: "α=" + step + ", " + update + ", " + draw, step: step,
					sampling: "sampling α=" + step + " " + update + " " + draw})
			}
		}
	}
	for _, step := range steps {
		for _, update := range updates {
			for _, compare := range []string{"mean", "pairs", "all-pairs", "program"} {
				if compare == "program" && update != "all" {
					continue
				}
				v := " α=" + step + " " + update
				opt := func(gamma string) string { return "opt γ=" + gamma + v + " " + compare }
				if compare == "program" {
					opt = func(gamma string) string { return "program γ=" + gamma + " α=" + step }
				}
				others = append(others, variant{"α=" + step + ", " + update + ", " + compare, step, "sampling" + v + " per-arm", "VPI" + v, opt})
			}
		}
	}
	return first, others
}

func run(dir string, w io.Writer) error {
	s, err := load(dir)
	if err != nil {
		return err
	}
	t := table{w: w, study: s}
	fmt.Fprintf(w, "Differences of mean reward per step, paired by run, with 95 %% intervals; long run: steps from %d on; short run: the first %d or so. ▲ above zero, ▼ below, · neither.\n", s.lastFrom, early)
	first, others := s.variants()
	everywhere := func(a, b string, of func(outcome) float64) (list []difference) {
		for _, env := range environments {
			list = append(list, difference{env, a, b, of})
		}
		return list
	}

	t.head("Claim 1: sampling minus ε-greedy, long run", environments...)
	for _, v := range first {
		t.row(v.label, everywhere(v.sampling, "ε-greedy α="+v.step, long))
	}
	for _, part := range []struct {
		title string
		of    func(outcome) float64
	}{{"short run", short}, {"long run", long}} {
		t.head("Claim 2: opt γ=0.99 minus opt γ=0.5, "+part.title, environments...)
		for _, v := range others {
			t.row(v.label, everywhere(v.opt("0.99"), v.opt("0.5"), part.of))
		}
	}
	columns := []string{"opt − sampling, whole run", "opt − sampling, long run", "VPI − opt, long run", "E3 overflowed − opt, long run", "E3 − opt, long run"}
	if s.literal {
		columns = columns[:4]
	}
	for _, gamma := range []string{"0.5", "0.9", "0.99"} {
		t.head("Claim 3: 256 arms, opt γ="+gamma, columns...)
		for _, v := range others {
			const arms = "256 arms"
			opt := v.opt(gamma)
			t.row(v.label, []difference{{arms, opt, v.sampling, all}, {arms, opt, v.sampling, long}, {arms, v.vpi, opt, long},
				{arms, "E3 overflowed", opt, long}, {arms, "E3", opt, long}}[:len(columns)])
		}
	}
	return t.err
}

// table writes a Markdown table of differences; the first error sticks.
type table struct {
	w     io.Writer
	study *study
	err   error
}

func (t *table) head(title string, columns ...string) {
	fmt.Fprintf(t.w, "\n### %s\n\n| variant | %s |\n|---|%s\n", title, strings.Join(columns, " | "), strings.Join(slices.Repeat([]string{"---|"}, len(columns)), ""))
}

func (t *table) row(label string, differences []difference) {
	cells := []string{label}
	for _, d := range differences {
		e, err := t.study.estimate(d)
		if err != nil && t.err == nil {
			t.err = err
		}
		cells = append(cells, cell(e))
	}
	fmt.Fprintf(t.w, "| %s |\n", strings.Join(cells, " | "))
}
