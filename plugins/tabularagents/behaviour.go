package tabularagents

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
)

// Behaviour is how an agent selects actions from estimates of their values. Equal
// estimates have equal chances.
type Behaviour struct {
	Policy       string  `json:"policy,omitempty" jsonschema:"enum=epsilon-greedy,enum=epsilon-z-greedy,enum=softmax" jsonschema_description:"epsilon-greedy: uniformly random with probability epsilon, else greedy (Sutton & Barto 2018, §2.2). epsilon-z-greedy: the same, but a random action is repeated for a random number of steps (Dabney, Ostrovski & Barreto 2021, Algorithm 1). softmax: with probabilities in proportion to exp(Q/temperature) (Sutton & Barto 2018, §13.1). Default: as in Sutton & Barto (2018, Example 6.6)."`
	Epsilon      float64 `json:"epsilon" when:"policy!=softmax" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Initial probability of a random action; default as in Sutton & Barto (2018, Example 6.6). 0 is greedy. With epsilon-z-greedy: the probability that a repetition begins."`
	Decay        string  `json:"decay,omitempty" when:"policy!=softmax and epsilon!=0 or policy!=softmax and final_epsilon!=0" jsonschema:"enum=none,enum=linear,enum=harmonic" jsonschema_description:"How epsilon falls towards final_epsilon with the steps t of a run. linear: in decay_steps steps, then constant (Mnih et al. 2015). harmonic: by the factor 1/(1 + t/decay_steps), the rate of schedules that are greedy in the limit with infinite exploration (Singh et al. 2000). Default: not at all, as in Sutton & Barto (2018, Example 6.6)."`
	DecaySteps   float64 `json:"decay_steps" jsonschema_extras:"x-beyond=epsilon never gets to final_epsilon" when:"decay!=none and policy!=softmax" jsonschema:"exclusiveMinimum=0" jsonschema_description:"See decay; a choice of ours."`
	FinalEpsilon float64 `json:"final_epsilon" when:"decay!=none and policy!=softmax" jsonschema:"minimum=0,maximum=1" jsonschema_description:"See decay; a choice of ours."`
	Mu           float64 `json:"mu,omitempty" when:"policy=epsilon-z-greedy and max_repeat!=1 and epsilon!=0 or policy=epsilon-z-greedy and max_repeat!=1 and decay!=none" jsonschema:"exclusiveMinimum=1" jsonschema_description:"With epsilon-z-greedy: an action lasts n steps with a probability in proportion to n^-mu; default of Dabney et al. (2021). A repetition ends with its episode."`
	MaxRepeat    uint64  `json:"max_repeat,omitempty" when:"policy=epsilon-z-greedy and epsilon!=0 or policy=epsilon-z-greedy and decay!=none" jsonschema:"minimum=1" jsonschema_description:"With epsilon-z-greedy: the longest repetition in steps; default of Dabney et al. (2021). With 1 it is epsilon-greedy."`
	Temperature  float64 `json:"temperature,omitempty" when:"policy=softmax" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Temperature of softmax, in units of value; a choice of ours; set it for your task."`
}

func defaultBehaviour() Behaviour {
	return Behaviour{Policy: "epsilon-greedy", Epsilon: 0.1, Decay: "none", DecaySteps: 10_000, Mu: 2, MaxRepeat: 10_000, Temperature: 1}
}

// epsilonAt returns the probability of a random action after t steps.
func (b *Behaviour) epsilonAt(t float64) float64 {
	switch b.Decay {
	case "linear":
		return b.FinalEpsilon + (b.Epsilon-b.FinalEpsilon)*max(0, 1-t/b.DecaySteps)
	case "harmonic":
		return b.FinalEpsilon + (b.Epsilon-b.FinalEpsilon)/(1+t/b.DecaySteps)
	}
	return b.Epsilon
}

// selector selects the actions of one lane.
type selector struct {
	*Behaviour
	pcg      rand.PCG
	rng      *rand.Rand // over pcg
	softmax  bool
	constant bool    // epsilon is
	epsilon  float64 // at present
	steps    float64
	duration *rand.Zipf // of repetitions, less one; nil unless they are drawn
	repeat   uint64     // steps for which last is still to be repeated
	last     int
	weights  []float64 // scratch of softmax
}

// init prepares a selector at the address that it keeps.
func (x *selector) init(b *Behaviour, actions int) {
	x.Behaviour = b
	x.rng = rand.New(&x.pcg)
	x.softmax, x.constant = b.Policy == "softmax", b.Decay == "none"
	if x.softmax {
		x.weights = make([]float64, actions)
	}
	if b.Policy == "epsilon-z-greedy" {
		x.duration = rand.NewZipf(x.rng, b.Mu, 1, b.MaxRepeat-1)
	}
}

func (x *selector) start(s uint64) {
	x.pcg.Seed(s, uint64(seed.Exploration))
	x.steps, x.repeat, x.epsilon = 0, 0, x.Epsilon
}

// interrupt ends a repetition.
func (x *selector) interrupt() { x.repeat = 0 }

// action selects one by the values q of all.
func (x *selector) action(q []float64) int {
	if x.softmax {
		return x.boltzmann(q)
	}
	if x.repeat > 0 && q[x.last] != argmax.Hidden {
		x.repeat--
		x.steps++
		return x.last
	}
	x.repeat = 0
	if !x.constant {
		x.epsilon = x.epsilonAt(x.steps)
		x.steps++
	}
	if float64(x.pcg.Uint64()>>11)*0x1p-53 >= x.epsilon {
		return argmax.Any(q, x.rng)
	}
	x.last = argmax.Uniform(q, x.rng)
	if x.duration != nil {
		x.repeat = x.duration.Uint64()
	}
	return x.last
}

func (x *selector) boltzmann(q []float64) int {
	top, sum := argmax.Max(q), 0.0
	for a, v := range q {
		x.weights[a] = math.Exp((v - top) / x.Temperature)
		sum += x.weights[a]
	}
	u := x.rng.Float64() * sum
	for a, w := range x.weights {
		if u -= w; u < 0 {
			return a
		}
	}
	return argmax.Any(q, x.rng) // rounding left a remainder
}
