package voi

// Pair is an option aimed at a state and an action, as seen from the present state. It
// has the possible gain of trying the action, and the cost of the route and the trial.
// Amounts are sums of rewards, discounted to now.
type Pair struct {
	State, Action int // that it is aimed at, counted from 0
	// Gain is E[γ^τ g]: g ≥ 0 is the gain of trying the pair, and τ the time until it is
	// reached. It is 0 where the route is given up before.
	Gain float64
	// Cost ≥ 0 is the expected discounted sum of gaps V(s) − Q(s,a) until the pair has been
	// tried, including its own.
	Cost float64
	// Steps is the expected discounted number of steps until then, at least 1.
	Steps float64
}

// Pairs appends to dst, for every state that can be reached from s, the pair of the largest
// prize if its gain is positive, and returns the result. It leaves out pairs that the greedy
// policy tries anyway, and pairs whose rate (Gain−Cost)/Steps is not above the best rate of
// those. horizon is as for Action. Prizes and routes are those of the last plan in which they
// were computed. After Pairs, Toward and Greedy act on the same plan.
func (p *Planner) Pairs(dst []Pair, s int, horizon float64) []Pair {
	p.Plan(s, horizon)
	m := &p.model
	from, passing := len(dst), 0.0
	for y := range m.values {
		if y >= len(p.gains.stored) {
			continue
		}
		a := 0
		prizes := p.prize[y*p.belief.actions : (y+1)*p.belief.actions]
		for k, x := range prizes {
			if x > prizes[a] {
				a = k
			}
		}
		i := y*p.belief.actions + a
		f, c := p.gains.stored[y].at(s)
		greedy := a == int(m.policy[y])
		cost := 0.0
		if !greedy {
			cost = max(0, m.trial[i])
		}
		gain := prizes[a] + cost
		if !(gain > 0 && f > 0) {
			continue
		}
		x := Pair{y, a, f * gain * p.belief.scale, (c + f*cost) * p.belief.scale, 1 + (1-f)/(1-m.gamma)}
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

// Value returns the value of the greedy policy in state s by the last plan, as discounted
// reward per step: (1−γ)V(s) under the posterior mean. With PerEpisode V is the return of
// this episode, as far as it is left, and the value of the end.
func (p *Planner) Value(s int) float64 {
	if p.model.zeroed() {
		return p.belief.scale * (1 - p.model.gamma) * p.model.values[s]
	}
	return p.belief.low + p.belief.scale*(1-p.model.gamma)*p.model.values[s]
}

// Toward returns the action to take in state s to try a pair, by the route of the last plan.
// It is the greedy action if the route is given up in s.
func (p *Planner) Toward(s int, x Pair) int {
	action := p.toward(s, x)
	p.count(s, action, s == x.State)
	return action
}

func (p *Planner) toward(s int, x Pair) int {
	if s == x.State {
		return x.Action
	}
	if p.checked[x.State] == 0 {
		p.check(x.State)
	}
	w, worth := p.gains.routes(x.State), max(p.worth[x.State], 1e-9)
	best, action := 0.0, p.Greedy(s)
	for a := range p.belief.actions {
		if f, c := w.after(&p.model, s*p.belief.actions+a); worth*f-c > best {
			best, action = worth*f-c, a
		}
	}
	return action
}
