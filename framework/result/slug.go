package result

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
)

// Slug turns a label into a part of a file name: letters, digits and underscores
// in lower case, one dash for everything else.
func Slug(label string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(label) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' {
			b.WriteRune(r)
		} else if s := b.String(); s != "" && !strings.HasSuffix(s, "-") {
			b.WriteByte('-')
		}
	}
	slug := strings.TrimSuffix(b.String(), "-")
	if slug == "" {
		return "unnamed"
	}
	return slug
}

// Slugs gives every label its slug, and a number to those whose slug is taken.
func Slugs(labels []string) []string {
	taken := map[string]bool{}
	out := make([]string, len(labels))
	for i, label := range labels {
		slug := Slug(label)
		for n := 2; taken[slug]; n++ {
			slug = Slug(label) + "-" + strconv.Itoa(n)
		}
		taken[slug] = true
		out[i] = slug
	}
	return out
}

// Origin says where the records of a file come from, in the file's name.
type Origin struct {
	Environment, Agent string // slugs
	First, Last        int    // runs
	// Shard is set if a shard, counted from 0, of Shards made the file: it holds runs of that shard alone.
	Shard, Shards int
	Programs      Programs
}

// RecordsName names a file of records, without its extension: ENV.AGENT.FIRST-LAST, then sI-N if shard I of N made
// them, then p and the identities of the programs.
func RecordsName(o Origin) string {
	name := fmt.Sprintf("%s.%s.%d-%d", o.Environment, o.Agent, o.First, o.Last)
	if o.Shards > 0 {
		name += fmt.Sprintf(".s%d-%d", o.Shard, o.Shards)
	}
	if o.Programs != (Programs{}) {
		name += "." + programsPrefix + o.Programs.String()
	}
	return name
}

// shardOf reads the shard from a file's name; 0 of 0 if no shard made the file.
func shardOf(file string) (shard, shards int) {
	parts := strings.Split(filepath.Base(file), ".")
	if len(parts) < 4 || !strings.HasPrefix(parts[3], "s") {
		return 0, 0
	}
	index, of, ok := strings.Cut(parts[3][1:], "-")
	i, err := strconv.Atoi(index)
	n, err2 := strconv.Atoi(of)
	if !ok || err != nil || err2 != nil || i < 0 || i >= n {
		return 0, 0
	}
	return i, n
}
