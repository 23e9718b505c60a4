package mdp

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
