package policy

import (
	"math"
	"math/rand/v2"
	"slices"
)

// MedianElimination pulls each remaining arm ⌈(4/ε²)·ln(3/δ)⌉ times and drops the worse half, round by
// round with ε ← ¾ε and δ ← δ/2 (Even-Dar, Mannor & Mansour 2006). It starts from a quarter of the
// accuracy and half of the failure probability. With probability 1−δ the last arm is ε-close to the
// best.
type MedianElimination struct {
	Accuracy *float64 `json:"accuracy,omitempty" jsonschema:"exclusiveMinimum=0,default=0.1" jsonschema_description:"epsilon, the accepted distance from the best arm, as a share of the range of rewards; a choice of ours."`
	Failure  *float64 `json:"failure,omitempty" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1,default=0.05" jsonschema_description:"delta, the accepted probability of failure; a choice of ours."`
}

func (p MedianElimination) build(t *setting) (maker, error) {
	width, err := t.width()
	return func(beliefs) Policy { return newMedianElimination(t.Arms, t.Low, width, *p.Failure, *p.Accuracy) }, err
}

type medianElimination struct {
	elimination
	accuracy, failure float64   // ε, δ of this round
	means             []float64 // scratch
}

func newMedianElimination(n int, low, width, failure, accuracy float64) *medianElimination {
	m := &medianElimination{newElimination(n, low, width), accuracy / 4, failure / 2, make([]float64, n)}
	m.allot()
	return m
}

// allot sets the pulls of each arm in this round.
func (m *medianElimination) allot() {
	pulls := math.Ceil(4 / (m.accuracy * m.accuracy) * math.Log(3/m.failure))
	m.quota = int(min(pulls, maxRewards))
}

func (m *medianElimination) Update(arm int, reward float64, _ *rand.Rand) {
	if !m.add(arm, reward) {
		return
	}
	means := m.means[:len(m.left)]
	for i := range means {
		means[i] = m.mean(i)
	}
	slices.Sort(means)
	// Of those at the median as many are kept, in order, as are needed.
	want := (len(means) + 1) / 2
	median := means[len(means)-want]
	above := 0
	for i := range m.left {
		if m.mean(i) > median {
			above++
		}
	}
	spare := want - above
	m.keep(func(place int) bool {
		if m.mean(place) == median {
			spare--
			return spare >= 0
		}
		return m.mean(place) > median
	})
	clear(m.pulls)
	clear(m.sums)
	m.accuracy *= 0.75
	m.failure /= 2
	m.allot()
}
