// Package result holds what an experiment found: the records of its runs, the
// files they are kept in, and the statistics made from them. The records are the
// truth; every other file of an output directory can be made again from them.
package result

// Status says how a run ended.
type Status string

// The two ends of a run. A run that was interrupted leaves no record.
const (
	OK     Status = "ok"
	Failed Status = "failed"
)

// Record is one finished run: one line of runs/*.jsonl. It depends on the config
// and the root seed alone.
type Record struct {
	Environment string `json:"environment"` // label in the experiment
	Agent       string `json:"agent"`       // label in the experiment
	Run         int    `json:"run"`         // index, from 0
	Status      Status `json:"status"`
	Error       string `json:"error,omitempty"` // why a failed run failed: plugin, lane, step, stderr tail
	Steps       int    `json:"steps"`           // interactions with the environment
	Episodes    int    `json:"episodes"`        // episodes that ended within the run
	// Curves holds one value a grid point for every recorded metric; see Metric.
	Curves map[Metric][]float64 `json:"curves,omitempty"`
}

// Metric names a curve.
type Metric string

// The metrics. At grid point t, the previous grid point being t' (0 at first):
const (
	Reward           Metric = "reward"            // mean reward of steps t'+1..t
	CumulativeReward Metric = "cumulative_reward" // sum of rewards of steps 1..t
	DiscountedReturn Metric = "discounted_return" // Σ_{k<t} γ^k r_{k+1}, γ the experiment's discount
	// Regret is the sum over steps 1..t of the optimal expected reward minus the
	// expected reward of the action taken, where the model is known.
	Regret Metric = "regret"
	// OptimalAction is the share of steps t'+1..t whose action was optimal,
	// where the model is known.
	OptimalAction Metric = "optimal_action"
	EpisodeReturn Metric = "episode_return" // mean undiscounted return of episodes that ended in steps t'+1..t; NaN (null) if none
)
