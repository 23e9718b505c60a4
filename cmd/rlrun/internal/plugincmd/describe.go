package plugincmd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/rlrun/rlrun/framework/vector"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
)

// printDescription writes what a plugin says of itself for people.
func printDescription(w io.Writer, d vector.Description) error {
	fmt.Fprintf(w, "%s, %s\n%s\n", d.ID, d.Kind, d.Doc)
	if len(d.Capabilities) > 0 {
		fmt.Fprintf(w, "Capabilities: %s\n", strings.Join(d.Capabilities, ", "))
	}
	if d.FramesPerSecond > 0 {
		fmt.Fprintf(w, "Frames: %v per second\n", d.FramesPerSecond)
	}
	if d.PreferredLanes > 0 {
		fmt.Fprintf(w, "Preferred lanes: at most %d\n", d.PreferredLanes)
	}
	if d.Requires != "" {
		fmt.Fprintf(w, "Requires: %s\n", d.Requires)
	}
	if len(d.Breaks) > 0 {
		fmt.Fprintln(w, "Breaks by design (laws of agents, docs/agents.md):")
		for _, law := range slices.Sorted(maps.Keys(d.Breaks)) {
			fmt.Fprintf(w, "  %s: %s\n", law, d.Breaks[law])
		}
	}
	params, err := readParams(d.Params)
	if err != nil {
		return fmt.Errorf("%s describes its parameters with a schema that is not valid: %w", d.ID, err)
	}
	if len(params) == 0 {
		_, err := fmt.Fprintln(w, "\nNo parameters.")
		return err
	}
	fmt.Fprintln(w, "\nParameters:")
	columns := cmp.Or(cli.Width(w), 100)
	indented := func(s string) string {
		var b strings.Builder
		for line := range strings.SplitSeq(text.WrapSoft(s, columns-6), "\n") {
			b.WriteString("      " + strings.TrimRight(line, " ") + "\n")
		}
		return b.String()
	}
	for _, p := range params {
		fmt.Fprintf(w, "  %s\n", p.path)
		if v := p.values(); v != "" {
			io.WriteString(w, indented(v))
		}
		if p.Description != "" {
			io.WriteString(w, indented(p.Description))
		}
	}
	return nil
}

// param is a parameter in a schema.
type param struct {
	path     string
	required bool

	Type             string            `json:"type"`
	Description      string            `json:"description"`
	Default          any               `json:"default"`
	Enum             []any             `json:"enum"`
	Const            any               `json:"const"`
	Minimum          *json.Number      `json:"minimum"`
	Maximum          *json.Number      `json:"maximum"`
	ExclusiveMinimum *json.Number      `json:"exclusiveMinimum"`
	ExclusiveMaximum *json.Number      `json:"exclusiveMaximum"`
	Items            *param            `json:"items"`
	Properties       json.RawMessage   `json:"properties"`
	Required         []string          `json:"required"`
	Ref              string            `json:"$ref"`
	Defs             map[string]*param `json:"$defs"`
}

// readParams lists the parameters of a schema in its order, inner ones as a.b.
func readParams(schema json.RawMessage) ([]param, error) {
	if len(schema) == 0 {
		return nil, nil
	}
	var root param
	if err := json.Unmarshal(schema, &root); err != nil {
		return nil, err
	}
	var out []param
	err := root.walk(&root, "", 0, &out)
	return out, err
}

func (p *param) walk(root *param, path string, depth int, out *[]param) error {
	if name, ok := strings.CutPrefix(p.Ref, "#/$defs/"); ok && root.Defs[name] != nil {
		d := *root.Defs[name]
		if p.Description != "" {
			d.Description = p.Description
		}
		d.path, d.required = p.path, p.required
		p = &d
	}
	if path != "" {
		p.path = path
		*out = append(*out, *p)
		path += "."
	}
	if len(p.Properties) == 0 || depth > 8 {
		return nil
	}
	names, properties, err := ordered(p.Properties)
	if err != nil {
		return err
	}
	for _, name := range names {
		inner := properties[name]
		inner.required = slices.Contains(p.Required, name)
		if err := inner.walk(root, path+name, depth+1, out); err != nil {
			return err
		}
	}
	return nil
}

// ordered decodes an object of parameters and lists its keys in the order
// written.
func ordered(object json.RawMessage) ([]string, map[string]*param, error) {
	properties := map[string]*param{}
	if err := json.Unmarshal(object, &properties); err != nil {
		return nil, nil, err
	}
	var names []string
	dec := json.NewDecoder(strings.NewReader(string(object)))
	if _, err := dec.Token(); err != nil {
		return nil, nil, err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, nil, err
		}
		names = append(names, fmt.Sprint(key))
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			return nil, nil, err
		}
	}
	return names, properties, nil
}

// values says what a parameter may be.
func (p *param) values() string {
	var words []string
	switch {
	case p.Const != nil:
		words = append(words, fmt.Sprint(p.Const))
	case len(p.Enum) > 0:
		var list []string
		for _, e := range p.Enum {
			list = append(list, fmt.Sprint(e))
		}
		words = append(words, strings.Join(list, " | "))
	case p.Type == "array" && p.Items != nil && p.Items.Type != "":
		words = append(words, "list of "+p.Items.Type)
	case p.Type == "object":
		words = append(words, "mapping")
	case p.Type != "":
		words = append(words, p.Type)
	}
	for _, b := range []struct {
		sign  string
		bound *json.Number
	}{{"≥", p.Minimum}, {">", p.ExclusiveMinimum}, {"≤", p.Maximum}, {"<", p.ExclusiveMaximum}} {
		if b.bound != nil {
			words = append(words, b.sign+" "+b.bound.String())
		}
	}
	out := strings.Join(words, " ")
	switch {
	case p.required:
		out += ", required"
	case p.Default != nil:
		out += fmt.Sprintf(", default %v", p.Default)
	}
	return strings.TrimPrefix(out, ", ")
}
