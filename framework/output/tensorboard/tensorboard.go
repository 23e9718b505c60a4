// Package tensorboard writes the curves of runs as event files for TensorBoard.
package tensorboard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/rlrun/rlrun/framework/output"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/internal/inputfile"
)

// Output makes a directory a run.
var Output = output.Output{Name: "tensorboard", Doc: "an event file for each run, in ENVIRONMENT/AGENT/run-N", Write: write, Watch: watch}

// write writes a directory a run, with one file of events: a scalar for every
// metric at every recorded step. TensorBoard keeps values as 32-bit floats.
func write(s *output.Results, directory string) (files []string, err error) {
	l, err := newLayout(s.Dir, s.Summary.Meta)
	if err != nil {
		return nil, err
	}
	unknown := map[[2]string][]result.Metric{} // by environment and agent
	for i := range s.Summary.Rows {
		if r := &s.Summary.Rows[i]; r.N == 0 {
			cell := [2]string{r.Environment, r.Agent}
			unknown[cell] = append(unknown[cell], r.Metric)
		}
	}
	for rec, err := range s.Records() {
		if err != nil {
			return files, err
		}
		if rec.Status != result.OK {
			continue
		}
		name := l.file(&rec)
		if err := os.MkdirAll(filepath.Join(directory, filepath.Dir(name)), 0o777); err != nil {
			return files, err
		}
		events := l.events(&rec, l.grid, unknown[[2]string{rec.Environment, rec.Agent}])
		if err := replace(filepath.Join(directory, name), events); err != nil {
			return files, err
		}
		files = append(files, name)
	}
	return files, l.removeOthers(directory, files)
}

// replace writes a file. There are thousands of small ones, so they are not synced one by one. A reader that has it open goes on
// reading it. What is no file of events of this run, such as a pipe or a hard link to another file, gives way to one.
func replace(name string, data []byte) error {
	if _, err := begins(name, data); err != nil {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return os.WriteFile(name, data, 0o666)
}

// begins returns how much of data a file has. One that is not there has nothing. One that has something else is an error; so
// is an empty one, which may be a hard link.
func begins(name string, data []byte) (int, error) {
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil || !info.Mode().IsRegular() { // opening a pipe may take for ever
		return 0, errors.Join(err, os.ErrInvalid)
	}
	old, err := inputfile.Read(name, int64(len(data)))
	if err == nil && (len(old) == 0 || !bytes.HasPrefix(data, old)) {
		err = os.ErrInvalid
	}
	return len(old), err
}

// removeOthers removes what watch has written of runs that failed or were stopped.
func (l *layout) removeOthers(directory string, files []string) error {
	found, err := fs.Glob(os.DirFS(directory), "*/*/run-*/"+l.base())
	slices.Sort(files)
	for _, name := range found {
		name = filepath.FromSlash(name)
		if _, kept := slices.BinarySearch(files, name); !kept {
			err = errors.Join(err, os.Remove(filepath.Join(directory, name)))
		}
	}
	return err
}

// watch writes the events of runs while the experiment runs. Its files are the beginning of those of write. It only
// appends to them, so that a reader goes on where it was. It ignores errors, since write reports them.
func watch(dir store.Dir, meta result.Meta, directory string) func([]result.Record) {
	var l *layout
	return func(runs []result.Record) {
		if l == nil {
			var err error
			if l, err = newLayout(dir, meta); err != nil {
				return
			}
		}
		for i := range runs {
			grid := l.grid
			for _, curve := range runs[i].Curves {
				grid = grid[:min(len(grid), len(curve))]
			}
			name := filepath.Join(directory, l.file(&runs[i]))
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err == nil {
				_ = extend(name, l.events(&runs[i], grid, nil))
			}
		}
	}
}

// extend appends the rest of data to a file that has its beginning.
func extend(name string, data []byte) error {
	n, err := begins(name, data)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data[n:])
	return errors.Join(err, f.Close())
}

// layout says where the events of a run are, and when they were.
type layout struct {
	environments, agents map[string]string // directories by label
	grid                 []int
	wall                 float64 // seconds since 1970 at which the experiment began
}

func newLayout(dir store.Dir, meta result.Meta) (*layout, error) {
	provenance, err := dir.Provenance()
	if err != nil {
		return nil, err
	}
	l := &layout{environments: slugs(meta.Environments), agents: slugs(meta.Agents), grid: meta.Grid}
	if started := provenance.Started; !started.IsZero() {
		l.wall = float64(started.UnixNano()) / 1e9
	}
	return l, nil
}

// file returns the name of the events of a run.
func (l *layout) file(rec *result.Record) string {
	return filepath.Join(l.environments[rec.Environment], l.agents[rec.Agent], fmt.Sprintf("run-%d", rec.Run), l.base())
}

// base returns the last part of the name of each file. Experiments that began in the same second have other ones.
func (l *layout) base() string { return fmt.Sprintf("events.out.tfevents.%017.6f.rlrun", l.wall) }

func slugs(labels []string) map[string]string {
	out := map[string]string{}
	for i, slug := range result.Slugs(labels) {
		out[labels[i]] = slug
	}
	return out
}

// events returns the curves of a run on a grid. An unknown metric has a point without a value at the end.
func (l *layout) events(rec *result.Record, grid []int, unknown []result.Metric) []byte {
	var w bytes.Buffer
	// Event: 1 wall_time, 2 step, 3 file_version, 5 summary.
	event := binary.LittleEndian.AppendUint64([]byte{1<<3 | 1}, math.Float64bits(l.wall))
	writeRecord(&w, appendBytes(event[:len(event):len(event)], 3, []byte("brain.Event:2")))
	metrics := slices.Sorted(maps.Keys(rec.Curves))
	for i, step := range grid {
		var summary []byte
		add := func(m result.Metric, x float64) {
			// Summary: 1 value. Value: 1 tag, 2 simple_value.
			value := appendBytes(nil, 1, []byte(m))
			value = binary.LittleEndian.AppendUint32(append(value, 2<<3|5), math.Float32bits(float32(x)))
			summary = appendBytes(summary, 1, value)
		}
		for _, m := range metrics {
			curve := rec.Curves[m]
			if i < len(curve) && !math.IsNaN(curve[i]) && !math.IsInf(curve[i], 0) {
				add(m, curve[i])
			}
		}
		if i == len(grid)-1 {
			for _, m := range unknown {
				add(m, math.NaN())
			}
		}
		if summary == nil {
			continue
		}
		e := binary.AppendUvarint(append(event[:len(event):len(event)], 2<<3), uint64(step))
		writeRecord(&w, appendBytes(e, 5, summary))
	}
	return w.Bytes()
}

// appendBytes appends a field of bytes in the encoding of protocol buffers.
func appendBytes(dst []byte, field byte, data []byte) []byte {
	return append(binary.AppendUvarint(append(dst, field<<3|2), uint64(len(data))), data...)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// writeRecord writes a record of a TFRecord file: the length, its checksum, the data,
// their checksum. Checksums are CRC-32C, masked.
func writeRecord(w *bytes.Buffer, data []byte) {
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	out = binary.LittleEndian.AppendUint32(out, masked(out))
	out = append(out, data...)
	w.Write(binary.LittleEndian.AppendUint32(out, masked(data)))
}

func masked(data []byte) uint32 {
	sum := crc32.Checksum(data, castagnoli)
	return (sum>>15 | sum<<17) + 0xa282ead8
}
