// Package params declares the parameters of a plugin written in Go as a struct
// with JSON tags. The schema of the plugin's description is made from the
// struct, and a config's params are read into it.
package params

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/internal/tags"
	"github.com/rlrun/rlrun/internal/whole"
)

// Schema returns the JSON schema of the struct that defaults points to.
// Documentation comes from the tag jsonschema_description, ranges and choices from
// the tag jsonschema (github.com/invopop/jsonschema). Default values come from
// defaults or, for fields that are left out of JSON, from the tag. Every field is
// optional unless tagged jsonschema:"required"; unknown keys are refused. A parameter
// that has an effect with some values of the others alone says so in the tag when,
// as in when:"policy=softmax", when:"map=none" (none is left out) or
// when:"replays=0 and schedule=harmonic or planning!=0"; Decode refuses it with others.
func Schema(defaults any) json.RawMessage {
	data, err := json.Marshal(schemaOf(defaults))
	if err != nil {
		panic("params: schema cannot be encoded: " + err.Error()) // the tags are wrong: a bug of the plugin
	}
	return data
}

func schemaOf(defaults any) *jsonschema.Schema {
	r := jsonschema.Reflector{ExpandedStruct: true, DoNotReference: true, RequiredFromJSONSchemaTags: true, Anonymous: true}
	schema := r.Reflect(defaults)
	values, err := json.Marshal(defaults)
	if err == nil {
		err = setDefaults(schema, values)
	}
	if err != nil {
		panic("params: defaults cannot be encoded: " + err.Error()) // a bug of the plugin
	}
	setEffects(schema, "", tags.Effects(defaults))
	return schema
}

// setDefaults gives every property its value in the JSON object values.
func setDefaults(s *jsonschema.Schema, values json.RawMessage) error {
	if s.Properties == nil {
		return nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(values, &object); err != nil {
		return err
	}
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		value, has := object[p.Key]
		switch {
		case !has:
		case p.Value.Properties != nil:
			if err := setDefaults(p.Value, value); err != nil {
				return err
			}
		case !slices.Contains(s.Required, p.Key):
			p.Value.Default = value
		}
	}
	return nil
}

// setEffects adds to the documentation of a property with which others it has an effect, and the keyword x-when.
func setEffects(s *jsonschema.Schema, prefix string, effects map[string]tags.Effect) {
	if s.Properties == nil {
		return
	}
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		if effect, has := effects[prefix+p.Key]; has {
			p.Value.Description = strings.TrimSpace(p.Value.Description + " Only " + effect.Words + ".")
			if p.Value.Extras == nil {
				p.Value.Extras = map[string]any{}
			}
			p.Value.Extras["x-when"] = effect.When
		}
		setEffects(p.Value, prefix+p.Key+".", effects)
	}
}

// Decode reads params into v, which holds the defaults. Whole numbers may be written 1e2 or 100.0. Unknown keys, values
// of the wrong type and parameters without an effect (see Schema) are errors wrapping framework.ErrInvalidParams. Empty params
// leave v as it is.
func Decode(data json.RawMessage, v any) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	if err := decode(data, v); err != nil {
		return err
	}
	if err := tags.CheckEffect(data, v); err != nil {
		return fmt.Errorf("%w: %w", err, framework.ErrInvalidParams)
	}
	return nil
}

// decode is Decode without the check of effects.
func decode(data json.RawMessage, v any) error {
	data = whole.Numbers(data)
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		if wrong := wrongType(err, data); wrong != nil {
			return fmt.Errorf("%w: %w", wrong, framework.ErrInvalidParams)
		}
		return fmt.Errorf("params: %w: %w", err, framework.ErrInvalidParams)
	}
	if _, err := dec.Token(); err != io.EOF {
		return fmt.Errorf("params: more than one value: %w", framework.ErrInvalidParams)
	}
	return nil
}

// wrongType says which parameter in data has a value of the wrong type, in words of configs. It
// returns nil for other errors.
func wrongType(err error, data json.RawMessage) error {
	var te *json.UnmarshalTypeError
	if !errors.As(err, &te) || te.Field == "" {
		return nil
	}
	want := map[reflect.Kind]string{reflect.Bool: "true or false", reflect.String: "text", reflect.Slice: "a list", reflect.Array: "a list"}[te.Type.Kind()]
	switch kind := te.Type.Kind(); {
	case want != "":
	case kind >= reflect.Int && kind <= reflect.Uintptr:
		want = "a whole number"
	case kind == reflect.Float32 || kind == reflect.Float64:
		want = "a number"
	default:
		want = "a mapping"
	}
	is := map[string]string{"string": "text", "array": "a list", "object": "a mapping", "bool": "true or false", "number": "a number"}[te.Value]
	return fmt.Errorf("%s must be %s, not %s", key(te.Field, data), want, cmp.Or(is, "the "+te.Value))
}

// key returns the path of a field in data, without the names of embedded structs.
func key(field string, data json.RawMessage) string {
	var path []string
	for _, name := range strings.Split(field, ".") {
		var object map[string]json.RawMessage
		if json.Unmarshal(data, &object); object[name] != nil {
			path, data = append(path, name), object[name]
		}
	}
	return cmp.Or(strings.Join(path, "."), field)
}

// Check checks parameters, a struct, against the ranges and choices in the jsonschema
// tags of its fields, those of structs inside it among them. Nil pointers are valid. It
// returns the first error, which names the parameter and wraps
// framework.ErrInvalidParams.
func Check(v any) error {
	if err := tags.Check(v); err != nil {
		return fmt.Errorf("%w: %w", err, framework.ErrInvalidParams)
	}
	return nil
}
