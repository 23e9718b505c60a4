// Package params is how a plugin written in Go declares its parameters: a struct
// with JSON tags, from which the schema of the plugin's description is made and
// into which a config's params are read.
package params

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/invopop/jsonschema"

	"github.com/rlrun/rlrun/framework"
)

// Schema returns the JSON schema of the struct v points to. Documentation comes
// from the tag jsonschema_description, defaults, ranges and choices from the
// tag jsonschema (github.com/invopop/jsonschema). Every field is optional unless
// tagged jsonschema:"required"; unknown keys are refused.
func Schema(v any) json.RawMessage {
	r := jsonschema.Reflector{ExpandedStruct: true, RequiredFromJSONSchemaTags: true, Anonymous: true}
	data, err := json.Marshal(r.Reflect(v))
	if err != nil {
		panic("params: schema cannot be encoded: " + err.Error()) // v's tags are wrong: a bug of the plugin
	}
	return data
}

// Decode reads params into v, which holds the defaults. Unknown keys and values
// of the wrong type are errors wrapping framework.ErrInvalidParams. Empty params
// leave v as it is.
func Decode(data json.RawMessage, v any) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return fmt.Errorf("params: %w: %w", err, framework.ErrInvalidParams)
	}
	if _, err := dec.Token(); err != io.EOF {
		return fmt.Errorf("params: more than one value: %w", framework.ErrInvalidParams)
	}
	return nil
}
