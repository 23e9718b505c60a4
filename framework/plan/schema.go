package plan

import (
	_ "embed"
	"encoding/json"
)

//go:generate go test -vet=off -run ^TestSchema$ . -update

//go:embed schema.json
var schema string

// Schema returns the JSON schema of Config (draft 2020-12). It is generated from
// Config's tags and comments, which describe every key: editors complete with it
// and cmd/rlrun validates files against it before anything starts.
func Schema() json.RawMessage { return json.RawMessage(schema) }
