package voi

// Pair is an option aimed at a state and an action: what trying it may gain, and what the way
// and the trial cost, as seen from some state. Amounts are sums of rewards, discounted to now.
type Pair struct {
	State, Action int
	// Gain is E[γ^τ g]. It is counted if the pair is reached; a way may be given up.
	Gain float64
	// Cost is the discounted sum of gaps until the pair has been tried, its own included.
	Cost float64
	// Steps is the expected discounted number of steps until then, at least 1.
	Steps float64
}

// Pairs appends, of every state that can be reached from s, the pair of the largest prize
// if trying it may gain anything. horizon is as for Action. Prizes and ways are those of
// the last plan in which they were computed. After Pairs, Toward and Greedy act on the
// same plan.
func (p *Planner) Pairs(dst []Pair, s int, horizon float64) []Pair {
	p.Plan(s, horizon)
	m := &p.model
	for y := range m.v {
		if y >= len(p.a.best) || len(p.a.best[y].f) <= s {
			continue
		}
		a := 0
		prizes := p.prize[y*p.b.actions : (y+1)*p.b.actions]
		for k, x := range prizes {
			if x > prizes[a] {
				a = k
			}
		}
		i := y*p.b.actions + a
		f, c := p.a.best[y].f[s], p.a.best[y].c[s]
		cost := 0.0
		if a != int(m.policy[y]) {
			cost = max(0, m.trial[i])
		}
		if gain := prizes[a] + cost; gain > 0 && f > 0 {
			dst = append(dst, Pair{y, a, f * gain * p.b.scale, (c + f*cost) * p.b.scale, 1 + (1-f)/(1-m.gamma)})
		}
	}
	return dst
}

// Value returns what the greedy policy is believed to earn by step from state s on, by the last plan.
func (p *Planner) Value(s int) float64 {
	return p.b.low + p.b.scale*(1-p.model.gamma)*p.model.v[s]
}

// Toward returns the action to take in state s to try a pair, by the way of the last plan.
// Where the way is given up, that is the greedy action.
func (p *Planner) Toward(s int, x Pair) int {
	if s == x.State {
		return x.Action
	}
	if x.State >= len(p.a.best) || len(p.a.best[x.State].f) != p.b.States() {
		p.check(x.State)
	}
	w, worth := &p.a.best[x.State], max(p.worth[x.State], 1e-9)
	best, action := 0.0, p.Greedy(s)
	for a := range p.b.actions {
		if f, c := w.after(&p.model, s*p.b.actions+a); worth*f-c > best {
			best, action = worth*f-c, a
		}
	}
	return action
}
