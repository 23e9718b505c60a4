package tabular

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
	"github.com/rlrun/rlrun/plugins/internal/arms"
)

// Changes say how the task of a run changes. Time is that of the run, so the end of an episode changes
// nothing.
type Changes struct {
	Tasks  []*catalog.Task // those that follow the first
	Steps  []int           // the k-th of them follows after so many steps of the run; nil with a hazard
	Hazard float64         // probability that after a step another of all tasks follows, each equally likely
}

// NewChanging is New for a task that changes. All tasks need the same states, actions and terminal states, and each
// differs from the one before it, or with a hazard from all others. Without Tasks the task does not change. The
// environment has the ability vector.ModelNotes.
// The changes at random are drawn from the seed of the run, whatever the actions. The environment
// measures the regret against the optimum of the moment, unless episodes end: the sum over all steps
// of what the best action of the task in force pays more than the action taken, or in tasks of several states of the
// best reward per step of that task less the reward.
func NewChanging(id string, first *catalog.Task, c Changes, limit, n int) (vector.Environment, error) {
	l := New(id, first, limit, n).(*lanes)
	if len(c.Tasks) == 0 {
		l.notes = func(context.Context, int) ([]string, error) { return first.Model.Notes(), nil }
		return l, nil
	}
	c.Tasks = append([]*catalog.Task{first}, c.Tasks...)
	l.changes, l.worlds, l.notes = &c, make([]world, n), c.notes
	for k, t := range c.Tasks {
		m := t.Model
		if err := alike(first.Model, m); err != nil {
			return nil, fmt.Errorf("model %d: %w", k+1, err)
		}
		before := c.Tasks[:k]
		if c.Hazard == 0 {
			before = c.Tasks[max(k-1, 0):k]
		}
		for i, x := range before {
			if equal(x.Model, m) {
				return nil, fmt.Errorf("model %d equals model %d: the change from one to the other would change nothing", k+1, k-len(before)+i+1)
			}
		}
		low, high := m.RewardBounds()
		l.spec.RewardLow, l.spec.RewardHigh = min(l.spec.RewardLow, low), max(l.spec.RewardHigh, high)
		l.gains = append(l.gains, math.NaN())
		if l.spec.Continuing {
			l.gains[k] = m.OptimalGain()
		}
	}
	return l, nil
}

// notes are those of all models.
func (c *Changes) notes(context.Context, int) ([]string, error) {
	var list []string
	for k, t := range c.Tasks {
		for _, note := range t.Model.Notes() {
			list = append(list, fmt.Sprintf("Model %d of the schedule: %s", k+1, note))
		}
	}
	return list, nil
}

// alike returns an error unless two models differ in what pairs lead to and pay alone.
func alike(x, y *mdp.Tabular) error {
	if x.NumStates() != y.NumStates() || x.NumActions() != y.NumActions() {
		return fmt.Errorf("it has %d states and %d actions, and the first has %d and %d: an agent meets one task that changes, so they must be the same", y.NumStates(), y.NumActions(), x.NumStates(), x.NumActions())
	}
	for a, name := range x.ActionNames() {
		if y.ActionNames() != nil && y.ActionNames()[a] != name {
			return fmt.Errorf("action %d is called %q, and %q in the first: an agent meets one task that changes, so their order must be the same", a, y.ActionNames()[a], name)
		}
	}
	for i := range x.NumStates() * x.NumActions() {
		if s, a := i/x.NumActions(), i%x.NumActions(); x.Available(s, a) != y.Available(s, a) {
			return fmt.Errorf("state %d has action %d in this model or in the first one, and not in both: an agent meets one task that changes, so its actions must be the same", s, a)
		}
	}
	for s := range x.NumStates() {
		if x.Terminal(s) != y.Terminal(s) {
			return fmt.Errorf("state %d is terminal in this model or in the first one, and not in both: a change would end an episode without a step", s)
		}
	}
	return nil
}

// equal says that episodes begin alike in two models that are alike, and that pairs lead to and pay the same.
func equal(x, y *mdp.Tabular) bool {
	in, p := x.Initial()
	jn, q := y.Initial()
	if !slices.Equal(in, jn) || !slices.Equal(p, q) {
		return false
	}
	for i := range x.NumStates() * x.NumActions() {
		s, a := i/x.NumActions(), i%x.NumActions()
		in, p := x.Transition(s, a)
		jn, q := y.Transition(s, a)
		if !slices.Equal(in, jn) || !slices.Equal(p, q) || x.Noise(s, a) != y.Noise(s, a) ||
			x.Reward(s, a) != y.Reward(s, a) || !slices.Equal(x.SuccessorRewards(s, a), y.SuccessorRewards(s, a)) {
			return false
		}
	}
	return true
}

// CheckSteps returns an error unless steps at which a run changes are positive and increase.
func CheckSteps(steps []int) error {
	for k, s := range steps {
		if s < 1 {
			return fmt.Errorf("steps[%d] is %d, must be at least 1: the first model is in force from the beginning", k, s)
		}
		if k > 0 && s <= steps[k-1] {
			return errors.New("steps must increase, as the models follow each other")
		}
	}
	return nil
}

// world is how far the task of a lane has changed.
type world struct {
	rng    rand.PCG
	task   int // in force
	passed int // steps of the run
	next   int // number of steps after which it changes
	score  arms.Score
}

// begin begins a run in lane i.
func (l *lanes) begin(i int, s uint64) {
	w := &l.worlds[i]
	*w = world{}
	w.rng.Seed(s, uint64(seed.Changes))
	l.states[i].model = l.model
	l.wait(w)
}

// wait finds out when the world changes next.
func (l *lanes) wait(w *world) {
	switch c := l.changes; {
	case c.Hazard > 0:
		w.next = w.passed + arms.Wait(c.Hazard, rand.New(&w.rng))
	case w.task < len(c.Steps):
		w.next = c.Steps[w.task]
	default:
		w.next = math.MaxInt
	}
}

// pass lets a step of lane i pass.
func (l *lanes) pass(i, action int, reward float64) {
	w, x := &l.worlds[i], &l.states[i]
	if m := x.model; m.NumStates() > 1 {
		w.score.Add(l.gains[w.task]-reward, false)
	} else {
		best := math.Inf(-1)
		for a := range m.NumActions() {
			best = max(best, m.Reward(0, a))
		}
		w.score.Add(best-m.Reward(0, action), m.Reward(0, action) == best)
	}
	if w.passed++; w.passed != w.next {
		return
	}
	if l.changes.Hazard > 0 {
		k := rand.New(&w.rng).IntN(len(l.changes.Tasks) - 1)
		if k >= w.task {
			k++
		}
		w.task = k
	} else {
		w.task++
	}
	x.model = l.changes.Tasks[w.task].Model
	l.wait(w)
}

// measures are the metrics of a task that changes; nil if there are none.
func (l *lanes) measures() *vector.Measures {
	metrics := arms.Metrics
	switch {
	case !l.spec.Continuing || slices.ContainsFunc(l.gains, math.IsNaN):
		return nil
	case l.model.NumStates() > 1: // which action is optimal is not known
		metrics = metrics[:1]
	}
	return &vector.Measures{Metrics: metrics, Read: func(_ context.Context, of []int, dst []float64) error {
		for k, i := range of {
			l.worlds[i].score.Read(dst[k*len(metrics) : (k+1)*len(metrics)])
		}
		return nil
	}}
}
