// Package thresholdmodel is the agent that explores by the paper's threshold in finite
// tasks: package voi, lane by lane.
package thresholdmodel

import (
	"math"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/budget"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
	"github.com/rlrun/rlrun/plugins/internal/voi"
)

// params are the parameters of the agent.
type params struct {
	Rule       string   `json:"rule" when:"gamma!=0" jsonschema:"enum=sup,enum=mean" jsonschema_description:"Gain of trying a pair. sup: the largest δ·P(D ≥ δ), the threshold of the paper. mean: E D⁺, the value of information. D is the improvement of the rest of the run by the outcomes of the tries. The default follows the paper."`
	Criterion  string   `json:"criterion" jsonschema:"enum=step,enum=episode,enum=run" jsonschema_description:"What the agent maximises in tasks with episodes. step: the reward per step of the rest of the run. Where episodes cost more than to wait, it ends none. episode: the mean return of the episodes in the rest of the run; their time does not count. run: step if episodes pay, and episode if they cost. The default, a choice of ours, is what regret is computed by."`
	Gamma      *float64 `json:"gamma,omitempty" jsonschema:"minimum=0,exclusiveMaximum=1" jsonschema_description:"Discount: knowledge pays for 1/(1-gamma) steps. The default, a choice of ours, is the number of steps left in the run, or 100 if the host does not give it."`
	Bounds     string   `json:"bounds" when:"reward_low=none or reward_high=none" jsonschema:"enum=declared,enum=learned" jsonschema_description:"Bounds of rewards. declared: those that the environment declares; one that it does not declare is learned from the rewards. learned: the environment's bounds do not count. The default, a choice of ours, is better if some reward comes near the bounds."`
	Hazard     *float64 `json:"hazard,omitempty" jsonschema:"minimum=0,exclusiveMaximum=1" jsonschema_description:"Probability per step that the task changes. 0: it never does. The default, a choice of ours, is learned: 0 until a change is noticed, and then the number of changes per step."`
	RewardLow  *float64 `json:"reward_low,omitempty" jsonschema_description:"Smallest reward. Default: the bound that the environment declares, or a learned one."`
	RewardHigh *float64 `json:"reward_high,omitempty" jsonschema_description:"Largest reward. Default: the bound that the environment declares, or a learned one."`
}

// defaultGamma counts where the number of steps of a run is not known.
const defaultGamma = 0.99

// Plugin returns the agent. It is greedy for the posterior mean of a model. It goes to try a pair
// of a state and action if the possible gain exceeds the cost (condition (T) of docs/theory.md
// §3.8). The gain is over the steps that are left. The cost is the discounted sum of gaps on the
// way there and back. The prior is learned from the pairs tried; no parameter is tuned. It assumes
// that observations are Markov states. After a terminal state the next episode follows. The
// distribution of first states is learned from all episodes together. A truncated step teaches like
// any other, so an episode that is cut short has not ended. Bounds of rewards that are not known
// are learned. Rewards outside known bounds are taken as they are.
func Plugin() vector.Plugin {
	p := finite.OptionPlugin("rlrun/threshold-model@1",
		"Explores by the threshold of Dimitrakakis (2006), for each pair of state and action: it makes a detour to a pair if the expected gain of trying it over the rest of the run exceeds the cost. Ours; nothing to tune.",
		params{Rule: "sup", Criterion: "step", Bounds: "declared"},
		func(p params, t finite.Task) (func() finite.Learner, error) {
			rule := voi.Sup
			switch p.Rule {
			case "sup":
			case "mean":
				rule = voi.Mean
			default:
				return nil, lanes.Invalid("rule is %q, must be sup or mean", p.Rule)
			}
			x := agent{rule: rule, actions: t.Actions, low: t.Spec.RewardLow, high: t.Spec.RewardHigh, episodic: !t.Spec.Continuing}
			switch p.Criterion {
			case "step":
			case "episode":
				x.criterion = voi.PerEpisode
			case "run":
				x.criterion = voi.PerRun
			default:
				return nil, lanes.Invalid("criterion is %q, must be step, episode or run", p.Criterion)
			}
			switch p.Bounds {
			case "declared":
			case "learned":
				x.low, x.high = math.Inf(-1), math.Inf(1)
			default:
				return nil, lanes.Invalid("bounds is %q, must be declared or learned", p.Bounds)
			}
			if p.RewardLow != nil {
				x.low = *p.RewardLow
			}
			if p.RewardHigh != nil {
				x.high = *p.RewardHigh
			}
			if !(x.low <= x.high) {
				return nil, lanes.Invalid("reward_low is %v, must not exceed reward_high, %v", x.low, x.high)
			}
			for _, given := range []*float64{p.RewardLow, p.RewardHigh} {
				switch {
				case given != nil && x.low == x.high:
					return nil, lanes.Invalid("reward_low and reward_high are both %v, which leaves nothing to learn", x.low)
				case given != nil && math.Abs(*given) > framework.LargestReward:
					return nil, lanes.Invalid("%v is too large: bounds of rewards are in [-%g, %g]", *given, framework.LargestReward, framework.LargestReward)
				}
			}
			x.hazard = -1 // learned
			if p.Hazard != nil {
				if x.hazard = *p.Hazard; !(x.hazard >= 0 && x.hazard < 1) {
					return nil, lanes.Invalid("hazard is %v, must be in [0,1)", x.hazard)
				}
			}
			switch {
			case p.Gamma != nil && !(*p.Gamma >= 0 && *p.Gamma < 1):
				return nil, lanes.Invalid("gamma is %v, must be in [0,1)", *p.Gamma)
			case p.Gamma != nil:
				x.horizon = 1 / (1 - *p.Gamma)
			case t.Spec.Steps > 0:
				x.steps, x.episodes = t.Spec.Steps, t.Spec.Episodes
			default:
				x.horizon = 1 / (1 - defaultGamma)
			}
			return func() finite.Learner {
				lane := x
				lane.number, lane.meaning = make([]int32, t.States), make([]int, t.Actions)
				return &lane
			}, nil
		})
	return lanes.Breaks(lanes.GreedyPlugins(p), map[string]map[string]string{"rlrun/threshold-model@1": {
		"duplicated-actions": "every copy of an action is tried separately, which costs steps in short runs",
		"continuing-form":    "where it sees ends of episodes it earns more: it learns from all episodes together where they begin, and does not expect that a beginning leads back to where the last episode ended",
	}})[0]
}

// agent is one lane.
type agent struct {
	rule      voi.GainKind
	criterion voi.Criterion
	actions   int
	low, high float64
	hazard    float64 // negative if it is learned
	horizon   float64 // if steps is 0
	steps     int     `snapshot:"-"` // to the end of the run, those before it of a saved agent among them
	episodes  int     `snapshot:"-"` // with which the run ends; 0: it has no such budget
	episodic  bool    // the environment says that episodes end

	belief        *voi.Belief
	planner       *voi.Planner
	number        []int32 // by observation: the planner's number of the state plus 1, 0 if never visited
	observed      []int   // by the planner's number: the observation
	meaning       []int   // by the planner's number: the action
	run           budget.Run
	earned        float64 // rewards so far
	state, action int     // of the last step, in the planner's numbers
	end           int     // the planner's number of the end of an episode, or −1

	decision decision
}

// Start implements finite.Learner. The planner takes the first of actions that are equally good. So
// that the environment's numbers of actions carry no meaning, it knows actions by numbers that are
// drawn for each run. They are the same in all states, since an action may mean the same
// everywhere. The agent draws nothing else.
func (x *agent) Start(s uint64) {
	copy(x.meaning, seed.Stream(s, seed.Exploration).Perm(x.actions))
	x.belief = voi.NewBelief(x.actions, x.low, x.high)
	if x.hazard != 0 {
		x.belief.Watch(x.hazard, max(x.horizon, float64(x.steps)))
	}
	x.planner = voi.NewPlanner(x.belief, x.rule)
	x.planner.SetCriterion(x.criterion)
	clear(x.number)
	x.observed = x.observed[:0]
	x.run, x.earned, x.end = budget.Run{}, 0, -1
	if x.episodic {
		x.addEnd()
	}
	x.decision.reset()
}

// Begin implements finite.Learner.
func (x *agent) Begin(o int) int { return x.choose(x.arrive(o)) }

// Step implements finite.Learner.
func (x *agent) Step(r float64, o int) int { return x.choose(x.learn(r, o)) }

// arrive returns the state in which an episode begins, and learns that.
func (x *agent) arrive(o int) int {
	s := x.visit(o)
	x.planner.Begin(s)
	return s
}

// learn learns from a step, and returns the state that it led to.
func (x *agent) learn(r float64, o int) int {
	s := x.visit(o)
	x.run.Steps++
	x.earned += r
	x.planner.Learn(x.state, x.action, r, s)
	return s
}

// End implements finite.Learner.
func (x *agent) End(r float64, o int, terminated bool) {
	x.run.Steps++
	x.run.End()
	x.earned += r
	if terminated {
		if x.end < 0 {
			x.addEnd()
		}
		x.planner.Learn(x.state, x.action, r, x.end)
		return
	}
	x.planner.Learn(x.state, x.action, r, x.visit(o))
}

// Metrics implements lanes.Measurer.
func (x *agent) Metrics() []framework.Metric {
	return []framework.Metric{
		{Name: "states", Doc: "States that the agent has met.", Total: framework.Last},
		{Name: "tried_pairs", Doc: "Pairs of a state and an action that the agent has tried.", Total: framework.Last},
		{Name: "gain_predicted", Doc: "Sum of what the steps that explored were expected to gain over the rest of the run, less their cost, in rewards.", Total: framework.Last},
		{Name: "gain_realised", Doc: "Rewards so far, and the value of the rest of the run without exploring, less the reward of a run of uniformly random actions by what the agent knows. The law of gains (docs/theory.md §3.8) says that gain_predicted is as large in the mean. None without a known number of steps, or with another criterion than step.", Total: framework.Last},
	}
}

// Measure implements lanes.Measurer.
func (x *agent) Measure(dst []float64) {
	dst[0], dst[1], dst[2], dst[3] = float64(x.belief.States()), float64(x.belief.Tried()), x.planner.Predicted(), math.NaN()
	if x.steps > 0 && x.criterion == voi.PerStep && 0 < x.run.Steps && x.run.Steps <= x.steps {
		rest := x.steps - x.run.Steps
		if x.episodes > 0 {
			if rest = 0; x.run.Ended < x.episodes {
				rest = x.run.Left(x.steps, x.episodes)
			}
		}
		dst[3] = x.earned + float64(rest)*x.planner.Value(x.state) - float64(x.run.Steps+rest)*x.planner.Random(x.run.Steps+rest)
	}
}

// Act implements finite.Learner.
func (x *agent) Act(o int) int {
	if x.number[o] == 0 {
		return x.meaning[0]
	}
	return x.meaning[x.planner.Greedy(int(x.number[o])-1)]
}

// addEnd adds the end of an episode.
func (x *agent) addEnd() {
	x.end = x.planner.AddEnd()
	x.observed = append(x.observed, -1)
}

// visit returns the number of a state.
func (x *agent) visit(o int) int {
	if x.number[o] == 0 {
		x.number[o] = int32(x.planner.AddState()) + 1
		x.observed = append(x.observed, o)
	}
	return int(x.number[o]) - 1
}

// choose selects an action in state s.
func (x *agent) choose(s int) int {
	x.state = s
	switch x.decision.follows {
	case greedily:
		x.planner.Plan(s, x.left())
		x.action = x.planner.Greedy(s)
	case aPair:
		x.planner.Plan(s, x.left())
		x.action = x.planner.Toward(s, x.decision.pair)
	default:
		x.action, _ = x.planner.Action(s, x.left())
	}
	return x.meaning[x.action]
}

// GreedyAction implements lanes.Greedy. An evaluation has a whole run before it, however
// few steps were left of the run that was learned from.
func (x *agent) GreedyAction(o int) int {
	if x.number[o] == 0 {
		return x.meaning[0]
	}
	horizon := x.horizon
	switch {
	case x.episodes > 0 && x.run.Ended > 0:
		horizon = float64(x.run.Began) / float64(x.run.Ended) * float64(x.episodes)
	case x.steps > 0:
		horizon = float64(x.steps)
	}
	return x.meaning[x.planner.Best(int(x.number[o])-1, horizon)]
}

// left returns for how many steps what is learned counts.
func (x *agent) left() float64 {
	if x.episodes > 0 {
		return float64(x.run.Left(x.steps, x.episodes))
	}
	if x.steps > 0 {
		return float64(x.steps - x.run.Steps%x.steps) // a saved agent begins another run
	}
	return x.horizon
}
