package submitcmd

import (
	"bytes"
	"testing"
	"time"

	"github.com/rlrun/rlrun/internal/must"
)

// What DIR/submit keeps of a submission, and a time limit, are read or refused. What was read is
// written as it was.
func FuzzSubmission(f *testing.F) {
	s := submission{kept: kept{50, []string{"1", "2"}, map[string]int{"2": 1000}}}
	f.Add(s.record(), "1-2:30")
	f.Add([]byte(`{"tasks": 9000000000000000000}`), "999999-0")
	f.Add([]byte(`{"tasks": 1}`), "1h30m")
	f.Add([]byte(`{"tasks": 3, "jobs": 1}`), "90:00")
	f.Fuzz(func(t *testing.T, data []byte, limit string) {
		var d timeLimit
		if err := d.Set(limit); err == nil && time.Duration(d) >= time.Minute {
			var again timeLimit
			must.Do(t, again.Set(slurmTime(time.Duration(d))))
			if again != d-d%timeLimit(time.Second) {
				t.Fatalf("%s is %v and then %v", limit, time.Duration(d), time.Duration(again))
			}
		}
		before, err := parseSubmission(data)
		if err != nil {
			return
		}
		s := submission{kept: before}
		again, err := parseSubmission(s.record())
		if written := (&submission{kept: again}).record(); err != nil || !bytes.Equal(written, s.record()) {
			t.Fatalf("%s became %s, %v", s.record(), written, err)
		}
	})
}
