package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/rlrun/rlrun/framework/result"
)

// Save says which agents of a run are kept: the final one and, with every, others. In a
// config it may also be true or false.
type Save struct {
	// Every is the number of steps, with a budget in episodes that of episodes, between agents that are kept besides
	// the final one.
	Every int `json:"every,omitempty" jsonschema:"minimum=1,maximum=1000000000000"`

	off bool
}

// UnmarshalJSON reads a Save or a boolean.
func (s *Save) UnmarshalJSON(data []byte) error {
	var on bool
	if json.Unmarshal(data, &on) == nil {
		*s = Save{off: !on}
		return nil
	}
	type plain Save
	return json.Unmarshal(data, (*plain)(s))
}

// MarshalJSON writes true where there is nothing else to say.
func (s Save) MarshalJSON() ([]byte, error) {
	if s.Every == 0 {
		return json.Marshal(!s.off)
	}
	type plain Save
	return json.Marshal(plain(s))
}

// JSONSchemaExtend adds the boolean.
func (Save) JSONSchemaExtend(s *jsonschema.Schema) { alternative(s, "boolean") }

// alternative lets a schema of an object accept a value of another type as well.
func alternative(s *jsonschema.Schema, other string) {
	object := *s
	*s = jsonschema.Schema{Description: object.Description, OneOf: []*jsonschema.Schema{{Type: other}, &object}}
	object.Description = ""
}

// Checkpoint says how often runs under way are written to the output directory.
type Checkpoint struct {
	// Every is the time between checkpoints, such as 10m, or the number of steps, with a budget in episodes that of episodes. Default: 10m.
	Every Interval `json:"every,omitempty"`
	// Keep is the number of checkpoints of a run that are kept. The older ones serve if the last is
	// damaged. Default: 2.
	Keep int `json:"keep,omitempty" jsonschema:"minimum=1,maximum=100,default=2"`
}

// Interval is a number of steps, or a time such as 10m or 10 min.
type Interval string

// UnmarshalJSON reads a number or a text.
func (i *Interval) UnmarshalJSON(data []byte) error {
	*i = Interval(data)
	if data[0] != '"' {
		return nil
	}
	return json.Unmarshal(data, (*string)(i))
}

// MarshalJSON writes a number of steps as a number.
func (i Interval) MarshalJSON() ([]byte, error) {
	if steps, err := strconv.Atoi(string(i)); err == nil {
		return json.Marshal(steps)
	}
	return json.Marshal(string(i))
}

// JSONSchema lets an Interval be a number or a text.
func (Interval) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "integer", Minimum: "1", Maximum: "1000000000000"}, {Type: "string"}}, Default: "10m"}
}

// Steps returns the number of steps, and the rest of the text if it is none.
func (i Interval) Steps() (steps int, rest string) {
	text := strings.ReplaceAll(string(i), " ", "")
	if steps, err := strconv.Atoi(strings.TrimSuffix(text, "steps")); err == nil {
		return steps, ""
	}
	return 0, text
}

// Evaluation says when and how copies of agents are evaluated, which do not learn.
type Evaluation struct {
	// Every is the number of steps of a run, with a budget in episodes that of episodes, between evaluations. The last
	// evaluation is at the run's end. Default: at the end only.
	Every int `json:"every,omitempty" jsonschema:"minimum=1,maximum=1000000000000"`
	// Episodes is the number of episodes of an evaluation, whose mean return is the
	// metric evaluation_return.
	Episodes int `json:"episodes,omitempty" jsonschema:"minimum=1,maximum=1000000"`
	// Steps is the number of steps of an evaluation, in tasks that continue or where
	// episodes is not given. Their mean reward is the metric evaluation_reward.
	Steps int `json:"steps,omitempty" jsonschema:"minimum=1,maximum=1000000000"`
	// Limit is the number of steps after which an episode of an evaluation is cut
	// short: a greedy agent may never reach its end. Default: 10000.
	Limit int `json:"limit,omitempty" jsonschema:"minimum=1,maximum=1000000000,default=10000"`
}

// compileSaving fills in the defaults of checkpoint, save and evaluate.
func (c *Config) compileSaving() error {
	if k := c.Checkpoint; k != nil {
		c.Checkpoint = &Checkpoint{cmp.Or(k.Every, "10m"), cmp.Or(k.Keep, 2)}
	}
	if c.Save != nil && c.Save.off {
		c.Save = nil
	}
	recorded := func(m result.Metric) bool { return slices.Contains(c.Record.Metrics, m) }
	e := c.Evaluate
	if e == nil {
		for i, m := range c.Record.Metrics {
			if m == result.EvaluationReturn || m == result.EvaluationReward {
				return At(fmt.Errorf("%s needs evaluate: {every: STEPS, episodes: N}", m), "record", "metrics", i)
			}
		}
		return nil
	}
	if e.Episodes == 0 && e.Steps == 0 {
		return FieldErrorf("evaluate", "needs episodes, or steps for tasks that continue")
	}
	filled := *e
	filled.Every = cmp.Or(e.Every, max(c.Steps, 1))
	if e.Episodes > 0 {
		filled.Limit = cmp.Or(e.Limit, 10_000)
	}
	c.Evaluate = &filled
	c.Record.Metrics = slices.Clip(c.Record.Metrics)
	if e.Episodes > 0 && !recorded(result.EvaluationReturn) {
		c.Record.Metrics = append(c.Record.Metrics, result.EvaluationReturn)
	}
	if e.Steps > 0 && !recorded(result.EvaluationReward) {
		c.Record.Metrics = append(c.Record.Metrics, result.EvaluationReward)
	}
	return nil
}

// WarmStart names the saved agents that runs begin with. In a config it may also be the
// text From.
type WarmStart struct {
	// From is DIR:AGENT: an output directory and the name of an agent whose saved
	// agents are there. DIR alone means the agent of the same name.
	From string `json:"from" jsonschema:"minLength=1"`
	// Environment is the name of the environment that they were saved in. Default: the
	// environment of the same name, or the only one.
	Environment string `json:"environment,omitempty"`
	// Step is the step after which they were saved, or with a budget in episodes the episode. Default: the
	// last.
	Step int `json:"step,omitempty" jsonschema:"minimum=1,maximum=1000000000000"`
}

// UnmarshalJSON reads a WarmStart or its From.
func (w *WarmStart) UnmarshalJSON(data []byte) error {
	var from string
	if json.Unmarshal(data, &from) == nil {
		*w = WarmStart{From: from}
		return nil
	}
	type plain WarmStart
	return json.Unmarshal(data, (*plain)(w))
}

// MarshalJSON writes From where there is nothing else to say.
func (w WarmStart) MarshalJSON() ([]byte, error) {
	if w == (WarmStart{From: w.From}) {
		return json.Marshal(w.From)
	}
	type plain WarmStart
	return json.Marshal(plain(w))
}

// JSONSchemaExtend adds the text.
func (WarmStart) JSONSchemaExtend(s *jsonschema.Schema) { alternative(s, "string") }
