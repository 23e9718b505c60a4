package mdp

import (
	"fmt"
	"slices"
)

// Counts holds the observed transitions of a model: how often (s,a) led to each
// state, and the rewards. Weights other than one are allowed, as the bootstrap
// needs them. Its memory grows with the number of distinct transitions seen.
type Counts struct {
	states, actions int
	rows            []countRow
	total           float64
}

// countRow is what has been seen of one (s,a).
type countRow struct {
	next   []int32 // increasing
	count  []float64
	total  float64
	reward Moments
}

// Moments sum up the rewards seen (Welford 1962). All are 0 before the first reward.
type Moments struct {
	N    float64 // weight of the rewards, at least 0: their number if each counts once
	Mean float64 // in units of reward
	M2   float64 // sum of squared deviations from Mean
}

// NewCounts returns counts without observations, for the given numbers of states and
// actions. It returns an error if one of them is not positive.
func NewCounts(states, actions int) (*Counts, error) {
	if states < 1 || actions < 1 {
		return nil, fmt.Errorf("mdp: no model has %d states and %d actions", states, actions)
	}
	return &Counts{states: states, actions: actions, rows: make([]countRow, states*actions)}, nil
}

// NumStates returns S.
func (c *Counts) NumStates() int { return c.states }

// NumActions returns A.
func (c *Counts) NumActions() int { return c.actions }

// Update counts one step. Indices are in range and the reward is finite, else
// it panics.
func (c *Counts) Update(s, a int, reward float64, next int) { c.add(s, a, reward, next, 1) }

func (c *Counts) add(s, a int, reward float64, next int, weight float64) {
	if uint(s) >= uint(c.states) || uint(a) >= uint(c.actions) || uint(next) >= uint(c.states) {
		panic("mdp: state or action out of range")
	}
	if reward-reward != 0 {
		panic("mdp: reward is not finite")
	}
	if weight <= 0 {
		return
	}
	row := &c.rows[s*c.actions+a]
	k, ok := row.find(int32(next))
	if !ok {
		row.next = slices.Insert(row.next, k, int32(next))
		row.count = slices.Insert(row.count, k, 0)
	}
	row.count[k] += weight
	row.total += weight
	c.total += weight
	row.reward.add(reward, weight)
}

// find returns where a successor is in the row, or would be, and whether it is there.
// Most rows are short, so that looking at one after the other is faster.
func (row *countRow) find(next int32) (int, bool) {
	const short = 8
	if len(row.next) > short {
		return slices.BinarySearch(row.next, next)
	}
	for k, u := range row.next {
		if u >= next {
			return k, u == next
		}
	}
	return len(row.next), false
}

// UpdateReward counts the reward of a step, without its successor. Indices are in range
// and the reward is finite, else it panics.
func (c *Counts) UpdateReward(s, a int, reward float64) {
	if uint(s) >= uint(c.states) || uint(a) >= uint(c.actions) {
		panic("mdp: state or action out of range")
	}
	if reward-reward != 0 {
		panic("mdp: reward is not finite")
	}
	c.rows[s*c.actions+a].reward.add(reward, 1)
}

// add adds a number of the given weight (West 1979).
func (m *Moments) add(x, weight float64) {
	m.N += weight
	d := x - m.Mean
	m.Mean += weight / m.N * d
	m.M2 += weight * d * (x - m.Mean)
}

// N returns how often (s,a) has been seen, and Total how often all have.
func (c *Counts) N(s, a int) float64 { return c.rows[s*c.actions+a].total }

// Total returns the number of steps seen.
func (c *Counts) Total() float64 { return c.total }

// Rewards returns the moments of the rewards of (s,a).
func (c *Counts) Rewards(s, a int) Moments { return c.rows[s*c.actions+a].reward }

// Row returns the successors of (s,a) seen and how often. The slices belong to
// the counts and are valid until the next update.
func (c *Counts) Row(s, a int) (next []int32, count []float64) {
	row := &c.rows[s*c.actions+a]
	return row.next, row.count
}

// Empirical returns the model of observed frequencies and mean rewards. A pair
// that has not been seen is a self-loop with reward zero, which makes mixing times
// err upwards (docs/theory.md §2.5).
func (c *Counts) Empirical() *Tabular {
	return c.fill(nil, func(s, _ int, row *countRow, t *Tabular) {
		if len(row.next) == 0 {
			t.next, t.prob = append(t.next, int32(s)), append(t.prob, 1)
		}
		for k, u := range row.next {
			t.next, t.prob = append(t.next, u), append(t.prob, row.count[k]/row.total)
		}
		t.reward = append(t.reward, row.reward.Mean)
	})
}

// fill makes a model row by row, in the memory of t unless that is nil.
func (c *Counts) fill(t *Tabular, row func(s, a int, row *countRow, t *Tabular)) *Tabular {
	if t == nil {
		t = new(Tabular)
	}
	*t = Tabular{states: c.states, actions: c.actions, start: append(t.start[:0], 0),
		next: t.next[:0], prob: t.prob[:0], reward: t.reward[:0]}
	for s := range c.states {
		for a := range c.actions {
			row(s, a, &c.rows[s*c.actions+a], t)
			t.start = append(t.start, len(t.next))
		}
	}
	return t
}
