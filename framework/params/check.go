package params

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/rlrun/rlrun/framework"
)

// Check validates parameters, a struct, against the ranges and choices in the
// jsonschema tags of its fields, those of structs inside it among them. Nil pointers are
// valid. It returns the first error, which names the parameter and wraps
// framework.ErrInvalidParams.
func Check(p any) error { return check("", reflect.Indirect(reflect.ValueOf(p))) }

// check validates a struct whose parameters begin with a prefix.
func check(prefix string, v reflect.Value) error {
	for f, x := range v.Fields() {
		x = reflect.Indirect(x)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		var err error
		switch {
		case f.Anonymous && x.Kind() == reflect.Struct:
			err = check(prefix, x)
		case x.Kind() == reflect.Struct:
			err = check(prefix+name+".", x)
		case x.IsValid():
			err = checkValue(prefix+name, x, f.Tag.Get("jsonschema"))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkValue validates one parameter.
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
			return fmt.Errorf("%s is %q, must be %s or %s: %w", name, v.String(), strings.Join(choices[:last], ", "), choices[last], framework.ErrInvalidParams)
		}
	case v.CanInt():
		return r.check(name, v.Interface(), float64(v.Int()))
	case v.CanUint():
		return r.check(name, v.Interface(), float64(v.Uint()))
	case v.CanFloat():
		if math.IsInf(v.Float(), 0) {
			return fmt.Errorf("%s is %v, must be finite: %w", name, v.Float(), framework.ErrInvalidParams)
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
	return fmt.Errorf("%s is %v, must be %s: %w", name, value, r, framework.ErrInvalidParams)
}

// String describes the interval.
func (r interval) String() string {
	unbounded := math.IsInf(r.high, 1)
	switch {
	case unbounded && r.openLow:
		return fmt.Sprintf("more than %v", r.low)
	case unbounded:
		return fmt.Sprintf("at least %v", r.low)
	}
	left, right := "[", "]"
	if r.openLow {
		left = "("
	}
	if r.openHigh {
		right = ")"
	}
	return fmt.Sprintf("in %s%v,%v%s", left, r.low, r.high, right)
}
