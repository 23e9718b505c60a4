package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/bandit"
)

// BeliefSpec says what a policy believes about the mean reward of every arm at
// the start, and how it learns. Fields left out have the defaults that their
// descriptions give; a field that the kind does not use must be left out.
type BeliefSpec struct {
	Kind string `json:"kind,omitempty" jsonschema_description:"population: several point estimates per arm, which learn by online bootstrap. point: one estimate. beta: conjugate to rewards of 0 and 1. gaussian: conjugate to normal rewards of known variance. normal-gamma: conjugate to normal rewards of unknown variance. gamma-poisson: conjugate to counts. particles: weighted samples. Default: as in the paper, a population, or a point for epsilon-greedy; for policies that the paper does not have, a choice of ours."`

	Members *int     `json:"members,omitempty" jsonschema:"minimum=1,maximum=1000000" jsonschema_description:"Number of members of a population (default 16, as in the paper) or of particles (default 256, a choice of ours)."`
	Prior   string   `json:"prior,omitempty" jsonschema:"enum=uniform,enum=beta,enum=normal,default=uniform" jsonschema_description:"Distribution from which members and particles are drawn: uniform on [low,high], default of the paper; beta(a,b); or normal(mean,sd)."`
	Low     *float64 `json:"low,omitempty" jsonschema_description:"Lower end of a uniform prior. Default: the least reward of the task, as in the paper; 0 if there is none."`
	High    *float64 `json:"high,omitempty" jsonschema_description:"Upper end of a uniform prior. Default: the largest reward of the task, as in the paper; 1 if there is none."`
	A       *float64 `json:"a,omitempty" jsonschema:"exclusiveMinimum=0,default=1" jsonschema_description:"First parameter of a beta belief or prior: the number of pseudo-successes. With gamma-poisson: the number of events in b rewards. The default, a uniform prior, is a choice of ours."`
	B       *float64 `json:"b,omitempty" jsonschema:"exclusiveMinimum=0,default=1" jsonschema_description:"Second parameter of a beta belief or prior: the number of pseudo-failures; see a. The default is a choice of ours."`
	Mean    *float64 `json:"mean,omitempty" jsonschema_description:"Mean of a normal prior, or of a gaussian or normal-gamma belief. Default: the middle of the range of rewards, 0 if unbounded; a choice of ours."`
	SD      *float64 `json:"sd,omitempty" jsonschema:"exclusiveMinimum=0,default=1" jsonschema_description:"Standard deviation of a normal prior or gaussian belief; a choice of ours; set it for your task."`
	Noise   *float64 `json:"noise,omitempty" jsonschema:"exclusiveMinimum=0,default=1" jsonschema_description:"Standard deviation of a reward around its mean, for gaussian, and for particles with likelihood normal; a choice of ours; set it for your task."`
	Lambda  *float64 `json:"lambda,omitempty" jsonschema:"exclusiveMinimum=0,default=1" jsonschema_description:"Weight of the prior mean of normal-gamma, in rewards; a choice of ours."`
	Alpha   *float64 `json:"alpha,omitempty" jsonschema:"exclusiveMinimum=0.5,default=2" jsonschema_description:"Shape of the gamma distribution of the precision of rewards; a choice of ours."`
	Beta    *float64 `json:"beta,omitempty" jsonschema:"exclusiveMinimum=0,default=1" jsonschema_description:"Rate of the gamma distribution of the precision of rewards; a choice of ours."`

	Update   string   `json:"update,omitempty" jsonschema:"enum=all,enum=drawn,enum=bernoulli,enum=exponential,enum=poisson,enum=independent,default=all" jsonschema_description:"Which members of a population learn from a reward. all: every member; default of the paper's experiments. drawn: the one that selected the arm (a random one if none did), as in the paper's algorithm. bernoulli: each with probability mask (Osband et al. 2016). exponential: each with a step size times an exponential weight, as in the paper's footnote. poisson: each a Poisson number of times (Oza & Russell 2001). independent: one that is drawn for every reward."`
	Step     *float64 `json:"step,omitempty" jsonschema:"exclusiveMinimum=0,maximum=1,default=0.01" jsonschema_description:"Step size with schedule constant; default of the paper."`
	Schedule string   `json:"schedule,omitempty" jsonschema:"enum=constant,enum=harmonic,default=constant" jsonschema_description:"Step sizes. constant: step; default of the paper. harmonic: 1/(n + prior_weight) at the n-th pull of the arm."`
	Weight   *float64 `json:"prior_weight,omitempty" jsonschema:"minimum=0,default=1" jsonschema_description:"With schedule harmonic: weight of a member's initial value, in rewards; a choice of ours."`
	Mask     *float64 `json:"mask,omitempty" jsonschema:"exclusiveMinimum=0,maximum=1,default=0.5" jsonschema_description:"Probability that a member learns with update bernoulli; default of Osband et al. (2016)."`

	Likelihood string `json:"likelihood,omitempty" jsonschema:"enum=bernoulli,enum=normal" jsonschema_description:"Likelihood of rewards for particles. Default: bernoulli if rewards are in [0,1], else normal; a choice of ours."`
}

// beliefKind describes one kind of belief.
type beliefKind struct {
	name      string // in configurations
	conjugate bool   // one more reward is expected to be worth something in closed form
	// maker checks the specification and returns what draws beliefs about the arms of a
	// task, and the prior if it is of kind beta.
	maker func(s BeliefSpec, task Task) (beliefMaker, *bandit.Beta, error)
}

// beliefKinds are all kinds of beliefs, in the order of the documentation. A belief is
// one file of package bandit and a line here.
var beliefKinds = []beliefKind{
	{"population", false, BeliefSpec.populations},
	{"point", false, BeliefSpec.populations},
	{"beta", true, BeliefSpec.betas},
	{"gaussian", true, conjugateMaker("mean sd noise", func(s BeliefSpec, task Task) (bandit.Gaussian, error) {
		return bandit.NewGaussian(s.mean(task), or(s.SD, 1), or(s.Noise, 1))
	})},
	{"normal-gamma", true, conjugateMaker("mean lambda alpha beta", func(s BeliefSpec, task Task) (bandit.NormalGamma, error) {
		return bandit.NewNormalGamma(s.mean(task), or(s.Lambda, 1), or(s.Alpha, 2), or(s.Beta, 1))
	})},
	{"gamma-poisson", false, conjugateMaker("a b", func(s BeliefSpec, task Task) (bandit.GammaPoisson, error) {
		if task.Low < 0 {
			return bandit.GammaPoisson{}, fmt.Errorf("kind gamma-poisson needs rewards of at least 0, not in [%v, %v]", task.Low, task.High)
		}
		return bandit.NewGammaPoisson(or(s.A, 1), or(s.B, 1))
	})},
	{"particles", false, BeliefSpec.particles},
}

// BeliefKinds returns the names of all kinds of beliefs.
func BeliefKinds() []string {
	names := make([]string, len(beliefKinds))
	for i, k := range beliefKinds {
		names[i] = k.name
	}
	return names
}

func conjugateKinds() (names []string) {
	for _, k := range beliefKinds {
		if k.conjugate {
			names = append(names, k.name)
		}
	}
	return names
}

// beliefMaker draws the initial beliefs about all arms; betas is what they point
// to if they are of kind beta.
type beliefMaker = func(rng *rand.Rand) (b beliefs, betas []bandit.Beta)

// maker returns the maker of the kind, which exists.
func (s BeliefSpec) maker(task Task) (beliefMaker, *bandit.Beta, error) {
	i := slices.IndexFunc(beliefKinds, func(k beliefKind) bool { return k.name == s.Kind })
	return beliefKinds[i].maker(s, task)
}

// conjugateMaker returns the maker of a belief that is a value, given the fields that
// its parameters come from and what makes the prior of them.
func conjugateMaker[T any, P interface {
	*T
	bandit.Learner
}](fields string, prior func(BeliefSpec, Task) (T, error)) func(BeliefSpec, Task) (beliefMaker, *bandit.Beta, error) {
	return func(s BeliefSpec, task Task) (beliefMaker, *bandit.Beta, error) {
		if err := refuse(s, s.Kind, fields); err != nil {
			return nil, nil, err
		}
		d, err := prior(s, task)
		return copies(task, d, func(d *T) bandit.Learner { return P(d) }), nil, err
	}
}

// copies returns what gives every arm a copy of a belief.
func copies[T any](task Task, belief T, learner func(*T) bandit.Learner) beliefMaker {
	return func(*rand.Rand) (beliefs, []bandit.Beta) {
		arms := make([]T, task.Arms)
		b := beliefs{learners: make([]bandit.Learner, task.Arms)}
		for i := range arms {
			arms[i] = belief
			b.learners[i] = learner(&arms[i])
		}
		return b, nil
	}
}

func (s BeliefSpec) mean(task Task) float64 {
	switch {
	case s.Mean != nil:
		return *s.Mean
	case task.bounded():
		return task.Low/2 + task.High/2
	}
	return 0
}

func (s BeliefSpec) betas(task Task) (beliefMaker, *bandit.Beta, error) {
	if err := refuse(s, s.Kind, "a b"); err != nil {
		return nil, nil, err
	}
	if task.Low < 0 || task.High > 1 {
		return nil, nil, fmt.Errorf("kind beta needs rewards in [0,1], not in [%v, %v]", task.Low, task.High)
	}
	prior, err := bandit.NewBeta(or(s.A, 1), or(s.B, 1))
	if err != nil {
		return nil, nil, err
	}
	return func(*rand.Rand) (beliefs, []bandit.Beta) {
		betas := make([]bandit.Beta, task.Arms)
		b := beliefs{learners: make([]bandit.Learner, task.Arms)}
		for i := range betas {
			betas[i] = prior
			b.learners[i] = &betas[i]
		}
		return b, betas
	}, &prior, nil
}

// from returns the distribution of initial members, and which fields it uses.
func (s BeliefSpec) from(task Task) (prior bandit.Belief, fields string, err error) {
	switch s.Prior {
	case "beta":
		prior, err = bandit.NewBeta(or(s.A, 1), or(s.B, 1))
		return prior, "prior a b", err
	case "normal":
		prior, err = bandit.NewGaussian(s.mean(task), or(s.SD, 1), 1)
		return prior, "prior mean sd", err
	}
	low, high := 0.0, 1.0
	if !math.IsInf(task.Low, 0) {
		low = task.Low
	}
	if !math.IsInf(task.High, 0) {
		high = task.High
	}
	low, high = or(s.Low, low), or(s.High, high)
	if low > high {
		return nil, "", fmt.Errorf("low is %v, above high, %v", low, high)
	}
	// Not by its constructor: the ends may coincide, for a common first value.
	return bandit.Uniform{Lo: low, Hi: high}, "prior low high", nil
}

func (s BeliefSpec) populations(task Task) (beliefMaker, *bandit.Beta, error) {
	prior, fields, err := s.from(task)
	if err != nil {
		return nil, nil, err
	}
	fields += " step schedule prior_weight"
	members := 1
	if s.Kind == "population" {
		fields += " members update mask"
		members = or(s.Members, 16)
	}
	if err := refuse(s, s.Kind, fields); err != nil {
		return nil, nil, err
	}
	var opts bandit.PopulationOptions
	if s.Update != "" {
		if opts.Mode, err = bandit.ParseUpdateMode(s.Update); err != nil {
			return nil, nil, err
		}
	}
	opts.Step, opts.Mask = or(s.Step, 0.01), or(s.Mask, 0.5)
	harmonic := s.Schedule == "harmonic"
	switch {
	case harmonic && s.Step != nil:
		return nil, nil, fmt.Errorf("step does not apply to schedule harmonic")
	case !harmonic && s.Weight != nil:
		return nil, nil, fmt.Errorf("prior_weight applies to schedule harmonic only")
	case s.Mask != nil && opts.Mode != bandit.BernoulliMask:
		return nil, nil, fmt.Errorf("mask applies to update bernoulli only")
	case harmonic:
		opts.Schedule = bandit.HarmonicStep(or(s.Weight, 1))
	}
	if task.Arms > math.MaxInt32/members {
		return nil, nil, fmt.Errorf("members is %d, too many for %d arms", members, task.Arms)
	}
	return func(rng *rand.Rand) (beliefs, []bandit.Beta) {
		arms, err := bandit.NewPopulations(task.Arms, members, prior, opts, rng)
		if err != nil {
			panic("policy: checked populations cannot be made: " + err.Error())
		}
		b := beliefs{learners: make([]bandit.Learner, len(arms)), populations: arms}
		for i := range arms {
			b.learners[i] = &arms[i]
		}
		return b, nil
	}, nil, nil
}

func (s BeliefSpec) particles(task Task) (beliefMaker, *bandit.Beta, error) {
	prior, fields, err := s.from(task)
	if err != nil {
		return nil, nil, err
	}
	members := or(s.Members, 256)
	unit := task.Low >= 0 && task.High <= 1
	likelihood := bandit.Likelihood(bandit.BernoulliLikelihood)
	if s.Likelihood == "normal" || s.Likelihood == "" && !unit {
		fields += " noise"
		likelihood = bandit.GaussianLikelihood(or(s.Noise, 1))
	} else {
		if !unit {
			return nil, nil, fmt.Errorf("likelihood bernoulli needs rewards in [0,1], not in [%v, %v]", task.Low, task.High)
		}
		if d, ok := prior.(bandit.Uniform); s.Prior == "normal" || ok && (d.Lo < 0 || d.Hi > 1) {
			return nil, nil, fmt.Errorf("prior must lie in [0,1] for likelihood bernoulli")
		}
	}
	if err := refuse(s, s.Kind, fields+" members likelihood"); err != nil {
		return nil, nil, err
	}
	return func(rng *rand.Rand) (beliefs, []bandit.Beta) {
		b := beliefs{learners: make([]bandit.Learner, task.Arms)}
		for i := range b.learners {
			p, err := bandit.NewParticles(members, prior, likelihood, bandit.ParticleOptions{}, rng)
			if err != nil {
				panic("policy: checked particles cannot be made: " + err.Error())
			}
			b.learners[i] = p
		}
		return b, nil
	}, nil, nil
}
