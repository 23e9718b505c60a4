package result

import (
	"fmt"
	"slices"
	"strings"
)

// mixture collects which programs made the ok runs, by the name of the program.
type mixture struct {
	names []string // in the order of their first run
	ids   map[string][]string
	seen  map[cell]Programs // last run's, to skip most of the work
}

// add adds a run's programs.
func (x *mixture) add(meta *Meta, c cell, p Programs) {
	if last, ok := x.seen[c]; ok && last == p {
		return
	}
	if x.ids == nil {
		x.ids, x.seen = map[string][]string{}, map[cell]Programs{}
	}
	x.seen[c] = p
	x.one("rlrun", p.Host)
	x.one(pluginOf(c.environment, meta.Environments, meta.EnvironmentPlugins), p.Environment)
	x.one(pluginOf(c.agent, meta.Agents, meta.AgentPlugins), p.Agent)
}

func (x *mixture) one(name, id string) {
	if _, ok := x.ids[name]; !ok {
		x.names = append(x.names, name)
	}
	if !slices.Contains(x.ids[name], id) {
		x.ids[name] = append(x.ids[name], id)
	}
}

// pluginOf names the plugin behind a label, or the label itself.
func pluginOf(label string, labels, plugins []string) string {
	if i := slices.Index(labels, label); i >= 0 && i < len(plugins) {
		return "plugin " + plugins[i]
	}
	return label
}

// text says what is mixed; empty if every program is one.
func (x *mixture) text() string {
	var parts []string
	for _, name := range x.names {
		ids := x.ids[name]
		if len(ids) < 2 {
			continue
		}
		slices.Sort(ids)
		for i, id := range ids {
			if id == "" {
				ids[i] = "unknown"
			}
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", name, strings.Join(ids, ", ")))
	}
	return strings.Join(parts, "; ")
}
