// Package members is the common part of the agents with an ensemble: K estimates of
// the values of actions, as tables or functions. It has the ways in which they
// explore by themselves, and the options that they follow for a host.
package members

import "github.com/rlrun/rlrun/plugins/internal/lanes"

// Params are the parameters of how they explore.
type Params struct {
	Behaviour string  `json:"behaviour,omitempty" jsonschema_extras:"x-exploration=without" jsonschema:"enum=thompson,enum=mean" jsonschema_description:"Which values select actions if the config has no exploration. thompson: those of one member, which redraw changes; default as in Osband et al. (2016). mean: the mean of all members."`
	Redraw    string  `json:"redraw,omitempty" when:"behaviour=thompson" jsonschema_extras:"x-exploration=without" jsonschema:"enum=auto,enum=episode,enum=geometric" jsonschema_description:"When behaviour thompson draws a member. episode: at the start of every episode (Osband et al. 2016). geometric: at the start of every episode, and after every step with probability 1-gamma (Xu, Dong & Van Roy 2024). auto, the default and a choice of ours: geometric in continuing tasks, episode in others."`
	Epsilon   float64 `json:"epsilon" jsonschema_extras:"x-exploration=without" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Probability of a uniformly random action if the config has no exploration. The default 0 is greedy for the values of behaviour; a choice of ours."`
	Values    string  `json:"values,omitempty" jsonschema_extras:"x-exploration=with" jsonschema:"enum=auto,enum=policies,enum=actions" jsonschema_description:"With exploration in the config: the value of an option for a member. policies: the value of the option's policy, learned off policy (expected Sarsa; van Seijen et al. 2009), or with replays computed at every decision in the models of the members. actions: the value of its first action, followed by the member's best policy; this costs nothing and underestimates the gain of exploring. auto, the default, is a choice of ours: policies in bootstrap-q; actions in bootstrap-linear, where policies would always find an option that seems better than the greedy one (docs/classic-control.md)."`
	Evaluated int     `json:"evaluated" when:"values!=actions" jsonschema_extras:"x-exploration=with" jsonschema:"minimum=0" jsonschema_description:"With values policies: the number of members whose policies every member evaluates; at most members. The default is a choice of ours. Each one makes steps and decisions slower, a step of bootstrap-q by a quarter. Among the other members with the same first action, the one with the largest lead represents them."`
	Reveal    float64 `json:"reveal" jsonschema_extras:"x-exploration=with" jsonschema:"exclusiveMinimum=0,maximum=1" jsonschema_description:"With exploration in the config: the probability that holding an uninformed option (uniform, count-bonus, repeats) reveals the true member. The default 1 overestimates these options; a choice of ours."`
}

// Defaults are Thompson sampling and, for hosts, options worth as values says.
func Defaults(values string) Params {
	return Params{Behaviour: "thompson", Redraw: "auto", Values: values, Reveal: 1}
}

// Check validates the parameters of an agent with members.
func (p *Params) Check(members int) error {
	if p.Evaluated > members {
		return lanes.Invalid("evaluated is %d, must be between 0 and members", p.Evaluated)
	}
	return nil
}
