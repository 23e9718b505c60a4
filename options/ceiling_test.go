package options

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/must"
)

// An option that is left out because it is plainly worse never was the best: the
// decision is that of comparing all, to the bit.
func TestCeilingsLeaveOutTheWorseOnly(t *testing.T) {
	left := 0
	rapid.Check(t, func(rt *rapid.T) {
		n, k := rapid.IntRange(2, 8).Draw(rt, "options"), rapid.SampledFrom([]int{1, 2, 5, 16, 33}).Draw(rt, "members")
		value := rapid.OneOf(rapid.Float64Range(-1, 2), rapid.SampledFrom([]float64{0, 0.25, 0.5, 1, 1e9}))
		p := Problem{Values: rapid.SliceOfN(value, n*k, n*k).Draw(rt, "values"), Hold: rapid.IntRange(1, 300).Draw(rt, "T")}
		for x := range n {
			p.Arms = append(p.Arms, Arm{Name: fmt.Sprint(x)})
		}
		for x := 1; x < n; x++ { // members that agree make ties
			if rapid.Bool().Draw(rt, "copy") {
				copy(p.row(x), p.row(rapid.IntRange(0, x-1).Draw(rt, "of")))
			}
		}
		rule := DeciderConfig{Horizon: bandit.Discounted(0.99), Rule: RuleCommonModel, Bound: rapid.SampledFrom([]bandit.IndexKind{bandit.U, bandit.UPlus, bandit.V}).Draw(rt, "kind"),
			LowerBound: rapid.SampledFrom([]float64{-1, 0, 0.7}).Draw(rt, "b")}
		d := must.Get(NewDecider(rule))(rt)
		got := must.Get(d.Decide(&p, nil))(rt)
		c := &d.comparison // as the decision left it
		best := c.bestPlain(nil)
		if !c.exact && best.Advantage > 0 && best.Advantage <= c.rounding() { // rounding alone
			best.Advantage = 0
		}
		for x := 2; x < n; x++ {
			if c.ceiling(x) < best.Advantage {
				left++
			}
			if fast, plain := slices.Clone(c.sorted(p.row(x))), c.sortedPlain(p.row(x)); !slices.Equal(fast, plain) {
				rt.Fatalf("sorted %v, plainly %v", fast, plain)
			}
		}
		if got.Advantage != best.Advantage || got.Delta != best.Delta || got.P != best.P || got.Explore && got.Choice != best.Option {
			rt.Fatalf("%+v, comparing all gives %+v", got, best)
		}
	})
	if left == 0 {
		t.Error("no option was ever left out")
	}
}
