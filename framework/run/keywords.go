package run

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/internal/tags"
)

// checkExploration refuses a parameter that acts only with exploration, where the host does not
// explore, or only without it, where it does. x-exploration in the schema says so: with, with KIND if
// it acts only by options of that kind, or without.
func checkExploration(schema, params json.RawMessage, x *plan.Exploration) error {
	var object struct {
		Properties map[string]struct {
			Exploration string `json:"x-exploration"`
		} `json:"properties"`
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(schema, &object) != nil || json.Unmarshal(params, &given) != nil {
		return nil // as of no parameters
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		acts, kind, _ := strings.Cut(object.Properties[name].Exploration, " ")
		switch {
		case acts == "with" && x == nil:
			return plan.FieldErrorf(name, "has no effect without exploration: leave it out, or give the agent exploration")
		case kind != "" && !slices.ContainsFunc(x.Options, func(o plan.OptionKind) bool { return o.Name == kind }):
			return plan.FieldErrorf(name, "has no effect without options of kind %s: leave it out, or add %s to exploration.options", kind, kind)
		case acts == "without" && x != nil:
			return plan.FieldErrorf(name, "has no effect with exploration, as the host decides: leave it out, or leave out exploration")
		}
	}
	return nil
}

// tooLate returns sentences about parameters that count steps, and come into effect only where a run of so many
// steps has ended. x-beyond in the schema says what follows from that, and x-when with which values of the
// parameters beside it a parameter has an effect at all.
func tooLate(schema, params json.RawMessage, steps int) (list []string) {
	var root map[string]any
	given := any(map[string]any{})
	if json.Unmarshal(schema, &root) != nil || params != nil && json.Unmarshal(params, &given) != nil {
		return nil
	}
	definitions, _ := root["$defs"].(map[string]any)
	var walk func(schema, value any, path string)
	walk = func(schema, value any, path string) {
		s, _ := schema.(map[string]any)
		if name, ok := s["$ref"].(string); ok {
			s, _ = definitions[strings.TrimPrefix(name, "#/$defs/")].(map[string]any)
		}
		if value == nil {
			value = s["default"]
		}
		switch v := value.(type) {
		case float64:
			if follows, ok := s["x-beyond"].(string); ok && v >= float64(steps) {
				list = append(list, fmt.Sprintf("%s is %s, and runs have %d steps: %s", path, strconv.FormatFloat(v, 'f', -1, 64), steps, follows))
			}
		case []any:
			for i, x := range v {
				walk(s, x, fmt.Sprintf("%s[%d]", path, i))
			}
		case map[string]any:
			kinds, _ := s["anyOf"].([]any)
			for _, alternative := range append(kinds, s) {
				of, _ := alternative.(map[string]any)
				properties, _ := of["properties"].(map[string]any)
				kind, _ := properties["kind"].(map[string]any)
				if kind["const"] != nil && kind["const"] != v["kind"] {
					continue
				}
				is := func(name string) string {
					p, _ := properties[name].(map[string]any)
					return valueOf(v, name, p["default"])
				}
				for _, name := range slices.Sorted(maps.Keys(properties)) {
					p, _ := properties[name].(map[string]any)
					if when, ok := p["x-when"].(string); ok && !tags.Holds(when, is) {
						continue
					}
					walk(properties[name], v[name], strings.TrimPrefix(path+"."+name, "."))
				}
			}
		}
	}
	walk(root, given, "")
	return list
}

// valueOf is the value of a parameter as the keyword x-when has it.
func valueOf(given map[string]any, name string, otherwise any) string {
	value := given[name]
	if value == nil {
		value = otherwise
	}
	switch list, isList := value.([]any); {
	case value == nil || value == "" || isList && len(list) == 0:
		return "none"
	case isList && !slices.ContainsFunc(list, func(x any) bool { return !reflect.DeepEqual(x, list[0]) }):
		return fmt.Sprint(list[0])
	case isList:
		return "given"
	}
	return fmt.Sprint(value)
}
