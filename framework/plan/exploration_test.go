package plan

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/must"
)

// A horizon counts the rewards that its keys say: without keys those of the run, or, if the
// experiment gives a discount, by that.
func TestHorizons(t *testing.T) {
	for name, tt := range map[string]struct {
		x        Exploration
		discount *float64
		want     bandit.Horizon
	}{
		"the run":              {Exploration{}, nil, bandit.Finite(99)},
		"a discount":           {Exploration{}, new(0.9), bandit.Discounted(0.9)},
		"no discount":          {Exploration{}, new(1.0), bandit.Finite(99)},
		"a horizon of its own": {Exploration{Horizon: &Horizon{Steps: 7}}, new(0.9), bandit.Finite(6)},
		"weights":              {Exploration{Horizon: &Horizon{Weights: []float64{0, 2, 1}}}, nil, bandit.Weights([]float64{0, 2, 1})},
	} {
		o := must.Get(tt.x.Settings(tt.discount, 100, 0, 0))(t)
		for after := range 3 {
			for hold := 1; hold < 5; hold++ {
				got, want := o.Decider.Horizon.After(after).Share(hold), tt.want.After(after).Share(hold)
				if math.Abs(got-want) > 1e-15 {
					t.Errorf("%s: after %d steps, %d are a share of %v, want %v", name, after, hold, got, want)
				}
			}
		}
	}
}
