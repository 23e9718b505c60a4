package params

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/internal/must"
)

type shared struct {
	Limit *int `json:"limit,omitempty" jsonschema:"default=7"`
}

type sample struct {
	shared
	Rate  float64 `json:"rate,omitempty" jsonschema:"minimum=0,default=9" jsonschema_description:"How fast."`
	Name  string  `json:"name" jsonschema:"required,enum=a,enum=b"`
	Inner struct {
		Depth int `json:"depth,omitempty"`
	} `json:"inner,omitempty"`
}

func TestSchemaTakesDefaultsFromTheValue(t *testing.T) {
	d := &sample{Rate: 0.5}
	d.Inner.Depth = 3
	var s struct {
		Properties map[string]struct {
			Default     any
			Description string
			Properties  map[string]struct{ Default any }
		}
		Required             []string
		AdditionalProperties *bool
	}
	must.Do(t, json.Unmarshal(Schema(d), &s))
	p := s.Properties
	if p["rate"].Default != 0.5 || p["rate"].Description != "How fast." {
		t.Errorf("rate: %+v, want the value's default and the tag's text", p["rate"])
	}
	if p["limit"].Default != 7.0 {
		t.Errorf("limit: %+v, want the tag's default where the value has none", p["limit"])
	}
	if p["inner"].Properties["depth"].Default != 3.0 {
		t.Errorf("inner: %+v, want the value's default inside", p["inner"])
	}
	if p["name"].Default != nil || len(s.Required) != 1 || s.Required[0] != "name" {
		t.Errorf("name: %+v, required %v; want it required, without a default", p["name"], s.Required)
	}
	if s.AdditionalProperties == nil || *s.AdditionalProperties {
		t.Error("unknown keys are not refused")
	}
}

func TestDecode(t *testing.T) {
	d := sample{Rate: 0.5}
	if err := Decode(nil, &d); err != nil || d.Rate != 0.5 {
		t.Errorf("no params: %v, %+v", err, d)
	}
	if err := Decode(json.RawMessage(`{"limit":3}`), &d); err != nil || *d.Limit != 3 || d.Rate != 0.5 {
		t.Errorf("one key: %v, %+v", err, d)
	}
	for text, want := range map[string]int{`{"limit":1e2}`: 100, `{"limit":4.0}`: 4, `{"name":"1e2","limit":-20e-1}`: -2, `{"limit":0.0}`: 0} {
		if err := Decode(json.RawMessage(text), &d); err != nil || *d.Limit != want {
			t.Errorf("%s: %v, %+v", text, err, d)
		}
	}
	for _, tt := range []struct{ text, want string }{
		{`{"limit":1e30}`, "limit must be a whole number, not the number 1e30:"}, {`{"inner":{"depth":1e-9}}`, "inner.depth must be a whole number, not the number 1e-9:"},
		{`{"rat":1}`, `"rat"`}, {`{"rate":"x"}`, "rate must be a number, not text:"}, {`{"limit":1.5}`, "limit must be a whole number, not the number 1.5:"}, {`{"inner":[]}`, "inner must be a mapping, not a list:"}, {`{"inner":{"depth":true}}`, "inner.depth must be a whole number, not true or false:"}, {`[]`, "array"}, {`{} {}`, "more than one"}, {`{`, "EOF"},
	} {
		if err := Decode(json.RawMessage(tt.text), &d); !errors.Is(err, framework.ErrInvalidParams) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.text, err, tt.want)
		}
	}
}
