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

	"github.com/rlrun/rlrun/framework/internal/brief"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/whole"
)

// Difference returns the first key that decides records of both plans and whose value is
// another one in an older plan, with both values. Environments and agents are compared with
// those of the same label. It is empty if there is none.
func (p *Plan) Difference(old *Plan) (where, was, is string) {
	before, now := old.essence(), p.essence()
	for _, key := range []string{"seed", "steps", "episodes", "discount", "save", "evaluate", "record"} {
		if !reflect.DeepEqual(before.common[key], now.common[key]) {
			return firstDifference(key, before.common[key], now.common[key])
		}
	}
	for _, list := range []struct {
		key         string
		entries     []int // of the older plan
		labels      []string
		before, now []any
	}{
		{EnvironmentsKey, old.EnvironmentEntries, Labels(p.Environments), before.environments, now.environments},
		{AgentsKey, old.AgentEntries, Labels(p.Agents), before.agents, now.agents},
	} {
		index := map[string]int{}
		for i, label := range list.labels {
			index[label] = i
		}
		for i, component := range list.before {
			label, _ := component.(map[string]any)["name"].(string)
			if j, both := index[label]; both && !reflect.DeepEqual(component, list.now[j]) {
				return firstDifference(fmt.Sprintf("%s[%d]", list.key, list.entries[i]), component, list.now[j])
			}
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
		if y, ok := b.([]any); ok {
			at := func(list []any, i int) any {
				if i < len(list) {
					return list[i]
				}
				return nil
			}
			switch left, added := alone(x, y), alone(y, x); {
			case left == "" && added != "":
				return path, "without " + added, "with"
			case left != "" && added == "":
				return path, "with " + left, "without"
			}
			for i := range max(len(x), len(y)) {
				if v, w := at(x, i), at(y, i); !reflect.DeepEqual(v, w) {
					return firstDifference(fmt.Sprintf("%s[%d]", path, i), v, w)
				}
			}
		}
	}
	was, is = brief.Texts(asJSON(a), asJSON(b))
	return path, was, is
}

// alone lists the names that a list has and another has not.
func alone(list, other []any) string {
	var names []string
	for _, v := range list {
		if name, ok := v.(string); ok && !slices.Contains(other, v) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// asJSON writes a decoded value.
func asJSON(v any) string {
	if v == nil {
		return "absent"
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}

// essence is the config as decoded JSON, without what cannot change a record.
func (c Config) essence() map[string]any {
	data, err := json.Marshal(c)
	if err != nil {
		return nil
	}
	m, _ := plain(data).(map[string]any)
	if record, ok := m["record"].(map[string]any); ok {
		if metrics, ok := record["metrics"].([]any); ok { // their order changes no record
			slices.SortFunc(metrics, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
	}
	given := m["discount"] != nil
	if !given {
		m["discount"] = c.MetricDiscount()
	}
	for _, key := range []string{"environments", "agents"} {
		list, _ := m[key].([]any)
		for _, e := range list {
			if component, ok := e.(map[string]any); ok {
				if x, ok := component["exploration"].(map[string]any); ok && !given && x["horizon"] == nil {
					x["horizon"] = "steps" // not the discount
				}
				for _, key := range []string{"transport", "limits"} {
					delete(component, key)
				}
			}
		}
	}
	for _, key := range []string{"name", "description", "runs", "checkpoint", "transport", "workers", "lanes", "colocate", "limits", "output", "outputs", "report", "compare"} {
		delete(m, key)
	}
	return m
}

// plain decodes JSON, with numbers as plainNumbers has them.
func plain(data json.RawMessage) (value any) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return nil
	}
	return plainNumbers(value)
}

// meaning is a text that JSON of equal meaning shares: 0.1 and 1e-1, 1 and 1.0, nothing and {}.
func meaning(data json.RawMessage) string {
	if len(data) == 0 {
		return "{}"
	}
	return asJSON(plain(whole.Numbers(data)))
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
			return x + 0 // not -0
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
	e := p.essence()
	delete(e.common, "save") // it says which files there are
	encoded := func(v any) json.RawMessage {
		data, _ := json.Marshal(v)
		return data
	}
	rest, components := encoded(e.common), func(list []any) (out []json.RawMessage) {
		for _, component := range list {
			out = append(out, encoded(component))
		}
		return out
	}
	environments, agents := components(e.environments), components(e.agents)
	out := map[result.Key]string{}
	for _, cell := range p.Cells {
		out[p.Key(cell)] = ShortDigest(rest, environments[cell.Environment], agents[cell.Agent])
	}
	return out
}

// essence is a plan as decoded JSON, without what cannot change a record.
type essence struct {
	common               map[string]any // to all records
	environments, agents []any          // in the plan's order
}

func (p *Plan) essence() (e essence) {
	c := p.Config
	c.Environments, c.Agents = p.Environments, p.Agents
	c.Matrix = nil // it says which records there are
	e.common = c.essence()
	e.environments, _ = e.common[EnvironmentsKey].([]any)
	e.agents, _ = e.common[AgentsKey].([]any)
	delete(e.common, EnvironmentsKey)
	delete(e.common, AgentsKey)
	return e
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
