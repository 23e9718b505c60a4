package result

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Code identifies a program: digests of files and modules, and versions of packages, by
// names that do not depend on the directory.
type Code map[string]string

// Difference says in which name two programs differ; "" if they do not.
func (c Code) Difference(other Code) string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(c)), maps.Keys(other))
	slices.Sort(names)
	for _, name := range names {
		if was, is := c[name], other[name]; was != is {
			return fmt.Sprintf("%s was %s and is %s", name, shorten(was), shorten(is))
		}
	}
	return ""
}

// shorten cuts a digest to ten digits.
func shorten(digest string) string {
	const kind = "sha256:"
	if hexadecimal, ok := strings.CutPrefix(digest, kind); ok {
		return kind + hexadecimal[:min(10, len(hexadecimal))]
	}
	if digest == "" {
		return "absent"
	}
	return digest
}

// Spans are the programs that an environment was, by run, increasing.
type Spans []Span

// Span is the program in run From and those that follow, up to the next span.
type Span struct {
	From    int
	Program string // identity, as in records; "" for one that is bundled with rlrun
}

// In is the program in a run; "" if it is not known.
func (s Spans) In(run int) (program string) {
	for _, span := range s {
		if span.From > run {
			break
		}
		program = span.Program
	}
	return program
}

// add adds a run to spans of earlier runs.
func (s Spans) add(run int, p Programs) Spans {
	program := p.Environment
	if program == p.Host {
		program = ""
	}
	if n := len(s); n > 0 && s[n-1].Program == program {
		return s
	}
	return append(s, Span{run, program})
}

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
	component := func(plugin, files, program string) {
		id, digest, _ := strings.Cut(program, OwnFiles)
		digest, changed, _ := strings.Cut(digest, OwnFiles)
		x.one(plugin, cmp.Or(id, p.Host)+changed)
		x.one(files, cmp.Or(digest, "none"))
	}
	component(pluginOf(c.environment, meta.Environments, meta.EnvironmentPlugins), "files of environment "+c.environment, p.Environment)
	component(pluginOf(c.agent, meta.Agents, meta.AgentPlugins), "files of agent "+c.agent+" in "+c.environment, p.Agent)
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
