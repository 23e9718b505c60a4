package options

import "github.com/rlrun/rlrun/mdp"

// Shows returns the first number of steps t ≥ 1 in which a policy, from s on, is expected to
// earn t(y + (x−y)/2) in a model, where x is its value per step and y that of the greedy
// policy: half of the lead that it promises. Of a discounted value there is such a number, since
// the mean of the rewards up to a geometric time is x for each step (docs/theory.md §3.2). With
// one state it is 1, on a way to a goal the time to reach it. The result is at most most, and 1 if
// there is no lead.
func Shows(m *mdp.Tabular, pi mdp.Deterministic, s int, y, x float64, most int) int {
	if !(x > y) {
		return 1
	}
	now, then := make([]float64, m.NumStates()), make([]float64, m.NumStates())
	now[s] = 1
	earned, promised := 0.0, y+(x-y)/2
	for t := 1; ; t++ {
		for s, p := range now {
			if p == 0 {
				continue
			}
			earned += p * m.Reward(s, pi[s])
			next, prob := m.Transition(s, pi[s])
			for i, u := range next {
				then[u] += p * prob[i]
			}
			now[s] = 0
		}
		if t >= most || earned >= float64(t)*promised {
			return t
		}
		now, then = then, now
	}
}
