package tensorboard

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rlrun/rlrun/framework/output/outputtest"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/must"
)

// The checksum of the nine digits is the check value of CRC-32C in every catalogue.
func TestChecksum(t *testing.T) {
	const check = uint32(0xe3069283)
	const mask = uint32(0xa282ead8)
	unmasked := masked([]byte("123456789")) - mask
	if got := unmasked>>17 | unmasked<<15; got != check {
		t.Errorf("CRC-32C is %x, want %x", got, check)
	}
}

// Event files are TFRecords of Event messages, as a decoder that is not ours sees them.
func TestTensorBoard(t *testing.T) {
	dir := t.TempDir()
	files := must.Get(Output.Write(outputtest.Small(t), dir))(t)
	want := filepath.Join("two-arms", "a_1", "run-0", "events.out.tfevents.1700000000.000000.rlrun")
	if len(files) != 2 || files[0] != want { // a failed run has no events
		t.Fatalf("files %v", files)
	}
	data := must.Get(os.ReadFile(filepath.Join(dir, want)))(t)
	type scalar struct {
		step  uint64
		tag   string
		value float32
	}
	var got []scalar
	for len(data) > 0 {
		n := binary.LittleEndian.Uint64(data)
		event := data[12 : 12+n]
		if masked(data[:8]) != binary.LittleEndian.Uint32(data[8:]) || masked(event) != binary.LittleEndian.Uint32(data[12+n:]) {
			t.Fatal("a checksum is wrong")
		}
		data = data[16+n:]
		var step uint64
		fields(t, event, func(num protowire.Number, number uint64, bytes []byte) {
			switch num {
			case 1:
				if math.Float64frombits(number) != 1.7e9 {
					t.Errorf("wall time %g", math.Float64frombits(number))
				}
			case 2:
				step = number
			case 5:
				fields(t, bytes, func(_ protowire.Number, _ uint64, value []byte) {
					s := scalar{step: step}
					fields(t, value, func(num protowire.Number, number uint64, tag []byte) {
						if num == 1 {
							s.tag = string(tag)
						} else {
							s.value = math.Float32frombits(uint32(number))
						}
					})
					got = append(got, s)
				})
			}
		})
	}
	if !slices.Equal(got, []scalar{{1, "reward", 1}, {4, "episode_return", 2}, {4, "reward", 0.5}}) {
		t.Errorf("scalars %v", got)
	}
}

// While a run goes on its file has the beginning of what it has in the end.
func TestWatch(t *testing.T) {
	r, dir := outputtest.Small(t), t.TempDir()
	watch := Output.Watch(r.Dir, r.Summary.Meta, dir)
	failed := 0
	for rec := range r.Records() {
		unfinished := rec
		if rec.Status != result.OK {
			failed++
			unfinished.Curves = map[result.Metric][]float64{result.Reward: {1}}
			watch([]result.Record{unfinished})
			continue
		}
		unfinished.Curves = map[result.Metric][]float64{}
		for m, curve := range rec.Curves {
			unfinished.Curves[m] = curve[:1]
		}
		watch([]result.Record{unfinished})
		watch([]result.Record{unfinished})
	}
	begun := map[string][]byte{}
	for _, name := range must.Get(filepath.Glob(filepath.Join(dir, "*", "*", "*", "*")))(t) {
		begun[name] = must.Get(os.ReadFile(name))(t)
	}
	files := must.Get(Output.Write(r, dir))(t)
	if failed == 0 || len(begun) != len(files)+failed {
		t.Errorf("began %d files for %d, and %d of failed runs", len(begun), len(files), failed)
	}
	for name, beginning := range begun {
		if inside := must.Get(filepath.Rel(dir, name))(t); !slices.Contains(files, inside) {
			if _, err := os.Stat(name); err == nil {
				t.Errorf("%s of a failed run is still there", name)
			}
			continue
		}
		if all := must.Get(os.ReadFile(name))(t); len(beginning) >= len(all) || !bytes.HasPrefix(all, beginning) {
			t.Errorf("%s began with %d bytes that are not the first of %d", name, len(beginning), len(all))
		}
	}
}

// A pipe in place of a file gives way to one at the end, and nothing waits for its reader before.
func TestPipe(t *testing.T) {
	r, dir := outputtest.Small(t), t.TempDir()
	name := filepath.Join(dir, must.Get(Output.Write(r, dir))(t)[0])
	must.Do(t, os.Remove(name))
	if _, err := exec.LookPath("mkfifo"); err != nil {
		t.Skipf("this system has no mkfifo: %v", err)
	}
	must.Do(t, exec.CommandContext(t.Context(), "mkfifo", name).Run())
	for rec := range r.Records() {
		Output.Watch(r.Dir, r.Summary.Meta, dir)([]result.Record{rec})
	}
	must.Get(Output.Write(r, dir))(t)
	if info := must.Get(os.Lstat(name))(t); !info.Mode().IsRegular() {
		t.Errorf("%s is %v", name, info.Mode())
	}
}

// A file of somebody else, to which a hard link leads, is not written into.
func TestHardLink(t *testing.T) {
	r, dir := outputtest.Small(t), t.TempDir()
	name, mine := filepath.Join(dir, must.Get(Output.Write(r, dir))(t)[0]), filepath.Join(dir, "mine")
	for _, text := range []string{"mine", ""} {
		must.Do(t, os.Remove(name))
		must.Do(t, os.WriteFile(mine, []byte(text), 0o666))
		must.Do(t, os.Link(mine, name))
		for rec := range r.Records() {
			Output.Watch(r.Dir, r.Summary.Meta, dir)([]result.Record{rec})
		}
		must.Get(Output.Write(r, dir))(t)
		if now := string(must.Get(os.ReadFile(mine))(t)); now != text {
			t.Errorf("the file behind a link is %q", now)
		}
		must.Do(t, os.Remove(mine))
	}
}

// Experiments that began in the same second have files of their own in one directory.
func TestSameSecond(t *testing.T) {
	one, other := layout{wall: 1.7e9}, layout{wall: 1.7e9 + 1.0/64}
	if one.base() == other.base() {
		t.Errorf("both are %s", one.base())
	}
}

// fields calls f with every field of a message: its number or its bytes.
func fields(t *testing.T, message []byte, f func(num protowire.Number, number uint64, bytes []byte)) {
	t.Helper()
	for len(message) > 0 {
		num, kind, n := protowire.ConsumeTag(message)
		message = message[max(n, 0):]
		var number uint64
		var bytes []byte
		switch kind {
		case protowire.VarintType:
			number, n = protowire.ConsumeVarint(message)
		case protowire.Fixed32Type:
			var x uint32
			x, n = protowire.ConsumeFixed32(message)
			number = uint64(x)
		case protowire.Fixed64Type:
			number, n = protowire.ConsumeFixed64(message)
		case protowire.BytesType:
			bytes, n = protowire.ConsumeBytes(message)
		}
		if n <= 0 {
			t.Fatalf("cannot decode %x", message)
		}
		f(num, number, bytes)
		message = message[n:]
	}
}
