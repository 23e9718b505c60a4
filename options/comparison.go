package options

import "github.com/rlrun/rlrun/bandit"

// uninformed is (B) of docs/theory.md §3.2, with D_k = v*_k − v_k(y) and e the mean
// value of x:
//
//	(1−ρ)ζ sup δp − ρ(v̄(y)−e)
//
// or, for V, with mean D_k⁺ in place of sup δp.
func (c *Comparison) uninformed(x int) ComparisonResult {
	gain, _, r := promise(c.sorted(c.Optimal), c.Config.Bound)
	r.Option, r.Advantage = x, c.afterReveal(x, gain)
	return r
}

func (c *Comparison) afterReveal(x int, gain float64) float64 {
	return (1-c.Share)*c.Arms[x].RevealProbability*gain - c.Share*(c.mean-mean(c.row(x)))
}

// terms returns the best δ > 0 of a population against a known value, its p, and
// the advantage of that; δ = p = 0 if there is none. For U the share counts, the
// others look for sup δp.
func (c *Comparison) terms(b *bandit.Population, known float64) (delta, p, advantage float64) {
	share := 0.0
	if c.Config.Bound == bandit.U {
		share = c.Share
	}
	delta, advantage = bandit.BestDelta(b, bandit.Comparison{Known: known, LowerBound: c.Config.LowerBound}, share)
	if delta <= 0 {
		return 0, 0, advantage
	}
	n := 0
	for n < b.Len() && b.Member(n)-known >= delta {
		n++
	}
	return delta, float64(n) / float64(b.Len()), advantage
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
