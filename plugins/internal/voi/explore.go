package voi

import "math"

// explorer finds the route to the prize that comes first.
type explorer struct {
	model  *meanModel
	action []int32 // by state: the first action of its route to a prize, or −1

	net                []float64 // by state: of the route of the largest rate, its advantage less λ by step
	advantage, expects []float64 // of that route, and its expected number of steps
	aim                []int32   // by state: the state whose prize its route aims at, or −1
	queue              []int32
	queued             []bool
	rate               float64 // λ at the last plan
	work               int
}

// first returns the first action of the route from state s on that is worth taking, or −1.
func (e *explorer) first(s int) int {
	if s >= len(e.advantage) || e.advantage[s] <= 0 {
		return -1
	}
	return int(e.action[s])
}

// toward returns the aim of the successor that contributes most to what a pair is worth.
func (e *explorer) toward(i int, x []float64) int32 {
	p := &e.model.belief.pairs[i]
	best, aim := math.Inf(-1), int32(-1)
	for k, y := range p.next {
		if v := p.count[k] * x[y]; e.aim[y] >= 0 && v > best {
			best, aim = v, e.aim[y]
		}
	}
	return aim
}

func (e *explorer) push(states []int32) {
	for _, s := range states {
		if !e.queued[s] {
			e.queued[s] = true
			e.queue = append(e.queue, s)
		}
	}
}

// least is the least prize that is pursued, in units of the range of rewards: below that is
// rounding.
const least = 1e-9

// target finds the routes of the largest rate for state s ("Which pair first"). The rate is the advantage
// by expected step (Smith 1956). λ is moved until no route from s has a larger one
// (Dinkelbach 1967). It returns the state whose prize is pursued from s on, or −1 if
// none is worth its route.
func (e *explorer) target(s int, prize []float64, tours []joint) int {
	m := e.model
	states, actions := len(m.values), m.belief.actions
	e.net, e.advantage, e.expects = grow(e.net, states), grow(e.advantage, states), grow(e.expects, states)
	e.action, e.aim, e.queued = grow(e.action, states), grow(e.aim, states), grow(e.queued, states)
	for range 8 {
		lambda, most := e.rate, 0.0
		e.work += states * actions / 2
		e.queue = e.queue[:0]
		for s := range states {
			e.net[s], e.advantage[s], e.expects[s], e.action[s], e.aim[s] = math.Inf(-1), 0, 0, -1, -1
			for a := range actions {
				if b := prize[s*actions+a]; b > least && b-lambda > e.net[s] {
					e.net[s], e.advantage[s], e.expects[s], e.action[s], e.aim[s] = b-lambda, b, 1, int32(a), int32(s)
					most = max(most, b)
				}
			}
			if j := tours[s]; j.advantage-lambda*j.steps > e.net[s] && e.action[s] >= 0 {
				e.net[s], e.advantage[s], e.expects[s] = j.advantage-lambda*j.steps, j.advantage, j.steps
			}
		}
		if most == 0 {
			e.rate = 0
			return -1
		}
		for s := range states {
			if e.action[s] >= 0 {
				e.push(m.belief.before[s])
			}
		}
		tol := max(0.05*lambda, 1e-4*most)
		for h := 0; h < len(e.queue) && h < 100*states; h++ {
			e.improve(int(e.queue[h]), lambda, tol)
		}
		for _, s := range e.queue {
			e.queued[s] = false
		}
		if e.expects[s] == 0 {
			return -1
		}
		e.rate = max(0, e.advantage[s]/e.expects[s])
		if math.Abs(e.rate-lambda) <= 0.05*lambda {
			break
		}
	}
	if e.advantage[s] <= 0 {
		return -1
	}
	return int(e.aim[s])
}

// improve improves the route of state s for a price of lambda by step. A successor without
// a route, or one that the pair has not shown, counts as if the step had not been made.
func (e *explorer) improve(s int, lambda, tol float64) {
	m := e.model
	e.queued[s] = false
	e.work += 2 * m.belief.actions
	best, act, advantage, length := e.net[s], -1, 0.0, 0.0
	for a := range m.belief.actions {
		i := s*m.belief.actions + a
		p := &m.belief.pairs[i]
		if p.n == 0 {
			continue
		}
		var net, adv, steps, weight float64
		for k, y := range p.next {
			if e.action[y] >= 0 {
				c := p.count[k]
				weight += c
				net += c * e.net[y]
				adv += c * e.advantage[y]
				steps += c * e.expects[y]
			}
		}
		if weight == 0 {
			continue
		}
		if m.belief.ends(s) { // it takes no time
			if net /= p.n; net > best+tol {
				best, act = net, a
				advantage, length = adv/p.n, steps/p.n
			}
			continue
		}
		again := p.n / weight / (1 - m.fresh[i])
		if net = m.gamma*net/weight - (m.gap[i]+lambda)*again; net > best+tol {
			best, act = net, a
			advantage, length = m.gamma*adv/weight-m.gap[i]*again, steps/weight+again
		}
	}
	if act >= 0 {
		e.net[s], e.advantage[s], e.expects[s], e.action[s] = best, advantage, length, int32(act)
		e.aim[s] = e.toward(s*m.belief.actions+act, e.expects)
		e.push(m.belief.before[s])
	}
}
