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
// difference is at most −margin, and that it is at least margin. test returns the difference
// after a shift, and the two-sided p value that it is zero.
func oneSided(margin float64, test func(shift float64) (difference, p float64)) float64 {
	largest := 0.0
	for _, shift := range []float64{margin, -margin} {
		d, p := test(shift)
		if p /= 2; d*shift <= 0 {
			p = 1 - p
		}
		largest = max(largest, p) // NaN stays
	}
	return largest
}

func shifted(values []float64, by float64) []float64 {
	return each.Of(values, func(x float64) float64 { return x + by })
}

// pairedEquivalence fills in Equivalence by sign flips, which assume that differences are
// symmetric about their mean.
func (c *comparer) pairedEquivalence(cmp *Comparison, d []result.Rounded, draws int, random uint64) {
	if math.IsNaN(cmp.Margin) {
		return
	}
	cmp.Equivalence = oneSided(cmp.Margin, func(shift float64) (float64, float64) {
		d := result.Level(each.Of(d, func(x result.Rounded) result.Rounded { return x.Minus(result.Rounded{Value: -shift}) }))
		p, _ := stat.SignFlip(d, draws, random)
		return stat.Mean(d), p
	})
}

// welchEquivalence fills in Equivalence of independent samples.
func (c *comparer) welchEquivalence(cmp *Comparison, x, y []float64, draws int, random uint64) {
	if math.IsNaN(cmp.Margin) {
		return
	}
	cmp.Equivalence = oneSided(cmp.Margin, func(shift float64) (float64, float64) {
		x := shifted(x, shift)
		t := stat.Welch(x, y, 1-c.Config.Alpha)
		if math.IsNaN(t.P) || math.IsInf(t.T, 0) {
			t.P, _ = stat.Permutation(x, y, draws, random)
		}
		return t.Value, t.P
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
