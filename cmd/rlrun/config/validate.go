package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"go.yaml.in/yaml/v3"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/internal/spelling"
)

// validator is a compiled JSON schema, with its source for messages.
type validator struct {
	compiled *jsonschema.Schema
	source   any
}

// Of configs themselves, and of the keys of exploration that they sweep. Each is compiled once.
var (
	configValidator      = sync.OnceValues(func() (*validator, error) { return newValidator(plan.Schema()) })
	explorationValidator = sync.OnceValues(func() (*validator, error) { return newValidator(explorationSchema()) })
)

// newValidator compiles a schema. A schema cannot refer to files or the network.
func newValidator(schema []byte) (*validator, error) {
	source, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	if err := c.AddResource("rlrun:///schema", source); err != nil {
		return nil, err
	}
	compiled, err := c.Compile("rlrun:///schema")
	if err != nil {
		return nil, err
	}
	return &validator{compiled, source}, nil
}

// CheckSchema refuses a schema of parameters that is not valid, or that gives a parameter a default which
// it does not allow. A default of null says that there is no value.
func CheckSchema(schema json.RawMessage) error {
	if len(bytes.TrimSpace(schema)) == 0 {
		return nil
	}
	v, err := newValidator(schema)
	if err != nil {
		return fmt.Errorf("it describes its parameters with a schema that is not valid: %w", err)
	}
	return checkDefaults(v.compiled, "", map[*jsonschema.Schema]bool{})
}

func checkDefaults(s *jsonschema.Schema, path string, seen map[*jsonschema.Schema]bool) error {
	if s == nil || seen[s] {
		return nil
	}
	seen[s] = true
	if s.Default != nil && *s.Default != nil {
		var failed *jsonschema.ValidationError
		if err := s.Validate(*s.Default); errors.As(err, &failed) {
			leaf := leaves(failed)[0]
			name := strings.Join(append([]string{path}, leaf.InstanceLocation...), ".")
			return fmt.Errorf("its parameter %s has a default that its own description does not allow: %s",
				name, leaf.ErrorKind.LocalizedString(message.NewPrinter(language.English)))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		if err := checkDefaults(s.Properties[key], strings.TrimPrefix(path+"."+key, "."), seen); err != nil {
			return err
		}
	}
	for _, of := range slices.Concat([]*jsonschema.Schema{s.Ref}, s.AnyOf, s.OneOf, s.AllOf) {
		if err := checkDefaults(of, path, seen); err != nil {
			return err
		}
	}
	return nil
}

// validate returns what is wrong with a JSON value that stands at base in the
// document. relocate maps a path in the value to one in the document.
func (v *validator) validate(d *document, value []byte, relocate func([]string) []string) (Problems, error) {
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return nil, err
	}
	var failed *jsonschema.ValidationError
	if err := v.compiled.Validate(instance); err == nil {
		return nil, nil
	} else if !errors.As(err, &failed) {
		return nil, err
	}
	var problems Problems
	for _, leaf := range leaves(failed) {
		problems = append(problems, v.explain(d, leaf, relocate)...)
	}
	return problems, nil
}

// leaves returns the failures to report. If no alternative fits, these are the
// failures of the alternative that was most likely meant.
func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	switch e.ErrorKind.(type) {
	case *kind.OneOf, *kind.AnyOf:
		best := slices.MinFunc(e.Causes, func(a, b *jsonschema.ValidationError) int {
			return cmp.Compare(misfit(e, a), misfit(e, b))
		})
		if misfit(e, best) >= misfitType {
			return []*jsonschema.ValidationError{e}
		}
		return leaves(best)
	}
	var out []*jsonschema.ValidationError
	choices := map[string]bool{} // that a value is none of
	for _, c := range e.Causes {
		for _, leaf := range leaves(c) {
			_, choice := leaf.ErrorKind.(*kind.Enum)
			at := strings.Join(leaf.InstanceLocation, "/")
			if _, tag := leaf.ErrorKind.(*kind.Const); tag && choices[at] {
				continue // the choice says so
			}
			choices[at] = choices[at] || choice
			out = append(out, leaf)
		}
	}
	return out
}

const misfitType = 1000

// misfit says how far an alternative is from the written value. A value of
// another type means that the alternative was not meant at all. So does a value
// that the alternative fixes differently (the tag of a variant).
func misfit(parent, e *jsonschema.ValidationError) int {
	total := 0
	for _, leaf := range leaves(e) {
		total++
		depth := len(leaf.InstanceLocation) - len(parent.InstanceLocation)
		switch leaf.ErrorKind.(type) {
		case *kind.Type:
			if depth == 0 {
				total += misfitType
			}
		case *kind.Const:
			if depth == 1 {
				total += misfitType / 10
			}
		}
	}
	return total
}

// explain turns one failure into problems.
func (v *validator) explain(d *document, e *jsonschema.ValidationError, relocate func([]string) []string) Problems {
	at := func(extra ...string) []string {
		return relocate(append(slices.Clone(e.InstanceLocation), extra...))
	}
	one := func(format string, args ...any) Problems { return Problems{d.problem(at(), format, args...)} }
	_, node, _ := d.find(at())
	got := describe(node)
	if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null" {
		return one("has no value; give it one or remove the key")
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		hint := ""
		if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!str" && slices.ContainsFunc(k.Want, func(w string) bool { return w == "integer" || w == "number" }) {
			if _, ok := new(big.Rat).SetString(node.Value); ok {
				hint = "; write it as a plain number"
				if node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
					hint = "; remove the quotes"
				}
			}
		}
		return one("must be %s, not %s%s", typeNames(k.Want), got, hint)
	case *kind.AdditionalProperties:
		return unknown(d, v.properties(e.SchemaURL), k.Properties, at)
	case *kind.Required:
		return v.missing(d, e.SchemaURL, k.Missing, at)
	case *kind.Enum:
		words := each.Of(k.Want, func(w any) string { return fmt.Sprint(w) })
		hint := ""
		if word, ok := k.Got.(string); ok {
			if c := spelling.Closest(word, words); c != "" {
				hint = fmt.Sprintf("; did you mean %s?", c)
			}
			if strings.Contains(e.SchemaURL, "/Exploration/properties/") && strings.Contains(e.SchemaURL, "/anyOf/") { // plugins beside
				words = append(words, fmt.Sprintf("a file named with a slash, such as ./%s.py", word))
			}
		}
		return one("must be %s, not %s%s", quoteList(words), got, hint)
	case *kind.Const:
		return one("must be %v, not %s", k.Want, got)
	case *kind.Minimum:
		return one("must be at least %s, not %s", number(k.Want), number(k.Got))
	case *kind.Maximum:
		return one("must be at most %s, not %s", number(k.Want), number(k.Got))
	case *kind.ExclusiveMinimum:
		return one("must be greater than %s, not %s", number(k.Want), number(k.Got))
	case *kind.ExclusiveMaximum:
		return one("must be less than %s, not %s", number(k.Want), number(k.Got))
	case *kind.MultipleOf:
		return one("must be a multiple of %s, not %s", number(k.Want), number(k.Got))
	case *kind.MinItems:
		return one("needs at least %s, has %d", count(k.Want, "entry", "entries"), k.Got)
	case *kind.MaxItems:
		return one("can have at most %s, has %d", count(k.Want, "entry", "entries"), k.Got)
	case *kind.MinLength:
		if node.Value == "" {
			return one("must not be empty")
		}
		return one("must have at least %s, is %q", count(k.Want, "letter", "letters"), node.Value)
	case *kind.Pattern:
		return one("must match the pattern %s, is %q", k.Want, k.Got)
	case *kind.FalseSchema:
		return one("is not allowed here")
	case *kind.OneOf, *kind.AnyOf:
		var types []string
		for _, c := range e.Causes {
			for _, leaf := range leaves(c) {
				if t, ok := leaf.ErrorKind.(*kind.Type); ok && len(leaf.InstanceLocation) == len(e.InstanceLocation) {
					types = append(types, t.Want...)
				}
			}
		}
		if len(types) > 0 {
			slices.Sort(types)
			return one("must be %s, not %s", typeNames(slices.Compact(types)), got)
		}
	}
	return one("%s", e.ErrorKind.LocalizedString(message.NewPrinter(language.English)))
}

// unknown reports keys that are not among the known ones. at is the path of a key.
func unknown(d *document, known, names []string, at func(...string) []string) (out Problems) {
	for _, name := range names {
		path := at(name)
		if len(path) == 5 && path[2] == "sweep" { // one problem, whatever the number of its values
			path = path[:4]
		}
		out = append(out, d.problem(path, "unknown key%s", suggest(name, known)))
	}
	return out
}

// missing reports keys that a schema requires. at is the path of a key.
func (v *validator) missing(d *document, schema string, names []string, at func(...string) []string) (out Problems) {
	for _, name := range names {
		what := v.description(schema, name)
		if what != "" {
			what = ": " + what
		}
		how := ""
		if path := at(name); strings.HasPrefix(d.flag, "--param") {
			how = fmt.Sprintf("; give it as %s%s=VALUE", d.flag, strings.Join(path, "."))
		}
		out = append(out, d.problem(at(name), "is missing%s%s", what, how))
	}
	return out
}

func suggest(name string, known []string) string {
	if c := spelling.Closest(name, known); c != "" {
		return fmt.Sprintf("; did you mean %s?", c)
	}
	if len(known) == 0 {
		return "; no keys are allowed here"
	}
	return "; allowed are " + strings.Join(known, ", ")
}

func typeNames(types []string) string {
	names := map[string]string{
		"integer": "a whole number", "number": "a number", "string": "text", "boolean": "true or false",
		"array": "a list", "object": "a mapping (key: value)", "null": "nothing",
	}
	words := each.Of(types, func(t string) string { return cmp.Or(names[t], t) })
	return quoteList(words)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

func number(r *big.Rat) string {
	if r.IsInt() && r.Num().BitLen() <= 100 { // a number with more digits is hard to read
		return r.Num().String()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// properties returns the keys that a part of the schema names, sorted.
func (v *validator) properties(location string) []string {
	m, _ := v.lookup(location)["properties"].(map[string]any)
	return slices.Sorted(maps.Keys(m))
}

// description returns what the schema says of one of its keys.
func (v *validator) description(location, key string) string {
	m, _ := v.lookup(location)["properties"].(map[string]any)
	p, _ := m[key].(map[string]any)
	text, _ := p["description"].(string)
	return strings.TrimSuffix(text, ".")
}

// lookup resolves the JSON pointer in the fragment of a schema's location.
func (v *validator) lookup(location string) map[string]any {
	_, fragment, _ := strings.Cut(location, "#")
	if f, err := url.PathUnescape(fragment); err == nil {
		fragment = f
	}
	node := v.source
	for seg := range strings.SplitSeq(strings.TrimPrefix(fragment, "/"), "/") {
		seg = strings.NewReplacer("~1", "/", "~0", "~").Replace(seg)
		switch n := node.(type) {
		case map[string]any:
			if seg != "" || fragment == "/" {
				node = n[seg]
			}
		case []any:
			i, err := strconv.Atoi(seg)
			if err != nil || i < 0 || i >= len(n) {
				return nil
			}
			node = n[i]
		}
	}
	m, _ := node.(map[string]any)
	return m
}

// json returns the value at a path as JSON.
func (d *document) json(n *yaml.Node, path []string) (json.RawMessage, Problems) {
	var out bytes.Buffer
	var problems Problems
	d.encode(&out, n, path, &problems)
	return out.Bytes(), problems
}
