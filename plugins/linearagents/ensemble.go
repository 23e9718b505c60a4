package linearagents

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/internal/resample"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
	"github.com/rlrun/rlrun/plugins/internal/tiles"
)

// Ensemble are the parameters of K linear functions that learn from the same steps,
// each in its own way: an online bootstrap. The names are those of bootstrap-q.
type Ensemble struct {
	Features Features `json:"features" jsonschema_description:"How observations are coded."`
	Members  int      `json:"members" jsonschema:"minimum=1,maximum=1024" jsonschema_description:"K, the number of functions; default of Dimitrakakis (2006)."`
	Gamma    float64  `json:"gamma" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Discount of the agent's own criterion; the default is a choice of ours. 1 is for episodic tasks only, and not for exploration by the host."`
	Mean     *float64 `json:"mean,omitempty" jsonschema_description:"Mean of the normal prior of a member's value of an action, in units of value. Default: the largest possible return. This is the upper bound on rewards divided by 1-gamma, or 0 if episodes end and this is negative. It is 0 if there is no bound, or gamma is 1. The default is a choice of ours: such an optimistic start explores without further means (Sutton & Barto 2018, §10.1)."`
	SD       *float64 `json:"sd,omitempty" jsonschema:"minimum=0" jsonschema_description:"Standard deviation of that prior, divided among the weights. Random initial weights are the same as adding a fixed random function to what is learned (Osband, Aslanides & Cassirer 2018). Default: a hundredth of the range of possible returns, a choice of ours; 1 if there is no bound, or gamma is 1. Weights are drawn independently, so with a large deviation a member has local maxima at which it stays."`
	Update   string   `json:"update,omitempty" jsonschema:"enum=all,enum=drawn,enum=bernoulli,enum=exponential,enum=poisson" jsonschema_description:"Which members learn from a step. all: every member. drawn: the one that is followed, or a random one (Dimitrakakis 2006). bernoulli: each with probability mask (Osband et al. 2016). exponential: each with a weight drawn from Exp(1). poisson: each Poisson(1) times (Oza & Russell 2001). The default is a choice of ours: random differences between neighbouring features would slow the spreading of values."`
	Mask     float64  `json:"mask" when:"update=bernoulli" jsonschema:"exclusiveMinimum=0,maximum=1" jsonschema_description:"With update bernoulli: the probability that a member learns; default of Osband et al. (2016)."`
	Lambda   float64  `json:"lambda" when:"gamma!=0" jsonschema:"minimum=0,maximum=1" jsonschema_description:"λ of the replacing eligibility traces. 0 is one-step Q-learning; the default is a choice of ours."`
	Traces   string   `json:"traces,omitempty" when:"lambda!=0 and gamma!=0" jsonschema:"enum=uncut,enum=cut" jsonschema_description:"uncut: the trace of a member continues whichever member selected the actions. This is Q*(lambda) of Harutyunyan, Bellemare, Stepleton & Munos (2016). It learns fast, and can diverge if lambda is large and members disagree much. cut: the trace of a member ends at a step at which this member would have acted differently. This is Q(lambda) of Watkins (1989). The default is a choice of ours."`
	Step     float64  `json:"step" jsonschema:"exclusiveMinimum=0,maximum=1" jsonschema_description:"Step size: the share of an error that a step removes. It is the number of tilings times the step size of a weight. A step of weight w moves a member by step times w, at most to the target. With update poisson it makes w updates. The default is a choice of ours."`
}

func defaultEnsemble() Ensemble {
	return Ensemble{Features: defaultFeatures(), Members: 16, Gamma: 0.99, Update: "all", Mask: 0.5, Lambda: 0.8, Traces: "uncut", Step: 0.2}
}

// maxWeights bounds the size of a lane.
const maxWeights = 1 << 27

// check validates what the parameters' tags cannot say, and settles the prior.
func (p *Ensemble) check(t task, c *tiles.Coder) error {
	if c.Features()*t.actions > maxWeights/p.Members {
		return lanes.Unsupported("%d features of %s for %d actions and %d members are too many; give a smaller features.memory", c.Features(), t.spec.ID, t.actions, p.Members)
	}
	mean, sd := 0.0, 1.0
	if low, high := t.spec.RewardLow, t.spec.RewardHigh; p.Gamma < 1 && !math.IsInf(low, 0) && !math.IsInf(high, 0) {
		if !t.spec.Continuing {
			low, high = min(low, 0), max(high, 0)
		}
		mean, sd = high/(1-p.Gamma), 0.01*(high-low)/(1-p.Gamma)
	}
	if p.Mean == nil {
		p.Mean = &mean
	}
	if p.SD == nil {
		p.SD = &sd
	}
	return lanes.CheckDiscount(p.Gamma, t.spec)
}

// ensemble is one lane's functions, and their values where the agent is.
type ensemble struct {
	*Ensemble
	weights
	traces     traces
	chance     resample.Sizes // of the bootstrap
	here, next place
	q, after   []float64 // Q_k(s,a) at a*K+k, here and next
	best       []float64 // scratch: max_a Q_k of next
	share      []float64 // of the last step's error that each member learned
	by         []float64 // scratch
	pcg        rand.PCG
	rng        *rand.Rand // over pcg
	standIns   []int      `snapshot:"-"` // by action of the present call, the one that it stands for; nil without masks
}

// Allow implements lanes.Masked. The number of an action that is not allowed stands for an allowed
// one, and has its values.
func (x *ensemble) Allow(_ []float64, mask []bool) {
	x.standIns = x.standIns[:0]
	for a := range mask {
		x.standIns = append(x.standIns, lanes.StandIn(mask, a))
	}
}

// standIn returns the action that a stands for here.
func (x *ensemble) standIn(a int) int {
	if len(x.standIns) == 0 {
		return a
	}
	return x.standIns[a]
}

// hide gives actions that are not allowed the value argmax.Hidden.
func (x *ensemble) hide(q []float64) {
	for a, b := range x.standIns {
		if b != a {
			q[a] = argmax.Hidden
		}
	}
}

// copies gives actions in q that are not allowed the values of those that they stand for.
func (x *ensemble) copies(q []float64) {
	k := x.Members
	for a, b := range x.standIns {
		copy(q[a*k:(a+1)*k], q[b*k:(b+1)*k])
	}
}

// init prepares an ensemble at the address that it keeps.
func (x *ensemble) init(p *Ensemble, c *tiles.Coder, actions int) {
	x.Ensemble, x.weights = p, newWeights(c, actions, p.Members)
	x.chance = resample.NewSizes(p.Update, p.Mask, p.Step)
	x.traces = newTraces(&x.weights, p.Gamma*p.Lambda, true, p.Traces == "cut")
	x.here, x.next = newPlace(c), newPlace(c)
	x.q, x.after = make([]float64, actions*p.Members), make([]float64, actions*p.Members)
	x.best, x.share, x.by = make([]float64, p.Members), make([]float64, p.Members), make([]float64, p.Members)
	x.rng = rand.New(&x.pcg)
}

// start draws the weights from the prior.
func (x *ensemble) start(s uint64) {
	x.pcg.Seed(s, uint64(seed.Bootstrap))
	n := float64(len(x.here.active))
	mean, sd := *x.Mean/n, *x.SD/math.Sqrt(n)
	for i := range x.w {
		x.w[i] = mean + sd*x.rng.NormFloat64()
	}
}

// look goes to an observation without learning, and ends all traces.
func (x *ensemble) look(o []float64) {
	x.traces.end()
	x.here.set(o)
	x.values(x.q, &x.here)
	x.copies(x.q)
}

// learn moves members' values of action a here towards r + gamma·max_b Q_k(o,b).
// followed is the member that selected a, -1 if none did. It goes to o.
func (x *ensemble) learn(a int, r, gamma float64, o []float64, followed int) {
	x.next.set(o)
	x.values(x.after, &x.next)
	x.copies(x.after)
	k := x.Members
	copy(x.best, x.after)
	for b := k; b < len(x.after); b += k {
		for m, v := range x.after[b : b+k] {
			if v > x.best[m] {
				x.best[m] = v
			}
		}
	}
	x.chance.Draw(x.share, followed, x.rng, &x.pcg)
	now, each := x.q[a*k:(a+1)*k], 1/float64(len(x.here.active))
	for m, share := range x.share {
		x.by[m] = share * each * (r + gamma*x.best[m] - now[m])
	}
	x.traces.cutOff(x.q, a)
	x.here, x.next = x.next, x.here
	if x.traces.move(&x.next, a, x.by) {
		x.values(x.q, &x.here)
	} else {
		x.q, x.after = x.after, x.q
		x.value(x.q[a*k:(a+1)*k], &x.here, a) // features here may be among those that moved
	}
	x.copies(x.q)
}

// means writes the mean values of actions here into dst.
func (x *ensemble) means(dst []float64) {
	k := x.Members
	for a := range dst {
		sum := 0.0
		for _, v := range x.q[a*k : (a+1)*k] {
			sum += v
		}
		dst[a] = sum / float64(k)
	}
}

// member writes member k's values of actions here into dst.
func (x *ensemble) member(dst []float64, k int) {
	for a := range dst {
		dst[a] = x.q[a*x.Members+k]
	}
}
