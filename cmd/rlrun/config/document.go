package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/rlrun/rlrun/internal/inputfile"
)

// Bounds on a config file; no experiment comes near them.
const (
	maxBytes = 8 << 20
	maxNodes = 500_000 // after aliases are replaced by what they stand for
)

// document is a config as a tree of YAML nodes without aliases: every mapping
// key is a distinct string, every node knows where it came from.
type document struct {
	name string // of the file, for messages
	root *yaml.Node
	// flag is where the expressions of set come from, with a space, and example
	// such an expression.
	flag, example string
	// setBy holds, for nodes that were not read from the file, the flag or
	// variable they came from.
	setBy map[*yaml.Node]string
}

// parse reads one YAML document whose root is a mapping. Errors are Problems.
func parse(name string, data []byte) (*document, error) {
	d := &document{name: name, flag: "--set ", example: "agents.0.params.gamma=0.9", setBy: map[*yaml.Node]string{}}
	fail := func(format string, args ...any) (*document, error) {
		return nil, Problems{{Where: name, Message: fmt.Sprintf(format, args...)}}
	}
	switch {
	case len(data) > maxBytes:
		return fail("is larger than %d MiB; an experiment's config is a few lines of YAML", maxBytes>>20)
	case !utf8.Valid(data) || bytes.ContainsFunc(data, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' }):
		return fail("is not a text file; a config is YAML in UTF-8")
	}
	dec := yaml.NewDecoder(bytes.NewReader(inputfile.YAML(data)))
	var first, second yaml.Node
	if err := dec.Decode(&first); errors.Is(err, io.EOF) {
		return fail("is empty; an experiment needs at least runs, steps, environments and agents (see rlrun schema)")
	} else if err != nil {
		return nil, Problems{syntaxProblem(name, data, err)}
	}
	if err := dec.Decode(&second); err == nil {
		return nil, Problems{{Where: at(name, second.Line), Message: "a second document starts here; put one experiment in a file"}}
	} else if !errors.Is(err, io.EOF) {
		return nil, Problems{syntaxProblem(name, data, err)}
	}
	root, problem := expand(name, first.Content[0])
	if problem != nil {
		return nil, Problems{problem}
	}
	switch {
	case root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null":
		return fail("is empty; an experiment needs at least runs, steps, environments and agents (see rlrun schema)")
	case root.Kind != yaml.MappingNode:
		return nil, Problems{{Where: at(name, root.Line), Message: "must hold keys and values such as \"runs: 100\", not " + describe(root)}}
	}
	root.Content = withoutExtensions(root.Content)
	d.root = root
	return d, nil
}

// withoutExtensions returns the keys and values of a config without keys that begin with x-. These
// hold what anchors name, as in Compose files, and mean nothing by themselves.
func withoutExtensions(content []*yaml.Node) (kept []*yaml.Node) {
	for i := 0; i+1 < len(content); i += 2 {
		if !strings.HasPrefix(content[i].Value, "x-") {
			kept = append(kept, content[i], content[i+1])
		}
	}
	return kept
}

// at names a line. It is empty where there is no file.
func at(name string, line int) string {
	if name == "" {
		return ""
	}
	return name + ":" + strconv.Itoa(line)
}

var (
	yamlLine      = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)
	unknownAnchor = regexp.MustCompile(`unknown anchor '([^']*)'`)
)

// syntaxProblem turns an error of the YAML parser into a Problem.
func syntaxProblem(name string, data []byte, err error) *Problem {
	text := strings.ReplaceAll(err.Error(), "\n", " ")
	m := yamlLine.FindStringSubmatch(text)
	line, _ := strconv.Atoi(m[1])
	if strings.HasPrefix(text[len(m[0]):], "did not find expected") {
		line++ // go.yaml.in/yaml/v3 v3.0.6 counts these from 0
	}
	if line == 0 { // the parser leaves the first line out
		line = 1
		if anchor := unknownAnchor.FindStringSubmatch(text); anchor != nil {
			before, _, _ := strings.Cut(string(data), "*"+anchor[1])
			line += strings.Count(before, "\n")
		}
	}
	p := &Problem{Where: at(name, line), Message: "not valid YAML: " + text[len(m[0]):]}
	// A tab is found where its line ends or the next begins.
	lines := strings.Split(string(data), "\n")
	for _, l := range []int{line, line + 1, line - 1} {
		if l >= 1 && l <= len(lines) && strings.HasPrefix(strings.TrimLeft(lines[l-1], " "), "\t") {
			return &Problem{Where: at(name, l), Message: "not valid YAML: indented with a tab; use spaces"}
		}
	}
	return p
}

// expand returns a copy of a parsed tree with aliases and merge keys replaced by
// what they stand for. It refuses what has no place in a config: aliases inside
// themselves or that multiply beyond bounds, repeated keys, keys that are not
// strings, tags.
func expand(name string, root *yaml.Node) (*yaml.Node, *Problem) {
	e := &expander{name: name, open: map[*yaml.Node]bool{}}
	return e.node(root)
}

type expander struct {
	name  string
	nodes int
	open  map[*yaml.Node]bool // aliases being expanded
}

func (e *expander) problem(n *yaml.Node, format string, args ...any) *Problem {
	return &Problem{Where: at(e.name, n.Line), Message: fmt.Sprintf(format, args...)}
}

func (e *expander) node(n *yaml.Node) (*yaml.Node, *Problem) {
	if e.nodes++; e.nodes > maxNodes {
		return nil, e.problem(n, "more than %d values, with those that aliases stand for; a sweep makes many components of one entry", maxNodes)
	}
	if n.Kind == yaml.AliasNode {
		if e.open[n.Alias] {
			return nil, e.problem(n, "alias *%s stands inside what it stands for", n.Value)
		}
		e.open[n.Alias] = true
		defer delete(e.open, n.Alias)
		return e.node(n.Alias)
	}
	out := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Style: n.Style, Value: n.Value, Line: n.Line, Column: n.Column}
	switch n.Kind {
	case yaml.ScalarNode:
		switch tag := n.ShortTag(); tag {
		case "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp":
		default:
			return nil, e.problem(n, "tag %s is not supported; write the plain value", tag)
		}
		return out, nil
	case yaml.SequenceNode:
		for _, c := range n.Content {
			child, problem := e.node(c)
			if problem != nil {
				return nil, problem
			}
			out.Content = append(out.Content, child)
		}
		return out, nil
	}
	return e.mapping(n, out)
}

func (e *expander) mapping(n, out *yaml.Node) (*yaml.Node, *Problem) {
	seen := map[string]int{}
	var merged []*yaml.Node
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].ShortTag() == "!!merge" {
			if merged != nil {
				return nil, e.problem(n.Content[i], "<< is here a second time; write one << with a list, [*a, *b]")
			}
			m, problem := e.node(n.Content[i+1])
			if problem != nil {
				return nil, problem
			}
			switch {
			case m.Kind == yaml.MappingNode:
				merged = append(merged, m)
			case m.Kind == yaml.SequenceNode:
				merged = append(merged, m.Content...)
			default:
				return nil, e.problem(n.Content[i], "<< needs a mapping, such as *anchor")
			}
			continue
		}
		key, problem := e.node(n.Content[i])
		if problem != nil {
			return nil, problem
		}
		if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" && key.ShortTag() != "!!timestamp" {
			return nil, e.problem(key, "the key is %s; keys must be text (put it in quotes)", describe(key))
		}
		if line, dup := seen[key.Value]; dup {
			return nil, e.problem(key, "the key %q is here a second time (first on line %d); remove one", key.Value, line)
		}
		seen[key.Value] = key.Line
		value, problem := e.node(n.Content[i+1])
		if problem != nil {
			return nil, problem
		}
		out.Content = append(out.Content, key, value)
	}
	for _, m := range merged {
		if m.Kind != yaml.MappingNode {
			return nil, e.problem(m, "<< needs a mapping, such as *anchor")
		}
		for i := 0; i < len(m.Content); i += 2 {
			if _, own := seen[m.Content[i].Value]; !own {
				seen[m.Content[i].Value] = m.Content[i].Line
				out.Content = append(out.Content, m.Content[i], m.Content[i+1])
			}
		}
	}
	return out, nil
}

// child returns the value at a key or index of a node, and the node that stands
// for the key in messages; nil if there is none.
func child(n *yaml.Node, seg string) (key, value *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i < len(n.Content); i += 2 {
			if n.Content[i].Value == seg {
				return n.Content[i], n.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(seg); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i], n.Content[i]
		}
	}
	return nil, nil
}

// find follows a path as far as it goes and returns the last key and value met,
// and how many segments were followed.
func (d *document) find(path []string) (key, value *yaml.Node, depth int) {
	key, value = d.root, d.root
	for _, seg := range path {
		k, v := child(value, seg)
		if v == nil {
			break
		}
		key, value, depth = k, v, depth+1
	}
	return key, value, depth
}

// where says where a node came from: the file and line, or what set it.
func (d *document) where(n *yaml.Node) string {
	if o, ok := d.setBy[n]; ok {
		return o
	}
	return at(d.name, max(n.Line, 1))
}

// problem is a Problem with the value at path, which need not exist: then its
// nearest parent is pointed at.
func (d *document) problem(path []string, format string, args ...any) *Problem {
	key, value, _ := d.find(path)
	p := &Problem{Where: d.where(key), Path: d.display(path), Message: fmt.Sprintf(format, args...)}
	if o, ok := d.setBy[value]; ok { // an existing key, given its value by a flag
		p.Where = o
		if !strings.HasPrefix(o+" ", d.flag) {
			p.Path = "" // the flag or variable says which key it is
		}
	}
	return p
}

// display writes a path for people.
func (d *document) display(path []string) string {
	return display(path, func(depth int) bool {
		_, parent, got := d.find(path[:depth])
		return got == depth && parent.Kind == yaml.SequenceNode
	})
}
