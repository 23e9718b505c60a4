package modelagents

import (
	"math"

	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/root"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// klUCRLParams are the parameters of KL-UCRL.
type klUCRLParams struct {
	Sets
	finite.Bounds
}

// KLUCRL returns KL-UCRL (Filippi, Cappé & Garivier 2010) as a plugin. It is UCRL2 with
// another confidence set. For a pair seen n times in t steps of a task with S states and A
// actions, the mean reward is within C_R/√n of the mean seen, in units of the range of
// rewards, and the rows q have KL(p̂, q) ≤ C_P/n, where
//
//	C_R = √(ln(4SA ln(t)/δ)/1.99), B = ln(2eS²A ln(t)/δ) and
//	C_P = S (B + ln(B + 1/ln t) (1 + 1/(B + 1/ln t))).
//
// The paper has the length of the run for t.
func KLUCRL() vector.Plugin {
	return modelbased.Plugin("rlrun/kl-ucrl@1",
		"KL-UCRL (Filippi, Cappé & Garivier 2010): UCRL2 with Kullback–Leibler divergences in place of distances between rows of probabilities.",
		klUCRLParams{Sets: defaultSets},
		func(p klUCRLParams, t finite.Task) (func() modelbased.Design, error) {
			return p.design(p.Bounds, t, (*confidence).filippi, (*confidence).expectKL)
		})
}

// filippi are the widths of Filippi, Cappé & Garivier (2010). The square of that of a row bounds
// its divergence.
func (m *confidence) filippi() (r, p float64) {
	states, actions, t := float64(m.Task.States), float64(m.Task.Actions), math.Log(max(2, m.Counts.Total()+1))
	b := math.Log(2 * math.E * states * states * actions * t / m.p.Delta)
	c := b + 1/t
	return math.Log(4*states*actions*t/m.p.Delta) / 1.99, states * (b + math.Log(c)*(1+1/c))
}

// expectKL returns the largest expected value after a pair (MaxKL of Filippi, Cappé &
// Garivier 2010). Seen successors have weights p̂(u)/(ν − V(u)), for the ν at which the
// divergence is as large as it may be. If even ν = max V leaves some, a best state that was not
// seen has a share of its own.
func (m *confidence) expectKL(s, a int, value []float64) float64 {
	n, width, top := m.Counts.N(s, a), m.pairs[s*m.Task.Actions+a].width, value[m.best]
	next, count := m.Counts.Row(s, a)
	most, least := math.Inf(-1), math.Inf(1)
	for _, u := range next {
		most, least = max(most, value[u]), min(least, value[u])
	}
	if n == 0 || least == top {
		return top
	}
	// slack is what the divergence may be less what it is with ν = most + z.
	slack := func(z float64) float64 {
		logs, sum := 0.0, 0.0
		for k, u := range next {
			p, d := count[k]/n, z+(most-value[u])
			logs += float64(p * math.Log(d))
			sum += p / d
		}
		return float64(width*width) - logs - math.Log(sum)
	}
	own, z := 0.0, top-most
	if z > 0 {
		own = max(0, -math.Expm1(-slack(z)))
	}
	if span := most - least; own == 0 && span > 0 {
		if z = 1e-12 * span; slack(z) < 0 {
			hi := span
			for slack(hi) < 0 && hi < 1e9*span {
				hi *= 2
			}
			z = root.Find(func(z float64) float64 { return -slack(z) }, z, hi)
		}
	}
	weights, sum := 0.0, 0.0
	for k, u := range next {
		w := count[k] / (z + (most - value[u]))
		weights += w
		sum += float64(w * value[u])
	}
	return float64(own*top) + float64((1-own)*sum/weights)
}
