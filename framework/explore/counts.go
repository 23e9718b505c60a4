package explore

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/mdp"
)

// finite numbers the states and actions of a task with Discrete spaces, both from
// 0, and their pairs: s·actions + a.
type finite struct {
	states, actions         int
	firstState, firstAction int64
}

// maxPairs bounds the size of a task whose transitions are counted.
const maxPairs = 1 << 24

func newFinite(spec framework.Spec) (finite, error) {
	observations, ok := spec.Observation.(space.Discrete)
	actions, ok2 := spec.Action.(space.Discrete)
	if !ok || !ok2 {
		return finite{}, fmt.Errorf("transitions are counted where observations and actions are discrete; those of %s are not", spec.ID)
	}
	if observations.N > maxPairs/actions.N {
		return finite{}, fmt.Errorf("transitions are counted for up to %d pairs of observations and actions; %s has %d × %d", maxPairs, spec.ID, observations.N, actions.N)
	}
	return finite{int(observations.N), int(actions.N), observations.Start, actions.Start}, nil
}

func (f *finite) pair(observation, action int64) int {
	return int(observation-f.firstState)*f.actions + int(action-f.firstAction)
}

// transition returns the key of a pair that led to an observation; it is not 0.
func (f *finite) transition(pair int, observation int64) uint64 {
	return uint64(pair)*uint64(f.states) + uint64(observation-f.firstState) + 1
}

// check reports what is wrong with a policy that an agent answered.
func (f *finite) check(policy []int) error {
	if len(policy) != f.states {
		return fmt.Errorf("%d actions for %d observations", len(policy), f.states)
	}
	for s, a := range policy {
		if a < 0 || a >= f.actions {
			return fmt.Errorf("action %d in observation %d is not in 0..%d", a, s, f.actions-1)
		}
	}
	return nil
}

// counts holds how often each transition was seen. It is a hash table with linear
// probing. A step costs a few nanoseconds, and the table grows with the number of
// distinct transitions.
type counts struct {
	slots []slot // a power of two, at most half of them in use
	shift uint   // 64 − log₂ len(slots)
	used  int
}

// slot has the transition of a key, 0 if it is free: how often it was seen, and the sum of
// its rewards.
type slot struct {
	key, n uint64
	reward float64
}

func (c *counts) add(key uint64, reward float64) {
	if len(c.slots) > 0 {
		if s := c.find(key); s.key == key {
			s.n++
			s.reward += reward
			return
		} else if 2*c.used < len(c.slots) {
			*s = slot{key, 1, reward}
			c.used++
			return
		}
	}
	old := c.slots
	c.slots = make([]slot, max(64, 2*len(old)))
	c.shift = 64
	for n := len(c.slots); n > 1; n >>= 1 {
		c.shift--
	}
	for _, s := range old {
		if s.key != 0 {
			*c.find(s.key) = s
		}
	}
	*c.find(key) = slot{key, 1, reward}
	c.used++
}

// find returns the slot of a key, or the free one where it belongs.
func (c *counts) find(key uint64) *slot {
	mask := len(c.slots) - 1
	// Fibonacci hashing (Knuth 1998, §6.4).
	for i := int(key * 0x9E3779B97F4A7C15 >> c.shift); ; i++ {
		if s := &c.slots[i&mask]; s.key == key || s.key == 0 {
			return s
		}
	}
}

// scratch is memory for estimates.
type scratch struct {
	seen    []transition
	states  []int // that were left, increasing
	visits  []float64
	weighed []weighed
}

// transition is one that has been seen n times, with the sum of its rewards.
type transition struct {
	s, a, next int
	n, reward  float64
}

type weighed struct {
	time   int
	weight float64
}

// exactStates is the number of states seen up to which all mixing times are
// computed; beyond, those of a sample of pairs are.
const exactStates = 256

// posteriorModels is the number of models of the estimator Posterior: their order statistics are twentieths.
const posteriorModels = 19

// posterior returns the order statistics of what mixing returns in models that are drawn from the belief.
func (f *finite) posterior(c *counts, greedy []int, statistic func([]weighed) int, o mdp.MixingConfig, w *scratch, rng *rand.Rand) ([]int, error) {
	times := make([]int, posteriorModels)
	for k := range times {
		var err error
		if times[k], err = f.mixing(c, greedy, statistic, o, w, rng); err != nil {
			return nil, err
		}
	}
	slices.Sort(times)
	return times, nil
}

// mixing returns a statistic of the exploration mixing times of the greedy
// policy in the model of the transitions seen (docs/theory.md §2.5), or in one that is drawn
// with rng. It is taken over the states visited, weighted by their visits, and the actions that are not
// greedy there.
func (f *finite) mixing(c *counts, greedy []int, statistic func([]weighed) int, o mdp.MixingConfig, w *scratch, rng *rand.Rand) (int, error) {
	w.collect(f, c)
	m, policy, err := w.model(f, greedy, rng)
	if err != nil {
		return 0, err
	}
	w.weighed = w.weighed[:0]
	if n := len(w.states); n <= exactStates {
		mix, err := mdp.MixingTime(m, policy, o)
		if mix == nil {
			return 0, err
		}
		for s, times := range mix.T {
			for a, t := range times {
				if a != policy[s] {
					w.weighed = append(w.weighed, weighed{t, w.visits[s]})
				}
			}
		}
	} else {
		mix, err := mdp.SampleMixing(m, policy, mdp.SampleConfig{MixingConfig: o, Pairs: 128, BurnIn: 10 * n})
		if err != nil {
			return 0, err
		}
		for _, t := range mix.T {
			w.weighed = append(w.weighed, weighed{t, 1})
		}
	}
	return statistic(w.weighed), nil
}

// quantile is Quantile, or its default.
func (o *Config) quantile() float64 { return cmp.Or(o.Quantile, 0.9) }

// statistic returns what is taken of mixing times.
func (o *Config) statistic() func([]weighed) int {
	if o.Mean {
		return meanTime
	}
	return func(times []weighed) int { return quantile(times, o.quantile()) }
}

// meanTime returns the weighted mean of times, rounded up, at least 1; mdp.Never if one of them
// is.
func meanTime(times []weighed) int {
	total, sum := 0.0, 0.0
	for _, t := range times {
		if t.weight > 0 && t.time == mdp.Never {
			return mdp.Never
		}
		total += t.weight
		sum += t.weight * float64(t.time)
	}
	if total == 0 {
		return 1
	}
	return max(1, int(math.Ceil(sum/total-1e-9)))
}

// quantile returns the smallest time that at least a share q of the weight does
// not exceed.
func quantile(times []weighed, q float64) int {
	slices.SortFunc(times, func(a, b weighed) int { return cmp.Compare(a.time, b.time) })
	total, sum := 0.0, 0.0
	for _, t := range times {
		total += t.weight
	}
	longest := 1
	for _, t := range times {
		if t.weight == 0 {
			continue
		}
		longest = t.time
		if sum += t.weight; sum >= q*total*(1-1e-12) {
			break
		}
	}
	return longest
}

// collect lists in order what has been seen, and the states that were left at
// least once: of another it is not known where it leads.
func (w *scratch) collect(f *finite, c *counts) {
	w.seen, w.states = w.seen[:0], w.states[:0]
	for _, s := range c.slots {
		if s.key == 0 {
			continue
		}
		key := int(s.key - 1)
		pair := key / f.states
		w.seen = append(w.seen, transition{pair / f.actions, pair % f.actions, key % f.states, float64(s.n), s.reward})
	}
	slices.SortFunc(w.seen, func(x, y transition) int {
		return cmp.Or(cmp.Compare(x.s, y.s), cmp.Compare(x.a, y.a), cmp.Compare(x.next, y.next))
	})
	for _, t := range w.seen {
		if n := len(w.states); n == 0 || w.states[n-1] != t.s {
			w.states = append(w.states, t.s)
		}
	}
	w.visits = append(w.visits[:0], make([]float64, len(w.states))...)
}

// model returns the model of what has been collected, and the greedy policy in it.
// Transitions to states that were never left are not in it. A pair without
// transitions is assumed to lead where the other actions of its state led, in the
// same proportions. If they led nowhere, it leads nowhere. If it always led
// nowhere, a state whose greedy action was not tried yet would be a state that
// cannot be left. A deviation to it would never be forgotten.
//
// With rng it is a draw of a belief. A pair has a Dirichlet distribution: of its counts and of one step more, which
// leads to a state drawn for it, all being equally likely. So a pair never tried leads to one state.
func (w *scratch) model(f *finite, greedy []int, rng *rand.Rand) (*mdp.Tabular, mdp.Deterministic, error) {
	policy := make(mdp.Deterministic, len(w.states))
	rest := w.seen
	var here []transition // those from one state, where next is the number of a state in the model
	m, err := mdp.Generate(mdp.Definition{States: len(w.states), Actions: f.actions}, func(i, a int, row *mdp.Row) {
		if a == 0 {
			s := w.states[i]
			policy[i] = greedy[s]
			for here = here[:0]; len(rest) > 0 && rest[0].s == s; rest = rest[1:] {
				t := rest[0]
				w.visits[i] += t.n
				var known bool
				if t.next, known = slices.BinarySearch(w.states, t.next); known {
					if rng != nil {
						t.n = distuv.Gamma{Alpha: t.n, Beta: 1, Src: rng}.Rand()
					}
					here = append(here, t)
				}
			}
		}
		switch {
		case rng != nil:
			addRow(row, append(here, transition{a: a, next: rng.IntN(len(w.states)), n: rng.ExpFloat64()}), a)
		case addRow(row, here, a):
		case !addRow(row, here, -1):
			row.Add(i, 1)
		}
	})
	return m, policy, err
}

// addRow adds the transitions of an action, or of all if it is −1, and tells
// whether there are any.
func addRow(row *mdp.Row, seen []transition, a int) bool {
	total := 0.0
	for _, t := range seen {
		if a < 0 || t.a == a {
			total += t.n
		}
	}
	for _, t := range seen {
		if a < 0 || t.a == a {
			row.Add(t.next, t.n/total)
		}
	}
	return total > 0
}
