package options

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/rlrun/rlrun/mdp"
)

// largest is the number of states up to which option models, which are dense,
// are computed.
const largest = 2000

// Model is what an option does (Sutton, Precup & Singh 1999): with k the
// duration of the option started in s,
//
//	r(s)   = E[Σ_{t<k} γ^t r_{t+1}]
//	p(s,x) = Σ_n γ^n P(k = n, s_n = x)
//
// so that a Bellman backup is r(s) + Σ_x p(s,x)V(x). The rows of p sum to E γ^k.
// The numbers are also right for the states in which the option does not initiate
// but may continue.
type Model struct {
	Initiation []bool    // I, by state
	Reward     []float64 // r, by state
	Duration   []float64 // E k, by state; nil unless γ = 1
	gamma      float64
	next       *mat.Dense
}

// NewModel computes the model of an option from that of its process, exactly, at
// discount 0 ≤ γ ≤ 1, for up to 2000 states. The option also ends in the terminal
// states of a mdp.Tabular. With γ = 1 it has to end surely, from every state. It
// takes O(S³), and for each stage of a semi-Markov option S times the size of the
// process.
func NewModel(m mdp.Model, o Option, gamma float64) (*Model, error) {
	n := m.NumStates()
	if n > largest {
		return nil, fmt.Errorf("options: models of options are for up to %d states, not %d", largest, n)
	}
	if !(gamma >= 0 && gamma <= 1) {
		return nil, fmt.Errorf("options: discount %v outside [0,1]", gamma)
	}
	b := &builder{process: m, option: o, gamma: gamma,
		probs: make([]float64, m.NumActions()), end: make([]float64, n),
		row: make([]float64, n), columns: n + 1}
	if gamma == 1 {
		b.columns++ // the duration
	}
	x, err := b.stationary(o.Stages())
	if err != nil {
		return nil, err
	}
	next := mat.NewDense(n, b.columns, nil)
	for k := o.Stages() - 1; k >= 0; k-- {
		next.Zero()
		if err := b.stage(next, x, k); err != nil {
			return nil, err
		}
		x, next = next, x
	}
	model := &Model{Initiation: make([]bool, n), Reward: make([]float64, n), gamma: gamma, next: mat.DenseCopyOf(x.Slice(0, n, 0, n))}
	for s := range n {
		model.Initiation[s] = o.Initiates(s)
		model.Reward[s] = x.At(s, n)
	}
	if gamma == 1 {
		model.Duration = make([]float64, n)
		for s := range n {
			model.Duration[s] = x.At(s, n+1)
		}
	}
	return model, nil
}

// NumStates returns S.
func (m *Model) NumStates() int { return len(m.Reward) }

// Transition returns the row p(s,·), which must not be written to.
func (m *Model) Transition(s int) []float64 { return m.next.RawRowView(s) }

// builder computes S × (S+1 or S+2) matrices X_k. They describe what happens from time k
// on, if the option has not ended. Columns 0..S-1 are p, then r, then E k.
type builder struct {
	process mdp.Model
	option  Option
	gamma   float64
	columns int
	probs   []float64 // of actions
	end     []float64 // β by state
	row     []float64 // of the chain of π
}

// ends sets the probabilities of ending on arrival at a time.
func (b *builder) ends(elapsed int) error {
	terminal, _ := b.process.(interface{ Terminal(s int) bool })
	for s := range b.end {
		p := b.option.Termination(s, elapsed)
		if !(p >= 0 && p <= 1) {
			return fmt.Errorf("options: in state %d the option ends with probability %v", s, p)
		}
		if terminal != nil && terminal.Terminal(s) {
			p = 1
		}
		b.end[s] = p
	}
	return nil
}

// step sets row to the transitions of s under the policy and returns the reward.
func (b *builder) step(s, elapsed int) (reward float64, err error) {
	b.option.Distribution(b.probs, s, elapsed)
	clear(b.row)
	total := 0.0
	for a, q := range b.probs {
		if q == 0 {
			continue
		}
		if !(q > 0) {
			return 0, fmt.Errorf("options: in state %d the option takes action %d with probability %v", s, a, q)
		}
		total += q
		reward += q * b.process.Reward(s, a)
		next, prob := b.process.Transition(s, a)
		for i, t := range next {
			b.row[t] += q * prob[i]
		}
	}
	if !(math.Abs(total-1) <= 1e-8) {
		return 0, fmt.Errorf("options: the probabilities of the option's actions in state %d sum to %v", s, total)
	}
	return reward, nil
}

// stage computes X_k from X_{k+1}:
// X_k(s) = (r, 0) + γ Σ_x P(s,x)[β(x)1_x + (1−β(x))X_{k+1}(x)].
func (b *builder) stage(dst, after *mat.Dense, k int) error {
	n := len(b.end)
	if err := b.ends(k + 1); err != nil {
		return err
	}
	for s := range n {
		reward, err := b.step(s, k)
		if err != nil {
			return err
		}
		row := dst.RawRowView(s)
		row[n] = reward
		if b.columns > n+1 {
			row[n+1] = 1
		}
		for x, p := range b.row {
			if p == 0 {
				continue
			}
			p *= b.gamma
			row[x] += p * b.end[x]
			if onward := p * (1 - b.end[x]); onward > 0 {
				for j, v := range after.RawRowView(x) {
					row[j] += onward * v
				}
			}
		}
	}
	return nil
}

// stationary solves for X_k, where nothing depends on time any more:
// (I − γP(1−β))X = (γPβ, r).
func (b *builder) stationary(k int) (*mat.Dense, error) {
	n := len(b.end)
	if err := b.ends(max(k, 1)); err != nil {
		return nil, err
	}
	x := mat.NewDense(n, b.columns, nil)
	if slices.Min(b.end) == 1 { // one step: no system to solve
		return x, b.stage(x, x, k)
	}
	a := mat.NewDense(n, n, nil)
	for s := range n {
		reward, err := b.step(s, k)
		if err != nil {
			return nil, err
		}
		left, right := a.RawRowView(s), x.RawRowView(s)
		right[n] = reward
		if b.columns > n+1 {
			right[n+1] = 1
		}
		for t, p := range b.row {
			right[t] = b.gamma * p * b.end[t]
			left[t] = -b.gamma * p * (1 - b.end[t])
		}
	}
	if b.gamma == 1 {
		if s := b.endless(a, x); s >= 0 {
			return nil, fmt.Errorf("options: without discount the option must end surely, but from state %d it may not", s)
		}
	}
	for s := range n {
		a.Set(s, s, a.At(s, s)+1)
	}
	var lu mat.LU
	lu.Factorize(a)
	solved := mat.NewDense(n, b.columns, nil)
	if err := lu.SolveTo(solved, false, x); err != nil {
		var poor mat.Condition // solved, but not to full accuracy
		if !errors.As(err, &poor) || math.IsInf(float64(poor), 1) {
			return nil, fmt.Errorf("options: model of an option: %w", err)
		}
	}
	for s := range n { // probabilities that are zero may come out below by rounding
		for x, p := range solved.RawRowView(s)[:n] {
			if p < 0 {
				solved.Set(s, x, 0)
			}
		}
	}
	return solved, nil
}

// endless returns a state from which the option cannot end, or -1. Row s of a
// holds minus the probabilities of going on to each state, row s of x first those
// of ending in each.
func (b *builder) endless(a, x *mat.Dense) int {
	n := len(b.end)
	ends := make([]bool, n)
	for changed := true; changed; {
		changed = false
		for s := range n {
			if ends[s] {
				continue
			}
			going, ending := a.RawRowView(s), x.RawRowView(s)
			for t := range n {
				if ending[t] > 0 || going[t] < 0 && ends[t] {
					ends[s], changed = true, true
					break
				}
			}
		}
	}
	return slices.Index(ends, false)
}
