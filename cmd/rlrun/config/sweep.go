package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rlrun/rlrun/framework/plan"
)

// variant is one setting of what a component sweeps: parameters of its plugin, or
// keys of its exploration.
type variant struct {
	sweep map[string][]json.RawMessage
	index map[string]int // of the value chosen for a key; 0 if absent
}

// variants returns enough of them to see every value once: one key at a time
// moves through its values while the others stay at their first.
func variants(sweep map[string][]json.RawMessage) []variant {
	out := []variant{{sweep: sweep}}
	for _, key := range slices.Sorted(maps.Keys(sweep)) {
		for i := 1; i < len(sweep[key]); i++ {
			out = append(out, variant{sweep: sweep, index: map[string]int{key: i}})
		}
	}
	return out
}

// splitSweep divides a sweep into one over the plugin's parameters and one over
// the exploration.
func splitSweep(sweep map[string][]json.RawMessage) (params, exploration map[string][]json.RawMessage) {
	params, exploration = map[string][]json.RawMessage{}, map[string][]json.RawMessage{}
	for key, values := range sweep {
		if strings.HasPrefix(key, plan.SweptExploration) {
			exploration[key] = values
		} else {
			params[key] = values
		}
	}
	return params, exploration
}

// checkExploration validates the swept keys of explorations. Keys under
// exploration itself are validated with the rest of the document.
func (f *File) checkExploration() (Problems, error) {
	var problems Problems
	for i, c := range f.Agents {
		_, sweep := splitSweep(c.Sweep)
		if len(sweep) == 0 {
			continue
		}
		v, err := explorationValidator()
		if err != nil {
			return nil, fmt.Errorf("the schema of experiments: %w", err)
		}
		base := []string{"agents", strconv.Itoa(i)}
		var own json.RawMessage
		if c.Exploration != nil {
			inner, err := json.Marshal(c.Exploration)
			if err != nil {
				return nil, err
			}
			own, _ = json.Marshal(map[string]json.RawMessage{"exploration": inner})
		}
		for _, variant := range variants(sweep) {
			value, err := variant.params(own)
			if err != nil {
				problems = append(problems, f.doc.problem(slices.Concat(base, []string{"sweep"}), "%v", err))
				continue
			}
			found, err := v.validate(f.doc, value, func(path []string) []string {
				if at := variant.relocate(base, path); at[len(base)] != "params" {
					return at
				}
				return slices.Concat(base, path)
			})
			if err != nil {
				return nil, err
			}
			problems = append(problems, found...)
		}
	}
	return problems, nil
}

// explorationSchema is the schema of {"exploration": …}.
func explorationSchema() []byte {
	var s map[string]json.RawMessage
	if json.Unmarshal(plan.Schema(), &s) != nil {
		return nil
	}
	s["$ref"] = json.RawMessage(`"#/$defs/Sweep"`)
	var defs map[string]json.RawMessage
	if json.Unmarshal(s["$defs"], &defs) != nil {
		return nil
	}
	defs["Sweep"] = json.RawMessage(`{"type":"object","properties":{"exploration":{"$ref":"#/$defs/Exploration"}}}`)
	s["$defs"], _ = json.Marshal(defs)
	data, _ := json.Marshal(s)
	return data
}

// params returns the component's parameters with the variant's values in place.
func (v variant) params(base json.RawMessage) (json.RawMessage, error) {
	for _, key := range slices.Sorted(maps.Keys(v.sweep)) {
		if values := v.sweep[key]; len(values) > 0 {
			var err error
			if base, err = plan.SetParam(base, plan.SweptPath(key), values[v.index[key]]); err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	if len(base) == 0 {
		return json.RawMessage("{}"), nil
	}
	return base, nil
}

// relocate maps a path inside the variant's parameters to the document: into the
// sweep where the value came from there, into params otherwise.
func (v variant) relocate(base, path []string) []string {
	for key, values := range v.sweep {
		swept := plan.SweptPath(key)
		if len(values) > 0 && len(path) >= len(swept) && slices.Equal(path[:len(swept)], swept) {
			return slices.Concat(base, []string{"sweep", key, strconv.Itoa(v.index[key])}, path[len(swept):])
		}
	}
	return slices.Concat(base, []string{"params"}, path)
}
