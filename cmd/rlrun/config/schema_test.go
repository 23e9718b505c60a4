package config

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/plugins"
)

// A default that its own schema does not allow is refused, with the name of the parameter.
func TestDefaultsOfSchemas(t *testing.T) {
	for _, tt := range []struct{ properties, want string }{
		{`"n": {"type": "integer", "default": 3}, "m": {"type": "array", "default": null}`, ""},
		{`"n": {"type": "integer", "default": "q"}`, "its parameter n has a default that its own description does not allow: got string, want integer"},
		{`"n": {"type": "number", "minimum": 1, "default": 0.5}`, "parameter n has a default"},
		{`"n": {"enum": ["a", "b"], "default": "c"}`, "parameter n has a default"},
		{`"a": {"type": "object", "properties": {"b": {"type": "boolean", "default": 1}}}`, "parameter a.b has a default"},
		{`"a": {"items": {"type": "integer"}, "default": [1, "x"]}`, "parameter a.1 has a default"},
		{`"a": {"anyOf": [{"properties": {"b": {"type": "string", "default": 1}}}]}`, "parameter a.b has a default"},
		{`"a": {"$ref": "#/$defs/t"}`, "parameter a.b has a default"},
	} {
		schema := `{"type": "object", "properties": {` + tt.properties + `}, "$defs": {"t": {"properties": {"b": {"type": "string", "default": 1}, "a": {"$ref": "#/$defs/t"}}}}}`
		err := CheckSchema(json.RawMessage(schema))
		if tt.want == "" {
			must.Do(t, err)
		} else if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.properties, err, tt.want)
		}
	}
	for _, p := range plugins.All() {
		d, err := p.Describe(t.Context())
		must.Do(t, err)
		if err := CheckSchema(d.Params); err != nil {
			t.Errorf("%s: %v", d.ID, err)
		}
	}
}
