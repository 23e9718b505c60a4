package result

// Task is what is known of an environment. What was not computed, because the model is
// large or lacks what it takes, is absent.
type Task struct {
	States     int      `json:"states"`                // of the model; 0: it is not known, or differs between runs
	Actions    int      `json:"actions"`               // number of actions; 0: they are not counted
	RewardLow  *float64 `json:"reward_low,omitempty"`  // smallest reward of a step, where it is declared
	RewardHigh *float64 `json:"reward_high,omitempty"` // largest reward of a step, where it is declared
	Continuing bool     `json:"continuing"`            // no episode ends, by itself or by a limit
	Gain       *float64 `json:"gain,omitempty"`        // optimal reward per step, episodes following each other
	RandomGain *float64 `json:"random_gain,omitempty"` // reward per step of uniformly random actions
	Diameter   *float64 `json:"diameter,omitempty"`    // most expected steps that the fastest way between two states takes
	// Structure describes the optimal policy's chain: "ergodic"; or "irreducible"
	// or "unichain", with a period above 1; or "2 closed classes".
	Structure string `json:"structure,omitempty"`
	// Mixing is the exploration mixing time of the optimal policy.
	Mixing *TaskMixing `json:"mixing,omitempty"`
}

// TaskMixing is an exploration mixing time T_ε (docs/theory.md §2.1).
type TaskMixing struct {
	Eta     float64  `json:"eta"`     // threshold in total variation
	Epsilon float64  `json:"epsilon"` // the same in the paper's scale, 2η/|S|
	Max     *int     `json:"max"`     // the largest; null: infinite
	Mean    *float64 `json:"mean"`    // over states as visited and the actions not taken; null: infinite or not defined
}
