// Package tags checks parameters against the ranges and choices that the jsonschema
// tags of their structs declare.
package tags

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Check checks a struct, and those inside it. Nil pointers are valid. It returns the
// first error, which names the parameter.
func Check(p any) error { return check("", reflect.ValueOf(p), false) }

// Complete returns a struct, given by itself or by a pointer, in which every parameter that is not
// given, so nil or empty, has the default of its tag. It returns an error if one that is given is out
// of range or has no effect (see CheckEffect).
func Complete[T any](p T) (T, error) {
	given := reflect.Indirect(reflect.ValueOf(p))
	v := reflect.New(given.Type()).Elem()
	v.Set(given)
	if err := check("", v, true); err != nil {
		return p, err
	}
	object, err := json.Marshal(p)
	if err != nil {
		return p, err
	}
	for _, f := range fields(v) {
		for rule := range strings.SplitSeq(f.tag.Get("jsonschema"), ",") {
			text, is := strings.CutPrefix(rule, "default=")
			switch {
			case !is || !f.value.IsZero():
			case f.value.Kind() == reflect.String:
				f.value.SetString(text)
			default:
				if err := json.Unmarshal([]byte(text), f.value.Addr().Interface()); err != nil {
					panic("tags: the default of " + f.name + ": " + err.Error())
				}
			}
		}
	}
	return v.Interface().(T), checkEffect("", object, v)
}

// check checks a struct whose parameters begin with a prefix. optional says that zero is
// not given.
func check(prefix string, v reflect.Value, optional bool) error {
	for f, x := range reflect.Indirect(v).Fields() {
		if optional && x.IsZero() {
			continue
		}
		x = reflect.Indirect(x)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		var err error
		switch {
		case f.Anonymous && x.Kind() == reflect.Struct:
			err = check(prefix, x, optional)
		case x.Kind() == reflect.Struct:
			err = check(prefix+name+".", x, optional)
		case x.IsValid():
			err = checkValue(prefix+name, x, f.Tag.Get("jsonschema"))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkValue checks one parameter.
func checkValue(name string, v reflect.Value, tag string) error {
	r := interval{low: math.Inf(-1), high: math.Inf(1)}
	var choices []string
	for rule := range strings.SplitSeq(tag, ",") {
		key, text, _ := strings.Cut(rule, "=")
		number, _ := strconv.ParseFloat(text, 64)
		switch key {
		case "minimum":
			r.low = number
		case "exclusiveMinimum":
			r.low, r.openLow = number, true
		case "maximum":
			r.high = number
		case "exclusiveMaximum":
			r.high, r.openHigh = number, true
		case "enum":
			choices = append(choices, text)
		}
	}
	switch {
	case v.Kind() == reflect.String && choices != nil:
		if !slices.Contains(choices, v.String()) {
			last := len(choices) - 1
			return fmt.Errorf("%s is %q, must be %s or %s", name, v.String(), strings.Join(choices[:last], ", "), choices[last])
		}
	case v.CanInt():
		return r.check(name, v.Interface(), float64(v.Int()))
	case v.CanUint():
		return r.check(name, v.Interface(), float64(v.Uint()))
	case v.CanFloat():
		if math.IsInf(v.Float(), 0) {
			return fmt.Errorf("%s is %v, must be finite", name, v.Float())
		}
		return r.check(name, v.Interface(), v.Float())
	}
	return nil
}

// interval is the range of a number.
type interval struct {
	low, high         float64
	openLow, openHigh bool
}

func (r interval) check(name string, value any, x float64) error {
	above := x > r.low || x == r.low && !r.openLow
	below := x < r.high || x == r.high && !r.openHigh
	if above && below {
		return nil
	}
	return fmt.Errorf("%s is %v, must be %s", name, value, r)
}

// String describes the interval.
func (r interval) String() string {
	unbounded, low, high := math.IsInf(r.high, 1), plain(r.low), plain(r.high)
	switch {
	case unbounded && math.IsInf(r.low, -1):
		return "a number"
	case math.IsInf(r.low, -1):
		return "at most " + high
	case unbounded && r.openLow:
		return "more than " + low
	case unbounded:
		return "at least " + low
	}
	left, right := "[", "]"
	if r.openLow {
		left = "("
	}
	if r.openHigh {
		right = ")"
	}
	return "in " + left + low + "," + high + right
}

// plain writes a number without an exponent.
func plain(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
