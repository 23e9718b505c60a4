package page

import (
	"maps"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework/plan"
)

// sweeps lists the agents, and the environments, that are variants of one entry of the
// config.
func sweeps(p *plan.Plan) []Sweep {
	out := sweepsOf(p.Config.Agents, p.AgentEntries)
	for _, s := range sweepsOf(p.Config.Environments, p.EnvironmentEntries) {
		s.Agents, s.Environments = nil, s.Agents
		out = append(out, s)
	}
	return out
}

// sweepsOf takes components as agents. of holds the entry of each variant.
func sweepsOf(entries []plan.Component, of []int) []Sweep {
	var out []Sweep
	for entry, c := range entries {
		keys := slices.Sorted(maps.Keys(c.Sweep))
		if len(keys) == 0 {
			continue
		}
		sweep := Sweep{Name: sweptName(c, keys), Keys: keys}
		variant := 0
		for a, o := range of {
			if o != entry {
				continue
			}
			// The last key changes fastest, as in Component.sweep.
			values := make([]string, len(keys))
			rest := variant
			for k := len(keys) - 1; k >= 0; k-- {
				list := c.Sweep[keys[k]]
				values[k] = strings.Trim(string(list[rest%len(list)]), `"`)
				rest /= len(list)
			}
			sweep.Agents, sweep.Values = append(sweep.Agents, a), append(sweep.Values, values)
			variant++
		}
		if variant > 1 {
			out = append(out, sweep)
		}
	}
	return out
}

// sweptName is the name of a component without its swept values.
func sweptName(c plan.Component, keys []string) string {
	name := c.Name
	if name == "" {
		return c.Label()
	}
	for _, key := range keys {
		hole := "{" + key + "}"
		at := strings.Index(name, hole)
		for ; at >= 0; at = strings.Index(name, hole) {
			start := strings.LastIndexByte(name[:at], ' ') + 1 // with the word before it, as in "γ={gamma}"
			name = name[:start] + name[at+len(hole):]
		}
	}
	if name = strings.Trim(strings.Join(strings.Fields(name), " "), " ,;"); name == "" {
		return c.Label()
	}
	return name
}
