package mdp

import "slices"

// incrementalModel is a model that is kept up to date row by row.
type incrementalModel struct {
	now, spare Tabular // spare is memory: of the rows that have changed, or for all
	known      bool
	changed    []int // rows that are out of date
	flagged    []bool
}

func (r *incrementalModel) change(row int) {
	if r.known && !r.flagged[row] {
		r.flagged[row] = true
		r.changed = append(r.changed, row)
	}
}

// update brings the model up to date: row appends one.
func (r *incrementalModel) update(states, actions int, row func(t *Tabular, s, a int)) *Tabular {
	t := &r.now
	if !r.known {
		r.known, r.flagged = true, make([]bool, states*actions)
		t.states, t.actions = states, actions
		t.start = append(t.start[:0], 0)
		for i := range r.flagged {
			row(t, i/actions, i%actions)
			t.start = append(t.start, len(t.next))
		}
		return t
	}
	if len(r.changed) == 0 {
		return t
	}
	slices.Sort(r.changed)
	d := &r.spare
	d.start, d.next, d.prob, d.reward = append(d.start[:0], 0), d.next[:0], d.prob[:0], d.reward[:0]
	grown := 0
	for k, i := range r.changed {
		r.flagged[i] = false
		row(d, i/actions, i%actions)
		d.start = append(d.start, len(d.next))
		grown += len(d.next) - d.start[k] - (t.start[i+1] - t.start[i])
	}
	if grown > 0 {
		t.next, t.prob = slices.Grow(t.next, grown), slices.Grow(t.prob, grown)
	}
	t.replace(r.changed, d, grown)
	r.changed = r.changed[:0]
	return t
}

// replace replaces rows, in increasing order, by those of d, which have so many
// successors more in all; none has fewer than before.
func (t *Tabular) replace(rows []int, d *Tabular, grown int) {
	size := len(t.next)
	t.next, t.prob = t.next[:size+grown], t.prob[:size+grown]
	end := len(t.start) - 1 // of the rows that have not been moved
	for k := len(rows) - 1; k >= 0; k-- {
		i := rows[k]
		if grown > 0 { // what is behind the row makes room
			lo, hi := t.start[i+1], t.start[end]
			copy(t.next[lo+grown:], t.next[lo:hi])
			copy(t.prob[lo+grown:], t.prob[lo:hi])
			for j := i + 1; j <= end; j++ {
				t.start[j] += grown
			}
		}
		lo, hi := d.start[k], d.start[k+1]
		at := t.start[i+1] - (hi - lo)
		copy(t.next[at:], d.next[lo:hi])
		copy(t.prob[at:], d.prob[lo:hi])
		t.reward[i] = d.reward[k]
		grown = at - t.start[i]
		end = i
	}
}

// Latest returns what Member does, at the cost of the rows that have changed since
// the last call for the same member. The model belongs to the belief and is valid
// until the next such call.
func (b *Bootstrap) Latest(k int) *Tabular { return b.revise(k, b.members[k:k+1], b.prior[k:k+1]) }

// LatestMean is Latest for Mean.
func (b *Bootstrap) LatestMean() *Tabular { return b.revise(len(b.members), b.members, b.prior) }

func (b *Bootstrap) revise(i int, members []*Counts, prior []*Tabular) *Tabular {
	if b.latest == nil {
		b.latest = make([]incrementalModel, len(b.members)+1)
	}
	c := members[0]
	if b.scratch == nil {
		b.scratch = newScatter(c.states)
	}
	return b.latest[i].update(c.states, c.actions, func(t *Tabular, s, a int) { b.mixRow(t, b.scratch, members, prior, s, a) })
}

// LatestMean returns what Mean does, at the cost of the rows that have changed since
// the last call. The model belongs to the belief and is valid until the next one.
func (d *Dirichlet) LatestMean() *Tabular {
	return d.latest.update(d.states, d.actions, func(t *Tabular, s, a int) { d.meanRow(t, s, &d.rows[s*d.actions+a]) })
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
		reward: append(dst.reward[:0], m.reward...), terminal: append(dst.terminal[:0], terminal...), standIn: m.standIn, notes: m.notes}
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
