package tabularagents

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
	"github.com/rlrun/rlrun/plugins/internal/finite"
)

// ucbQParams are the parameters of UCB-Q.
type ucbQParams struct {
	Horizon int     `json:"horizon" jsonschema:"minimum=1" jsonschema_description:"H, the length of an episode in steps. If an episode is longer, or never ends, every H steps count as one. Default: the length for RiverSwim in Osband's TabulaRL."`
	Bonus   string  `json:"bonus,omitempty" when:"scaling!=0" jsonschema:"enum=hoeffding,enum=bernstein" jsonschema_description:"hoeffding: √(H³ι/t) (Jin et al. 2018, Algorithm 1), the default, a choice of ours. bernstein: by the variance of the next values (ibid., Algorithm 2), which is smaller after many visits."`
	Scaling float64 `json:"scaling" jsonschema:"minimum=0" jsonschema_description:"Factor c of the bonus, and c₁ and c₂ of bernstein. The paper has constants that it does not name; the default is a choice of ours, made on RiverSwim, DeepSea and FrozenLake."`
	Delta   float64 `json:"delta" when:"scaling!=0" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1" jsonschema_description:"Accepted probability that the bonuses fail, p in the paper; the default is a choice of ours."`
	finite.Bounds
}

// UCBQ returns Q-learning with upper confidence bounds (Jin, Allen-Zhu, Bubeck & Jordan 2018) as
// a plugin. There is a table for each of the H steps of an episode. Rewards in [0,1] assumed, all
// values begin at H. The t-th visit to a pair at step h, which led to s', moves its value by
//
//	Q_h += α (r + V_{h+1}(s') + b − Q_h), V_h(s) = min(H, max_a Q_h(s,a)), α = (H+1)/(H+t),
//
// with the bonus b = c √(H³ι/t), ι = ln(SAT/p), or that of Algorithm 2. T is the number of steps so
// far; the paper has that of the run. Other rewards are brought to [0,1] by their bounds.
func UCBQ() vector.Plugin {
	return finite.Plugin("rlrun/ucb-q@1",
		"UCB-Q (Jin et al. 2018): Q-learning by steps of an episode, with upper confidence bonuses for pairs tried seldom.",
		ucbQParams{Horizon: 20, Bonus: "hoeffding", Scaling: 0.001, Delta: 0.05},
		func(p ucbQParams, t finite.Task) (func() finite.Learner, error) {
			if err := finite.CheckHorizon(p.Horizon, t); err != nil {
				return nil, err
			}
			low, high, err := p.Bounds.Of(t)
			return func() finite.Learner {
				n := p.Horizon * t.States * t.Actions
				x := &ucbQ{p: &p, states: t.States, actions: t.Actions, low: low, span: high - low, q: make([]float64, n), n: make([]float64, n)}
				if p.Bonus == "bernstein" {
					x.moments = make([]nextMoments, n)
				}
				x.rng = rand.New(&x.pcg)
				return x
			}, err
		})
}

type ucbQ struct {
	p               *ucbQParams
	states, actions int
	low, span       float64
	q, n            []float64     // values and visits, of step h, state s and action a at (hS+s)A+a
	moments         []nextMoments // of the values after a pair, parallel to q; nil without bernstein
	steps           float64       // of the run
	h               int           // of the next action
	last            int           // index of the pair of the last action
	pcg             rand.PCG
	rng             *rand.Rand
}

// nextMoments are the mean and sum of squared deviations of the next values, and the last β.
type nextMoments struct{ mean, m2, beta float64 }

func (x *ucbQ) Start(s uint64) {
	x.pcg.Seed(s, uint64(seed.Exploration))
	block := x.states * x.actions
	for i := range x.q {
		x.q[i] = x.top(i / block)
	}
	clear(x.n)
	clear(x.moments)
	x.steps = 0
}

// top is the value H in units of reward, with the smallest rewards from step h on.
func (x *ucbQ) top(h int) float64 {
	n := float64(x.p.Horizon)
	return float64(n*x.span) + float64((n-float64(h))*x.low)
}

// row returns the values of a state's actions at step h.
func (x *ucbQ) row(h, s int) []float64 {
	i := (h*x.states + s) * x.actions
	return x.q[i : i+x.actions]
}

func (x *ucbQ) Begin(s int) int {
	x.h = 0
	return x.Act(s)
}

func (x *ucbQ) Act(s int) int {
	x.h %= x.p.Horizon
	a := argmax.Any(x.row(x.h, s), x.rng)
	x.last = (x.h*x.states+s)*x.actions + a
	x.h++
	return a
}

func (x *ucbQ) Step(r float64, next int) int {
	x.learn(r, x.value(next))
	return x.Act(next)
}

func (x *ucbQ) End(r float64, next int, terminated bool) {
	v := 0.0
	if !terminated {
		v = x.value(next)
	}
	x.learn(r, v)
}

// value is that of s at the next step, 0 after the last one.
func (x *ucbQ) value(s int) float64 {
	if x.h == x.p.Horizon {
		return 0
	}
	return min(x.top(x.h), argmax.Max(x.row(x.h, s)))
}

func (x *ucbQ) learn(r, next float64) {
	x.steps++
	i, horizon := x.last, float64(x.p.Horizon)
	x.n[i]++
	t := x.n[i]
	iota := math.Log(float64(x.states*x.actions) * x.steps / x.p.Delta)
	alpha := (horizon + 1) / (horizon + t)
	bonus := x.p.Scaling * x.span * math.Sqrt(horizon*horizon*horizon*iota/t)
	if x.moments != nil {
		m := &x.moments[i]
		d := next - m.mean
		m.mean += d / t
		m.m2 += float64(d * (next - m.mean))
		sd := math.Sqrt(horizon / t * (m.m2/t + float64(x.span*x.span*horizon)) * iota)
		beta := min(bonus, x.p.Scaling*(sd+float64(x.span*math.Sqrt(math.Pow(horizon, 7)*float64(x.states*x.actions))*iota/t)))
		bonus = (beta - float64((1-alpha)*m.beta)) / (2 * alpha)
		m.beta = beta
	}
	x.q[i] += float64(alpha * (r + next + bonus - x.q[i]))
}

// GreedyAction implements lanes.Greedy. A state has values for each step of an episode: those of
// the step at which it was met most often count.
func (x *ucbQ) GreedyAction(s int) int {
	best, most := 0, -1.0
	for h := range x.p.Horizon {
		i, visits := (h*x.states+s)*x.actions, 0.0
		for _, n := range x.n[i : i+x.actions] {
			visits += n
		}
		if visits > most {
			best, most = h, visits
		}
	}
	return argmax.Any(x.row(best, s), x.rng)
}
