package mdp

import "math"

// bandFailure is the probability with which a band may fail.
const bandFailure = 0.05

// MixingBand encloses the exploration mixing time of every state and action in
// what the counts allow.
type MixingBand struct {
	Eta, Epsilon float64 // thresholds, as in Mixing
	// Low ≤ T ≤ High for all (s,a) at once, with probability 0.95. High is Never
	// where the data do not suffice.
	Low, High [][]int
	Plugin    *Mixing // the mixing times of the empirical model
}

// MixingBand estimates mixing times under a policy from counts: those of the
// empirical model, with a band that follows from how well each row is known
// (docs/theory.md §2.5, item 1). With w(x) ≥ ‖P̂(x,·)−P(x,·)‖₁, from Weissman et
// al. (2003, Theorem 2.1) or empirical Bernstein bounds,
//
//	|‖νPⁿ‖₁ − ‖ν̂P̂ⁿ‖₁| ≤ w(s,a) + w(s,π) + Σ_{k<n} Σ_x |ν̂P̂ᵏ(x)| w(x,π).
//
// Pairs that have not been seen are self-loops of the empirical model, with w = 2.
// The counts are of single steps, not weighted. The number of trials of a pair may
// depend on what was seen, as with an agent: w holds for every number of trials at
// once.
func (c *Counts) MixingBand(pi Policy, o MixingConfig) (*MixingBand, error) {
	m := c.Empirical()
	plugin, err := MixingTime(m, pi, o)
	if err != nil && plugin == nil {
		return nil, err
	}
	chain, err := Induce(m, pi)
	if err != nil {
		return nil, err
	}
	b := &MixingBand{Eta: plugin.Eta, Epsilon: plugin.Epsilon, Plugin: plugin, Low: make([][]int, c.states), High: make([][]int, c.states)}
	width := make([]float64, c.states*c.actions)
	for i := range width {
		width[i] = c.width(i)
	}
	ofPolicy, taken := make([]float64, c.states), make([]float64, c.actions)
	for s := range ofPolicy {
		pi.Distribution(taken, s)
		for a, p := range taken {
			ofPolicy[s] += p * width[s*c.actions+a]
		}
	}
	now, next := make([]float64, c.states), make([]float64, c.states)
	scratch := newScatter(c.states)
	for s := range c.states {
		b.Low[s], b.High[s] = make([]int, c.actions), make([]int, c.actions)
		pi.Distribution(taken, s)
		for a := range c.actions {
			if taken[a] == 1 { // ν = 0, whatever the model
				b.Low[s][a], b.High[s][a] = 1, 1
				continue
			}
			clear(now)
			index, value := deviation(m, chain, s, a, scratch)
			for k, t := range index {
				now[t] = value[k]
			}
			band := width[s*c.actions+a] + ofPolicy[s]
			low, high := 0, 0
			for t := 1; low == 0 || high == 0; t++ {
				norm := norm1(now)
				if low == 0 && norm-band < 2*b.Eta {
					low = t
				}
				if norm+band < 2*b.Eta {
					high = t
				} else if band >= 2*b.Eta || t > maxBand {
					high = Never // the band only grows
				}
				if high != 0 && low != 0 {
					break
				}
				for x, mass := range now {
					band += math.Abs(mass) * ofPolicy[x]
				}
				chain.Propagate(next, now)
				now, next = next, now
			}
			b.Low[s][a], b.High[s][a] = low, high
		}
	}
	return b, nil
}

// maxBand limits the steps in which High is looked for; with finite data the
// band exceeds the threshold long before, unless nothing is left of ν̂.
const maxBand = 1_000_000

// width bounds ‖P̂−P‖₁ of row i with a probability that allows for all rows and
// all numbers of visits n, each with the share 1/(n(n+1)). It is the smaller of
// two bounds: Weissman's, and the sum over successors of the empirical Bernstein
// bound (Maurer & Pontil 2009, Theorem 4). The second is better for rows that are
// nearly deterministic. Each has half of the failure probability.
func (c *Counts) width(i int) float64 {
	row := &c.rows[i]
	n := row.total
	union := float64(c.states*c.actions) * n * (n + 1)
	switch {
	case c.states == 1:
		return 0
	case n < 2:
		return 2
	}
	logs := float64(c.states)*math.Ln2 + math.Log(2*union/bandFailure)
	weissman := math.Sqrt(2 * logs / n)
	logs = math.Log(4 * 2 * union * float64(c.states) / bandFailure)
	bernstein := 7 * logs / (3 * (n - 1)) * float64(c.states)
	for _, k := range row.count {
		p := k / n
		bernstein += math.Sqrt(2 * p * (1 - p) / (n - 1) * logs)
	}
	return min(2, weissman, bernstein)
}
