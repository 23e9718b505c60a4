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
// if trying it may gain anything. Pairs that greedy play tries anyway are left out. So are
// pairs whose rate, the advantage by step, is not above that of the best of these.
// horizon is as for Action. Prizes and ways are those of the last plan in which they
// were computed. After Pairs, Toward and Greedy act on the same plan.
func (p *Planner) Pairs(dst []Pair, s int, horizon float64) []Pair {
	p.Plan(s, horizon)
	m := &p.model
	from, passing := len(dst), 0.0
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
		greedy := a == int(m.policy[y])
		cost := 0.0
		if !greedy {
			cost = max(0, m.trial[i])
		}
		gain := prizes[a] + cost
		if !(gain > 0 && f > 0) {
			continue
		}
		x := Pair{y, a, f * gain * p.b.scale, (c + f*cost) * p.b.scale, 1 + (1-f)/(1-m.gamma)}
		if greedy && c == 0 {
			passing = max(passing, x.rate())
		} else {
			dst = append(dst, x)
		}
	}
	kept := dst[:from]
	for _, x := range dst[from:] {
		if x.rate() > passing {
			kept = append(kept, x)
		}
	}
	return kept
}

func (x Pair) rate() float64 { return (x.Gain - x.Cost) / x.Steps }

// Value returns what the greedy policy is believed to earn by step from state s on, by the last plan.
func (p *Planner) Value(s int) float64 {
	return p.b.low + p.b.scale*(1-p.model.gamma)*p.model.v[s]
}

// Toward returns the action to take in state s to try a pair, by the way of the last plan.
// It is the greedy action if the way is given up in s.
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
