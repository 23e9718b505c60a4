package result

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

// Lines as they are written and lines with one byte changed: what the parser reads is JSON
// that encoding/json reads as the same record.
func TestParserAgreesWithEncodingJSON(t *testing.T) {
	type decision struct {
		Decision
		Delta     Number `json:"delta"`
		P         Number `json:"p"`
		Share     Number `json:"share"`
		Advantage Number `json:"advantage"`
	}
	type plain Record // without UnmarshalJSON
	parsed := 0
	rapid.Check(t, func(t *rapid.T) {
		r := anyRecord(t)
		line := r.AppendJSON(nil)
		if rapid.Bool().Draw(t, "change") {
			line[rapid.IntRange(0, len(line)-1).Draw(t, "at")] = rapid.SampledFrom([]byte(` "\,:[]{}0x1e-.n`)).Draw(t, "byte")
		}
		var fast Record
		if !parseRecord(line, &fast, true) {
			return
		}
		parsed++
		slow := struct {
			plain
			Curves    map[Metric]Values `json:"curves"`
			Decisions []decision        `json:"decisions"`
		}{}
		if err := json.Unmarshal(line, &slow); err != nil {
			return
		}
		r = Record(slow.plain)
		for m, c := range slow.Curves {
			if r.Curves == nil {
				r.Curves = map[Metric][]float64{}
			}
			r.Curves[m] = c
		}
		for _, d := range slow.Decisions {
			d.Decision.Delta, d.Decision.P = float64(d.Delta), float64(d.P)
			d.Decision.Share, d.Decision.Advantage = float64(d.Share), float64(d.Advantage)
			r.Decisions = append(r.Decisions, d.Decision)
		}
		if !sameRecord(&fast, &r) {
			t.Fatalf("%s is %+v and %+v", line, fast, r)
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
