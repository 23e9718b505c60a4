// Package tensorboard writes the curves of runs as event files for TensorBoard.
package tensorboard

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/rlrun/rlrun/framework/output"
	"github.com/rlrun/rlrun/framework/result"
)

// Output makes a directory a run.
var Output = output.Output{Name: "tensorboard", Doc: "an event file for each run, in ENVIRONMENT/AGENT/run-N", Write: write}

// write writes a directory a run, with one file of events: a scalar for every
// metric at every recorded step. TensorBoard keeps values as 32-bit floats.
func write(s *output.Results, directory string) (files []string, err error) {
	provenance, err := s.Dir.Provenance()
	if err != nil {
		return nil, err
	}
	meta := &s.Summary.Meta
	environments, agents := slugs(meta.Environments), slugs(meta.Agents)
	wall := 0.0
	if started := provenance.Started; !started.IsZero() {
		wall = float64(started.UnixNano()) / 1e9
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
		run := filepath.Join(environments[rec.Environment], agents[rec.Agent], fmt.Sprintf("run-%d", rec.Run))
		if err := os.MkdirAll(filepath.Join(directory, run), 0o777); err != nil {
			return files, err
		}
		name := filepath.Join(run, fmt.Sprintf("events.out.tfevents.%010d.rlrun", int64(wall)))
		// Thousands of small files: they are not synced one by one.
		var events bytes.Buffer
		writeEvents(&events, &rec, unknown[[2]string{rec.Environment, rec.Agent}], meta.Grid, wall)
		if err := os.WriteFile(filepath.Join(directory, name), events.Bytes(), 0o666); err != nil {
			return files, err
		}
		files = append(files, name)
	}
	return files, nil
}

func slugs(labels []string) map[string]string {
	out := map[string]string{}
	for i, slug := range result.Slugs(labels) {
		out[labels[i]] = slug
	}
	return out
}

// writeEvents writes the curves of a run. An unknown metric has a point without a value at the end.
func writeEvents(w *bytes.Buffer, rec *result.Record, unknown []result.Metric, grid []int, wall float64) {
	// Event: 1 wall_time, 2 step, 3 file_version, 5 summary.
	event := binary.LittleEndian.AppendUint64([]byte{1<<3 | 1}, math.Float64bits(wall))
	writeRecord(w, appendBytes(event[:len(event):len(event)], 3, []byte("brain.Event:2")))
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
		writeRecord(w, appendBytes(e, 5, summary))
	}
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
