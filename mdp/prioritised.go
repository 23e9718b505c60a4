package mdp

import "math"

// prioritised backs up states in the order of a bound on the change of their
// value. When v(s) changes by x, the value of a predecessor u of s may change by
// γ·max_a P(s|u,a)·|x| (Moore & Atkeson 1993). It stops when no bound exceeds the
// tolerance.
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
		q := NewQueue(d.states, max(math.Abs(lo), math.Abs(hi)))
		for s := range d.v {
			if x := math.Abs(d.w[s] - d.v[s]); x > threshold {
				q.Raise(s, x)
			}
		}
		for backups := 0; backups/d.states < d.limit; backups++ {
			s := q.Pop()
			if s < 0 {
				break
			}
			x, _ := d.best(s, d.gamma, d.v)
			change := math.Abs(x - d.v[s])
			d.v[s] = x
			d.sol.Backups += d.actions
			for k := back.start[s]; k < back.start[s+1]; k++ {
				if p := d.gamma * back.prob[k] * change; p > threshold {
					q.Raise(int(back.next[k]), p)
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
