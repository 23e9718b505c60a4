package printable_test

import (
	"encoding/json"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/internal/printable"
)

// Hidden characters in JSON are replaced, raw or escaped. Nothing else is: the decoded
// text equals Text of the encoded one.
func TestJSON(t *testing.T) {
	for _, s := range []string{"", "a", "\x1b]52;c;aGk=\a", "a\u202eb", "\U000e0001<ü>&", `\u001b`, `\\u202e`, "\\\x1b", "\"\r\n\t\b\f\x00", "é\u200b😀\u2028", "\x9b\xff"} {
		for _, encode := range []func(string) string{
			func(s string) string { b, _ := json.Marshal(s); return string(b) },
			func(s string) string { // all escaped
				b, _ := json.Marshal(s)
				out := ""
				for _, r := range string(b) {
					switch {
					case r > 0xffff:
						out += `\udb40\udc01` // of the one in the list, or of no character in it
					case r > 0x7e:
						const digits = "0123456789ABCdef"
						out += `\u` + string([]byte{digits[r>>12], digits[r>>8&15], digits[r>>4&15], digits[r&15]})
					default:
						out += string(r)
					}
				}
				return out
			},
		} {
			text := encode(s)
			var before, got string
			must.Do(t, json.Unmarshal([]byte(text), &before))
			if err := json.Unmarshal([]byte(printable.JSON(text)), &got); err != nil {
				t.Fatalf("%q: %v", s, err)
			}
			if want := printable.Text(before); got != want {
				t.Errorf("%q: got %q, want %q", text, got, want)
			}
		}
	}
}
