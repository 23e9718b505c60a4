package mdp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
)

// Model is a finite Markov decision process with states 0..NumStates()-1 and
// the same actions 0..NumActions()-1 in every state. A model does not change
// while it is being used by this package.
type Model interface {
	// NumStates returns the number of states, at least 1.
	NumStates() int
	// NumActions returns the number of actions, at least 1.
	NumActions() int
	// Transition returns the row P(·|s,a) as parallel slices: successors, each at
	// most once and in increasing order, and their probabilities, which sum to one.
	// The slices belong to the model and must not be written to.
	Transition(s, a int) (next []int32, prob []float64)
	// Reward returns the expected reward r(s,a).
	Reward(s, a int) float64
}

// Tabular is a Model held in compressed sparse rows, with what simulating it
// needs besides: rewards that depend on the successor, reward noise, the
// initial distribution and terminal states. It is immutable and safe for
// concurrent use.
type Tabular struct {
	name, description string
	states, actions   int
	actionNames       []string // nil when not given
	start             []int    // row (s,a) is start[s*actions+a] : start[s*actions+a+1]
	next              []int32
	prob              []float64
	reward            []float64 // expected reward of each row
	successorReward   []float64 // r(s,a,s'), parallel to next; nil when it is r(s,a)
	noise             []Noise   // per row; nil when rewards are deterministic
	initial           []int32   // support of the initial distribution; nil when not given
	initialProb       []float64
	terminal          []bool  // nil when there are none
	episodeSteps      int     // after which an episode is truncated; 0 if none is
	standIn           []int32 // per row, the action; nil when every state has every action
	copies            int     // entries of next in rows of missing actions
	notes             []string
}

// Noise is the distribution of a reward around its mean. The zero value is no
// noise.
type Noise struct {
	SD        float64 // standard deviation of added Gaussian noise, ≥ 0
	Bernoulli bool    // the reward is 1 with probability equal to its mean, else 0
}

var _ Model = (*Tabular)(nil)

// Name returns the name the model was given, which may be empty.
func (m *Tabular) Name() string { return m.name }

// EpisodeSteps returns the number of steps after which an episode is truncated, 0 if none is. Only
// OptimalReturn and simulations of episodes depend on it: the states of the model do not count steps.
func (m *Tabular) EpisodeSteps() int { return m.episodeSteps }

// TruncatedAfter returns the model with another number of steps after which an episode is truncated.
func (m *Tabular) TruncatedAfter(steps int) *Tabular {
	t := *m
	t.episodeSteps = steps
	return &t
}

// Description returns the description the model was given, which may be empty.
func (m *Tabular) Description() string { return m.description }

// ActionNames returns the names that the actions were given, or nil. The slice must not be
// written to.
func (m *Tabular) ActionNames() []string { return m.actionNames }

// action names an action in a message.
func (m *Tabular) action(a int) string {
	if m.actionNames == nil {
		return strconv.Itoa(a)
	}
	return fmt.Sprintf("%d (%s)", a, m.actionNames[a])
}

// NumStates returns S.
func (m *Tabular) NumStates() int { return m.states }

// NumActions returns A.
func (m *Tabular) NumActions() int { return m.actions }

// NumTransitions returns the number of (s,a,s') with positive probability.
func (m *Tabular) NumTransitions() int { return len(m.next) - m.copies }

// Transition returns the row P(·|s,a); see Model.
func (m *Tabular) Transition(s, a int) ([]int32, []float64) {
	i := s*m.actions + a
	lo, hi := m.start[i], m.start[i+1]
	return m.next[lo:hi:hi], m.prob[lo:hi:hi]
}

// Reward returns the expected reward r(s,a).
func (m *Tabular) Reward(s, a int) float64 { return m.reward[s*m.actions+a] }

// SuccessorRewards returns r(s,a,s'), the mean reward given the successor,
// parallel to the row that Transition returns, or nil when the mean reward does
// not depend on the successor. The slice must not be written to.
func (m *Tabular) SuccessorRewards(s, a int) []float64 {
	if m.successorReward == nil {
		return nil
	}
	i := s*m.actions + a
	lo, hi := m.start[i], m.start[i+1]
	return m.successorReward[lo:hi:hi]
}

// Noise returns the distribution of the reward of (s,a) around its mean.
func (m *Tabular) Noise(s, a int) Noise {
	if m.noise == nil {
		return Noise{}
	}
	return m.noise[s*m.actions+a]
}

// RewardBounds returns the least and the largest reward that an action can pay in a
// state that is not terminal; they are infinite if some reward has Gaussian noise.
func (m *Tabular) RewardBounds() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for s := range m.NumStates() {
		if m.Terminal(s) {
			continue
		}
		for a := range m.NumActions() {
			rewards := m.SuccessorRewards(s, a)
			if rewards == nil {
				rewards = []float64{m.Reward(s, a)}
			}
			switch noise := m.Noise(s, a); {
			case noise.Bernoulli:
				rewards = []float64{0, 1}
			case noise.SD > 0:
				return math.Inf(-1), math.Inf(1)
			}
			low, high = min(low, slices.Min(rewards)), max(high, slices.Max(rewards))
		}
	}
	return low, high
}

// Terminal reports whether s ends an episode: it is never left and pays nothing.
func (m *Tabular) Terminal(s int) bool { return m.terminal != nil && m.terminal[s] }

// HasTerminal reports whether the model has terminal states.
func (m *Tabular) HasTerminal() bool { return m.terminal != nil }

// Initial returns the initial distribution as its support, in increasing order, and the
// probabilities of that, or nil when the model was given none. The slices must
// not be written to.
func (m *Tabular) Initial() (states []int32, prob []float64) { return m.initial, m.initialProb }

// Start draws an initial state; state 0 when the model has no initial
// distribution. It takes one draw from rng when there is more than one
// possible state, and none otherwise.
func (m *Tabular) Start(rng *rand.Rand) int {
	switch len(m.initial) {
	case 0:
		return 0
	case 1:
		return int(m.initial[0])
	}
	return int(m.initial[draw(m.initialProb, rng)])
}

// Step draws a successor and a reward. It takes one uniform draw for the
// successor when the row has more than one. When the reward is noisy, it takes
// one draw for it (NormFloat64, or Float64 for a Bernoulli reward).
func (m *Tabular) Step(s, a int, rng *rand.Rand) (next int, reward float64) {
	i := s*m.actions + a
	k := m.start[i]
	if n := m.start[i+1] - k; n > 1 {
		k += draw(m.prob[k:k+n], rng)
	}
	reward = m.reward[i]
	if m.successorReward != nil {
		reward = m.successorReward[k]
	}
	if m.noise != nil {
		switch noise := m.noise[i]; {
		case noise.Bernoulli:
			if rng.Float64() < reward {
				reward = 1
			} else {
				reward = 0
			}
		case noise.SD > 0:
			reward += noise.SD * rng.NormFloat64()
		}
	}
	return int(m.next[k]), reward
}

// draw returns an index with the given probabilities from one uniform draw.
func draw(prob []float64, rng *rand.Rand) int {
	u := rng.Float64()
	last := len(prob) - 1 // the probabilities sum to one but for rounding
	if last < fewSuccessors {
		// The number of successors that leave u ≥ 0 is counted by its sign bit, which
		// is quicker than a branch that nothing predicts.
		k := 0
		for _, p := range prob[:last] {
			u -= p
			k += 1 - int(math.Float64bits(u)>>63)
		}
		return k
	}
	for i, p := range prob {
		if u -= p; u < 0 {
			return i
		}
	}
	return last
}

// fewSuccessors is up to how many it is faster to look at all of them.
const fewSuccessors = 8
