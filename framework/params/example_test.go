package params_test

import (
	"encoding/json"
	"fmt"

	"github.com/rlrun/rlrun/framework/params"
)

// walk are the parameters of an environment. The tags are their schema.
type walk struct {
	Length int     `json:"length" jsonschema:"minimum=2" jsonschema_description:"Number of cells."`
	Slip   float64 `json:"slip" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Probability that a step fails."`
}

// What a config leaves out keeps its default. An unknown key is an error.
func ExampleDecode() {
	p := walk{Length: 5}
	fmt.Println(params.Decode(json.RawMessage(`{"slip": 0.1}`), &p), p)
	fmt.Println(params.Decode(json.RawMessage(`{"slop": 0.1}`), &p))
	// Output:
	// <nil> {5 0.1}
	// params: json: unknown field "slop": invalid parameters
}
