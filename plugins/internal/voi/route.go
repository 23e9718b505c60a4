package voi

// routes are routes to a state: of every state the discounted probability f = E γ^τ of
// getting there, and the discounted sum of gaps c until then. A route may be given up
// where it is not worth its cost.
type routes struct {
	f, c  []float64
	order []int32 // states, the nearest first when they were found
}

// routeFinder finds routes.
type routeFinder struct {
	queue  []int32
	queued []bool
}

// accuracy of routes, as a share of the prize.
const accuracy = 3e-3

// find computes the routes to a state that are worth most if arriving is worth prize: those of φ ("Row
// lemma"). With
// greedy they use the policy's actions alone, which cost nothing. It begins with no routes. So the
// routes found at any time can be followed, and their worth is a lower bound. Routes of an older
// model could hold each other up in a loop that no longer leads to the state. States are swept in
// the order of the routes found before, or from the state backwards if there are none.
func (x *routeFinder) find(w *routes, m *meanModel, to int, prize float64, greedy bool) {
	states := len(m.values)
	w.f, w.c = grow(w.f, states), grow(w.c, states)
	clear(w.f)
	clear(w.c)
	w.f[to] = 1
	known := len(w.order) > 0
	for len(w.order) < states {
		w.order = append(w.order, int32(len(w.order)))
	}
	if !known {
		x.backwards(w, m, to, prize, greedy)
	} else {
		for range sweeps {
			worst := 0.0
			for _, s := range w.order {
				if int(s) != to {
					old := prize*w.f[s] - w.c[s]
					w.f[s], w.c[s] = w.improve(m, int(s), prize, greedy)
					worst = max(worst, prize*w.f[s]-w.c[s]-old)
				}
			}
			if worst <= accuracy*prize {
				break
			}
		}
	}
	w.sort()
}

// sweeps is how often states are swept at most.
const sweeps = 16

// sort orders states by how near they are. The order changes little, as a rule.
func (w *routes) sort() {
	for i, s := range w.order {
		k := i
		for ; k > 0 && w.f[w.order[k-1]] < w.f[s]; k-- {
			w.order[k] = w.order[k-1]
		}
		w.order[k] = s
	}
}

// backwards finds routes from the state backwards.
func (x *routeFinder) backwards(w *routes, m *meanModel, to int, prize float64, greedy bool) {
	b, states := m.belief, len(m.values)
	x.queued = grow(x.queued, states)
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
func (w *routes) improve(m *meanModel, s int, prize float64, greedy bool) (f, c float64) {
	from, until := s*m.belief.actions, (s+1)*m.belief.actions
	if greedy {
		f, _ = w.after(m, from+int(m.policy[s]))
		return f, 0
	}
	best := 0.0
	for i := from; i < until; i++ {
		if prize-m.leaveCost[i] <= best {
			continue
		}
		vf, vc := w.after(m, i)
		if v := prize*vf - vc; v > best {
			best, f, c = v, vf, vc
		}
	}
	return f, c
}

// after returns f and c of the state of pair i in which that is taken until it leads elsewhere,
// 0 if it was never tried.
func (w *routes) after(m *meanModel, i int) (f, c float64) {
	from, until := m.first[i], m.first[i+1]
	if from == until {
		return 0, 0
	}
	next, prob := m.next[from:until], m.prob[from:until]
	for k, y := range next {
		f += prob[k] * w.f[y]
		c += prob[k] * w.c[y]
	}
	return f, c + m.leaveCost[i]
}

// push queues all states except one.
func (x *routeFinder) push(states []int32, but int) {
	for _, u := range states {
		if !x.queued[u] && int(u) != but {
			x.queued[u] = true
			x.queue = append(x.queue, u)
		}
	}
}
