package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/rlrun/rlrun/internal/inputfile"
)

// set applies one --set path=value: the value, read as YAML, replaces what is at
// the path or is added there. Mappings on the way are made where they are
// missing; an index one past a list's end appends.
func (d *document) set(expr string) *Problem {
	flag := d.flag + shorten(expr)
	fail := func(format string, args ...any) *Problem {
		return &Problem{Where: flag, Message: fmt.Sprintf(format, args...)}
	}
	path, text, err := splitSet(expr)
	if errors.Is(err, errNotSet) {
		return fail("%v, such as %s", err, d.example)
	}
	if err != nil {
		return fail("%v", err)
	}
	if strings.HasPrefix(path[0], "x-") {
		return fail("keys that begin with x- hold what anchors name in a file, and mean nothing here")
	}
	value, err := d.value(text, flag)
	if err != nil {
		return fail("%v", err)
	}
	n := d.root
	for i, seg := range path {
		last := i == len(path)-1
		next := value
		if !last {
			next = &yaml.Node{Kind: yaml.MappingNode}
			d.setBy[next] = flag
		}
		switch n.Kind {
		case yaml.MappingNode:
			if n = setKey(n, seg, next, last); n == next {
				if key, _, _ := d.find(path[:i+1]); key.Line == 0 {
					d.setBy[key] = flag
				}
			}
		case yaml.SequenceNode:
			j, err := strconv.Atoi(seg)
			switch {
			case err != nil || strconv.Itoa(j) != seg || j < 0 || j > len(n.Content): // +1 and 01 are no index
				return fail("%s is a list of %d; %q must be an index from 0 to %d (%d appends)",
					d.display(path[:i]), len(n.Content), seg, len(n.Content), len(n.Content))
			case j == len(n.Content):
				n.Content = append(n.Content, next)
			case last:
				n.Content[j] = next
			}
			n = n.Content[j]
		default:
			return fail("%s is %s and has nothing inside it to set", d.display(path[:i]), describe(n))
		}
	}
	return nil
}

// setKey returns the value now at a key of a mapping: the one that was there, or
// next where there was none (or nothing) or it is to be replaced.
func setKey(n *yaml.Node, key string, next *yaml.Node, replace bool) *yaml.Node {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value != key {
			continue
		}
		if v := n.Content[i+1]; replace || v.Kind == yaml.ScalarNode && v.ShortTag() == "!!null" {
			n.Content[i+1] = next
		}
		return n.Content[i+1]
	}
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, next)
	return next
}

// value reads a value that did not come from the file and remembers what set it.
func (d *document) value(text, setBy string) (*yaml.Node, error) {
	var doc, more yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(inputfile.YAML([]byte(text))))
	err := dec.Decode(&doc)
	if err == nil {
		if err = dec.Decode(&more); err == nil {
			return nil, fmt.Errorf("the value is followed by another, on line %d", more.Line)
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("the value is not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if doc.Kind == 0 { // nothing, or only a comment
		doc.Content = []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!null"}}
	}
	n, problem := expand(setBy, doc.Content[0])
	if problem != nil {
		return nil, fmt.Errorf("%s", problem.Message)
	}
	d.claim(n, setBy)
	return n, nil
}

// claim remembers what set a tree.
func (d *document) claim(n *yaml.Node, setBy string) {
	d.setBy[n] = setBy
	for _, c := range n.Content {
		d.claim(c, setBy)
	}
}

var errNotSet = errors.New("must be path=value")

// splitSet cuts path=value and splits the path: a.1.b, a[1].b; a segment with
// dots in double quotes.
func splitSet(expr string) (path []string, value string, err error) {
	rest := expr
	for {
		var seg string
		switch {
		case strings.HasPrefix(rest, `"`):
			quoted, qerr := strconv.QuotedPrefix(rest)
			if qerr != nil {
				return nil, "", fmt.Errorf("a quoted key does not end")
			}
			if seg, qerr = strconv.Unquote(quoted); qerr != nil {
				return nil, "", errNotSet
			}
			rest = rest[len(quoted):]
		default:
			end := strings.IndexAny(rest, ".=[]")
			if end <= 0 {
				return nil, "", errNotSet
			}
			seg, rest = rest[:end], rest[end:]
			if rest[0] == ']' {
				rest = rest[1:]
			}
		}
		path = append(path, seg)
		switch {
		case strings.HasPrefix(rest, "="):
			return path, rest[1:], nil
		case strings.HasPrefix(rest, "."), strings.HasPrefix(rest, "["):
			rest = rest[1:]
		default:
			return nil, "", errNotSet
		}
	}
}
