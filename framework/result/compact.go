package result

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/internal/inputfile"
)

// packedRecords is the most records of a packed file.
const packedRecords = 10_000

// Compact packs the records in dir/runs into few files: those of an environment, an
// agent and the same programs together, 10,000 a file. Lines stay as they are. Of
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
	type group struct {
		environment, agent string
		programs           Programs
	}
	groups := map[group][]Entry{}
	var order []group
	var environments, agents []string
	for _, e := range r.Entries {
		g := group{e.Environment, e.Agent, e.Programs}
		if groups[g] == nil {
			order = append(order, g)
		}
		groups[g] = append(groups[g], e)
		if !slices.Contains(environments, e.Environment) {
			environments = append(environments, e.Environment)
		}
		if !slices.Contains(agents, e.Agent) {
			agents = append(agents, e.Agent)
		}
	}
	slugs := func(labels []string, label string) string { return Slugs(labels)[slices.Index(labels, label)] }
	needed := 0
	for _, entries := range groups {
		needed += (len(entries) + packedRecords - 1) / packedRecords
	}
	if needed >= before {
		return before, before, nil
	}
	for _, g := range order {
		for part := range slices.Chunk(groups[g], packedRecords) {
			if ctx.Err() != nil {
				return before, before, context.Cause(ctx)
			}
			name := RecordsName(RecordsFile{Environment: slugs(environments, g.environment), Agent: slugs(agents, g.agent),
				First: part[0].Run, Last: part[len(part)-1].Run, Programs: g.programs})
			err := disk.Publish(disk.OS{}, filepath.Join(dir, runsDir, name+runsExt), func(w io.Writer) error { return copyLines(w, part) })
			if err != nil {
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
		if f == nil || f.Name() != e.at.file {
			if f != nil {
				f.Close()
			}
			var err error
			if f, err = os.Open(e.at.file); err != nil {
				return err
			}
		}
		buf = slices.Grow(buf[:0], e.length)[:e.length]
		if _, err := f.ReadAt(buf, e.offset); err != nil {
			return fmt.Errorf("reading %s: %w", e.at.file, inputfile.Cause(err))
		}
		if _, err := w.Write(append(bytes.TrimRight(buf, "\r\n"), '\n')); err != nil {
			return err
		}
	}
	return nil
}
