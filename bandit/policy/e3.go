package policy

import (
	"math"
	"math/rand/v2"
)

// E3 is E³ (Kearns & Singh 2002) for a task that consists of arms only. It pulls them in turn
// (balanced wandering) until each is known. From then on it takes the arm with the largest mean
// reward. An arm counts as known after ⌈(H·n/ε)⁴⌉ pulls, where H = Σ_k w_k is the sum of the
// horizon's weights. In practice that never happens.
type E3 struct {
	Horizon
	Accuracy *float64 `json:"accuracy,omitempty" jsonschema:"exclusiveMinimum=0,default=0.1" jsonschema_description:"epsilon: each of n arms is known after (H*n/epsilon)^4 pulls, where H is the sum of the horizon's weights. The default is a choice of ours."`
}

func (p E3) build(t *setting) (maker, error) {
	c, err := p.clock(1)
	known := math.Ceil(math.Pow(c.horizon.Total()*float64(t.Arms) / *p.Accuracy, 4))
	return func(beliefs) Policy { return newE3(t.Arms, known, 0) }, err
}

// e3 wanders until each arm has been pulled known times. The mean of an arm before its first pull
// is its optimism.
type e3 struct {
	tally
	known float64
	order ranking // by mean
}

func newE3(n int, known, optimism float64) *e3 {
	e := &e3{tally: newTally(n, optimism), known: known}
	e.order = newRanking(n, func(arm int) float64 { return e.means[arm] })
	return e
}

func (e *e3) SelectArm(*rand.Rand) int {
	if e.known > 0 {
		if arm, lap := e.lap.next(e.pulls); float64(lap) < e.known {
			return arm
		}
	}
	return e.order.first()
}

func (e *e3) Update(arm int, reward float64, _ *rand.Rand) {
	e.add(arm, reward)
	e.order.set(arm, e.means[arm])
}

// Greedy returns the arm with the largest mean reward.
func (e *e3) Greedy() int { return e.order.first() }
