package contextual

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/budget"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// agentSettings are the parameters of the agent for contextual bandits.
type agentSettings struct {
	Policy  string  `json:"policy" jsonschema:"enum=threshold,enum=thompson,enum=linucb,enum=epsilon-greedy,enum=greedy" jsonschema_description:"Rule that selects an arm. threshold: the exploration threshold. thompson: a draw from the belief (Agrawal & Goyal 2013). linucb: mean and width of the belief (Li et al. 2010). epsilon-greedy: the mean, or with probability epsilon a random arm. greedy: the mean. The default is a choice of ours."`
	Gain    string  `json:"gain,omitempty" when:"policy=threshold" jsonschema:"enum=sup,enum=mean" jsonschema_description:"Gain of an arm: sup δP(δ), the default as in the paper (2006), or the mean improvement."`
	Horizon *int    `json:"horizon,omitempty" when:"policy=threshold" jsonschema:"minimum=1" jsonschema_description:"Number of steps for which the threshold plans. Default: those of the run, if it ends with its episodes by their mean length so far; or 1000, a choice of ours, where their number is not known."`
	Width   float64 `json:"width,omitempty" when:"policy=linucb" jsonschema:"exclusiveMinimum=0,maximum=1e6" jsonschema_description:"Standard deviations that are added to the mean; the default is a choice of ours."`
	Epsilon float64 `json:"epsilon,omitempty" when:"policy=epsilon-greedy" jsonschema:"exclusiveMinimum=0,maximum=1" jsonschema_description:"Probability of a random arm; the default is a choice of ours."`
	Belief  string  `json:"belief" jsonschema:"enum=bayes,enum=bootstrap" jsonschema_description:"What is believed of the weights of an arm: the posterior of Bayesian linear regression, or a population that the parametric bootstrap draws from it (Lu & Van Roy 2017). The default is a choice of ours."`
	Members int     `json:"members,omitempty" when:"belief=bootstrap" jsonschema:"minimum=2,maximum=1000" jsonschema_description:"Size of the population; the default is a choice of ours."`
	Prior   float64 `json:"prior" jsonschema:"minimum=1e-100,maximum=1e100" jsonschema_description:"Standard deviation of a weight before any reward; its mean is 0. An arm has a weight for each feature, and one that is added; or a weight for each context. The default is a choice of ours: it suits rewards and features of size 1."`
	Noise   float64 `json:"noise" jsonschema:"minimum=1e-100,maximum=1e100" jsonschema_description:"Standard deviation of rewards around their mean, as believed; the default is a choice of ours."`
}

// Agent returns the agent for contextual bandits as a plugin. It takes an observation for a context that actions do
// not change. Observations that are numbers are features; those that are Discrete are contexts about
// which beliefs are independent.
//
// Policy threshold is that of docs/theory.md §1.10.
func Agent() vector.Plugin {
	p := lanes.Plugin("rlrun/linear-bandit@1",
		"Contextual bandits: rewards are linear in the observed features, or each observed context has beliefs of its own. It ignores that actions may change observations.",
		agentSettings{Policy: "threshold", Gain: "sup", Width: 1, Epsilon: 0.1, Belief: "bayes", Members: 20, Prior: 1, Noise: 1},
		func(p agentSettings, spec framework.Spec, actions int64) (k lanes.Kind[[]float64], err error) {
			x := &contextual{agentSettings: &p, arms: int(actions), horizon: cmp.Or(spec.Steps, 1000), episodes: spec.Episodes}
			if p.Horizon != nil {
				x.horizon, x.episodes = *p.Horizon, 0
			}
			if p.Belief == "bootstrap" {
				x.size = p.Members
			}
			switch o := spec.Observation.(type) {
			case space.Box:
				x.width = o.Width() + 1
				k.Read = lanes.Numbers(o.Width())
			case space.Discrete:
				x.contexts, x.width = int(o.N), 1
				k.Read, k.Number = numbers(o.Start)
			default:
				return k, lanes.Unsupported("it is for observations that are numbers; those of %s are neither a box nor discrete", spec.ID)
			}
			if size := float64(max(1, x.contexts)) * float64(actions) * float64(x.width) * float64(x.width+x.size); size > maxNumbers {
				return k, lanes.Unsupported("its beliefs about %s would have %.2g numbers, more than %.2g", spec.ID, size, float64(maxNumbers))
			}
			k.New = func() lanes.Learner[[]float64] { return x.lane() }
			return k, nil
		})
	lanes.GreedyPlugins(p)
	p.Description.Breaks = map[string]string{
		"duplicated-actions": "every copy of an arm is learned separately",
		"scaled-rewards":     "prior and noise are in units of reward",
		"shifted-rewards":    "a weight has the mean 0 before any reward",
	}
	return p
}

// maxNumbers bounds the numbers of a lane's beliefs: 128 MB.
const maxNumbers = 1 << 24

// numbers returns functions that read the numbers of contexts.
func numbers(start int64) (func([][]float64, *vector.Feedback) error, func(int, int64) ([]float64, error)) {
	var seen [][1]float64
	number := func(lane int, observation int64) ([]float64, error) {
		for len(seen) <= lane {
			seen = append(seen, [1]float64{})
		}
		seen[lane][0] = float64(observation - start)
		return seen[lane][:], nil
	}
	return func(dst [][]float64, in *vector.Feedback) error {
		for i := range dst {
			dst[i], _ = number(i, in.Observations.Int64[i])
		}
		return nil
	}, number
}

// remembered is the number of past contexts, each with features, over which the threshold averages.
const remembered = 32

// contextual is a lane's agent for contextual bandits.
type contextual struct {
	*agentSettings
	arms     int
	contexts int // 0: contexts have features
	width    int // of x
	size     int // of the population; 0: there is none
	horizon  int
	episodes int // of the run; 0: it has no such budget
	pcg      rand.PCG
	rng      *rand.Rand   // over pcg
	beliefs  []regression // of the arms, by context

	run     budget.Run
	x       []float64 // the present context
	context int       // its number, 0 where contexts have features
	arm     int       // the last one
	visits  []int     // by context
	past    []float64 // the last contexts, remembered × width
	held    []float64 // their variances xᵀΣx by arm

	u, v, values, q []float64 // scratch
	mask            []bool    `snapshot:"-"` // of the present call; nil without masks
}

// lane returns another lane of x.
func (x *contextual) lane() *contextual {
	n := max(1, x.contexts)
	l := &contextual{agentSettings: x.agentSettings, arms: x.arms, contexts: x.contexts, width: x.width, size: x.size, horizon: x.horizon, episodes: x.episodes, x: make([]float64, x.width),
		beliefs: make([]regression, n*x.arms), u: make([]float64, x.width), v: make([]float64, x.width), values: make([]float64, x.size), q: make([]float64, x.arms)}
	for k := range l.beliefs {
		l.beliefs[k] = regression{make([]float64, x.width), make([]float64, x.width*x.width), make([]float64, x.size*x.width)}
	}
	switch {
	case x.Policy != "threshold":
	case x.contexts > 0:
		l.visits = make([]int, n)
	default:
		l.past, l.held = make([]float64, 0, remembered*x.width), make([]float64, remembered*x.arms)
	}
	l.rng = rand.New(&l.pcg)
	return l
}

// Allow implements lanes.Masked.
func (x *contextual) Allow(_ []float64, mask []bool) { x.mask = mask }

// Start implements lanes.Learner.
func (x *contextual) Start(s uint64) {
	x.pcg.Seed(s, uint64(seed.Exploration))
	for k := range x.beliefs {
		x.beliefs[k].forget(x.Prior, x.rng)
	}
	clear(x.visits)
	x.run, x.past = budget.Run{}, x.past[:0]
}

// Begin implements lanes.Learner.
func (x *contextual) Begin(o []float64) int {
	x.see(o)
	if x.visits != nil {
		x.visits[x.context]++
	} else if x.held != nil {
		x.remember()
	}
	x.arm = x.selectArm()
	return x.arm
}

// Act implements lanes.Learner.
func (x *contextual) Act(o []float64) int {
	x.see(o)
	x.arm = x.selectArm()
	return x.arm
}

// Step implements lanes.Learner.
func (x *contextual) Step(r float64, o []float64) int {
	x.learn(r)
	return x.Begin(o)
}

// End implements lanes.Learner.
func (x *contextual) End(r float64, _ []float64, _ bool) {
	x.learn(r)
	x.run.End()
}

// GreedyAction implements lanes.Greedy.
func (x *contextual) GreedyAction(o []float64) int {
	x.see(o)
	x.means()
	return argmax.Any(x.q, x.rng)
}

// see takes an observation for the present context.
func (x *contextual) see(o []float64) {
	x.context, x.x[0] = 0, 1
	if x.contexts > 0 {
		x.context = int(o[0])
	} else {
		copy(x.x[1:], o)
	}
}

// belief returns the belief about an arm in the present context.
func (x *contextual) belief(arm int) *regression { return &x.beliefs[x.context*x.arms+arm] }

// members writes the mean rewards of an arm in the members into values, and returns their mean and deviation.
func (x *contextual) members(b *regression) (mean, sd float64) {
	n := float64(len(x.values))
	for k := range x.values {
		x.values[k] = dot(b.members[k*x.width:(k+1)*x.width], x.x)
		mean += x.values[k] / n
	}
	for _, v := range x.values {
		sd += float64((v-mean)*(v-mean)) / n
	}
	return mean, math.Sqrt(sd)
}

// at returns mean and standard deviation of an arm's mean reward in the present context.
func (x *contextual) at(arm int) (mean, sd float64) {
	b := x.belief(arm)
	if x.size > 0 {
		return x.members(b)
	}
	return dot(b.mean, x.x), math.Sqrt(b.spread(x.u, x.x))
}

// means writes the means of the arms into q, and hides those that are not allowed.
func (x *contextual) means() {

	for a := range x.q {
		if x.size > 0 {
			x.q[a], _ = x.members(x.belief(a))
		} else {
			x.q[a] = dot(x.belief(a).mean, x.x)
		}
	}
	argmax.Hide(x.q, x.mask)
}

func (x *contextual) selectArm() int {
	switch x.Policy {
	case "threshold":
		return x.threshold()
	case "epsilon-greedy":
		if x.rng.Float64() < x.Epsilon {
			clear(x.q)
			argmax.Hide(x.q, x.mask)
			return argmax.Uniform(x.q, x.rng)
		}
		x.means()
	case "greedy":
		x.means()
	case "linucb":
		for a := range x.q {
			mean, sd := x.at(a)
			x.q[a] = mean + float64(x.Width*sd)
		}
	default: // thompson
		for a := range x.q {
			mean, sd := x.at(a)
			if x.size > 0 {
				x.q[a] = x.values[x.rng.IntN(x.size)]
			} else {
				x.q[a] = mean + float64(sd*x.rng.NormFloat64())
			}
		}
	}
	argmax.Hide(x.q, x.mask)
	return argmax.Any(x.q, x.rng)
}

// threshold returns the arm whose trial gains most, after its cost; the greedy one if none gains.
func (x *contextual) threshold() int {
	x.means()
	greedy := argmax.Any(x.q, x.rng)
	known := x.q[greedy]
	for a, mean := range x.q {
		if x.q[a] = 0; a != greedy && mean != argmax.Hidden {
			x.q[a] = x.advantage(a, known)
		}
	}
	if best := argmax.Any(x.q, x.rng); x.q[best] > 0 {
		return best
	}
	return greedy
}

// advantage returns what a trial of an arm gains, after its cost, on the best known mean; 0 if it does not pay
// (docs/theory.md §1.10). A trial takes as many pulls as pay most, a power of two.
func (x *contextual) advantage(arm int, known float64) (best float64) {
	mean, sd := x.at(arm)
	left := float64(x.run.Left(x.horizon, x.episodes) - 1)
	matters := left * x.relevance(arm)
	slices.SortFunc(x.values, func(a, b float64) int { return cmp.Compare(b, a) })
	for pulls := 1.0; pulls <= left && sd > 0; pulls *= 2 {
		seen := pulls * sd * sd
		shown := math.Sqrt(seen / (seen + float64(x.Noise*x.Noise)))
		cost := pulls * (known - mean)
		belief := bandit.Gaussian{Mu: mean, Sigma: sd * shown}
		switch {
		case x.size > 0:
			best = max(best, float64(matters*x.populationGain(mean, shown, known))-cost)
		case x.Gain == "mean":
			best = max(best, float64(matters*belief.Gain(known))-cost)
		case float64(matters*belief.Gain(known))-cost > best: // sup is at most as large
			_, gain := bandit.BestDelta(belief, bandit.Comparison{Known: known, LowerBound: known}, 0)
			best = max(best, float64(matters*gain)-cost)
		}
	}
	return best
}

// populationGain is the gain of the members in values, which are sorted, with their deviations from the mean multiplied.
func (x *contextual) populationGain(mean, by, known float64) (gain float64) {
	n := float64(len(x.values))
	for k, v := range x.values {
		above := mean - known + float64((v-mean)*by)
		switch {
		case above <= 0:
			return gain
		case x.Gain == "sup":
			gain = max(gain, above*float64(k+1)/n)
		default:
			gain += above / n
		}
	}
	return gain
}

// relevance returns the share of later steps in which a trial of an arm in the present context matters. It is the mean
// squared correlation of the arm's mean rewards there and here.
func (x *contextual) relevance(arm int) float64 {
	if x.contexts > 0 {
		return float64(x.visits[x.context]) / float64(x.run.Steps+1)
	}
	variance := x.belief(arm).spread(x.u, x.x)
	n := len(x.past) / x.width
	sum := 0.0
	for k := range n {
		cov := dot(x.past[k*x.width:(k+1)*x.width], x.u)
		if v := variance * x.held[k*x.arms+arm]; v > 0 {
			sum += min(1, cov*cov/v)
		}
	}
	return sum / float64(n)
}

// remember puts the present context in the place of the oldest one.
func (x *contextual) remember() {
	k := x.run.Steps % remembered
	x.past = x.past[:max(len(x.past), (k+1)*x.width)]
	copy(x.past[k*x.width:], x.x)
	for a := range x.arms {
		x.held[k*x.arms+a] = x.belief(a).spread(x.u, x.x)
	}
}

// learn learns the reward of the last arm.
func (x *contextual) learn(r float64) {
	x.belief(x.arm).learn(x.u, x.x, r, x.Noise, x.rng)
	for k := range len(x.past) / x.width {
		past, held := x.past[k*x.width:(k+1)*x.width], &x.held[k*x.arms+x.arm]
		c := dot(past, x.u)
		if left := *held - float64(c*c); left > *held/2 {
			*held = left
		} else { // the difference has lost digits
			*held = x.belief(x.arm).spread(x.v, past)
		}
	}
	x.run.Steps++
}
