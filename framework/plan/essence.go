package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework/result"
)

// Difference returns the first key that decides records and whose value is another one in
// an older config, with both values. It is empty if there is none.
func (c Config) Difference(old Config) (where, was, is string) {
	a, b := old.essence(), c.essence()
	for _, key := range essentialKeys(a, b) {
		if !reflect.DeepEqual(a[key], b[key]) {
			return firstDifference(key, a[key], b[key])
		}
	}
	return "", "", ""
}

// firstDifference descends to the first value that differs between two decoded
// JSON values, and returns its path and both values as JSON, shortened.
func firstDifference(path string, a, b any) (where, was, is string) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			for _, k := range slices.Sorted(maps.Keys(x)) {
				if !reflect.DeepEqual(x[k], y[k]) {
					return firstDifference(path+"."+k, x[k], y[k])
				}
			}
			for _, k := range slices.Sorted(maps.Keys(y)) {
				if _, has := x[k]; !has {
					return firstDifference(path+"."+k, nil, y[k])
				}
			}
		}
	case []any:
		if y, ok := b.([]any); ok && len(x) == len(y) {
			for i := range x {
				if !reflect.DeepEqual(x[i], y[i]) {
					return firstDifference(fmt.Sprintf("%s[%d]", path, i), x[i], y[i])
				}
			}
		}
	}
	return path, brief(a), brief(b)
}

func brief(v any) string {
	if v == nil {
		return "absent"
	}
	data, err := json.Marshal(v)
	if err != nil || len(data) > 60 {
		return "something else"
	}
	return string(data)
}

func essentialKeys(a, b map[string]any) []string {
	var keys []string
	for _, k := range []string{"seed", "steps", "discount", "record", "save", "evaluate", "environments", "agents"} {
		if a[k] != nil || b[k] != nil {
			keys = append(keys, k)
		}
	}
	return keys
}

// essence is the config as decoded JSON, without what cannot change a record.
func (c Config) essence() map[string]any {
	data, err := json.Marshal(c)
	if err != nil {
		return nil
	}
	var m map[string]any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if decoder.Decode(&m) != nil {
		return nil
	}
	m, _ = plainNumbers(m).(map[string]any)
	if record, ok := m["record"].(map[string]any); ok {
		if metrics, ok := record["metrics"].([]any); ok { // their order changes no record
			slices.SortFunc(metrics, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
	}
	for _, key := range []string{"environments", "agents"} {
		list, _ := m[key].([]any)
		for _, e := range list {
			if component, ok := e.(map[string]any); ok {
				for _, key := range []string{"transport", "processes_per_worker", "limits"} {
					delete(component, key)
				}
			}
		}
	}
	for _, key := range []string{"name", "description", "runs", "transport", "workers", "lanes", "limits", "output", "outputs", "report", "compare"} {
		delete(m, key)
	}
	return m
}

// plainNumbers replaces numbers in decoded JSON by float64, so that 1 and 1.0 are equal.
// Integers that float64 may not hold, such as seeds, stay.
func plainNumbers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, x := range v {
			v[key] = plainNumbers(x)
		}
	case []any:
		for i, x := range v {
			v[i] = plainNumbers(x)
		}
	case json.Number:
		x, err := v.Float64()
		if large := math.Abs(x) >= 1<<53 && !strings.ContainsAny(v.String(), ".eE"); err == nil && !large {
			return x
		}
	}
	return value
}

// Digest is the SHA-256 of the essence's JSON, in hexadecimal.
func (c Config) Digest() string {
	data, _ := json.Marshal(c.essence())
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Identities returns, by environment and agent, a digest of what decides their records
// besides the programs: seed, steps and what is recorded, and both components. Other
// components do not change it.
func (p *Plan) Identities() map[result.Key]string {
	c := p.Config
	c.Environments, c.Agents = p.Environments, p.Agents
	c.Matrix, c.Save = nil, nil // they say which records and files there are
	common := c.essence()
	parts := func(key string) (list []json.RawMessage) {
		components, _ := common[key].([]any)
		for _, component := range components {
			data, _ := json.Marshal(component)
			list = append(list, data)
		}
		delete(common, key)
		return list
	}
	environments, agents := parts("environments"), parts("agents")
	rest, _ := json.Marshal(common)
	out := map[result.Key]string{}
	for _, cell := range p.Cells {
		out[p.Key(cell)] = ShortDigest(json.RawMessage(rest), environments[cell.Environment], agents[cell.Agent])
	}
	return out
}

// ShortDigest identifies values in ten hexadecimal digits, short enough for every
// record.
func ShortDigest(values ...any) string {
	data, err := json.Marshal(values)
	if err != nil {
		panic("plan: identity without JSON: " + err.Error()) // strings and maps of strings have JSON
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:10]
}
