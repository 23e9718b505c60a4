package result

import "strconv"

// Decision is one choice between exploring and exploiting: the terms of the
// comparison docs/theory.md §1.4 and what was chosen.
type Decision struct {
	Step      int     `json:"step" parquet:"step"`           // steps taken before the decision
	Episode   int     `json:"episode" parquet:"episode"`     // number of the episode, from 0
	State     int     `json:"state" parquet:"state"`         // the observation, from 0, where observations are Discrete; else -1
	Option    string  `json:"option" parquet:"option,dict"`  // the one chosen
	Explore   bool    `json:"explore" parquet:"explore"`     // whether it is an exploratory one
	Hold      int     `json:"hold" parquet:"hold"`           // T: steps for which it is held
	Capped    bool    `json:"capped" parquet:"capped"`       // T is shorter than its estimate asks for
	Delta     float64 `json:"delta" parquet:"delta"`         // δ: improvement hoped for
	P         float64 `json:"p" parquet:"p"`                 // probability that the improvement is at least δ
	Share     float64 `json:"share" parquet:"share"`         // ρ_T: share of the horizon that T steps are
	Advantage float64 `json:"advantage" parquet:"advantage"` // of exploring over exploiting; > 0 explores
	Action    int     `json:"action" parquet:"action"`       // the first action of the chosen option, from 0; -1 if actions are not Discrete
	Compared
}

// Compared is what was compared at a decision, in units of reward per step.
type Compared struct {
	Other  string  `json:"other" parquet:"other,dict"` // the best of the other options than the greedy one; empty if there is none
	Greedy float64 `json:"greedy" parquet:"greedy"`    // mean value of the greedy option over the members
	Gain   float64 `json:"gain" parquet:"gain"`        // E D⁺: mean of what Other is better in a member, 0 where it is worse
	Cost   float64 `json:"cost" parquet:"cost"`        // E D⁻: mean of what it is worse
	Leads  string  `json:"leads" parquet:"leads"`      // D of each member, in three digits; empty if there are too many
	// Numbers are those of a rule of a plugin, "NAME=VALUE NAME=VALUE".
	Numbers string `json:"numbers,omitempty" parquet:"numbers"`
}

// DecisionColumns name the fields of a decision, in records and in every table of decisions.
var DecisionColumns = []string{"step", "episode", "state", "option", "explore", "hold", "capped", "delta", "p", "share", "advantage",
	"action", "other", "greedy", "gain", "cost", "leads", "numbers"}

// decisionKeys begin the fields of a decision in JSON.
var decisionKeys = func() (keys []string) {
	for _, column := range DecisionColumns {
		keys = append(keys, `,"`+column+`":`)
	}
	keys[0] = "{" + keys[0][1:]
	return keys
}()

// Fields are pointers to the fields, in the order of DecisionColumns: to an int, a string, a bool
// or a float64.
func (d *Decision) Fields() []any {
	return []any{&d.Step, &d.Episode, &d.State, &d.Option, &d.Explore, &d.Hold, &d.Capped, &d.Delta, &d.P, &d.Share, &d.Advantage,
		&d.Action, &d.Other, &d.Greedy, &d.Gain, &d.Cost, &d.Leads, &d.Numbers}
}

func (d *Decision) appendJSON(dst []byte) []byte {
	for i, field := range d.Fields() {
		if field == &d.Numbers && d.Numbers == "" {
			continue
		}
		dst = append(dst, decisionKeys[i]...)
		switch x := field.(type) {
		case *int:
			dst = strconv.AppendInt(dst, int64(*x), 10)
		case *string:
			dst = appendString(dst, *x)
		case *bool:
			dst = strconv.AppendBool(dst, *x)
		case *float64:
			dst = appendFloat(dst, *x)
		}
	}
	return append(dst, '}')
}

func (p *parser) decision() (d Decision) {
	for i, field := range d.Fields() {
		if !p.try(decisionKeys[i]) {
			p.bad = p.bad || field != &d.Numbers
			break
		}
		switch x := field.(type) {
		case *int:
			*x = p.int()
		case *string:
			*x = p.string()
		case *bool:
			*x = p.bool()
		case *float64:
			*x = p.number()
		}
	}
	p.want("}")
	return d
}
