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
	slugs := [2]map[string]string{slugs(meta.Environments), slugs(meta.Agents)}
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
			file := RecordsFile{Programs: programs}
			for i := range part {
				file.Add(slugs[0][part[i].Environment], slugs[1][part[i].Agent], part[i].Run, part[i].Run)
			}
			err := disk.Publish(disk.OS{}, filepath.Join(dir, runsDir, RecordsName(file)+runsExt), func(w io.Writer) error { return copyLines(w, part) })
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
