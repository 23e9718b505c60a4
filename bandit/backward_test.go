package bandit

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/internal/vectors"
	"pgregory.net/rapid"
)

// plainValue is the Bayes-optimal value by recursion over the tree of
// outcomes, with the first pull free to choose.
func plainValue(arms []Beta, h Horizon, pull, pulls int) (best float64, q []float64) {
	if pull == pulls {
		for _, a := range arms {
			best = max(best, a.Mean())
		}
		return best * h.Tail(pulls), nil
	}
	for i := range arms {
		m := arms[i].Mean()
		win, lose := slices.Clone(arms), slices.Clone(arms)
		win[i].A++
		lose[i].B++
		a, _ := plainValue(win, h, pull+1, pulls)
		b, _ := plainValue(lose, h, pull+1, pulls)
		q = append(q, m*(h.Weight(pull)+a)+(1-m)*b)
	}
	return slices.Max(q), q
}

func TestPlanAgainstTheTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 3).Draw(t, "arms")
		priors := make([]Beta, n)
		for i := range priors {
			priors[i] = Beta{rapid.Float64Range(0.1, 4).Draw(t, "a"), rapid.Float64Range(0.1, 4).Draw(t, "b")}
		}
		pulls := rapid.IntRange(1, 5).Draw(t, "pulls")
		h := anyHorizon(t)
		plan := must.Get(NewPlan(priors, h, pulls, 0))(t)
		want, q := plainValue(priors, h, 0, pulls)
		tol := 1e-12 * h.Total()
		if math.Abs(plan.Value()-want) > tol {
			t.Fatalf("value %v, want %v", plan.Value(), want)
		}
		for i, v := range plan.first {
			if math.Abs(v-q[i]) > tol {
				t.Fatalf("value of arm %d first %v, want %v", i, v, q[i])
			}
		}
		// Following the plan is worth its value.
		if value, err := PolicyValue(priors, h, pulls, func(counts []int, _ []float64) int { return plan.Best(counts) }); err != nil || math.Abs(value-want) > tol {
			t.Fatalf("following the plan is worth %v, not %v (%v)", value, want, err)
		}
		if greedy, err := GreedyValue(priors, h, pulls); err != nil || greedy > want+tol {
			t.Fatalf("greedy %v, optimum %v (%v)", greedy, want, err)
		}
		// More pulls planned, a better value, within the bound.
		more := must.Get(NewPlan(priors, h, pulls+3, 0))(t)
		if v := more.Value(); v < want-tol || v > want+plan.ErrorBound()+tol {
			t.Fatalf("planning %d pulls is worth %v, %d pulls %v, with a bound of %v", pulls+3, v, pulls, want, plan.ErrorBound())
		}
	})
}

func TestLatticeRanks(t *testing.T) {
	l := must.Get(newLattice([]Beta{{1, 1}, {1, 1}, {1, 1}}, Finite(6), 7))(t)
	l.tabulate()
	counts, child := make([]int, l.parts), make([]int, l.parts)
	for sum := range 7 {
		next := 0
		l.each(sum, counts, func(rank int) {
			if rank != next || l.rank(counts, sum) != rank {
				t.Fatalf("%v has rank %d, visited as %d, expected %d", counts, l.rank(counts, sum), rank, next)
			}
			next++
			l.children(counts, sum, child)
			for i := range counts {
				counts[i]++
				if want := l.rank(counts, sum+1); child[i] != want {
					t.Fatalf("child %d of %v has rank %d, want %d", i, counts, child[i], want)
				}
				counts[i]--
			}
		})
		if float64(next) != l.states(sum, l.parts-1) {
			t.Fatalf("visited %d states of sum %d, want %v", next, sum, l.states(sum, l.parts-1))
		}
	}
}

// Discounted over many pulls, with one of two arms known, the Gittins index
// says which to pull first.
func TestPlanAgreesWithGittins(t *testing.T) {
	const gamma, sure = 0.8, 1e9
	index := Gittins(1, 1, gamma)
	for _, c := range []struct {
		known float64
		best  int
	}{{index - 0.01, 0}, {index + 0.01, 1}} {
		plan := must.Get(NewPlan([]Beta{{1, 1}, {c.known * sure, (1 - c.known) * sure}}, Discounted(gamma), 40, 0))(t)
		if got := plan.Best(make([]int, 4)); got != c.best {
			t.Errorf("against %v (index %v) the plan starts with arm %d", c.known, index, got)
		}
		if bound := plan.ErrorBound(); !(bound > 0 && bound < 1e-3) {
			t.Errorf("error bound %v", bound)
		}
	}
}

func TestPlanErrors(t *testing.T) {
	two := []Beta{{1, 1}, {1, 1}}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"one arm":      {second(NewPlan(two[:1], Finite(3), 4, 0)), "arms"},
		"no pulls":     {second(NewPlan(two, Finite(3), 0, 0)), "pull"},
		"prior":        {second(NewPlan([]Beta{{1, 1}, {0, 1}}, Finite(3), 4, 0)), "positive"},
		"memory":       {second(NewPlan(two, Finite(9999), 10000, 0)), "bytes"},
		"limit":        {second(NewPlan(two, Finite(50), 51, 1000)), "bytes"},
		"value":        {second(GreedyValue(make([]Beta, 200), Finite(3), 4)), "positive"},
		"value memory": {second(GreedyValue(slices.Repeat(two, 20), Finite(50), 51)), "bytes"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: error %v, want one about %q", name, c.err, c.want)
		}
	}
	plan := must.Get(NewPlan(two, Finite(1), 2, 0))(t)
	mustPanic(t, "counts", func() { plan.Best([]int{0, 0}) })
	mustPanic(t, "negative", func() { plan.Best([]int{-1, 0, 1, 0}) })
	mustPanic(t, "over", func() { plan.Best([]int{1, 0, 1, 0}) })
	mustPanic(t, "no arm", func() {
		_, _ = PolicyValue(two, Finite(1), 2, func([]int, []float64) int { return 2 })
	})
}

// Two uniform arms over 20 pulls: the values of docs/theory.md §1.9 for index
// and pairwise policies (that of U was checked with indices from a scan of
// 20,000 points).
func TestPolicyValuesOfTheTheory(t *testing.T) {
	const pulls = 20
	priors := []Beta{{1, 1}, {1, 1}}
	arm := func(counts []int, i int) Beta {
		return Beta{1 + float64(counts[2*i]), 1 + float64(counts[2*i+1])}
	}
	rho := func(counts []int) float64 {
		return 1 / float64(pulls-counts[0]-counts[1]-counts[2]-counts[3])
	}
	for kind, want := range map[IndexKind]float64{U: 12.4258, UPlus: 12.4208, V: 12.4299} {
		type state struct {
			arm Beta
			rho float64
		}
		known := map[state]float64{}
		index := func(arm Beta, rho float64) float64 {
			if _, ok := known[state{arm, rho}]; !ok {
				known[state{arm, rho}] = Index(kind, arm, rho, 0)
			}
			return known[state{arm, rho}]
		}
		got := must.Get(PolicyValue(priors, Finite(pulls-1), pulls, func(counts []int, _ []float64) int {
			if index(arm(counts, 1), rho(counts)) > index(arm(counts, 0), rho(counts))+1e-9 {
				return 1
			}
			return 0
		}))(t)
		vectors.Close(t, kind.String(), got, want, 0, 6e-5)
	}
	pairwise := must.Get(PolicyValue(priors, Finite(pulls-1), pulls, func(counts []int, means []float64) int {
		greedy := 0
		if means[1] > means[0] {
			greedy = 1
		}
		left := pulls - counts[0] - counts[1] - counts[2] - counts[3]
		if Explore(Finite(left-1), arm(counts, 1-greedy), Comparison{Known: means[greedy]}) {
			return 1 - greedy
		}
		return greedy
	}))(t)
	vectors.Close(t, "pairwise U", pairwise, 12.3895, 0, 6e-5)
}
