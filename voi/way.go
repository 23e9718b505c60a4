package voi

import "math"

// ways are ways to a state: of every state the discounted probability f = E γ^τ of
// getting there, and the discounted sum of gaps c until then. A way may be given up
// where it is not worth its cost.
type ways struct{ f, c []float64 }

// wayfinder finds ways.
type wayfinder struct {
	queue  []int32
	queued []bool
	turn   bool
}

// accuracy of ways, as a share of the prize.
const accuracy = 3e-3

// find computes the ways to a state that are worth most if arriving is worth prize. With
// greedy they use the policy's actions alone, which cost nothing. Ways found before are
// swept twice, and new ones are found from the state backwards. Both may be short of the
// best, so they give a lower bound of the value of arriving.
func (x *wayfinder) find(w *ways, m *meanModel, to int, prize float64, greedy bool) {
	b, states := m.b, len(m.v)
	known := len(w.f)
	w.f, w.c, x.queued = grow(w.f, states), grow(w.c, states), grow(x.queued, states)
	if known > 0 {
		w.f[to], w.c[to] = 1, 0
		x.turn = !x.turn
		worst := 0.0
		for round := range 4 {
			worst = 0
			for k := range states {
				if x.turn == (round%2 == 0) {
					k = states - 1 - k
				}
				if k != to {
					old := prize*w.f[k] - w.c[k]
					w.f[k], w.c[k] = w.improve(m, k, prize, greedy)
					worst = max(worst, math.Abs(prize*w.f[k]-w.c[k]-old))
				}
			}
			if worst <= accuracy*prize {
				break
			}
		}
		return
	}
	w.f[to] = 1
	x.queue = x.queue[:0]
	x.push(b.before[to], to)
	for h := 0; h < len(x.queue) && h < 40*states; h++ {
		u := int(x.queue[h])
		x.queued[u] = false
		f, c := w.improve(m, u, prize, greedy)
		gain := prize*f - c - (prize*w.f[u] - w.c[u])
		if gain > 0 {
			w.f[u], w.c[u] = f, c
			if gain > accuracy*prize {
				x.push(b.before[u], to)
			}
		}
	}
	for _, u := range x.queue {
		x.queued[u] = false
	}
}

// improve returns f and c of the best action of a state, 0 for giving up.
func (w *ways) improve(m *meanModel, s int, prize float64, greedy bool) (f, c float64) {
	from, until := s*m.b.actions, (s+1)*m.b.actions
	if greedy {
		from += int(m.policy[s])
		until = from + 1
	}
	best := 0.0
	for i := from; i < until; i++ {
		if m.gap[i] >= prize {
			continue
		}
		vf, vc := w.after(m, i)
		if greedy {
			vc = 0
		}
		if v := prize*vf - vc; v > best {
			best, f, c = v, vf, vc
		}
	}
	return f, c
}

// after returns f and c of a state in which pair i is taken, 0 if it was never tried.
func (w *ways) after(m *meanModel, i int) (f, c float64) {
	p := &m.b.pairs[i]
	if p.n == 0 {
		return 0, 0
	}
	for k, y := range p.next {
		f += p.count[k] * w.f[y]
		c += p.count[k] * w.c[y]
	}
	return f * m.gamma / p.n, m.gamma*c/p.n + m.gap[i]
}

// push queues all states except one.
func (x *wayfinder) push(states []int32, but int) {
	for _, u := range states {
		if !x.queued[u] && int(u) != but {
			x.queued[u] = true
			x.queue = append(x.queue, u)
		}
	}
}
