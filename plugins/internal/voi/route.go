package voi

import (
	"cmp"
	"slices"
)

// routes are routes to a state: of every state the discounted probability f = E γ^τ of
// getting there, and the discounted sum of gaps c until then. A route may be given up
// where it is not worth its cost.
type routes struct {
	f, c []float64
	from []int32 // where f may be positive, beginning with to
}

// set writes f and c of one more state.
func (w *routes) set(s int32, f, c float64) {
	w.f[s], w.c[s] = f, c
	w.from = append(w.from, s)
}

// reset gives up all routes among so many states.
func (w *routes) reset(states int) {
	for _, s := range w.from {
		w.f[s], w.c[s] = 0, 0
	}
	w.f, w.c, w.from = grow(w.f, states), grow(w.c, states), w.from[:0]
}

// routeFinder finds routes.
type routeFinder struct {
	order  []int32 // states that are swept
	queued []bool
	work   int
}

// accuracy of routes, as a share of the prize.
const accuracy = 3e-3

// sweeps is how often states are swept at most.
const sweeps = 16

// reach is from how many states routes are sought, the nearest first. From others they are given up.
const reach = 512

// find computes the routes to a state that are worth most if arriving is worth prize: those of φ ("Row
// lemma"). With
// greedy they use the policy's actions alone, which cost nothing. It begins with no routes. So the
// routes found at any time can be followed, and their worth is a lower bound. Routes of an older
// model could hold each other up in a loop that no longer leads to the state. States are swept in
// the order of their distance: in the routes found before, if w has them.
func (x *routeFinder) find(w *routes, m *meanModel, to int, prize float64, greedy bool) {
	x.surround(m, to)
	if len(w.from) > 0 && int(w.from[0]) == to { // the distance by the routes found before
		slices.SortFunc(x.order, func(a, b int32) int { return cmp.Compare(w.f[b], w.f[a]) })
	}
	w.reset(len(m.values))
	w.set(int32(to), 1, 0)
	for _, s := range x.order {
		w.set(s, 0, 0)
	}
	for range sweeps {
		worst := 0.0
		for _, s := range x.order {
			old := prize*w.f[s] - w.c[s]
			w.f[s], w.c[s] = w.improve(m, int(s), prize, greedy)
			worst = max(worst, prize*w.f[s]-w.c[s]-old)
		}
		if x.work += 4 * len(x.order); !greedy {
			x.work += m.belief.actions * len(x.order)
		}
		if worst <= accuracy*prize {
			break
		}
	}
}

// surround lists the states that are nearest to one, without it.
func (x *routeFinder) surround(m *meanModel, to int) {
	x.queued = grow(x.queued, len(m.values))
	x.order = append(x.order[:0], int32(to))
	x.queued[to] = true
	for h := 0; h < len(x.order) && len(x.order) <= reach; h++ {
		for _, u := range m.belief.before[x.order[h]] {
			if !x.queued[u] {
				x.queued[u] = true
				x.order = append(x.order, u)
			}
		}
	}
	for _, u := range x.order {
		x.queued[u] = false
	}
	x.order = x.order[1:min(len(x.order), 1+reach)]
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

// storedRoutes are the routes to a state that were found last: to the state itself, and from others
// in ascending order.
type storedRoutes struct {
	from       []int32
	f, c, mine []float64 // mine is f of the greedy routes
}

// store keeps routes, those that are best and the greedy ones.
func (x *storedRoutes) store(best, greedy *routes) {
	slices.Sort(best.from[1:])
	x.from, x.f, x.c, x.mine = x.from[:0], x.f[:0], x.c[:0], x.mine[:0]
	for _, s := range best.from {
		if best.f[s] > 0 || greedy.f[s] > 0 {
			x.from, x.f, x.c, x.mine = append(x.from, s), append(x.f, best.f[s]), append(x.c, best.c[s]), append(x.mine, greedy.f[s])
		}
	}
}

// load writes the routes among so many states.
func (x *storedRoutes) load(best, greedy *routes, states int) {
	best.reset(states)
	greedy.reset(states)
	for k, s := range x.from {
		best.set(s, x.f[k], x.c[k])
		greedy.set(s, x.mine[k], 0)
	}
}

// at returns f and c of the best route from a state.
func (x *storedRoutes) at(s int) (f, c float64) {
	if len(x.from) == 0 {
		return 0, 0
	}
	if int(x.from[0]) == s {
		return x.f[0], x.c[0]
	}
	if k, ok := slices.BinarySearch(x.from[1:], int32(s)); ok {
		return x.f[k+1], x.c[k+1]
	}
	return 0, 0
}
