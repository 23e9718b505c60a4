package result

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// These begin the parts of a record file's name that follow environment, agent and runs.
const (
	programsPrefix = "p"
	shardPrefix    = "s"
)

// RecordsFile says where the records of a file come from, in the file's name.
type RecordsFile struct {
	Environment, Agent string // slugs
	First, Last        int    // runs
	// Shard is set if a shard, counted from 0, of Shards made the file: it holds runs of that
	// shard alone.
	Shard, Shards int
	Programs      Programs // identities of those that made the records
}

// several stands for the environments, or agents, of a file that has more than one.
const several = "several"

// Add says that the file also has runs of an environment and an agent, which slugs name.
func (o *RecordsFile) Add(environment, agent string, first, last int) {
	if o.Environment == "" {
		o.Environment, o.Agent, o.First, o.Last = environment, agent, first, last
		return
	}
	if o.Environment != environment {
		o.Environment = several
	}
	if o.Agent != agent {
		o.Agent = several
	}
	o.First, o.Last = min(o.First, first), max(o.Last, last)
}

// RecordsName names a file of records, without its extension: ENV.AGENT.FIRST-LAST, then sI-N
// if shard I of N made them, then p and the identities of the programs. ENV and AGENT are
// "several" in a file of more than one.
func RecordsName(o RecordsFile) string {
	name := fmt.Sprintf("%s.%s.%d-%d", o.Environment, o.Agent, o.First, o.Last)
	if o.Shards > 0 {
		name += fmt.Sprintf(".%s%d-%d", shardPrefix, o.Shard, o.Shards)
	}
	if o.Programs != (Programs{}) {
		name += "." + programsPrefix + o.Programs.String()
	}
	return name
}

// ParseRecordsName reads the name of a file of records. Of a name that says nothing, ok is false and
// the result is zero.
func ParseRecordsName(file string) (o RecordsFile, ok bool) {
	parts := strings.Split(strings.TrimSuffix(filepath.Base(file), runsExt), ".")
	if len(parts) < 3 {
		return o, false
	}
	o.Environment, o.Agent = parts[0], parts[1]
	if o.First, o.Last, ok = twoNumbers(parts[2]); !ok {
		return RecordsFile{}, false
	}
	for _, part := range parts[3:] {
		if ids, is := strings.CutPrefix(part, programsPrefix); is {
			o.Programs = parsePrograms(ids)
		} else if shard, is := strings.CutPrefix(part, shardPrefix); is {
			if i, n, ok := twoNumbers(shard); ok && i < n {
				o.Shard, o.Shards = i, n
			}
		}
	}
	return o, true
}

// twoNumbers reads A-B.
func twoNumbers(text string) (a, b int, ok bool) {
	first, second, ok := strings.Cut(text, "-")
	a, err := strconv.Atoi(first)
	b, err2 := strconv.Atoi(second)
	return a, b, ok && err == nil && err2 == nil && a >= 0 && b >= 0
}
