package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rlrun/rlrun/framework/experiment"
)

// variant is one setting of a component's swept parameters.
type variant struct {
	sweep map[string][]json.RawMessage
	index map[string]int // of the value chosen for a key; 0 if absent
}

// variants returns enough of them to see every value once: one key at a time
// moves through its values while the others stay at their first.
func variants(c experiment.Component) []variant {
	out := []variant{{sweep: c.Sweep}}
	for _, key := range slices.Sorted(maps.Keys(c.Sweep)) {
		for i := 1; i < len(c.Sweep[key]); i++ {
			out = append(out, variant{sweep: c.Sweep, index: map[string]int{key: i}})
		}
	}
	return out
}

// params returns the component's parameters with the variant's values in place.
func (v variant) params(base json.RawMessage) (json.RawMessage, error) {
	object := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(base)) > 0 {
		if err := json.Unmarshal(base, &object); err != nil {
			return nil, err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(v.sweep)) {
		if values := v.sweep[key]; len(values) > 0 {
			if err := put(object, strings.Split(key, "."), values[v.index[key]]); err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	return json.Marshal(object)
}

func put(object map[string]json.RawMessage, path []string, value json.RawMessage) error {
	if len(path) == 1 {
		object[path[0]] = value
		return nil
	}
	inner := map[string]json.RawMessage{}
	if data, ok := object[path[0]]; ok {
		if err := json.Unmarshal(data, &inner); err != nil || inner == nil {
			return fmt.Errorf("params.%s is not a mapping", path[0])
		}
	}
	if err := put(inner, path[1:], value); err != nil {
		return err
	}
	data, err := json.Marshal(inner)
	object[path[0]] = data
	return err
}

// relocate maps a path inside the variant's parameters to the document: into the
// sweep where the value came from there, into params otherwise.
func (v variant) relocate(base, path []string) []string {
	for key, values := range v.sweep {
		swept := strings.Split(key, ".")
		if len(values) > 0 && len(path) >= len(swept) && slices.Equal(path[:len(swept)], swept) {
			return slices.Concat(base, []string{"sweep", key, strconv.Itoa(v.index[key])}, path[len(swept):])
		}
	}
	return slices.Concat(base, []string{"params"}, path)
}
