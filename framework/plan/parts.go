package plan

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
)

// outside matches what an exploration calls a plugin or a file, and no rule or kind of rlrun:
// it has a slash, a dot or a space.
const outside = `[/. ]`

func isOutside(name string) bool { return strings.ContainsAny(name, "/. ") }

// isOptionFile tells a file of declared options from a plugin.
func isOptionFile(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name))
}

// RulePlugin is the plugin of the rule, nil if the rule is one of options.Rules.
func (x *Exploration) RulePlugin() *Component {
	if x == nil || !isOutside(x.Rule) {
		return nil
	}
	return &Component{Plugin: x.Rule, Params: x.Params}
}

// OptionSources are what declares options: plugins, and files with their names as parameters.
func (x *Exploration) OptionSources() (plugins []Component, files []string) {
	if x == nil {
		return nil, nil
	}
	for _, name := range x.Options {
		switch {
		case !isOutside(name):
		case isOptionFile(name):
			files = append(files, name)
		default:
			plugins = append(plugins, Component{Plugin: name})
		}
	}
	return plugins, files
}

// Parts are the plugins of the exploration of a component.
func (c *Component) Parts() []Component {
	parts, _ := c.Exploration.OptionSources()
	if rule := c.Exploration.RulePlugin(); rule != nil {
		parts = append(parts, *rule)
	}
	return parts
}

// Files is the component with the files of its exploration in place of parameters: what
// results depend on besides.
func (c *Component) Files() Component {
	_, files := c.Exploration.OptionSources()
	all := *c
	all.Params, _ = json.Marshal(map[string]any{"file": append([]string{}, files...)}) // texts have JSON
	return all
}
