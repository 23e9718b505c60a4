package tags

import (
	"math"
	"testing"
)

type inner struct {
	Gamma float64 `json:"gamma" jsonschema:"minimum=0,exclusiveMaximum=1"`
}

type checked struct {
	inner
	Members int      `json:"members" jsonschema:"minimum=1,maximum=9"`
	Beta    *float64 `json:"beta,omitempty" jsonschema:"exclusiveMinimum=0"`
	Rule    string   `json:"rule,omitempty" jsonschema:"enum=a,enum=b,enum=c"`
	Free    float64  `json:"free"`
	Low     float64  `json:"low" jsonschema:"maximum=1"`
}

// The ends of every range, and what the error says.
func TestCheckFindsWhatIsOutOfRange(t *testing.T) {
	zero := 0.0
	for _, tt := range []struct {
		set  func(*checked)
		want string // empty if valid
	}{
		{func(p *checked) {}, ""},
		{func(p *checked) { p.Gamma = 0 }, ""},
		{func(p *checked) { p.Gamma = 1 }, "gamma is 1, must be in [0,1)"},
		{func(p *checked) { p.Gamma = math.NaN() }, "gamma is NaN, must be in [0,1)"},
		{func(p *checked) { p.Members = 0 }, "members is 0, must be in [1,9]"},
		{func(p *checked) { p.Members = 9 }, ""},
		{func(p *checked) { p.Beta = &zero }, "beta is 0, must be more than 0"},
		{func(p *checked) { p.Rule = "" }, `rule is "", must be a, b or c`},
		{func(p *checked) { p.Rule = "c" }, ""},
		{func(p *checked) { p.Free = math.NaN() }, "free is NaN, must be a number"},
		{func(p *checked) { p.Low = 2 }, "low is 2, must be at most 1"},
		{func(p *checked) { p.Free = math.Inf(1) }, "free is +Inf, must be finite"},
	} {
		p := checked{inner: inner{0.5}, Members: 1, Rule: "a"}
		tt.set(&p)
		err := Check(&p)
		if tt.want == "" {
			if err != nil {
				t.Errorf("%+v: %v", p, err)
			}
		} else if err == nil || err.Error() != tt.want {
			t.Errorf("%+v: %v, want %s", p, err, tt.want)
		}
	}
}

type completed struct {
	inner2
	Members *int     `json:"members,omitempty" jsonschema:"minimum=1,default=9"`
	Rule    string   `json:"rule,omitempty" jsonschema:"enum=a,enum=b,default=a"`
	Mask    *float64 `json:"mask,omitempty" when:"rule=b" jsonschema:"default=0.5"`
	Low     *float64 `json:"low,omitempty"`
}

type inner2 struct {
	Gamma *float64 `json:"gamma,omitempty" jsonschema:"minimum=0,maximum=1,default=0.25"`
}

// What is not given has its default; what is given is checked, a pointer to zero, too.
func TestComplete(t *testing.T) {
	got, err := Complete(completed{Members: new(3)})
	if err != nil || *got.Members != 3 || *got.Gamma != 0.25 || got.Rule != "a" || *got.Mask != 0.5 || got.Low != nil {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = Complete(completed{inner2: inner2{new(0.0)}, Rule: "b", Mask: new(1.0)})
	if err != nil || *got.Gamma != 0 || *got.Mask != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	for want, given := range map[string]completed{
		"members is 0, must be at least 1":                                     {Members: new(0)},
		"gamma is 2, must be in [0,1]":                                         {inner2: inner2{new(2.0)}},
		`rule is "c", must be a or b`:                                          {Rule: "c"},
		"low is NaN, must be a number":                                         {Low: new(math.NaN())},
		"mask has no effect with rule a: leave it out, or give it with rule b": {Mask: new(0.5)},
	} {
		if _, err := Complete(given); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
