// Package members is the common part of the agents with an ensemble: K estimates of
// the values of actions, as tables or functions. It has the ways in which they
// explore by themselves, and the options that they follow for a host.
package members

// Params are the parameters of how they explore.
type Params struct {
	Behaviour string  `json:"behaviour,omitempty" jsonschema_extras:"x-exploration=without" jsonschema:"enum=thompson,enum=mean" jsonschema_description:"Which values select actions if the config has no exploration. thompson: those of one member, which redraw changes; default as in Osband et al. (2016). mean: the mean of all members."`
	Redraw    string  `json:"redraw,omitempty" when:"behaviour=thompson" jsonschema_extras:"x-exploration=without" jsonschema:"enum=auto,enum=episode,enum=geometric" jsonschema_description:"When behaviour thompson draws a member. episode: at the start of every episode (Osband et al. 2016). geometric: at the start of every episode, and after every step with probability 1-gamma (Xu, Dong & Van Roy 2024). auto, the default and a choice of ours: geometric in continuing tasks, episode in others."`
	Epsilon   float64 `json:"epsilon" jsonschema_extras:"x-exploration=without" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Probability of a uniformly random action if the config has no exploration. The default 0 is greedy for the values of behaviour; a choice of ours."`
	Reveal    float64 `json:"reveal" jsonschema_extras:"x-exploration=with" jsonschema:"exclusiveMinimum=0,maximum=1" jsonschema_description:"With exploration in the config: the probability that holding an uninformed option (uniform, count-bonus, repeats) reveals the true member. The default 1 overestimates these options; a choice of ours."`
}

// Defaults are Thompson sampling.
func Defaults() Params { return Params{Behaviour: "thompson", Redraw: "auto", Reveal: 1} }
