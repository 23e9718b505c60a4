package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/bandit"
)

// BeliefSpec says what a policy believes about the mean reward of every arm at the start, and how it
// learns: one of the structs whose names end in Belief. A parameter that is nil or empty has the
// default that its description gives.
type BeliefSpec interface {
	// maker checks what the tags leave open, and returns what draws beliefs about the arms of a task.
	maker(task Task) (beliefMaker, error)
}

// beliefMaker draws the initial beliefs about all arms.
type beliefMaker = func(rng *rand.Rand) beliefs

// BeliefKind describes a kind of belief.
type BeliefKind struct {
	Name, Doc string
	Spec      BeliefSpec // its parameters, all left out
}

// beliefKinds are all kinds of beliefs, in the order of the documentation. A belief is
// one file of package bandit, and its parameters here with a line.
var beliefKinds = []BeliefKind{
	{"population", "several point estimates that start apart and learn from every reward: the paper's online bootstrap", PopulationBelief{}},
	{"point", "one estimate", PointBelief{}},
	{"beta", "the conjugate posterior Beta(a, b), for rewards in [0,1]", BetaBelief{}},
	{"gaussian", "the normal posterior, noise known; best for normal rewards", GaussianBelief{}},
	{"normal-gamma", "the normal posterior, noise unknown; best for normal rewards", NormalGammaBelief{}},
	{"gamma-poisson", "the conjugate posterior Gamma(a, rate b) of a mean count, for rewards of at least 0", GammaPoissonBelief{}},
	{"forgetting", "the conjugate posterior of means that change: beta for rewards in [0,1], else normal; what was learned loses weight with every pull", ForgettingBelief{}},
}

// BeliefKinds returns all kinds of beliefs.
func BeliefKinds() []BeliefKind { return slices.Clone(beliefKinds) }

// nameOf returns the name of a belief's kind.
func nameOf(b BeliefSpec) string {
	for _, k := range beliefKinds {
		if typeOf(k.Spec) == typeOf(b) {
			return k.Name
		}
	}
	return "one of your own"
}

// Prior is the distribution from which the values of an arm are drawn at the start.
type Prior struct {
	Distribution string   `json:"prior,omitempty" jsonschema:"enum=uniform,enum=beta,enum=normal,default=uniform" jsonschema_description:"Distribution of the values at the start: uniform on [low,high], default of the paper; beta(a,b); or normal(mean,sd)."`
	Low          *float64 `json:"low,omitempty" when:"prior=uniform" jsonschema_description:"Lower end. Default: the least reward of the task, as in the paper; 0 if there is none."`
	High         *float64 `json:"high,omitempty" when:"prior=uniform" jsonschema_description:"Upper end. Default: the largest reward of the task, as in the paper; 1 if there is none."`
	A            *float64 `json:"a,omitempty" when:"prior=beta" jsonschema:"exclusiveMinimum=0,default=1" jsonschema_description:"Number of pseudo-successes. The default, a uniform prior, is a choice of ours."`
	B            *float64 `json:"b,omitempty" when:"prior=beta" jsonschema:"exclusiveMinimum=0,default=1" jsonschema_description:"Number of pseudo-failures. Default: see a."`
	Mean         *float64 `json:"mean,omitempty" when:"prior=normal" jsonschema_description:"Mean. Default: the middle of the range of rewards, 0 if unbounded; a choice of ours."`
	SD           *float64 `json:"sd,omitempty" when:"prior=normal" jsonschema:"exclusiveMinimum=0,default=1" jsonschema_description:"Standard deviation; a choice of ours; set it for your task."`
}

// Steps are the sizes of the steps by which estimates learn.
type Steps struct {
	Step     *float64 `json:"step,omitempty" when:"schedule=constant" jsonschema:"exclusiveMinimum=0,maximum=1,default=0.01" jsonschema_description:"Step size; default of the paper."`
	Schedule string   `json:"schedule,omitempty" jsonschema:"enum=constant,enum=harmonic,default=constant" jsonschema_description:"Step sizes. constant: step; default of the paper. harmonic: 1/(n + prior_weight) at the n-th pull of the arm."`
	Weight   *float64 `json:"prior_weight,omitempty" when:"schedule=harmonic" jsonschema:"minimum=0,default=1" jsonschema_description:"Weight of the initial value, in rewards; a choice of ours."`
}

// PopulationBelief is several point estimates of an arm's mean that start apart and learn from every
// reward, by q ← q + η(r − q): the paper's online bootstrap.
type PopulationBelief struct {
	Members *int `json:"members,omitempty" jsonschema:"minimum=1,maximum=1000000,default=16" jsonschema_description:"Number of members; default of the paper."`
	Prior
	Update string `json:"update,omitempty" jsonschema:"enum=all,enum=drawn,enum=bernoulli,enum=exponential,enum=poisson,enum=independent,default=all" jsonschema_description:"Which members learn from a reward. all: every member; default of the paper's experiments. drawn: the one that selected the arm (a random one if none did), as in the paper's algorithm. bernoulli: each with probability mask (Osband et al. 2016). exponential: each with a step size times an exponential weight, as in the paper's footnote. poisson: each a Poisson number of times (Oza & Russell 2001). independent: one that is drawn for every reward."`
	Steps
	Mask *float64 `json:"mask,omitempty" when:"update=bernoulli" jsonschema:"exclusiveMinimum=0,maximum=1,default=0.5" jsonschema_description:"Probability that a member learns; default of Osband et al. (2016)."`
}

// PointBelief is one estimate of an arm's mean, which learns by q ← q + η(r − q).
type PointBelief struct {
	Prior
	Steps
}

// BetaBelief is the posterior Beta(a + successes, b + failures), conjugate to rewards of 0 and 1.
type BetaBelief struct {
	A *float64 `json:"a,omitempty" jsonschema:"exclusiveMinimum=0,default=1" jsonschema_description:"Number of pseudo-successes. The default, a uniform prior, is a choice of ours."`
	B *float64 `json:"b,omitempty" jsonschema:"exclusiveMinimum=0,default=1" jsonschema_description:"Number of pseudo-failures. Default: see a."`
}

// GaussianBelief is the normal posterior of the mean of normal rewards of known variance.
type GaussianBelief struct {
	Mean  *float64 `json:"mean,omitempty" jsonschema_description:"Prior mean. Default: the middle of the range of rewards, 0 if unbounded; a choice of ours."`
	SD    *float64 `json:"sd,omitempty" jsonschema:"exclusiveMinimum=0,default=1" jsonschema_description:"Standard deviation of the prior; a choice of ours; set it for your task."`
	Noise *float64 `json:"noise,omitempty" jsonschema:"exclusiveMinimum=0,default=1" jsonschema_description:"Standard deviation of a reward around its mean; a choice of ours; set it for your task."`
}

// NormalGammaBelief is the posterior of the mean of normal rewards of unknown variance: the precision
// is Gamma(alpha, rate beta), and the mean normal with lambda times that precision.
type NormalGammaBelief struct {
	Mean   *float64 `json:"mean,omitempty" jsonschema_description:"Prior mean. Default: the middle of the range of rewards, 0 if unbounded; a choice of ours."`
	Lambda *float64 `json:"lambda,omitempty" jsonschema:"exclusiveMinimum=0,default=1" jsonschema_description:"Weight of the prior mean, in rewards; a choice of ours."`
	Alpha  *float64 `json:"alpha,omitempty" jsonschema:"exclusiveMinimum=0.5,default=2" jsonschema_description:"Shape of the gamma distribution of the precision of rewards; a choice of ours."`
	Beta   *float64 `json:"beta,omitempty" jsonschema:"exclusiveMinimum=0,default=1" jsonschema_description:"Rate of the gamma distribution of the precision of rewards; a choice of ours."`
}

// GammaPoissonBelief is the posterior Gamma(a + Σ rewards, rate b + number of rewards) of the mean of
// counts.
type GammaPoissonBelief struct {
	A *float64 `json:"a,omitempty" jsonschema:"exclusiveMinimum=0,default=1" jsonschema_description:"Number of events in b rewards before the first; a choice of ours."`
	B *float64 `json:"b,omitempty" jsonschema:"exclusiveMinimum=0,default=1" jsonschema_description:"Number of rewards that the prior is worth. Default: see a."`
}

func (p GaussianBelief) maker(task Task) (beliefMaker, error) {
	d, err := bandit.NewGaussian(task.mean(p.Mean), *p.SD, *p.Noise)
	return copies(task, d), err
}

func (p NormalGammaBelief) maker(task Task) (beliefMaker, error) {
	d, err := bandit.NewNormalGamma(task.mean(p.Mean), *p.Lambda, *p.Alpha, *p.Beta)
	return copies(task, d), err
}

func (p GammaPoissonBelief) maker(task Task) (beliefMaker, error) {
	if task.Low < 0 {
		return nil, fmt.Errorf("kind gamma-poisson needs rewards of at least 0, not in [%v, %v]", task.Low, task.High)
	}
	d, err := bandit.NewGammaPoisson(*p.A, *p.B)
	return copies(task, d), err
}

func (p BetaBelief) maker(task Task) (beliefMaker, error) {
	if task.Low < 0 || task.High > 1 {
		return nil, fmt.Errorf("kind beta needs rewards in [0,1], not in [%v, %v]", task.Low, task.High)
	}
	d, err := bandit.NewBeta(*p.A, *p.B)
	return func(*rand.Rand) beliefs {
		betas := slices.Repeat([]bandit.Beta{d}, task.Arms)
		return beliefs{betas: betas, learners: learners(betas)}
	}, err
}

// copies returns what gives every arm a copy of a belief.
func copies[T any, P pointer[T]](task Task, belief T) beliefMaker {
	return func(*rand.Rand) beliefs {
		return beliefs{learners: learners[T, P](slices.Repeat([]T{belief}, task.Arms))}
	}
}

// pointer is that to a belief, which learns.
type pointer[T any] interface {
	*T
	bandit.Learner
}

// learners returns pointers to all beliefs.
func learners[T any, P pointer[T]](all []T) []bandit.Learner {
	out := make([]bandit.Learner, len(all))
	for i := range all {
		out[i] = P(&all[i])
	}
	return out
}

// mean returns the mean of a prior, by default the middle of the range of rewards.
func (t Task) mean(given *float64) float64 {
	if given == nil && t.bounded() {
		return t.Low/2 + t.High/2
	}
	return or(given, 0)
}

// of returns the prior for a task.
func (p Prior) of(task Task) (bandit.Belief, error) {
	switch p.Distribution {
	case "beta":
		return bandit.NewBeta(*p.A, *p.B)
	case "normal":
		return bandit.NewGaussian(task.mean(p.Mean), *p.SD, 1)
	}
	low, high := 0.0, 1.0
	if !math.IsInf(task.Low, 0) {
		low = task.Low
	}
	if !math.IsInf(task.High, 0) {
		high = task.High
	}
	low, high = or(p.Low, low), or(p.High, high)
	if low > high {
		return nil, fmt.Errorf("low is %v, above high, %v", low, high)
	}
	// Not by its constructor: the ends may coincide, for a common first value.
	return bandit.Uniform{Lo: low, Hi: high}, nil
}

func (p PointBelief) maker(task Task) (beliefMaker, error) {
	return PopulationBelief{Members: new(1), Prior: p.Prior, Update: "all", Steps: p.Steps, Mask: new(0.5)}.maker(task)
}

func (p PopulationBelief) maker(task Task) (beliefMaker, error) {
	prior, err := p.of(task)
	if err != nil {
		return nil, err
	}
	mode, err := bandit.ParseUpdateMode(p.Update)
	if err != nil {
		return nil, err
	}
	opts := bandit.PopulationConfig{Mode: mode, Step: *p.Step, Mask: *p.Mask}
	if p.Schedule == "harmonic" {
		opts.Schedule = bandit.HarmonicStep(*p.Weight)
	}
	if task.Arms > math.MaxInt32 / *p.Members {
		return nil, fmt.Errorf("members is %d, too many for %d arms", *p.Members, task.Arms)
	}
	return func(rng *rand.Rand) beliefs {
		arms, err := bandit.NewPopulations(task.Arms, *p.Members, prior, opts, rng)
		if err != nil {
			panic("policy: checked populations cannot be made: " + err.Error())
		}
		return beliefs{populations: arms, learners: learners(arms)}
	}, nil
}
