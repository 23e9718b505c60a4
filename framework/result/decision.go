package result

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

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

// Fields are pointers to the fields, in the order of DecisionColumns: to an int, a string, a bool
// or a float64.
func (d *Decision) Fields() []any {
	return []any{&d.Step, &d.Episode, &d.State, &d.Option, &d.Explore, &d.Hold, &d.Capped, &d.Delta, &d.P, &d.Share, &d.Advantage,
		&d.Action, &d.Other, &d.Greedy, &d.Gain, &d.Cost, &d.Leads, &d.Numbers}
}

// Same reports whether two decisions have the same record.
func (d *Decision) Same(other *Decision) bool {
	one, err := json.Marshal(d)
	two, errTwo := json.Marshal(other)
	return err == nil && errTwo == nil && bytes.Equal(one, two)
}

// MarshalJSONTo writes numbers that are not finite as null.
func (d *Decision) MarshalJSONTo(e *jsontext.Encoder) error {
	err := e.WriteToken(jsontext.BeginObject)
	for i, field := range d.Fields() {
		if field == &d.Numbers && d.Numbers == "" {
			continue
		}
		err = cmp.Or(err, e.WriteToken(jsontext.String(DecisionColumns[i])))
		switch x := field.(type) {
		case *int:
			err = cmp.Or(err, e.WriteToken(jsontext.Int(int64(*x))))
		case *string:
			err = cmp.Or(err, e.WriteToken(jsontext.String(*x)))
		case *bool:
			err = cmp.Or(err, e.WriteToken(jsontext.Bool(*x)))
		case *float64:
			err = cmp.Or(err, e.WriteValue(appendFloat(e.AvailableBuffer(), *x)))
		}
	}
	return cmp.Or(err, e.WriteToken(jsontext.EndObject))
}

// UnmarshalJSONFrom reads null as NaN.
func (d *Decision) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	if err := read(from, '{'); err != nil {
		return err
	}
	for fields := d.Fields(); from.PeekKind() != '}'; {
		name, err := from.ReadToken()
		if err != nil {
			return err
		}
		i := slices.Index(DecisionColumns, name.String())
		if i < 0 {
			return errNotOurs
		}
		if x, ok := fields[i].(*float64); ok {
			*x, err = readNumber(from)
		} else {
			err = json.UnmarshalDecode(from, fields[i])
		}
		if err != nil {
			return err
		}
	}
	return read(from, '}')
}
