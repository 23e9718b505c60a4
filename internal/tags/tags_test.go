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

// Zero is not given; a pointer to zero is.
func TestCheckGivenLeavesOutWhatIsZero(t *testing.T) {
	if err := CheckGiven(&checked{}); err != nil {
		t.Error(err)
	}
	if err := CheckGiven(&checked{Beta: new(0.0)}); err == nil || err.Error() != "beta is 0, must be more than 0" {
		t.Error(err)
	}
}
