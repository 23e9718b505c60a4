package plan

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
)

// outside matches what an exploration calls a plugin or a file, and no rule or kind of rlrun:
// it has a slash, a dot or a space, or is the name of an executable in the path.
const (
	outside     = `[/. ]|^` + executables
	executables = "rlrun-plugin-"
)

func isOutside(name string) bool {
	return strings.ContainsAny(name, "/. ") || strings.HasPrefix(name, executables)
}

// ofClass matches the command line of a class that Python's rlrun.run gives: of a module, or in a file
// whose name has a digest.
var ofClass = regexp.MustCompile(`^\S+ -m rlrun\._programs \S*[:/]([^:/\s]+?)(?:-[0-9a-f]{16}\.pickle)?$`)

// ClassOf is the name of such a class, and any other name as it is.
func ClassOf(name string) string {
	if m := ofClass.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return name
}

// IsOptionFile tells a file of declared options from a plugin.
func IsOptionFile(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name))
}

// OptionKind is an entry of Exploration.Options: the name of a kind, a file or a plugin, and parameters
// of the plugin. In JSON it is the name alone where there are none.
type OptionKind struct {
	// A kind of the host, a file of declared options, or a plugin that proposes options.
	Name string `json:"plugin"`
	// Params are parameters of the plugin.
	Params json.RawMessage `json:"params,omitempty" jsonschema:"type=object"`
}

// MarshalJSON writes Name where there is nothing else to say.
func (k OptionKind) MarshalJSON() ([]byte, error) {
	if k.Params == nil {
		return json.Marshal(k.Name)
	}
	type plain OptionKind
	return json.Marshal(plain(k))
}

// UnmarshalJSON reads an OptionKind or its Name.
func (k *OptionKind) UnmarshalJSON(data []byte) error {
	*k = OptionKind{}
	if json.Unmarshal(data, &k.Name) == nil {
		return nil
	}
	type plain OptionKind
	return json.Unmarshal(data, (*plain)(k))
}

// same tells whether two entries are one.
func (k OptionKind) same(other OptionKind) bool {
	return k.Name == other.Name && meaning(k.Params) == meaning(other.Params)
}

// Source is the plugin of a source of options, nil of rlrun's own kinds and of files.
func (k OptionKind) Source() *Component {
	if !isOutside(k.Name) || IsOptionFile(k.Name) {
		return nil
	}
	return &Component{Plugin: k.Name, Params: k.Params}
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
	for _, k := range x.Options {
		if c := k.Source(); c != nil {
			plugins = append(plugins, *c)
		} else if isOutside(k.Name) {
			files = append(files, k.Name)
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

// PathOf is where the exploration names a part.
func (x *Exploration) PathOf(part Component) Path {
	if i := slices.IndexFunc(x.Options, func(k OptionKind) bool { return k.Name == part.Plugin }); i >= 0 {
		return Path{"options", i}
	}
	return Path{"rule"}
}

// Files is the component with the files of its exploration in place of parameters: what
// results depend on besides.
func (c *Component) Files() Component {
	_, files := c.Exploration.OptionSources()
	all := *c
	all.Params, _ = json.Marshal(map[string]any{"file": append([]string{}, files...)}) // texts have JSON
	return all
}
