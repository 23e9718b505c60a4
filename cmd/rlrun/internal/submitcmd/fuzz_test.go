package submitcmd

import (
	"bytes"
	"testing"
	"time"

	"github.com/rlrun/rlrun/internal/must"
)

// The record of a submission, and a time limit, are read or refused. What was read is written as
// it was, and makes scripts.
func FuzzSubmission(f *testing.F) {
	for to := range targets {
		s := example(to)
		s.Jobs, s.First, s.AtOnce = []string{"1", "2"}, map[string]int{"2": 1000}, 3
		f.Add(s.record(), "1-2:30")
	}
	f.Add([]byte(`{"to": "slurm", "tasks": 9000000000000000000}`), "999999-0")
	f.Add([]byte(`{"to": "cron", "tasks": 1}`), "1h30m")
	f.Add([]byte(`{"to": "parallel", "tasks": 3, "cpus": 0, "time": -1}`), "90:00")
	cmd := New(nil)
	f.Fuzz(func(t *testing.T, data []byte, limit string) {
		var d timeLimit
		if err := d.Set(limit); err == nil && time.Duration(d) >= time.Minute {
			var again timeLimit
			must.Do(t, again.Set(slurmTime(time.Duration(d))))
			if again != d-d%timeLimit(time.Second) {
				t.Fatalf("%s is %v and then %v", limit, time.Duration(d), time.Duration(again))
			}
		}
		s, err := parseSubmission(data)
		if err != nil {
			return
		}
		again, err := parseSubmission(s.record())
		if err != nil || !bytes.Equal(again.record(), s.record()) {
			t.Fatalf("%s became %s, %v", s.record(), again.record(), err)
		}
		if s.checkFlags(cmd) != nil {
			return
		}
		s.shards, s.largest = []int{0, s.Tasks - 1}, 10
		if files := targets[s.To].files(&s); len(files) == 0 {
			t.Fatal("no files")
		}
	})
}
