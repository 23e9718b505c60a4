package policy

import "math"

// UCB1 selects argmax_i q̄_i + w·√(c·ln t/n_i) (Auer, Cesa-Bianchi & Fischer 2002, Fig. 1). There are t
// rewards so far, n_i of them of arm i, q̄_i is their mean, and w is the width of the range of rewards.
type UCB1 struct {
	Confidence *float64 `json:"confidence,omitempty" jsonschema:"minimum=0,default=2" jsonschema_description:"c of the bound sqrt(c ln t/n); default of Auer, Cesa-Bianchi & Fischer (2002)."`
}

func (p UCB1) build(t *setting) (maker, error) {
	width, err := t.width()
	return func(beliefs) Policy { return newUCB1(t.Arms, width, *p.Confidence) }, err
}

func newUCB1(n int, width, c float64) *upperConfidence {
	u := &upperConfidence{tally: newTally(n, 0)}
	level := func(rewards float64) float64 { return width * math.Sqrt(c*math.Log(rewards)) }
	u.rising = newRising(n, 0, level, func(arm int, level float64) float64 {
		return u.means[arm] + level*u.spread[arm]
	})
	return u
}
