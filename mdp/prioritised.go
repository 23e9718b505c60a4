package mdp

import "math"

// prioritised backs up states in the order of a bound on how much their value
// would change: when v(s) changes by x, that of every predecessor u of s may by
// γ·max_a P(s|u,a)·|x| (Moore & Atkeson 1993). It stops when no state is bound to
// change by more than the tolerance allows.
func (d *discounted) prioritised() (*Solution, error) {
	back := d.predecessors()
	threshold := d.tolerance * (1 - d.gamma) / 2
	for d.sol.Sweeps < d.limit {
		// A full sweep finds what is out of date, and certifies in the end.
		lo, hi := d.improve()
		if d.certify(lo, hi) {
			return &d.sol, nil
		}
		threshold = min(threshold, (hi-lo)/4)
		q := newQueue(d.states, max(math.Abs(lo), math.Abs(hi)))
		for s := range d.v {
			if x := math.Abs(d.w[s] - d.v[s]); x > threshold {
				q.raise(s, x)
			}
		}
		for backups := 0; backups/d.states < d.limit; backups++ {
			s := q.pop()
			if s < 0 {
				break
			}
			x, _ := d.best(s, d.gamma, d.v)
			change := math.Abs(x - d.v[s])
			d.v[s] = x
			d.sol.Backups += d.actions
			for k := back.start[s]; k < back.start[s+1]; k++ {
				if p := d.gamma * back.prob[k] * change; p > threshold {
					q.raise(int(back.next[k]), p)
				}
			}
		}
	}
	d.sol.Value = d.v
	return &d.sol, ErrNotConverged
}

// predecessors returns, as rows, the states that lead to each state and the
// largest probability with which they do under any action.
func (m *Tabular) predecessors() *Chain {
	back := &Chain{start: make([]int, m.states+1)}
	for _, t := range m.next {
		back.start[t+1]++
	}
	for s := range m.states {
		back.start[s+1] += back.start[s]
	}
	back.next, back.prob = make([]int32, len(m.next)), make([]float64, len(m.next))
	end := append([]int(nil), back.start[:m.states]...)
	for s := range m.states {
		for i := m.start[s*m.actions]; i < m.start[(s+1)*m.actions]; i++ {
			t := m.next[i]
			k := end[t] - 1
			if k < back.start[t] || back.next[k] != int32(s) { // once per predecessor
				k++
				end[t]++
				back.next[k], back.prob[k] = int32(s), 0
			}
			back.prob[k] = max(back.prob[k], m.prob[i])
		}
	}
	n := 0 // close the gaps
	for t := range m.states {
		from := back.start[t]
		back.start[t] = n
		n += copy(back.next[n:], back.next[from:end[t]])
		copy(back.prob[back.start[t]:], back.prob[from:end[t]])
	}
	back.start[m.states] = n
	back.next, back.prob = back.next[:n], back.prob[:n]
	return back
}

// queue holds states by the binary order of magnitude of their priority, which is
// as good as their exact order and much cheaper to keep: a list for each, first
// in, first out, whose links are kept with the states.
type queue struct {
	level       []int16    // the list that each state is in, -1 for none
	after, prev []int32    // its neighbours there, -1 at the ends
	head, tail  [128]int32 // of each list, -1 when it is empty
	top         int        // no state is in a list before
	largest     int        // exponent of list 0; below it they go down
}

func newQueue(states int, largest float64) *queue {
	q := &queue{level: make([]int16, states), after: make([]int32, states), prev: make([]int32, states)}
	for s := range q.level {
		q.level[s] = -1
	}
	for b := range q.head {
		q.head[b], q.tail[b] = -1, -1
	}
	_, q.largest = math.Frexp(largest)
	return q
}

// raise gives s at least this priority.
func (q *queue) raise(s int, priority float64) {
	_, exponent := math.Frexp(priority)
	b := min(max(q.largest-exponent, 0), len(q.head)-1)
	if old := int(q.level[s]); old >= 0 && old <= b {
		return
	}
	q.remove(s)
	q.level[s], q.after[s], q.prev[s] = int16(b), -1, q.tail[b]
	if q.tail[b] < 0 {
		q.head[b] = int32(s)
	} else {
		q.after[q.tail[b]] = int32(s)
	}
	q.tail[b] = int32(s)
	q.top = min(q.top, b)
}

// remove takes s out of its list, if it is in one.
func (q *queue) remove(s int) {
	b := q.level[s]
	if b < 0 {
		return
	}
	q.level[s] = -1
	before, after := q.prev[s], q.after[s]
	if before < 0 {
		q.head[b] = after
	} else {
		q.after[before] = after
	}
	if after < 0 {
		q.tail[b] = before
	} else {
		q.prev[after] = before
	}
}

// pop removes a state of the largest priority; -1 when there is none.
func (q *queue) pop() int {
	for ; q.top < len(q.head); q.top++ {
		if s := int(q.head[q.top]); s >= 0 {
			q.remove(s)
			return s
		}
	}
	return -1
}
