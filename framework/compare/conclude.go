package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/stat"
)

// conclude adjusts the p values of all comparisons and says what follows.
func (c *comparer) conclude() {
	var tested []int // comparisons that have a p value
	var ps []float64
	for i := range c.Comparisons {
		cmp := &c.Comparisons[i]
		cmp.Verdict, cmp.Adjusted = NotDecided, math.NaN()
		if cmp.Better != "" { // by the sequential test
			cmp.Verdict = cmp.Better + " is better"
		}
		if !math.IsNaN(cmp.P) {
			tested, ps = append(tested, i), append(ps, cmp.P)
		}
	}
	adjust := stat.Holm
	if c.Config.Correction == BenjaminiHochberg {
		adjust = stat.BenjaminiHochberg
	}
	for k, p := range adjust(ps) {
		cmp := &c.Comparisons[tested[k]]
		cmp.Adjusted = p
		if p > c.Config.Alpha || cmp.Difference.Value == 0 {
			continue
		}
		cmp.Better = cmp.A
		if (cmp.Difference.Value < 0) != c.LowerIsBetter {
			cmp.Better = cmp.B
		}
		cmp.Verdict = cmp.Better + " is better"
	}
	c.equivalences(adjust)
	c.say()
	c.otherPrograms()
	c.advise()
}

// say repeats what a reader of an input's results must know.
func (c *comparer) say() {
	var said []*Input
	for i := range c.Agents {
		in := c.Agents[i].input
		if slices.Contains(said, in) {
			continue
		}
		said = append(said, in)
		notes := slices.Concat(in.Summary.Meta.Notes, in.Summary.LostDigits())
		if in.Summary.Mixed != "" {
			notes = append(notes, in.Summary.MixedNote())
		}
		for _, note := range notes {
			c.Notes = append(c.Notes, fmt.Sprintf("%s: %s.", in.Dir, note))
		}
	}
}

// levels are those of the sequential tests.
func (r *Result) levels() string {
	var out []string
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		if level := strconv.FormatFloat(c.Alpha, 'g', -1, 64); c.Stopped && !slices.Contains(out, level) {
			out = append(out, level)
		}
	}
	return strings.Join(out, " and ")
}

// otherPrograms notes experiments whose bundled plugins may differ.
func (c *comparer) otherPrograms() {
	var first *Input
	for i := range c.Agents {
		in := c.Agents[i].input
		switch {
		case in.Program == "":
		case first == nil:
			first = in
		case in.Program != first.Program:
			c.Notes = append(c.Notes, fmt.Sprintf("%s was made by %s and %s by %s: the bundled plugins of the two may differ, and with them a task or an agent.", first.Dir, first.Program, in.Dir, in.Program))
			return
		}
	}
}

// constant notes environments in which the metric has one value, such as the reward of a step where each pays 1.
func (c *comparer) constant() {
	for _, env := range c.Environments {
		var all []float64
		for i := range c.Agents {
			if s := c.values[cell{env, i}]; s != nil {
				all = append(all, s.values...)
			}
		}
		if len(all) > 2 && slices.Min(all) == slices.Max(all) {
			c.Notes = append(c.Notes, fmt.Sprintf("%s: the %s is %.6g in every run of every agent, so it tells no two apart; choose another metric.", env, c.Definition.Title, all[0]))
		}
	}
}

// advise notes what limits the conclusions.
func (c *comparer) advise() {
	c.constant()
	few, pairs, runs, m := 0, 0, 0, len(c.Comparisons)
	cannot, stopped, unknown, narrow := 0, 0, 0, 0
	for _, cmp := range c.Comparisons {
		if cmp.Paired {
			pairs += cmp.Dropped
		} else {
			runs += cmp.Dropped
		}
		if strings.HasSuffix(cmp.Reason, fewRuns) {
			unknown++
		}
		if strings.HasSuffix(cmp.Reason, noSpread) {
			narrow++
		}
		if cmp.Stopped {
			stopped++
			continue
		}
		if cmp.Paired && cmp.N < 50 {
			few++
		}
		if cmp.Paired && cmp.N <= 40 && math.Ldexp(float64(m), 1-cmp.N) > c.Config.Alpha && c.Config.Correction == Holm {
			cannot++
		}
	}
	if cannot > 0 {
		need := int(math.Ceil(1 + math.Log2(float64(m)/c.Config.Alpha)))
		text := fmt.Sprintf("A correction for %d comparisons needs %d pairs of runs or more before it can decide any at level %g, and %d of them have fewer.",
			m, need, c.Config.Alpha, cannot)
		if m == 1 {
			text = fmt.Sprintf("A comparison needs %d pairs of runs or more before it can be decided at level %g.", need, c.Config.Alpha)
		}
		c.Notes = append(c.Notes, text)
	}
	if unknown > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("%d of %d differences have no interval: at level %g it takes %d pairs of runs, or two runs of either agent if they are not paired.", unknown, m, c.Config.Alpha, stat.Design{Alpha: c.Config.Alpha}.LeastRuns()))
	}
	if narrow > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("In %d of %d comparisons all differences are the same. They have no interval, which does not mean that another run could not differ.", narrow, m))
	}
	if stopped > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("%d comparisons are those of the test that stops the experiment (until: decided), at level %s of its config. Their differences are biased away from zero, and their intervals are too narrow.", stopped, c.levels()))
	}
	until := slices.ContainsFunc(c.Agents, func(a ComparedAgent) bool {
		return a.input.Until != nil && slices.ContainsFunc(a.input.Summary.Counts, func(c result.Count) bool { return c.NotNeeded > 0 })
	})
	if until && stopped < m {
		c.Notes = append(c.Notes, "Runs were stopped by a test of other comparisons or another metric. These p values do not take that into account; do not report them.")
	}
	if few > 0 {
		c.Notes = append(c.Notes, "Below 50 runs the level of sign flips is approximate if differences are skewed (docs/statistics.md).")
	}
	what := "failed, is missing or has no value"
	if until && stopped < m {
		what = "was not needed by the test that stopped the experiment, failed, is missing or has no value"
	}
	if left := pairs + runs; left > 0 {
		of := "pairs of runs"
		if pairs == 0 {
			of = "runs"
		}
		c.Notes = append(c.Notes, fmt.Sprintf("%d %s are left out, over all comparisons: a run %s. If an agent fails more often where it does badly, the comparison favours it.", left, of, what))
	}
}
