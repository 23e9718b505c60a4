package mdp

import "slices"

// revision is a model that is kept up to date row by row.
type revision struct {
	now, before Tabular // before is memory for the next one
	known       bool
	changed     []int // rows that are out of date
	flagged     []bool
}

func (r *revision) change(row int) {
	if r.known && !r.flagged[row] {
		r.flagged[row] = true
		r.changed = append(r.changed, row)
	}
}

// update brings the model up to date: row appends one.
func (r *revision) update(states, actions int, row func(t *Tabular, s, a int)) *Tabular {
	if r.known && len(r.changed) == 0 {
		return &r.now
	}
	r.now, r.before = r.before, r.now
	t, old := &r.now, &r.before
	*t = Tabular{states: states, actions: actions, start: append(t.start[:0], 0),
		next: t.next[:0], prob: t.prob[:0], reward: t.reward[:0]}
	if !r.known {
		r.known, r.flagged = true, make([]bool, states*actions)
		for i := range r.flagged {
			row(t, i/actions, i%actions)
			t.start = append(t.start, len(t.next))
		}
		return t
	}
	slices.Sort(r.changed)
	keep := func(from, to int) { // copies rows
		lo, hi := old.start[from], old.start[to]
		moved := len(t.next) - lo
		t.next, t.prob = append(t.next, old.next[lo:hi]...), append(t.prob, old.prob[lo:hi]...)
		t.reward = append(t.reward, old.reward[from:to]...)
		for _, end := range old.start[from+1 : to+1] {
			t.start = append(t.start, end+moved)
		}
	}
	done := 0
	for _, i := range r.changed {
		keep(done, i)
		row(t, i/actions, i%actions)
		t.start = append(t.start, len(t.next))
		r.flagged[i] = false
		done = i + 1
	}
	keep(done, states*actions)
	r.changed = r.changed[:0]
	return t
}

// Latest returns what Member does, at the cost of the rows that have changed since
// the last call for the same member. The model belongs to the belief and is valid
// until the next such call.
func (b *Bootstrap) Latest(k int) *Tabular { return b.revise(k, b.members[k:k+1], b.prior[k:k+1]) }

// LatestMean is Latest for Mean.
func (b *Bootstrap) LatestMean() *Tabular { return b.revise(len(b.members), b.members, b.prior) }

func (b *Bootstrap) revise(i int, members []*Counts, prior []*Tabular) *Tabular {
	if b.latest == nil {
		b.latest = make([]revision, len(b.members)+1)
	}
	c := members[0]
	if b.scratch == nil {
		b.scratch = newScatter(c.states)
	}
	return b.latest[i].update(c.states, c.actions, func(t *Tabular, s, a int) { b.mixRow(t, b.scratch, members, prior, s, a) })
}

// Terminating returns the model in which some states are terminal: they are never
// left and pay nothing. It is made in the memory of dst unless that is nil, and m
// itself if there are none. Rewards by successor, noise and where episodes begin are
// left out.
func (m *Tabular) Terminating(dst *Tabular, terminal []bool) *Tabular {
	if len(terminal) != m.states {
		panic("mdp: bad terminal length")
	}
	if !slices.Contains(terminal, true) {
		return m
	}
	if dst == nil {
		dst = new(Tabular)
	}
	*dst = Tabular{states: m.states, actions: m.actions, start: append(dst.start[:0], 0), next: dst.next[:0], prob: dst.prob[:0],
		reward: append(dst.reward[:0], m.reward...), terminal: append(dst.terminal[:0], terminal...)}
	for s, end := range terminal {
		for a := range m.actions {
			if end {
				dst.next, dst.prob = append(dst.next, int32(s)), append(dst.prob, 1)
				dst.reward[s*m.actions+a] = 0
			} else {
				next, prob := m.Transition(s, a)
				dst.next, dst.prob = append(dst.next, next...), append(dst.prob, prob...)
			}
			dst.start = append(dst.start, len(dst.next))
		}
	}
	return dst
}
