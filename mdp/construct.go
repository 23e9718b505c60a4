package mdp

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Definition has the data of a model. Everything but States, Actions and
// Transitions may be left out: rewards default to zero.
type Definition struct {
	Name, Description string            // for users
	States, Actions   int               // numbers of states and actions, at least 1 each
	ActionNames       []string          // distinct; or none
	Transitions       []Transition      // the probabilities of every S and A sum to 1; none for terminal states, and for actions that S lacks
	Rewards           []Reward          // expected rewards; 0 for pairs left out
	SuccessorRewards  []SuccessorReward // added to Rewards
	GaussianNoise     []Reward          // R is the standard deviation of the reward of (S,A)
	Bernoulli         []Pair            // pairs whose reward is 1 with probability r, else 0
	Initial           []Weight          // initial distribution
	Terminal          []int             // their rows may be left out
	EpisodeSteps      int               // steps after which an episode is truncated; 0 if none is
	Notes             []string          // sentences for users of the model; see Tabular.Notes
}

// Transition says that action A in state S leads to Next with probability P.
type Transition struct {
	S, A, Next int     // state, action and next state, counted from 0
	P          float64 // in [0,1]
}

// Reward attaches a number, usually the expected reward, to action A in state S.
type Reward struct {
	S, A int     // state and action, counted from 0
	R    float64 // finite
}

// SuccessorReward is a reward for action A in state S leading to Next.
type SuccessorReward struct {
	S, A, Next int     // state, action and next state, counted from 0
	R          float64 // finite
}

// Pair is a state S and an action A, counted from 0.
type Pair struct{ S, A int }

// Weight is state S with its probability P, an entry of a distribution over states.
type Weight struct {
	S int     // counted from 0
	P float64 // in [0,1]
}

// invalid is a fault in a definition, either of one entry of a list or of a row.
type invalid struct {
	list  string // "" when the fault is of a row or of the whole
	index int
	s, a  int // the row; -1 when not of a row
	err   error
}

func (e *invalid) Error() string {
	switch {
	case e.list != "":
		return fmt.Sprintf("mdp: %s[%d]: %v", e.list, e.index, e.err)
	case e.s >= 0:
		return fmt.Sprintf("mdp: state %d, action %d: %v", e.s, e.a, e.err)
	}
	return "mdp: " + e.err.Error()
}

func (e *invalid) Unwrap() error { return e.err }

func whole(format string, args ...any) error {
	return &invalid{s: -1, a: -1, err: fmt.Errorf(format, args...)}
}

// checkSize validates the number of states and actions.
func (d *Definition) checkSize() error {
	switch {
	case d.States < 1 || d.States > math.MaxInt32:
		return whole("number of states %d is outside 1..%d", d.States, math.MaxInt32)
	case d.Actions < 1 || d.Actions > math.MaxInt32:
		return whole("number of actions %d is outside 1..%d", d.Actions, math.MaxInt32)
	case d.EpisodeSteps < 0:
		return whole("episode_steps is %d, must be positive, or 0 if no episode is truncated", d.EpisodeSteps)
	}
	return nil
}

// NewModel builds and validates a model. Errors name the entry or the row. They report an
// index out of range, a probability that is not in [0,1], and a number that is not
// finite. They also report a repeated entry, a state without actions, and a row that does
// not sum to one. Rows within 1e-6 of one are rescaled. Notes tells of these, and of
// actions that states lack. The definition's slices are not kept.
func NewModel(d Definition) (*Tabular, error) {
	if err := d.checkSize(); err != nil {
		return nil, err
	}
	transitions, err := sorted("transitions", d.Transitions, d.checkTransition, func(a, b Transition) int {
		return cmp.Or(cmp.Compare(a.S, b.S), cmp.Compare(a.A, b.A), cmp.Compare(a.Next, b.Next))
	})
	if err != nil {
		return nil, err
	}
	if err := d.checkRows(transitions); err != nil {
		return nil, err
	}
	byPair := func(a, b Reward) int { return cmp.Or(cmp.Compare(a.S, b.S), cmp.Compare(a.A, b.A)) }
	rewards, err := sorted("rewards", d.Rewards, d.checkReward, byPair)
	if err != nil {
		return nil, err
	}
	noise, err := sorted("noise", d.GaussianNoise, d.checkReward, byPair)
	if err != nil {
		return nil, err
	}
	bernoulli, err := sorted("bernoulli", d.Bernoulli, func(x Pair) error { return d.checkPair(x.S, x.A) },
		func(a, b Pair) int { return cmp.Or(cmp.Compare(a.S, b.S), cmp.Compare(a.A, b.A)) })
	if err != nil {
		return nil, err
	}
	successor, err := sorted("successor_rewards", d.SuccessorRewards, d.checkSuccessorReward, func(a, b SuccessorReward) int {
		return cmp.Or(cmp.Compare(a.S, b.S), cmp.Compare(a.A, b.A), cmp.Compare(a.Next, b.Next))
	})
	if err != nil {
		return nil, err
	}
	var unused *SuccessorReward
	m, err := Generate(d, func(s, a int, row *Row) {
		here := func(t, b int) bool { return t == s && b == a }
		for ; len(transitions) > 0 && here(transitions[0].S, transitions[0].A); transitions = transitions[1:] {
			t := transitions[0]
			r := 0.0
			for ; len(successor) > 0 && here(successor[0].S, successor[0].A) && successor[0].Next <= t.Next; successor = successor[1:] {
				if successor[0].Next == t.Next {
					r = successor[0].R
				} else if unused == nil {
					unused = &successor[0]
				}
			}
			row.AddRewarded(t.Next, t.P, r)
		}
		for ; len(successor) > 0 && here(successor[0].S, successor[0].A); successor = successor[1:] {
			if unused == nil {
				unused = &successor[0]
			}
		}
		if len(rewards) > 0 && here(rewards[0].S, rewards[0].A) {
			row.Reward(rewards[0].R)
			rewards = rewards[1:]
		}
		if len(noise) > 0 && here(noise[0].S, noise[0].A) {
			row.Noise.SD = noise[0].R
			noise = noise[1:]
		}
		if len(bernoulli) > 0 && here(bernoulli[0].S, bernoulli[0].A) {
			row.Noise.Bernoulli = true
			bernoulli = bernoulli[1:]
		}
	})
	if err != nil {
		return nil, err
	}
	if unused != nil {
		return nil, &invalid{list: "successor_rewards", index: slices.Index(d.SuccessorRewards, *unused),
			err: fmt.Errorf("state %d, action %d never leads to state %d", unused.S, unused.A, unused.Next)}
	}
	return m, nil
}

// sorted returns the entries in order after checking each and that none repeats.
func sorted[E any](list string, given []E, check func(E) error, order func(a, b E) int) ([]E, error) {
	entries := given
	for i, e := range entries {
		if err := check(e); err != nil {
			return nil, &invalid{list: list, index: i, err: err}
		}
	}
	if !slices.IsSortedFunc(entries, order) {
		entries = slices.Clone(entries)
		slices.SortStableFunc(entries, order)
	}
	for i := 1; i < len(entries); i++ {
		if order(entries[i-1], entries[i]) == 0 {
			same := func(e E) bool { return order(e, entries[i]) == 0 }
			first := slices.IndexFunc(given, same)
			second := first + 1 + slices.IndexFunc(given[first+1:], same)
			return nil, &invalid{list: list, index: second, err: fmt.Errorf("repeats entry %d", first)}
		}
	}
	return entries, nil
}

func noAction(s int) error {
	return whole("state %d has no transition: a state has an action, or is terminal", s)
}

// checkRows reports the first state that has no transition, given all in order,
// before anything of the size that the definition claims is allocated.
func (d *Definition) checkRows(transitions []Transition) error {
	terminal := make(map[int]bool, len(d.Terminal))
	for _, s := range d.Terminal {
		terminal[s] = true
	}
	state, given, last := 0, 0, -1 // the first state not accounted for; rows that are given, and the last of them
	upTo := func(end int) error {
		for ; state < end; state++ {
			if !terminal[state] {
				return noAction(state)
			}
		}
		return nil
	}
	for _, t := range transitions {
		if err := upTo(t.S); err != nil {
			return err
		}
		state = t.S + 1
		if i := t.S*d.Actions + t.A; i != last {
			last = i
			given++
		}
	}
	if err := upTo(d.States); err != nil {
		return err
	}
	if out := d.States*d.Actions - given; out > 1<<20 && out/64 > len(transitions) {
		return whole("%d states × %d actions make %d rows that are not given: too many", d.States, d.Actions, out)
	}
	return nil
}

func (d *Definition) checkState(s int) error {
	if s < 0 || s >= d.States {
		return fmt.Errorf("state %d is outside 0..%d", s, d.States-1)
	}
	return nil
}

func (d *Definition) checkPair(s, a int) error {
	if err := d.checkState(s); err != nil {
		return err
	}
	if a < 0 || a >= d.Actions {
		return fmt.Errorf("action %d is outside 0..%d", a, d.Actions-1)
	}
	return nil
}

func (d *Definition) checkTransition(t Transition) error {
	if err := d.checkPair(t.S, t.A); err != nil {
		return err
	}
	var err error
	if e := d.checkState(t.Next); e != nil {
		err = fmt.Errorf("next %w", e)
	} else if !(t.P >= 0 && t.P <= 1+rowSumTolerance) { // NaN, too
		err = fmt.Errorf("probability %v is outside [0,1]", t.P)
	}
	if err != nil {
		return fmt.Errorf("state %d, action %d: %w", t.S, t.A, err)
	}
	return nil
}

func (d *Definition) checkReward(r Reward) error {
	if math.IsNaN(r.R) || math.IsInf(r.R, 0) {
		return fmt.Errorf("%v is not a finite number", r.R)
	}
	return d.checkPair(r.S, r.A)
}

func (d *Definition) checkSuccessorReward(r SuccessorReward) error {
	if err := d.checkState(r.Next); err != nil {
		return fmt.Errorf("next %w", err)
	}
	return d.checkReward(Reward{r.S, r.A, r.R})
}

// Generate builds and validates a model whose rows are made by fill, which is
// called for s = 0..S-1 and, within, a = 0..A-1, with an empty row each time. It
// needs no list of all transitions, so it suits large models. Of d it uses the
// name, description, size, names of actions, initial distribution, terminal states, steps of
// an episode and notes. The row of a terminal state, or of an action that the state lacks, is left empty.
func Generate(d Definition, fill func(s, a int, row *Row)) (*Tabular, error) {
	m, err := GenerateInto(new(Tabular), d, fill)
	if err != nil {
		return nil, err
	}
	m.next, m.prob = slices.Clip(m.next), slices.Clip(m.prob)
	return m, nil
}

// GenerateInto is Generate in the memory of an earlier model, which it overwrites. It
// returns m. After an error m is of no use.
func GenerateInto(m *Tabular, d Definition, fill func(s, a int, row *Row)) (*Tabular, error) {
	if err := d.checkSize(); err != nil {
		return nil, err
	}
	*m = Tabular{name: d.Name, description: d.Description, states: d.States, actions: d.Actions, episodeSteps: d.EpisodeSteps, notes: slices.Clone(d.Notes),
		start: m.start[:0], next: m.next[:0], prob: m.prob[:0], reward: m.reward[:0]}
	if err := m.setActionNames(&d); err != nil {
		return nil, err
	}
	if err := m.setTerminal(&d); err != nil {
		return nil, err
	}
	if err := m.setInitial(&d); err != nil {
		return nil, err
	}
	rows := d.States * d.Actions
	m.start = append(slices.Grow(m.start, rows+1), 0)
	m.reward, m.next, m.prob = slices.Grow(m.reward, rows), slices.Grow(m.next, rows), slices.Grow(m.prob, rows)
	var row Row
	var rescaled some
	incomplete := false
	for s := range d.States {
		for a := range d.Actions {
			row = Row{next: row.next[:0], prob: row.prob[:0], reward: row.reward[:0]}
			fill(s, a, &row)
			if m.Terminal(s) && len(row.next) == 0 {
				row.Add(s, 1)
			}
			sum, err := row.finish(d.States)
			if sum != 1 && len(row.next) > 0 {
				rescaled.add("state %d, action %d (%s)", s, a, exactly(sum))
			}
			incomplete = incomplete || len(row.next) == 0
			if err == nil && m.Terminal(s) && (len(row.next) != 1 || row.next[0] != int32(s) || row.reward[0] != 0 || row.Noise != Noise{}) {
				err = fmt.Errorf("a terminal state must keep to itself and pay nothing")
			}
			if err != nil {
				return nil, &invalid{s: s, a: a, err: err}
			}
			m.push(&row)
		}
	}
	m.noteRescaled(rescaled)
	if incomplete {
		if err := m.complete(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// push appends a finished row, which is empty if the state lacks the action.
func (m *Tabular) push(row *Row) {
	if len(row.next) == 0 {
		m.reward, m.start = append(m.reward, 0), append(m.start, len(m.next))
		return
	}
	if row.varying && m.successorReward == nil {
		m.successorReward = make([]float64, 0, cap(m.next))
		for i := range m.reward {
			for range m.start[i+1] - m.start[i] {
				m.successorReward = append(m.successorReward, m.reward[i])
			}
		}
	}
	if (row.Noise != Noise{}) && m.noise == nil {
		m.noise = make([]Noise, m.states*m.actions)
	}
	if m.noise != nil {
		m.noise[len(m.reward)] = row.Noise
	}
	mean := row.reward[0]
	if row.varying {
		mean = 0
		for i, p := range row.prob {
			mean += p * row.reward[i]
		}
	}
	if m.successorReward != nil {
		m.successorReward = append(m.successorReward, row.reward...)
	}
	m.reward = append(m.reward, mean)
	m.next = append(m.next, row.next...)
	m.prob = append(m.prob, row.prob...)
	m.start = append(m.start, len(m.next))
}

// setActionNames copies the names of actions. There is one for every action, or
// none.
func (m *Tabular) setActionNames(d *Definition) error {
	if len(d.ActionNames) == 0 {
		return nil
	}
	for a, name := range d.ActionNames {
		switch {
		case a == d.Actions:
			return &invalid{list: "actions", index: a, s: -1, err: fmt.Errorf("more names than the %d actions", d.Actions)}
		case name == "":
			return &invalid{list: "actions", index: a, s: -1, err: errors.New("the name is empty")}
		case slices.Contains(d.ActionNames[:a], name):
			return &invalid{list: "actions", index: a, s: -1, err: fmt.Errorf("the name %q is given twice", name)}
		}
	}
	if len(d.ActionNames) < d.Actions {
		return whole("%d names for %d actions", len(d.ActionNames), d.Actions)
	}
	m.actionNames = slices.Clone(d.ActionNames)
	return nil
}

func (m *Tabular) setTerminal(d *Definition) error {
	for i, s := range d.Terminal {
		if err := d.checkState(s); err != nil {
			return &invalid{list: "terminal", index: i, err: err}
		}
		if m.terminal == nil {
			m.terminal = make([]bool, d.States)
		}
		if m.terminal[s] {
			return &invalid{list: "terminal", index: i, err: fmt.Errorf("state %d is given twice", s)}
		}
		m.terminal[s] = true
	}
	return nil
}

func (m *Tabular) setInitial(d *Definition) error {
	if len(d.Initial) == 0 {
		return nil
	}
	seen := make(map[int]bool, len(d.Initial))
	for i, w := range d.Initial {
		err := d.checkState(w.S)
		if err == nil && !(w.P >= 0 && w.P <= 1+rowSumTolerance) {
			err = fmt.Errorf("probability %v is outside [0,1]", w.P)
		}
		if err == nil && seen[w.S] {
			err = fmt.Errorf("state %d is given twice", w.S)
		}
		if err != nil {
			return &invalid{list: "initial", index: i, err: err}
		}
		seen[w.S] = true
	}
	for _, w := range slices.SortedFunc(slices.Values(d.Initial), func(a, b Weight) int { return a.S - b.S }) {
		if w.P > 0 {
			m.initial = append(m.initial, int32(w.S))
			m.initialProb = append(m.initialProb, w.P)
		}
	}
	sum, err := checkRow(m.initialProb, rowSumTolerance)
	if err != nil {
		return whole("initial distribution: %w", err)
	}
	if sum != 1 {
		m.noteRescaled(some{1, []string{fmt.Sprintf("initial distribution (%s)", exactly(sum))}})
	}
	return nil
}
