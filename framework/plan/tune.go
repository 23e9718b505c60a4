package plan

import "encoding/json"

// Tune is a search for the settings of agents (rlrun tune, docs/tuning.md).
type Tune struct {
	// Agents maps the label of an agent to the ranges of its parameters. a.b is b inside a. A key
	// that begins with exploration. is a key of exploration.
	Agents map[string]map[string]SearchRange `json:"agents"`
	// Trials is the number of settings that are tried of each of these agents.
	Trials int `json:"trials,omitempty" jsonschema:"minimum=2,maximum=100000,default=32"`
	// Runs of a trial in each environment. Trials that fall behind end with half of them, or a
	// quarter.
	Runs int `json:"runs,omitempty" jsonschema:"minimum=2,maximum=10000000,default=16"`
	// Sampler proposes settings: tpe, cma-es or random.
	Sampler string `json:"sampler,omitempty" jsonschema:"enum=tpe,enum=cma-es,enum=random,default=tpe"`
	// Halving false gives every trial all runs.
	Halving *bool `json:"halving,omitempty" jsonschema:"default=true"`
	// Metric that is best in the best setting.
	Metric string `json:"metric,omitempty" jsonschema:"default=reward"`
}

// SearchRange is what a parameter may be: numbers from low to high, or one of values.
type SearchRange struct {
	// Low is the least number.
	Low *float64 `json:"low,omitempty"`
	// High is the largest number.
	High *float64 `json:"high,omitempty"`
	// Log true searches evenly in the logarithm.
	Log bool `json:"log,omitempty" jsonschema:"default=false"`
	// Integer true allows whole numbers alone.
	Integer bool `json:"integer,omitempty" jsonschema:"default=false"`
	// Values are choices.
	Values []json.RawMessage `json:"values,omitempty" jsonschema:"minItems=2"`
	// When says which values other parameters must have. Else this one is left out.
	When map[string]json.RawMessage `json:"when,omitempty"`
}
