package tags

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A tag `when` says with which values of the other parameters a parameter has an effect:
//
//	Temperature float64 `json:"temperature" when:"policy=softmax"`
//	Power       float64 `json:"power" when:"replays=0 and schedule=harmonic"`
//
// It has alternatives, separated by " or ", each of conditions, separated by " and ". A condition is
// NAME=VALUE or NAME!=VALUE, where NAME is a parameter of the same mapping and VALUE one of its
// values, or several separated by "|"; @NAME is the value of another. A parameter that is empty or not given has the
// value none.

// CheckEffect returns an error if an object, the JSON from which the struct p was read, gives a
// parameter that has no effect with the values that the others have in p.
func CheckEffect(object json.RawMessage, p any) error {
	return checkEffect("", object, reflect.Indirect(reflect.ValueOf(p)))
}

func checkEffect(prefix string, object json.RawMessage, v reflect.Value) error {
	if v.Kind() != reflect.Struct {
		return nil
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(object, &given); err != nil || len(given) == 0 {
		return nil // whoever reads it says what is wrong
	}
	for _, f := range fields(v) {
		raw, has := given[f.name]
		if !has {
			continue
		}
		if err := f.effective(v); err != nil {
			return fmt.Errorf("%s%w", prefix, err)
		}
		if err := checkEffect(prefix+f.name+".", raw, reflect.Indirect(f.value)); err != nil {
			return err
		}
	}
	return nil
}

// Effect is a tag `when`, and what it says in words.
type Effect struct{ When, Words string }

// Effects returns the tags `when` of a struct, by the names of its parameters. Those of a
// struct inside it are behind its name and a point.
func Effects(p any) map[string]Effect {
	effects := map[string]Effect{}
	addEffects(effects, "", reflect.Indirect(reflect.ValueOf(p)))
	return effects
}

func addEffects(effects map[string]Effect, prefix string, v reflect.Value) {
	if v.Kind() != reflect.Struct {
		return
	}
	for _, f := range fields(v) {
		if when := f.tag.Get("when"); when != "" {
			effects[prefix+f.name] = Effect{when, f.effect()}
		}
		addEffects(effects, prefix+f.name+".", reflect.Indirect(f.value))
	}
}

// field is a parameter in a struct, or in one embedded in it.
type field struct {
	name  string // in JSON
	tag   reflect.StructTag
	value reflect.Value
}

func fields(v reflect.Value) (all []field) {
	for f, x := range v.Fields() {
		if f.Anonymous && reflect.Indirect(x).Kind() == reflect.Struct {
			all = append(all, fields(reflect.Indirect(x))...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		all = append(all, field{name, f.Tag, x})
	}
	return all
}

// effect is the tag in words.
func (f field) effect() string {
	var alternatives []string
	for alternative := range strings.SplitSeq(f.tag.Get("when"), " or ") {
		var words []string
		for c := range strings.SplitSeq(alternative, " and ") {
			words = append(words, parse(c).String())
		}
		alternatives = append(alternatives, joined(words))
	}
	return strings.Join(alternatives, ", or ")
}

// effective returns an error if the parameter has no effect in the struct v.
func (f field) effective(v reflect.Value) error {
	if f.tag.Get("when") == "" {
		return nil
	}
	var broken []string // of each alternative, the conditions that do not hold
	for alternative := range strings.SplitSeq(f.tag.Get("when"), " or ") {
		holds := true
		for text := range strings.SplitSeq(alternative, " and ") {
			c := parse(text)
			value := func(name string) string { return condition{name: name}.value(v) }
			is := value(c.name)
			if c.holds(value) {
				continue
			}
			text := "with " + c.name + " " + is
			if is == "none" {
				text = "without " + c.name
			}
			if holds && !slices.Contains(broken, text) {
				broken = append(broken, text)
			}
			holds = false
		}
		if holds {
			return nil
		}
	}
	return errors.New(f.name + " has no effect " + joined(broken) + ": leave it out, or give it " + f.effect())
}

// Holds tells whether a tag `when` holds where the other parameters have these values.
func Holds(when string, value func(name string) string) bool {
	return slices.ContainsFunc(strings.Split(when, " or "), func(alternative string) bool {
		return !slices.ContainsFunc(strings.Split(alternative, " and "), func(text string) bool {
			return !parse(text).holds(value)
		})
	})
}

// joined joins words that begin with "with" or "without".
func joined(words []string) string {
	return strings.ReplaceAll(strings.Join(words, " and "), " and with ", " and ")
}

// condition is a part of a tag.
type condition struct {
	name   string
	not    bool
	values []string
}

func parse(text string) condition {
	name, values, _ := strings.Cut(text, "=")
	name, not := strings.CutSuffix(name, "!")
	return condition{name, not, strings.Split(values, "|")}
}

func (c condition) holds(value func(name string) string) bool {
	is := value(c.name)
	return slices.ContainsFunc(c.values, func(v string) bool {
		if other, ok := strings.CutPrefix(v, "@"); ok {
			v = value(other)
		}
		return v == is
	}) != c.not
}

// value is that of the condition's parameter in v.
func (c condition) value(v reflect.Value) string {
	for _, f := range fields(v) {
		if f.name != c.name {
			continue
		}
		x := reflect.Indirect(f.value)
		if !x.IsValid() || (x.Kind() == reflect.String || x.Kind() == reflect.Slice) && x.Len() == 0 {
			return "none"
		}
		if x.Kind() == reflect.Slice {
			return "given"
		}
		return fmt.Sprint(x.Interface())
	}
	panic("tags: a tag when names " + c.name + ", which is no parameter beside it")
}

func (c condition) String() string {
	a := "with a " + c.name
	if strings.ContainsAny(c.name[:1], "aeiou") {
		a = "with an " + c.name
	}
	switch none := c.values[0] == "none"; {
	case c.not && none:
		return a
	case c.not:
		return a + " other than " + strings.Join(c.values, " or ")
	case none && len(c.values) == 1:
		return "without " + c.name
	}
	return "with " + c.name + " " + strings.Join(c.values, " or ")
}
