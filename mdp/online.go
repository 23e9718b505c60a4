package mdp

import (
	"fmt"
	"math"
	"slices"
)

// Quantile returns the ⌈q·n⌉-th smallest of n times, 0 < q ≤ 1.
func Quantile(times []int, q float64) int {
	if len(times) == 0 || !(q > 0 && q <= 1) {
		panic("mdp: bad quantile")
	}
	sorted := slices.Clone(times)
	slices.Sort(sorted)
	// ⌈·⌉ must not see 0.9·10 as more than 9.
	k := int(math.Ceil(q*float64(len(times)) - 1e-9))
	return sorted[max(k, 1)-1]
}

// PosteriorMixing returns the largest exploration mixing time over states and
// actions under π in each of the given models, and the q-quantile of these times
// (docs/theory.md §2.5, item 2). The models are draws of a posterior or members
// of a bootstrap. Models in which untried pairs lead anywhere make it too short;
// see DirichletPrior.SeenOnly.
func PosteriorMixing(models []*Tabular, pi Policy, q float64, o MixingOptions) (quantile int, times []int, err error) {
	if len(models) == 0 || !(q > 0 && q <= 1) {
		return 0, nil, fmt.Errorf("mdp: the %v-quantile of %d models is not defined", q, len(models))
	}
	for _, m := range models {
		mix, err := MixingTime(m, pi, o)
		if mix == nil {
			return 0, nil, err
		}
		times = append(times, mix.Max) // a time beyond what could be computed is Never
	}
	return Quantile(times, q), times, nil
}

// OnlineMixing is the exploration mixing time as an agent uses it at its decision
// epochs: the quantile over models that fit the data, between 1 and Cap. It
// computes only when the policy has changed or the data have doubled. The zero
// value with a Cap is ready.
type OnlineMixing struct {
	Quantile float64       // default 0.9
	Cap      int           // the longest time to return, ≥ 1
	Options  MixingOptions // of each computation

	policy     Deterministic
	steps      float64
	time       int
	capped     bool
	recomputed int
}

// Time returns the mixing time under π, given the number of steps seen so far.
// It calls models when it has to compute the time. capped says that the
// quantile exceeds Cap; Time then returns Cap, as deviations last longer than
// the agent lets them.
func (e *OnlineMixing) Time(pi Deterministic, steps float64, models func() []*Tabular) (time int, capped bool, err error) {
	if e.Cap < 1 {
		return 0, false, fmt.Errorf("mdp: the longest mixing time %d is not at least 1", e.Cap)
	}
	if e.time > 0 && steps < 2*e.steps && slices.Equal(pi, e.policy) {
		return e.time, e.capped, nil
	}
	q := e.Quantile
	if q == 0 {
		q = 0.9
	}
	t, _, err := PosteriorMixing(models(), pi, q, e.Options)
	if err != nil {
		return 0, false, err
	}
	e.policy, e.steps = append(e.policy[:0], pi...), steps
	e.time, e.capped = min(t, e.Cap), t > e.Cap
	e.recomputed++
	return e.time, e.capped, nil
}

// Recomputed returns how often the time has been computed.
func (e *OnlineMixing) Recomputed() int { return e.recomputed }
