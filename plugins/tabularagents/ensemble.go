package tabularagents

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/internal/resample"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// Ensemble are the parameters of K tables of action values that learn from the
// same steps, each in its own way: an online bootstrap. The names are those of
// bandits' populations.
type Ensemble struct {
	Members int     `json:"members" jsonschema:"minimum=1,maximum=4096" jsonschema_description:"K, the number of tables; default of Dimitrakakis (2006)."`
	Gamma   float64 `json:"gamma" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Discount of the agent's own criterion; the default is a choice of ours. 1 is for episodic tasks only, and not for exploration by the host."`

	Prior string   `json:"prior,omitempty" jsonschema:"enum=uniform,enum=normal" jsonschema_description:"Distribution from which the initial value of every member, state and action is drawn independently: uniform on [low,high] or normal(mean,sd). In a table this is the same as the fixed random functions that Osband, Aslanides & Cassirer (2018) add to what is learned. The default is a choice of ours."`
	Low   *float64 `json:"low,omitempty" when:"prior=uniform" jsonschema_description:"Lower end of a uniform prior, in units of value. Default: the least possible return, the bound on rewards over 1-gamma, a choice of ours; 0 if there is no bound, or gamma is 1."`
	High  *float64 `json:"high,omitempty" when:"prior=uniform" jsonschema_description:"Upper end of a uniform prior; the same as low for one common initial value. Default: the largest possible return, a choice of ours; 1 if there is no bound, or gamma is 1."`
	Mean  float64  `json:"mean" when:"prior=normal" jsonschema_description:"Mean of a normal prior, in units of value; a choice of ours."`
	SD    float64  `json:"sd" when:"prior=normal" jsonschema:"minimum=0" jsonschema_description:"Standard deviation of a normal prior; a choice of ours."`

	Update string  `json:"update,omitempty" jsonschema:"enum=auto,enum=all,enum=drawn,enum=bernoulli,enum=exponential,enum=poisson" jsonschema_description:"Which members learn from a step. all: every member. drawn: the one that is followed, or a random one (Dimitrakakis 2006). bernoulli: each with probability mask, as in Osband et al. (2016). exponential: each with a weight drawn from Exp(1). poisson: each Poisson(1) times (Oza & Russell 2001). auto, the default and a choice of ours: exponential with replays, bernoulli without."`
	Mask   float64 `json:"mask" when:"update=bernoulli or update=auto and replays=0" jsonschema:"exclusiveMinimum=0,maximum=1" jsonschema_description:"With update bernoulli: the probability that a member learns; default of Osband et al. (2016)."`

	Replays     int      `json:"replays" jsonschema:"minimum=0,maximum=1000000" jsonschema_description:"Number of backups of pairs of state and action after a step, the most outdated first (prioritised sweeping; Moore & Atkeson 1993). A backup solves a member's weighted regression at a pair, Q = (prior_weight·prior + Σw(r + γ max Q))/(prior_weight + Σw), over all steps from this pair. This is randomised value iteration (Osband et al. 2019). With fewer backups a step is faster, and values spread more slowly. 0: plain Q-learning, with step and schedule. The default is a choice of ours."`
	PriorWeight *float64 `json:"prior_weight,omitempty" when:"replays!=0 or schedule=harmonic" jsonschema:"minimum=0" jsonschema_description:"Weight of the initial value in steps, with replays or schedule harmonic. Default with replays: a quarter of 1-gamma, which is at least 0.01 here. Then the prior of a pair that was tried n times acts like a bonus of a quarter of the range of rewards, divided by n. This is a choice of ours, made on the development tasks of plugin family. Default without replays: 1; a choice of ours. With 0 the first step replaces the initial value."`
	Criterion   string   `json:"criterion,omitempty" when:"replays!=0" jsonschema:"enum=run,enum=episode" jsonschema_description:"What replays maximise in episodic tasks. run: the discounted reward of the rest of the run, so the next episode follows an end. episode: the discounted return of the episode, so an end has the value 0. Without replays it is always episode. The default is a choice of ours."`

	Step     float64 `json:"step" when:"replays=0 and schedule=constant" jsonschema:"exclusiveMinimum=0,maximum=1" jsonschema_description:"Without replays: step size of schedule constant, default as in Sutton & Barto (2018, Example 8.1). A step of weight w moves a member by step times w, at most to the target. With update poisson it makes w updates."`
	Schedule string  `json:"schedule,omitempty" when:"replays=0" jsonschema:"enum=constant,enum=harmonic" jsonschema_description:"Step sizes without replays. constant: step; default of Dimitrakakis (2006). harmonic: w(n + prior_weight)^-power for a step of weight w, where n is the sum of a member's weights at the state and action, including this one. With power 1 this is the bootstrap's weighted average."`
	Power    float64 `json:"power" when:"replays=0 and schedule=harmonic" jsonschema:"exclusiveMinimum=0,maximum=1" jsonschema_description:"Exponent of schedule harmonic. Default: 1, which averages, as the bootstrap does; a choice of ours. With powers in (1/2,1) values that depend on improving targets are learned much faster (Even-Dar & Mansour 2003)."`
}

func defaultEnsemble() Ensemble {
	return Ensemble{Members: 16, Gamma: 0.99, Prior: "uniform", SD: 1, Update: "auto", Mask: 0.5, Replays: 100, Criterion: "run", Step: 0.1, Schedule: "constant", Power: 1}
}

// check validates the parameters and settles the ends of the prior.
func (p *Ensemble) check(t finite.Task) error {
	if p.Update == "auto" {
		p.Update = "bernoulli"
		if p.Replays > 0 {
			p.Update = "exponential"
		}
	}
	if p.PriorWeight == nil {
		weight := 1.0
		if p.Replays > 0 {
			weight = max(1-p.Gamma, 0.01) / 4
		}
		p.PriorWeight = &weight
	}
	if t.States*t.Actions > finite.MaxPairs/p.Members {
		return lanes.Unsupported("%s has %d states and %d actions, too many for tables of %d members", t.Spec.ID, t.States, t.Actions, p.Members)
	}
	if p.Update == "bernoulli" && p.Mask == 1 {
		p.Update = "all"
	}
	low, high := 0.0, 1.0
	if p.Gamma < 1 {
		if !math.IsInf(t.Spec.RewardLow, 0) {
			low = t.Spec.RewardLow / (1 - p.Gamma)
		}
		if !math.IsInf(t.Spec.RewardHigh, 0) {
			high = t.Spec.RewardHigh / (1 - p.Gamma)
		}
	}
	if p.Low == nil {
		p.Low = &low
	}
	if p.High == nil {
		p.High = &high
	}
	if !(*p.Low <= *p.High) {
		return lanes.Invalid("low is %v and high is %v, must be finite and in order", *p.Low, *p.High)
	}
	return lanes.CheckDiscount(p.Gamma, t.Spec)
}

// ensemble is one lane's tables. Members lie side by side, so that a step works on
// contiguous memory.
type ensemble struct {
	*Ensemble
	actions int
	q       []float64 // Q_k(s,a) at (s*actions+a)*K+k
	mean    []float64 // of the members, at s*actions+a; with replays scratch for one state
	top     []float64 // max_a Q_k(s,a) at s*K+k
	n       []float64 // parallel to q, sums of weights; nil where the step size is constant
	pcg     rand.PCG
	rng     *rand.Rand // over pcg
	size    []float64  // of the present step, by member
	weights resample.Sizes
	replay  *replay // nil without replays
}

// init prepares an ensemble at the address that it keeps.
func (x *ensemble) init(p *Ensemble, t finite.Task) {
	pairs := t.States * t.Actions
	x.Ensemble, x.actions = p, t.Actions
	x.rng = rand.New(&x.pcg)
	x.q = make([]float64, pairs*p.Members)
	x.top, x.size = make([]float64, t.States*p.Members), make([]float64, p.Members)
	step := p.Step
	if p.Replays > 0 || p.Schedule == "harmonic" {
		step = 0
	}
	x.weights = resample.NewSizes(p.Update, p.Mask, step)
	if p.Replays == 0 && p.Schedule == "harmonic" {
		x.n = make([]float64, len(x.q))
	}
	if p.Replays > 0 {
		pairs = t.Actions
		x.replay = newReplay(x, t.States)
	}
	x.mean = make([]float64, pairs)
}

// start draws the initial values.
func (x *ensemble) start(s uint64) {
	x.pcg.Seed(s, uint64(seed.Bootstrap))
	for i := range x.q {
		if x.Prior == "normal" {
			x.q[i] = x.Mean + x.SD*x.rng.NormFloat64()
		} else {
			x.q[i] = *x.Low + (*x.High-*x.Low)*x.rng.Float64()
		}
	}
	for i := range x.n {
		x.n[i] = *x.PriorWeight
	}
	k := x.Members
	for i := range x.mean {
		sum := 0.0
		for _, v := range x.q[i*k : (i+1)*k] {
			sum += v
		}
		x.mean[i] = sum / float64(k)
	}
	for i := range x.top {
		x.top[i] = x.best(i/k*x.actions, i%k)
	}
	if x.replay != nil {
		x.replay.start()
	}
}

// best returns the value of member k's best action in the state whose first pair
// is given.
func (x *ensemble) best(first, k int) float64 {
	best := math.Inf(-1)
	for a := range x.actions {
		best = max(best, x.q[(first+a)*x.Members+k])
	}
	return best
}

// means returns the mean values of the actions in s.
func (x *ensemble) means(s int) []float64 {
	if x.replay == nil {
		return x.mean[s*x.actions : (s+1)*x.actions]
	}
	k, q := x.Members, x.values(s)
	for a := range x.mean {
		sum := 0.0
		for _, v := range q[a*k : (a+1)*k] {
			sum += v
		}
		x.mean[a] = sum / float64(k)
	}
	return x.mean
}

// values returns the values of all actions and members in s, at a*K+k.
func (x *ensemble) values(s int) []float64 {
	n := x.actions * x.Members
	return x.q[s*n : (s+1)*n]
}

// greedy returns the action of the largest mean value in s, the first of equal ones.
func (x *ensemble) greedy(s int) int { return argmax.First(x.means(s)) }

// prefers returns the action that member k prefers in s, the first of equal ones.
func (x *ensemble) prefers(k, s int) int {
	q, best := x.values(s)[k:], 0
	for a := range x.actions {
		if q[a*x.Members] > q[best*x.Members] {
			best = a
		}
	}
	return best
}

// member writes the values of a state's actions to member k into dst.
func (x *ensemble) member(dst []float64, s, k int) {
	q := x.values(s)[k:]
	for a := range dst {
		dst[a] = q[a*x.Members]
	}
}

// learn moves members' values of the pair i towards r + gamma·max_a Q_k(next,a).
// followed is the member that selected the action, -1 if none did.
func (x *ensemble) learn(i int, r, gamma float64, next, followed int) {
	size := x.sizes(i, followed)
	k := len(size)
	s := i / x.actions
	q, after, top := x.q[i*k:][:k], x.top[next*k:][:k], x.top[s*k:][:k]
	sum := 0.0
	if x.actions <= fewActions {
		for m, w := range size {
			v := q[m] + w*(r+gamma*after[m]-q[m])
			q[m] = v
			sum += v
		}
		x.mean[i] = sum / float64(k)
		x.renew(s, top)
		return
	}
	for m, w := range size {
		old := q[m]
		v := old + w*(r+gamma*after[m]-old)
		q[m] = v
		sum += v
		switch {
		case v >= top[m]:
			top[m] = v
		case old == top[m]:
			top[m] = x.best(s*x.actions, m)
		}
	}
	x.mean[i] = sum / float64(k)
}

// fewActions is up to how many it is faster to compare all of them, which needs
// no branches.
const fewActions = 8

// renew computes the values of the members' best actions in s.
func (x *ensemble) renew(s int, top []float64) {
	q := x.values(s)
	copy(top, q)
	for q = q[len(top):]; len(q) > 0; q = q[len(top):] {
		for m, v := range q[:len(top)] {
			top[m] = max(top[m], v)
		}
	}
}
