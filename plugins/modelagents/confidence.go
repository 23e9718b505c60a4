package modelagents

import (
	"cmp"
	"math"
	"slices"

	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// confidence is the set of models that the data allow: mean rewards and rows of
// probabilities within a width of what was seen. Its backups are those of the
// best model for the values at hand.
type confidence struct {
	modelbased.Data
	p         *Sets
	squares   func(*confidence) (r, p float64)                       `snapshot:"-"` // widths at n = 1, squared
	after     func(m *confidence, s, a int, value []float64) float64 `snapshot:"-"` // largest expected value after a pair
	low, span float64                                                // rewards are in [low, low+span]
	pairs     []confidencePair
	best      int // the state of the largest value
	row       []successor
}

// confidencePair is the largest mean reward of a pair, and the width of its transitions.
type confidencePair struct{ reward, width float64 }

// successor is one of a pair's: its value and estimated probability.
type successor struct{ value, prob float64 }

// tolerance is where extended value iteration may stop (Jaksch et al. 2010, Figure 1).
func (m *confidence) tolerance() float64 { return m.span / math.Sqrt(m.Counts.Total()+1) }

// Refresh implements modelbased.Backups.
func (m *confidence) Refresh() {
	r, p := m.squares(m)
	for i := range m.pairs {
		s, a := i/m.Task.Actions, i%m.Task.Actions
		n := m.Counts.N(s, a)
		mean := m.low
		if n > 0 {
			mean = m.Counts.Rewards(s, a).Mean
		}
		n = max(1, n)
		m.pairs[i] = confidencePair{mean + m.p.Scaling*m.span*math.Sqrt(r/n), m.p.Scaling * math.Sqrt(p/n)}
	}
}

// jaksch are the widths of Jaksch, Ortner & Auer (2010), equations (3) and (4).
func (m *confidence) jaksch() (r, p float64) {
	states, actions, t := float64(m.Task.States), float64(m.Task.Actions), m.Counts.Total()+1
	return 7. / 2 * math.Log(2*states*actions*t/m.p.Delta), 14 * states * math.Log(2*actions*t/m.p.Delta)
}

// tabularl are the widths of Osband's TabulaRL.
func (m *confidence) tabularl() (r, p float64) {
	states, actions := float64(m.Task.States), float64(m.Task.Actions)
	r = 4 * math.Log(2*states*actions*(float64(m.Plans)+1)/m.p.Delta)
	return r, states * r
}

// Sweep implements modelbased.Backups.
func (m *confidence) Sweep(value []float64, _ int) {
	m.best = 0
	for s, v := range value {
		if v > value[m.best] {
			m.best = s
		}
	}
}

// Backup implements modelbased.Backups.
func (m *confidence) Backup(q []float64, s int, value []float64) {
	for a := range q {
		q[a] = m.pairs[s*len(q)+a].reward + m.after(m, s, a, value)
	}
}

// expect returns the largest expected value after a pair within the L1 width:
// half of the width goes to the best state, from the worst (Strehl & Littman 2008;
// Jaksch et al. 2010, Figure 2).
func (m *confidence) expect(s, a int, value []float64) float64 {
	n := m.Counts.N(s, a)
	next, count := m.Counts.Row(s, a)
	add, top, sum := m.pairs[s*m.Task.Actions+a].width/2, value[m.best], 0.0
	m.row = m.row[:0]
	for k, u := range next {
		if int(u) != m.best {
			p := count[k] / n
			m.row = append(m.row, successor{value[u], p})
			sum += p
		}
	}
	if add >= sum { // all may go to the best
		return top
	}
	slices.SortFunc(m.row, func(a, b successor) int { return cmp.Compare(a.value, b.value) })
	expected := (1 - sum + add) * top
	for _, u := range m.row {
		taken := min(u.prob, add)
		add -= taken
		expected += (u.prob - taken) * u.value
	}
	return expected
}
