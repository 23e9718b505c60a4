package result

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

// Lines as they are written and lines with one byte changed: where both readers
// read one, they read the same.
func TestParserAgreesWithEncodingJSON(t *testing.T) {
	parsed := 0
	rapid.Check(t, func(t *rapid.T) {
		r := anyRecord(t)
		line := r.AppendJSON(nil)
		if rapid.Bool().Draw(t, "change") {
			line[rapid.IntRange(0, len(line)-1).Draw(t, "at")] = rapid.SampledFrom([]byte(` "\,:[]{}0x1e-.n`)).Draw(t, "byte")
		}
		var fast, slow Record
		if !parseRecord(line, &fast, true) {
			return
		}
		parsed++
		// A space at the end makes UnmarshalJSON take the slow way.
		if err := json.Unmarshal(append(line, ' '), &slow); err == nil && !sameRecord(&fast, &slow) {
			t.Fatalf("%s is %+v and %+v", line, fast, slow)
		}
	})
	if parsed == 0 {
		t.Error("no line was parsed")
	}
}

func TestParserReadsWhatIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyRecord(t)
		var got Record
		if line := want.AppendJSON(nil); !parseRecord(append(line, '\n'), &got, true) || !sameRecord(&got, &want) {
			t.Fatalf("%s was read as %+v", line, got)
		}
	})
}
