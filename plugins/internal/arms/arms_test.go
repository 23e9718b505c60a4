package arms

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
)

// Means that no model can hold, and priors that may draw such means, are refused when the
// environment is opened, before any run. So are parameters of another prior.
func TestDecodeRefuses(t *testing.T) {
	for params, want := range map[string]string{
		`{"means":[1,1e300]}`: "", `{"prior":{"high":1e300}}`: "", `{"prior":{"kind":"normal","mean":-1e300,"sd":0}}`: "",
		`{"means":[1e300,2e300]}`:                             "means[1] is 2e+300, must be in [-1e+300,1e+300]",
		`{"prior":{"low":-1.5e300}}`:                          "prior of kind uniform reaches 1.5e+300",
		`{"prior":{"kind":"normal","mean":1e300,"sd":1e299}}`: "prior of kind normal reaches 5e+300",
		`{"prior":{"kind":"beta","low":0.5}}`:                 "prior.low has no effect with kind beta",
		`{"means":[1],"prior":{"low":0.5}}`:                   "prior has no effect with means given",
	} {
		p := Default()
		err := Decode(json.RawMessage(params), &p, &p)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !errors.Is(err, framework.ErrInvalidParams)) {
			t.Errorf("%s: %v, want %q", params, err, want)
		}
	}
}
