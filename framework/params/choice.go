package params

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/rlrun/rlrun/framework"
)

// Choice is a parameter that is a mapping {kind: NAME, …}. The kind says which other keys there are.
type Choice[K Kinds] map[string]json.RawMessage

// Kinds lists what a Choice may be. Its zero value is used.
type Kinds interface{ Kinds() []Kind }

// Kind is one of the kinds of a Choice.
type Kind struct {
	Name, Doc string
	Params    any // a struct; parameters that are zero have the defaults of their tags
}

// Decode returns a pointer to a struct of the type of the kind's Params, with the parameters that are
// given, unchecked but for their names and types. Errors wrap framework.ErrInvalidParams.
func (c Choice[K]) Decode() (any, error) {
	var names []string
	for _, k := range (*new(K)).Kinds() {
		names = append(names, k.Name)
		if kind, _ := json.Marshal(k.Name); string(kind) != string(c["kind"]) {
			continue
		}
		rest := maps.Clone(c)
		delete(rest, "kind")
		p := reflect.New(reflect.TypeOf(k.Params)).Interface()
		data, err := json.Marshal(rest)
		if err == nil {
			err = decode(data, p)
		}
		if err != nil {
			return nil, fmt.Errorf("kind %s: %w", k.Name, err)
		}
		return p, nil
	}
	return nil, fmt.Errorf("kind must be one of %s: %w", strings.Join(names, ", "), framework.ErrInvalidParams)
}

// JSONSchemaExtend writes the kinds into the schema of the parameter, as alternatives.
func (Choice[K]) JSONSchemaExtend(s *jsonschema.Schema) {
	kind := &jsonschema.Schema{Type: "string"}
	for _, k := range (*new(K)).Kinds() {
		kind.Enum = append(kind.Enum, k.Name)
		of := schemaOf(k.Params)
		of.Version, of.Description = "", k.Doc
		of.Properties.Set("kind", &jsonschema.Schema{Const: k.Name})
		s.AnyOf = append(s.AnyOf, of)
	}
	s.AdditionalProperties, s.Properties, s.Required = nil, jsonschema.NewProperties(), []string{"kind"}
	s.Properties.Set("kind", kind)
}
