package plugincmd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/internal/printable"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
)

// saved says for people what the plugin saves, if to read it can do harm.
func saved(d vector.Description) string {
	if !slices.Contains(d.Abilities, vector.PickleAbility) {
		return ""
	}
	return "pickles of Python; to read one runs code that is in it, so rlrun reads those of a directory of results only with --trust"
}

// printDescription writes what a plugin says of itself for people.
func printDescription(w io.Writer, d *inspected) error {
	fmt.Fprintf(w, "%s, %s\n%s\n", d.ID, d.Kind, d.Doc)
	if len(d.Abilities) > 0 {
		fmt.Fprintf(w, "Abilities: %s\n", strings.Join(d.Abilities, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(d.Facts)) {
		fmt.Fprintf(w, "Fact %s: %s\n", name, d.Facts[name])
	}
	if d.Saved != "" {
		fmt.Fprintf(w, "Saved agents: %s\n", d.Saved)
	}
	if d.closed != nil {
		cause, _, _ := strings.Cut(d.closed.Error(), "\n")
		fmt.Fprintf(w, "Spaces: not known, as it does not open without parameters (%s)\n", cause)
	} else if d.spec.Action != nil {
		fmt.Fprintf(w, "Observations: %s\nActions: %s\n", inWords(d.spec.Observation), inWords(d.spec.Action))
	}
	if d.FramesPerSecond > 0 {
		fmt.Fprintf(w, "Frames: %v per second\n", d.FramesPerSecond)
	}
	if d.PreferredLanes > 0 {
		fmt.Fprintf(w, "Preferred lanes: at most %d\n", d.PreferredLanes)
	}
	if d.MaxActors > 1 {
		fmt.Fprintf(w, "Actors of a run: at most %d\n", d.MaxActors)
	}
	if d.Requires != "" {
		fmt.Fprintf(w, "Requires: %s\n", d.Requires)
	}
	if len(d.Breaks) > 0 {
		fmt.Fprintln(w, "Laws of agents that do not hold, by design (docs/agents.md):")
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
	const indent = "      "
	indented := func(s string) { fmt.Fprintln(w, indent+printable.Wrap(s, columns-len(indent), indent)) }
	for _, p := range params {
		fmt.Fprintf(w, "  %s\n", p.path)
		if v := p.values(); v != "" {
			indented(v)
		}
		if p.Description != "" {
			indented(p.Description)
		}
	}
	return nil
}

// inWords is a space for people.
func inWords(s space.Space) string {
	switch s := s.(type) {
	case space.Discrete:
		return fmt.Sprintf("discrete, %d to %d", s.Start, s.Start+s.N-1)
	case space.MultiDiscrete:
		return "multi-discrete, with these numbers of values: " + brief(s.NVec)
	case space.Box:
		bound := func(x []float64) string {
			if slices.Min(x) == slices.Max(x) {
				return fmt.Sprint(x[0])
			}
			return brief(x)
		}
		return fmt.Sprintf("box of %v, shape %v, from %s to %s", s.Type, s.Shape, bound(s.Low), bound(s.High))
	}
	return fmt.Sprint(s)
}

// param is a parameter in a schema.
type param struct {
	path     string
	required bool
	*jsonschema.Schema
}

// readParams lists the parameters of a schema in its order, inner ones as a.b. Those of each kind of
// a mapping {kind: NAME, …} follow the kind.
func readParams(schema json.RawMessage) ([]param, error) {
	if len(schema) == 0 {
		return nil, nil
	}
	var root jsonschema.Schema
	if err := json.Unmarshal(schema, &root); err != nil {
		return nil, err
	}
	var out []param
	var walk func(p param, prefix string, depth int)
	walk = func(p param, prefix string, depth int) {
		if p.Schema == nil { // the property is null
			return
		}
		if name, ok := strings.CutPrefix(p.Ref, "#/$defs/"); ok && root.Definitions[name] != nil {
			d := *root.Definitions[name]
			d.Description = cmp.Or(p.Description, d.Description)
			p.Schema = &d
		}
		if p.path != "" {
			out = append(out, p)
		}
		if p.Properties == nil || depth > 8 {
			return
		}
		for x := p.Properties.Oldest(); x != nil; x = x.Next() {
			walk(param{prefix + x.Key, slices.Contains(p.Required, x.Key), x.Value}, prefix+x.Key+".", depth+1)
		}
		for _, alternative := range p.AnyOf {
			if alternative.Properties == nil {
				continue
			}
			if kind, ok := alternative.Properties.Delete("kind"); ok && kind.Const != nil {
				alternative.Type = ""
				walk(param{path: fmt.Sprintf("%s: {kind: %v}", p.path, kind.Const), Schema: alternative}, prefix, depth+1)
			}
		}
	}
	walk(param{Schema: &root}, "", 0)
	return out, nil
}

// values says what a parameter may be.
func (p *param) values() string {
	var words []string
	switch {
	case p.Const != nil:
		words = append(words, fmt.Sprint(p.Const))
	case len(p.Enum) > 0:
		list := each.Of(p.Enum, func(e any) string { return fmt.Sprint(e) })
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
		bound json.Number
	}{{"≥", p.Minimum}, {">", p.ExclusiveMinimum}, {"≤", p.Maximum}, {"<", p.ExclusiveMaximum}} {
		if b.bound != "" {
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
