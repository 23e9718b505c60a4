package arms

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/vector"
)

// Metrics are those that an environment measures itself if its task changes in a run: regret and
// optimal_action against the best of the moment.
var Metrics = []framework.Metric{
	{Name: "regret", Unit: "reward", Better: framework.Lower, Total: framework.Last},
	{Name: "optimal_action", Better: framework.Higher},
}

// Score sums up the steps of a run against the best of each moment.
type Score struct {
	regret         float64
	optimal, steps float64 // since the last Read
}

// Add adds a step: what the best would have paid more, and whether the action was it.
func (s *Score) Add(gap float64, optimal bool) {
	s.regret += gap
	s.steps++
	if optimal {
		s.optimal++
	}
}

// Read writes the values of the first of Metrics, or of both.
func (s *Score) Read(dst []float64) {
	dst[0] = s.regret
	if len(dst) > 1 {
		dst[1] = s.optimal / s.steps
		s.optimal, s.steps = 0, 0
	}
}

// Wait draws the number of steps until the first change of probability hazard in (0,1) a step, at least 1.
func Wait(hazard float64, rng *rand.Rand) int {
	return int(min(1+math.Floor(-rng.ExpFloat64()/math.Log1p(-hazard)), math.MaxInt64/2))
}

// world is how the means of a lane change. It draws from a stream of its own, so all agents meet the same
// world in a run.
type world struct {
	rng    *rand.Rand
	passed int
	next   int // number of pulls after which all means are drawn anew; 0 for never
	score  Score
}

// changes reports whether means change in a run.
func (p *Params) changes() bool { return p.Drift != nil || p.Hazard != nil }

func (p *Params) newWorld(s uint64) *world {
	w := &world{rng: seed.Stream(s, seed.Changes)}
	if p.Hazard != nil {
		w.next = Wait(*p.Hazard, w.rng)
	}
	return w
}

// pass lets a pull pass.
func (l *Lanes) pass(x *lane, arm int) {
	w, best := x.world, slices.Max(x.means)
	w.score.Add(best-x.means[arm], x.means[arm] == best)
	if d := l.params.Drift; d != nil {
		for k := range x.means {
			x.means[k] += *d * w.rng.NormFloat64()
			if l.noise.Bernoulli {
				x.means[k] = reflect(x.means[k])
			}
		}
	}
	if w.passed++; w.passed == w.next {
		l.params.draw(x.means, w.rng)
		w.next += Wait(*l.params.Hazard, w.rng)
	}
}

// reflect returns where a walk that is reflected at 0 and 1 is, if it would be at x without.
func reflect(x float64) float64 {
	x = math.Abs(math.Mod(x, 2))
	return min(x, 2-x)
}

// measures are the metrics of means that change.
func (l *Lanes) measures() *vector.Measures {
	return &vector.Measures{Metrics: Metrics, Read: func(_ context.Context, of []int, dst []float64) error {
		for k, i := range of {
			l.lanes[i].world.score.Read(dst[2*k : 2*k+2])
		}
		return nil
	}}
}
