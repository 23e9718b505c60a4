package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/stat"
	"github.com/rlrun/rlrun/internal/each"
)

// Equivalent is the verdict of agents whose difference is not decided, and below the margin.
const Equivalent = "equivalent"

func (c *comparer) checkMargins() error {
	for _, env := range slices.Sorted(maps.Keys(c.Config.Margins)) {
		if m := c.Config.Margins[env]; !(m > 0) || math.IsInf(m, 0) {
			return fmt.Errorf("a margin of equivalence must be a positive number, not %v", m)
		}
		if env != "" && !slices.Contains(c.Environments, env) {
			return fmt.Errorf("no environment is called %q; there are: %s", env, shortList(c.Environments))
		}
	}
	return nil
}

// margin is that of an environment; NaN without one.
func (c *comparer) margin(env string) float64 {
	for _, name := range []string{env, ""} {
		if m, ok := c.Config.Margins[name]; ok {
			return m
		}
	}
	return math.NaN()
}

// oneSided is the p value of the larger of two one-sided tests (Schuirmann 1987): that the
// difference is at most −margin, and that it is at least margin. above returns the p value that
// sign × difference + margin is zero, which is small if it is above.
func oneSided(above func(sign float64) float64) float64 {
	return max(above(1), above(-1)) // NaN stays
}

// pairedEquivalence fills in Equivalence by sign flips, which assume that differences are
// symmetric about their mean.
func (c *comparer) pairedEquivalence(cmp *Comparison, d []result.Rounded, draws int, random uint64) {
	if math.IsNaN(cmp.Margin) {
		return
	}
	cmp.Equivalence = oneSided(func(sign float64) float64 {
		d := result.Level(each.Of(d, func(x result.Rounded) result.Rounded { return x.Minus(result.Rounded{Value: -sign * cmp.Margin}) }))
		p, _ := stat.SignFlipAbove(each.Of(d, func(x float64) float64 { return sign * x }), draws, random)
		return p
	})
}

// welchEquivalence fills in Equivalence of independent samples.
func (c *comparer) welchEquivalence(cmp *Comparison, x, y []float64, draws int, random uint64) {
	if math.IsNaN(cmp.Margin) {
		return
	}
	cmp.Equivalence = oneSided(func(sign float64) float64 {
		x := each.Of(x, func(x float64) float64 { return sign*x + cmp.Margin })
		y := each.Of(y, func(y float64) float64 { return sign * y })
		t := stat.Welch(x, y, 1-c.Config.Alpha)
		if math.IsNaN(t.P) || math.IsInf(t.T, 0) {
			p, _ := stat.PermutationAbove(x, y, draws, random)
			return p
		}
		if t.Value > 0 {
			return t.P / 2
		}
		return 1 - t.P/2
	})
}

// equivalences corrects the p values of equivalence, a family of their own, and fills in what
// follows.
func (c *comparer) equivalences(adjust func([]float64) []float64) {
	var tested []*Comparison
	var ps []float64
	for i := range c.Comparisons {
		if cmp := &c.Comparisons[i]; !math.IsNaN(cmp.Equivalence) {
			tested, ps = append(tested, cmp), append(ps, cmp.Equivalence)
		}
	}
	for i, p := range adjust(ps) {
		cmp := tested[i]
		cmp.Equivalence, cmp.Equivalent = p, p <= c.Config.Alpha
		if cmp.Equivalent && cmp.Better == "" {
			cmp.Verdict = Equivalent
		}
	}
	if len(tested) > 0 {
		c.Notes = append(c.Notes, "Equivalent means that the difference is within the margin, by two one-sided tests. Level and correction hold for these tests together, as they do for the tests of a difference.")
	}
}
