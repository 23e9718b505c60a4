package metric

import "math"

// The host's metrics. At grid point t, the previous one being t' (0 at first):
const (
	Reward           Name = "reward"            // mean reward of steps t'+1..t
	FinalReward      Name = "final_reward"      // mean reward of the last tenth of a run; it has no curve
	CumulativeReward Name = "cumulative_reward" // sum of rewards of steps 1..t
	DiscountedReturn Name = "discounted_return" // Σ_{k<t} γ^k r_{k+1}, γ the experiment's discount
	EpisodeReturn    Name = "episode_return"    // mean undiscounted return of the last RecentEpisodes that ended in steps 1..t
	EpisodeRate      Name = "episode_rate"      // episodes that ended in steps t'+1..t, per step (Sutton & Barto 2018, ex. 6.5)
	// Steps is t itself where grid points are ends of episodes.
	Steps Name = "steps"
	// EvaluationReturn is the mean undiscounted return of the episodes of the latest
	// evaluation in steps t'+1..t, and EvaluationReward the mean reward of its steps
	// where it counts steps.
	EvaluationReturn Name = "evaluation_return"
	EvaluationReward Name = "evaluation_reward"
	// Regret exists if the model is known. For tasks with one state it is the sum
	// over steps 1..t of the optimal expected reward minus the expected reward of the
	// action taken. For continuing tasks with several states it is t times the optimal
	// reward per step minus the rewards of steps 1..t (Jaksch, Ortner & Auer 2010), which
	// may be negative.
	Regret Name = "regret"
	// EpisodeRegret exists if the model of an environment with episodes is known. It is the sum over the
	// episodes that ended in steps 1..t of the optimal expected return minus the return. Its
	// expectation is the regret of Osband, Russo & Van Roy (2013) and Azar, Osband & Munos (2017), who
	// subtract the expected return of the episode's policy.
	EpisodeRegret Name = "episode_regret"
	// OptimalAction is the share of steps t'+1..t whose action was optimal,
	// where the model is known.
	OptimalAction Name = "optimal_action"
	// SimpleRegret exists if the model is known and has one state: at step t the optimal
	// expected reward minus that of the action which the agent would stay with (Bubeck, Munos &
	// Stoltz 2009). RecommendationError is 1 if it is above 0, else 0; its mean over runs is the
	// probability of error (Even-Dar, Mannor & Mansour 2006).
	SimpleRegret        Name = "simple_regret"
	RecommendationError Name = "recommendation_error"
	// ExplorationShare is, of an agent whose exploration the host decides, the share
	// of steps t'+1..t whose action an option other than the greedy one selected.
	ExplorationShare Name = "exploration_share"
	// MixingTime is the number of steps for which such an agent holds an option at
	// step t: the estimate of the exploration mixing time, within its bounds.
	MixingTime Name = "mixing_time"
)

// builtin lists the host's metrics in the order in which they are shown.
var builtin = [...]Definition{
	{
		Name: Reward, Title: "mean reward", Axis: "mean reward per step", Unit: "reward",
		Text:   "Mean reward of the steps since the previous recorded step; in summaries, of all steps.",
		Better: Higher, Value: Mean, EveryStep: true, Always: true, Default: true, Keep: 9,
		At:     func(w *Window) float64 { return w.Reward / w.Width },
		Scale:  func(gain, _, _ float64) float64 { return gain },
		Bounds: perStep,
	},
	{
		Name: FinalReward, Title: "final reward", Axis: "mean reward per step", Unit: "reward",
		Text:   "Mean reward of the last tenth of the run: of the windows between recorded steps that begin there, or of the last one if none does.",
		Better: Higher, Value: Tail, Keep: 5, From: Reward,
		Scale:  func(gain, _, _ float64) float64 { return gain },
		Bounds: perStep,
	},
	{
		Name: CumulativeReward, Title: "cumulative reward", Axis: "cumulative reward (sum over steps)", Unit: "reward",
		Text:   "Sum of all rewards from the first step on.",
		Better: Higher, Value: Last, Always: true, Keep: 6,
		At:   func(w *Window) float64 { return w.Total },
		From: Reward, Derive: accumulate,
		Scale: func(gain, _, steps float64) float64 { return gain * steps },
		Bounds: func(p Possible, step float64) (low, high float64) {
			return step * p.RewardLow, step * p.RewardHigh
		},
	},
	{
		Name: DiscountedReturn, Title: "discounted return", Axis: "discounted return (discounted sum)", Unit: "reward",
		Text:   "Sum of all rewards from the first step on, the k-th later one weighted by the k-th power of the discount.",
		Better: Higher, Value: Last, Always: true, Default: true, Keep: 2,
		At: func(w *Window) float64 { return w.Discounted },
	},
	{
		Name: EpisodeReturn, Title: "episode return", Axis: "return per episode (last 100 finished)", Unit: "reward",
		Text:   "Mean undiscounted return of the last 100 finished episodes, or of all if fewer have ended; in summaries, the mean of this over the run from the first end of an episode on.",
		Better: Higher, Value: Mean, Default: true, Keep: 4,
		At: func(w *Window) float64 { return w.Recent },
	},
	{
		Name: EpisodeRate, Title: "episode rate", Axis: "episodes per step", Unit: "episodes per step",
		Text:  "Share of the steps since the previous recorded step at which an episode ended; in summaries, of all steps. Its inverse is the mean length of an episode.",
		Value: Mean, EveryStep: true,
		At:     func(w *Window) float64 { return float64(w.Episodes) / w.Width },
		Bounds: share,
	},
	{
		Name: Steps, Title: "steps", Axis: "steps made", Unit: "steps",
		Text:  "Number of steps made up to the end of this episode; recorded where runs have a budget in episodes.",
		Value: Last, Keep: 1,
		At: func(w *Window) float64 { return float64(w.Step) },
	},
	{
		Name: EvaluationReturn, Title: "evaluation return", Axis: "return per episode of the evaluation", Unit: "reward",
		Text:   "Mean undiscounted return of the episodes that a copy of the agent, which did not learn, played at the latest evaluation since the previous recorded step.",
		Better: Higher, Value: Last, Sparse: true, Keep: 8,
	},
	{
		Name: EvaluationReward, Title: "evaluation reward", Axis: "mean reward per step of the evaluation", Unit: "reward",
		Text:   "Mean reward of the steps that a copy of the agent, which did not learn, made at the latest evaluation since the previous recorded step.",
		Better: Higher, Value: Last, Sparse: true, Keep: 8,
		Bounds: perStep,
	},
	{
		Name: Regret, Title: "regret", Axis: "regret (reward forgone)", Unit: "reward",
		Text:   "Sum over all steps of the optimal expected reward minus the expected reward of the action taken; in tasks with several states, the steps times the optimal reward per step minus the rewards had.",
		Better: Lower, Value: Last, Model: true, Default: true, Keep: 7,
		At: func(w *Window) float64 {
			if !math.IsNaN(w.Gaps) {
				return w.Gaps
			}
			return float64(float64(w.Step)*w.Gain) - w.Total
		},
		Scale: func(gain, optimal, steps float64) float64 { return (optimal - gain) * steps },
		Bounds: func(p Possible, step float64) (low, high float64) {
			if !p.OneState { // rewards had may be above the optimal expectation
				return math.Inf(-1), math.Inf(1)
			}
			return 0, step * (p.RewardHigh - p.RewardLow)
		},
	},
	{
		Name: EpisodeRegret, Title: "regret of episodes", Axis: "regret (sum over episodes)", Unit: "reward",
		Text:   "Sum over all finished episodes of the optimal expected return minus the return.",
		Better: Lower, Value: Last, Model: true, Keep: 7,
		At: func(w *Window) float64 { return w.Shortfall },
	},
	{
		Name: OptimalAction, Title: "optimal actions", Axis: "share of optimal actions",
		Text:   "Share of the steps since the previous recorded step at which the action was optimal; in summaries, of all steps.",
		Better: Higher, Value: Mean, EveryStep: true, Model: true, Default: true, Keep: 3,
		At:     func(w *Window) float64 { return w.Optimal / w.Width },
		Bounds: share,
	},
	{
		Name: SimpleRegret, Title: "simple regret", Axis: "simple regret (gap of the recommended action)", Unit: "reward",
		Text:   "Optimal expected reward minus that of the action that the agent would stay with at this step; for agents that recommend one.",
		Better: Lower, Value: Last, Model: true, Keep: 1,
		At: func(w *Window) float64 { return w.Recommended },
	},
	{
		Name: RecommendationError, Title: "probability of error", Axis: "share of runs whose recommended action is not optimal",
		Text:   "1 if the action that the agent would stay with at this step is not optimal, else 0; the mean over runs is the probability of error.",
		Better: Lower, Value: Last, Model: true, Keep: 1,
		At: func(w *Window) float64 {
			if w.Recommended > 0 {
				return 1
			}
			return w.Recommended
		},
		Bounds: share,
	},
	{
		Name: ExplorationShare, Title: "exploration share", Axis: "share of exploratory steps",
		Text:  "Share of the steps since the previous recorded step at which an option other than the greedy one was in force; in summaries, of all steps.",
		Value: Mean, EveryStep: true, Default: true,
		At:     func(w *Window) float64 { return w.Explored / w.Width },
		Bounds: share,
	},
	{
		Name: MixingTime, Title: "mixing time", Axis: "steps for which an option is held", Unit: "steps",
		Text:  "Estimate of the exploration mixing time, within its bounds: the number of steps for which an option is held; in summaries, its mean over the run.",
		Value: Mean, Default: true,
		At:     func(w *Window) float64 { return w.Hold },
		Bounds: func(Possible, float64) (low, high float64) { return 0, math.Inf(1) },
	},
}

// perStep are the bounds of a mean of rewards.
func perStep(p Possible, _ float64) (low, high float64) { return p.RewardLow, p.RewardHigh }

// share are the bounds of a share.
func share(Possible, float64) (low, high float64) { return 0, 1 }

// accumulate turns window means into their running sum over steps.
func accumulate(dst, curve, widths []float64) []float64 {
	sum := 0.0
	for i, x := range curve {
		sum += float64(x * widths[i])
		dst = append(dst, sum)
	}
	return dst
}
