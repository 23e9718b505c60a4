package result

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/internal/inputfile"
)

// packedRecords is the most records of a packed file.
const packedRecords = 10_000

// Compact packs the records in dir/runs into few files: those of the same programs
// together, 10,000 a file. Lines stay as they are. Of
// records that do not count, such as failed ones of a run that is ok, none is kept.
// It refuses records that the experiment cannot have, and then changes nothing.
// Wherever it is interrupted, every record that counts is in a file. The caller makes
// sure that no other process writes to dir. It returns the number of files before and
// after, and ends with the context's cause when that is done.
func Compact(ctx context.Context, meta Meta, dir string) (before, after int, err error) {
	files, err := RecordFiles(dir)
	if err != nil {
		return 0, 0, err
	}
	before = len(files)
	r, err := OpenRunsContext(ctx, dir)
	if err == nil {
		err = r.Check(meta)
	}
	if err != nil {
		return before, before, err
	}
	groups := map[Programs][]Entry{}
	for _, e := range r.Entries {
		groups[e.Programs()] = append(groups[e.Programs()], e)
	}
	environments, agents := slugs(meta.Environments), slugs(meta.Agents)
	slug := func(e *Entry) (string, string) { return environments[e.Environment], agents[e.Agent] }
	needed := 0
	for _, entries := range groups {
		needed += (len(entries) + packedRecords - 1) / packedRecords
	}
	if needed >= before {
		return before, before, nil
	}
	for _, programs := range slices.SortedFunc(maps.Keys(groups), func(a, b Programs) int { return strings.Compare(a.String(), b.String()) }) {
		for part := range slices.Chunk(groups[programs], packedRecords) {
			if ctx.Err() != nil {
				return before, before, context.Cause(ctx)
			}
			if err := copyTo(dir, RecordsFile{Programs: programs}, part, slug); err != nil {
				return before, before, err
			}
		}
	}
	for _, path := range files {
		if ctx.Err() != nil {
			return before, before, context.Cause(ctx)
		}
		if err := os.Remove(path); err != nil {
			return before, before, fmt.Errorf("removing what is packed: %w", err)
		}
	}
	left, err := RecordFiles(dir)
	return before, len(left), err
}

// Divide moves those records of a file in dir/runs that are as asked to to/runs, a file for each environment and agent, and
// the others to a file beside it. Wherever it is interrupted, every record is in a file.
func Divide(name, to string, moves func(Entry) bool) error {
	entries, err := FileEntries(name)
	if err != nil {
		return err
	}
	moved, kept := map[Key][]Entry{}, []Entry{}
	for _, e := range entries {
		if cell := (Key{Environment: e.Environment, Agent: e.Agent}); moves(e) {
			moved[cell] = append(moved[cell], e)
		} else {
			kept = append(kept, e)
		}
	}
	of, _ := ParseRecordsName(name)
	file := RecordsFile{Shard: of.Shard, Shards: of.Shards, Programs: of.Programs}
	slug := func(e *Entry) (string, string) { return Slug(e.Environment), Slug(e.Agent) }
	for _, part := range moved {
		if err := copyTo(to, file, part, slug); err != nil {
			return err
		}
	}
	if len(kept) > 0 {
		if err := copyTo(filepath.Dir(filepath.Dir(name)), file, kept, slug); err != nil {
			return err
		}
	}
	return os.Remove(name)
}

// copyTo writes entries to a new file in dir/runs. file says what they have in common, and slugs names environment and agent.
func copyTo(dir string, file RecordsFile, entries []Entry, slugs func(*Entry) (environment, agent string)) error {
	for i := range entries {
		environment, agent := slugs(&entries[i])
		file.Add(environment, agent, entries[i].Run, entries[i].Run)
	}
	return disk.Publish(disk.OS{}, filepath.Join(dir, runsDir, RecordsName(file)+runsExt), func(w io.Writer) error { return copyLines(w, entries) })
}

// slugs returns the slug of each label.
func slugs(labels []string) map[string]string {
	out := map[string]string{}
	for i, slug := range Slugs(labels) {
		out[labels[i]] = slug
	}
	return out
}

// copyLines copies the lines of entries.
func copyLines(w io.Writer, entries []Entry) error {
	var f *os.File
	defer func() {
		if f != nil {
			f.Close()
		}
	}()
	var buf []byte
	for i := range entries {
		e := &entries[i]
		if f == nil || f.Name() != e.at.name {
			if f != nil {
				f.Close()
			}
			var err error
			if f, err = os.Open(e.at.name); err != nil {
				return err
			}
		}
		buf = slices.Grow(buf[:0], int(e.length))[:e.length]
		if _, err := f.ReadAt(buf, e.offset); err != nil {
			return fmt.Errorf("reading %s: %w", e.at.name, inputfile.Cause(err))
		}
		if _, err := w.Write(append(bytes.TrimRight(buf, "\r\n"), '\n')); err != nil {
			return err
		}
	}
	return nil
}
