// Command claims reads the results of configs/paper-variants.yaml or
// configs/paper-literal.yaml and prints the tables of docs/paper.md. They say for every
// variant of the paper's experiments whether its three claims hold, as paired differences
// with 95 % intervals.
//
//	go run ./docs/claims results/paper-variants
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework/experiment"
	"github.com/rlrun/rlrun/framework/result"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./docs/claims DIR   (the output of configs/paper-variants.yaml or configs/paper-literal.yaml)")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Stdout); err != nil {
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
	cfg, err := experiment.ReadConfig(filepath.Join(dir, "experiment.yaml"))
	if err != nil {
		return nil, err
	}
	plan, err := experiment.Compile(cfg)
	if err != nil {
		return nil, err
	}
	s := &study{runs: map[[2]string][]outcome{}, lastFrom: plan.Grid[len(plan.Grid)-2] + 1, literal: cfg.Name == "paper-literal"}
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
		for k, t := range plan.Grid {
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

// difference estimates E[a − b] over runs, paired: all agents meet the same draws.
func (s *study) difference(environment, a, b string, of func(outcome) float64) (result.Estimate, error) {
	x, y := s.runs[[2]string{environment, a}], s.runs[[2]string{environment, b}]
	if len(x) == 0 || len(x) != len(y) {
		return result.Estimate{}, fmt.Errorf("%s: %d runs of %q and %d of %q", environment, len(x), a, len(y), b)
	}
	d := make([]float64, len(x))
	for i := range d {
		d[i] = of(x[i]) - of(y[i])
	}
	return result.EstimateMean(d), nil
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
	updates      = []string{"all", "drawn"}
)

func run(dir string, w io.Writer) error {
	s, err := load(dir)
	if err != nil {
		return err
	}
	t := table{w: w, study: s}
	fmt.Fprintf(w, "Differences of mean reward per step, paired by run, with 95 %% intervals; long run: steps from %d on; short run: the first %d or so. ▲ above zero, ▼ below, · neither.\n", s.lastFrom, early)
	if s.literal {
		t.literal()
		return t.err
	}

	t.head("Claim 1: sampling minus ε-greedy, long run", environments...)
	for _, draw := range []string{"per-arm", "common"} {
		for _, v := range variants() {
			t.row(fmt.Sprintf("α=%s, %s, %s", v.step, v.update, draw), func(env string) (string, string, string, func(outcome) float64) {
				return env, fmt.Sprintf("sampling α=%s %s %s", v.step, v.update, draw), "ε-greedy α=" + v.step, long
			}, environments)
		}
	}
	compares := []string{"mean", "pairs", "all-pairs", "program"}
	for _, part := range []struct {
		title string
		of    func(outcome) float64
	}{{"short run", short}, {"long run", long}} {
		t.head("Claim 2: opt γ=0.99 minus opt γ=0.5, "+part.title, environments...)
		for _, v := range variants() {
			for _, compare := range compares {
				if compare == "program" && v.update != "all" {
					continue
				}
				t.row(fmt.Sprintf("α=%s, %s, %s", v.step, v.update, compare), func(env string) (string, string, string, func(outcome) float64) {
					return env, opt("0.99", v, compare), opt("0.5", v, compare), part.of
				}, environments)
			}
		}
	}
	columns := []string{"opt − sampling, whole run", "opt − sampling, long run", "VPI − opt, long run", "E3 overflowed − opt, long run", "E3 − opt, long run"}
	for _, gamma := range []string{"0.5", "0.9", "0.99"} {
		t.head("Claim 3: 256 arms, opt γ="+gamma, columns...)
		for _, v := range variants() {
			for _, compare := range compares {
				if compare == "program" && v.update != "all" {
					continue
				}
				o := opt(gamma, v, compare)
				pairs := map[string]func() (string, string, string, func(outcome) float64){
					columns[0]: func() (string, string, string, func(outcome) float64) {
						return "256 arms", o, sampling(v), all
					},
					columns[1]: func() (string, string, string, func(outcome) float64) {
						return "256 arms", o, sampling(v), long
					},
					columns[2]: func() (string, string, string, func(outcome) float64) {
						return "256 arms", fmt.Sprintf("VPI α=%s %s", v.step, v.update), o, long
					},
					columns[3]: func() (string, string, string, func(outcome) float64) {
						return "256 arms", "E3 overflowed", o, long
					},
					columns[4]: func() (string, string, string, func(outcome) float64) { return "256 arms", "E3", o, long },
				}
				t.row(fmt.Sprintf("α=%s, %s, %s", v.step, v.update, compare), func(c string) (string, string, string, func(outcome) float64) {
					return pairs[c]()
				}, columns)
			}
		}
	}
	return t.err
}

// literal prints the claims where one member number is drawn a step for all arms, by
// which members learn.
func (t *table) literal() {
	readings := []string{"drawn", "independent", "bernoulli", "exponential"}
	rows := func(f func(step, update string)) {
		for _, step := range steps {
			for _, update := range readings {
				f(step, update)
			}
		}
	}
	sampling := func(step, update string) string { return fmt.Sprintf("sampling α=%s %s", step, update) }
	opt := func(gamma, step, update string) string { return fmt.Sprintf("opt γ=%s α=%s %s", gamma, step, update) }
	label := func(step, update string) string { return fmt.Sprintf("α=%s, %s", step, update) }
	t.head("Claim 1: sampling minus ε-greedy, long run", environments...)
	rows(func(step, update string) {
		t.row(label(step, update), func(env string) (string, string, string, func(outcome) float64) {
			return env, sampling(step, update), "ε-greedy α=" + step, long
		}, environments)
	})
	for _, part := range []struct {
		title string
		of    func(outcome) float64
	}{{"short run", short}, {"long run", long}} {
		t.head("Claim 2: opt γ=0.99 minus opt γ=0.5, "+part.title, environments...)
		rows(func(step, update string) {
			t.row(label(step, update), func(env string) (string, string, string, func(outcome) float64) {
				return env, opt("0.99", step, update), opt("0.5", step, update), part.of
			}, environments)
		})
	}
	columns := []string{"opt − sampling, whole run", "opt − sampling, long run", "VPI − opt, long run", "E3 overflowed − opt, long run"}
	for _, gamma := range []string{"0.5", "0.9", "0.99"} {
		t.head("Claim 3: 256 arms, opt γ="+gamma, columns...)
		rows(func(step, update string) {
			o := opt(gamma, step, update)
			t.row(label(step, update), func(column string) (string, string, string, func(outcome) float64) {
				switch column {
				case columns[0]:
					return "256 arms", o, sampling(step, update), all
				case columns[1]:
					return "256 arms", o, sampling(step, update), long
				case columns[2]:
					return "256 arms", fmt.Sprintf("VPI α=%s %s", step, update), o, long
				default:
					return "256 arms", "E3 overflowed", o, long
				}
			}, columns)
		})
	}
}

type variant struct{ step, update string }

func variants() (list []variant) {
	for _, step := range steps {
		for _, update := range updates {
			list = append(list, variant{step, update})
		}
	}
	return list
}

func opt(gamma string, v variant, compare string) string {
	if compare == "program" {
		return fmt.Sprintf("program γ=%s α=%s", gamma, v.step)
	}
	return fmt.Sprintf("opt γ=%s α=%s %s %s", gamma, v.step, v.update, compare)
}

func sampling(v variant) string { return fmt.Sprintf("sampling α=%s %s per-arm", v.step, v.update) }

// table writes a Markdown table of differences; the first error sticks.
type table struct {
	w     io.Writer
	study *study
	err   error
}

func (t *table) head(title string, columns ...string) {
	fmt.Fprintf(t.w, "\n### %s\n\n| variant | %s |\n|---|%s\n", title, strings.Join(columns, " | "), strings.Join(slices.Repeat([]string{"---|"}, len(columns)), ""))
}

func (t *table) row(label string, pair func(column string) (environment, a, b string, of func(outcome) float64), columns []string) {
	cells := []string{label}
	for _, c := range columns {
		e, err := t.study.difference(pair(c))
		if err != nil && t.err == nil {
			t.err = err
		}
		cells = append(cells, cell(e))
	}
	fmt.Fprintf(t.w, "| %s |\n", strings.Join(cells, " | "))
}
