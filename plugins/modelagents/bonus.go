package modelagents

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// bonusParams are the parameters of agents that plan with the expected model and
// a bonus for what is uncertain.
type bonusParams struct {
	Horizon int     `json:"horizon" jsonschema:"minimum=1" jsonschema_description:"H, steps to plan for, with a policy that depends on the steps left: the length of an episode. Where one is longer, or never ends, the agent plans anew every so many steps. Default: that of RiverSwim in Osband's TabulaRL."`
	Scaling float64 `json:"scaling" jsonschema:"minimum=0" jsonschema_description:"Factor of every bonus; default of TabulaRL. Smaller ones explore less than the theory asks for, and often do better."`
	Epsilon float64 `json:"epsilon" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Probability of a uniformly random action; default of TabulaRL. With scaling 0 and 0.1 here, this is TabulaRL's ε-greedy."`
	Alpha   float64 `json:"alpha" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Prior Dirichlet parameter of each successor; default of TabulaRL."`
	Mu0     float64 `json:"mu0" jsonschema_description:"Prior mean of a mean reward; default of TabulaRL."`
	Tau0    float64 `json:"tau0" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Prior precision of a mean reward; default of TabulaRL."`
	Tau     float64 `json:"tau" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Precision of rewards around their mean, taken for known; default of TabulaRL. Larger rewards want a smaller one."`
	// IgnoreLast is for the comparison with TabulaRL.
	IgnoreLast bool `json:"ignore_last" jsonschema_description:"Do not learn where the last step of a truncated episode led, but only what it paid, as TabulaRL does. By default it teaches like any other, a choice of ours."`
}

func defaultBonus() bonusParams {
	return bonusParams{Horizon: 20, Scaling: 1, Alpha: 1, Tau0: 1, Tau: 1}
}

func (p *bonusParams) check(t finite.Task) error {
	switch {
	case p.Horizon < 1:
		return lanes.Invalid("horizon is %d, must be at least 1", p.Horizon)
	case !(p.Scaling >= 0) || math.IsInf(p.Scaling, 0):
		return lanes.Invalid("scaling is %v, must not be negative", p.Scaling)
	case !(p.Epsilon >= 0 && p.Epsilon <= 1):
		return lanes.Invalid("epsilon is %v, must be in [0,1]", p.Epsilon)
	}
	if err := checkPrior(p.Alpha, p.Tau0, p.Tau); err != nil {
		return err
	}
	return checkHorizon(p.Horizon, t)
}

// checkHorizon bounds the size of a plan that depends on the steps left.
func checkHorizon(horizon int, t finite.Task) error {
	if horizon > finite.MaxPairs/t.States/t.Actions {
		return lanes.Unsupported("a plan of %d steps for the %d states and %d actions of %s is too large", horizon, t.States, t.Actions, t.Spec.ID)
	}
	return nil
}

// UCBVI returns upper confidence bound value iteration (Azar, Osband & Munos 2017)
// as a plugin, in the simplified form of Osband's TabulaRL: at the start of episode
// k, backward induction on the expected model, in which (s,a) with h steps to go
// is paid c(n_r) + (h−1) c(n_p) on top, c(n) = scaling √(2 ln(2+k)/n), where n_r is
// the precision of the mean reward and n_p the sum of the Dirichlet parameters.
// The bonuses suit rewards in [0,1]. It assumes what PSRL assumes of the task.
func UCBVI() vector.Plugin {
	return bonusPlugin("rlrun/ucbvi@1",
		"UCBVI (Azar, Osband & Munos 2017) as simplified in TabulaRL: the best policy of the expected model with upper confidence bonuses.",
		func(k float64, _ *rand.Rand) float64 { return math.Sqrt(2 * math.Log(2+k)) })
}

// GaussianPSRL returns the Gaussian approximation of posterior sampling of Osband's
// TabulaRL (Osband & Van Roy 2017) as a plugin: UCBVI with c(n) = scaling w/√n, w a
// standard normal variate drawn anew for every bonus and episode.
func GaussianPSRL() vector.Plugin {
	return bonusPlugin("rlrun/gaussian-psrl@1",
		"Gaussian PSRL (Osband & Van Roy 2017) as in TabulaRL: the best policy of the expected model with normal noise on the values of pairs.",
		func(_ float64, rng *rand.Rand) float64 { return rng.NormFloat64() })
}

// bonusPlugin returns an agent whose bonus is scaling/√n times factor, given the
// number of the episode, from 1.
func bonusPlugin(id, doc string, factor func(k float64, rng *rand.Rand) float64) vector.Plugin {
	return finite.Plugin(id, doc, defaultBonus(), func(p bonusParams, t finite.Task) (func() finite.Learner, error) {
		if err := p.check(t); err != nil {
			return nil, err
		}
		return func() finite.Learner {
			x := &planner{p: &p, factor: factor}
			x.init(t)
			x.q = make([]float64, (p.Horizon+1)*t.States*t.Actions)
			x.reward, x.perStep = make([]float64, t.States*t.Actions), make([]float64, t.States*t.Actions)
			x.rewards = make([]mdp.Moments, t.States*t.Actions)
			x.value = make([]float64, t.States)
			return x
		}, nil
	})
}

type planner struct {
	counting
	p               *bonusParams
	factor          func(k float64, rng *rand.Rand) float64
	prior           normalReward
	plans           float64       // made in this run
	rewards         []mdp.Moments // of each pair, without M2; counts are of transitions
	reward, perStep []float64     // of each pair: its mean reward + c(n_r), and c(n_p)
	q               []float64     // of pair i with h steps to go: q[h*S*A+i]
	value           []float64
	left            int // steps that the plan is still good for
}

func (x *planner) Start(s uint64) {
	x.start(s)
	x.prior = normalReward{x.p.Mu0, x.p.Tau0, x.p.Tau}
	clear(x.rewards)
	x.plans = 0
}

func (x *planner) Begin(s int) int {
	x.left = 0
	return x.Act(s)
}

func (x *planner) Step(r float64, next int) int {
	x.paid(r)
	x.counts.Update(x.state, x.action, r, next)
	return x.Act(next)
}

// paid takes in the reward of the last step.
func (x *planner) paid(r float64) {
	m := &x.rewards[x.state*x.t.Actions+x.action]
	m.N++
	m.Mean += (r - m.Mean) / m.N
}

func (x *planner) End(r float64, next int, terminated bool) {
	x.paid(r)
	if terminated || !x.p.IgnoreLast {
		x.counts.Update(x.state, x.action, r, next)
	}
	if terminated {
		x.mark(next)
	}
}

func (x *planner) Act(s int) int {
	x.unmark(s)
	if x.left == 0 {
		x.plan()
	}
	i := (x.left*x.t.States + s) * x.t.Actions
	x.left--
	x.state = s
	if x.p.Epsilon > 0 && x.rng.Float64() < x.p.Epsilon {
		x.action = x.rng.IntN(x.t.Actions)
	} else {
		x.action = argmax.Any(x.q[i:i+x.t.Actions], x.rng)
	}
	return x.action
}

// plan is backward induction on the expected model with bonuses. The expected
// value of a successor is (α Σ_u V(u) + Σ_u N(s,a,u) V(u))/(αS + N(s,a)), so that
// a backup takes as long as there are successors seen.
func (x *planner) plan() {
	states, n := x.t.States, x.t.Actions
	x.plans++
	for s := range states {
		for a := range n {
			i := s*n + a
			seen := x.rewards[i]
			x.reward[i] = x.prior.Mean(seen) + x.p.Scaling*x.factor(x.plans, x.rng)/math.Sqrt(x.p.Tau0+x.p.Tau*seen.N)
			x.perStep[i] = x.p.Scaling * x.factor(x.plans, x.rng) / math.Sqrt(x.p.Alpha*float64(states)+x.counts.N(s, a))
		}
	}
	clear(x.value)
	for h := 1; h <= x.p.Horizon; h++ {
		q := x.q[h*states*n : (h+1)*states*n]
		sum := 0.0
		for _, v := range x.value {
			sum += v
		}
		for s := range states {
			for a := range n {
				i := s*n + a
				if x.terminal[s] {
					q[i] = 0
					continue
				}
				v := x.p.Alpha * sum
				next, count := x.counts.Row(s, a)
				for k, u := range next {
					v += count[k] * x.value[u]
				}
				v /= x.p.Alpha*float64(states) + x.counts.N(s, a)
				q[i] = x.reward[i] + float64(h-1)*x.perStep[i] + v
			}
		}
		for s := range states {
			x.value[s] = argmax.Max(q[s*n : (s+1)*n])
		}
	}
	x.left = x.p.Horizon
}
