package inputfile

import (
	"encoding/json"
	"fmt"
	"regexp"
)

// pairs matches the two escapes that JSON has for a character of more than 16 bits, and an escaped
// backslash, which begins no escape.
var pairs = regexp.MustCompile(`\\\\|\\u[dD][89abAB][[:xdigit:]]{2}\\u[dD][c-fC-F][[:xdigit:]]{2}`)

// YAML returns a text for a reader of YAML. If it is JSON, its surrogate pairs are replaced by their
// characters: YAML does not know them, and Python's json writes them. Lines stay the same.
func YAML(data []byte) []byte {
	if !json.Valid(data) {
		return data
	}
	return pairs.ReplaceAllFunc(data, func(pair []byte) []byte {
		var s string
		if len(pair) == 2 || json.Unmarshal(fmt.Appendf(nil, `"%s"`, pair), &s) != nil {
			return pair
		}
		return []byte(s)
	})
}
