//go:build unix

package lanefile

import (
	"os"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

// shared returns both sides of a file that is removed, as it is once both have it.
func shared(t *testing.T) (*File, *Words) {
	t.Helper()
	f := must.Get(Create(t.TempDir()))(t)
	t.Cleanup(func() { f.Close() })
	w := must.Get(Open(f.Path()))(t)
	must.Do(t, os.Remove(f.Path()))
	return f, w
}

// One side reads what the other writes. Words that are invalid, or that do not say which
// lane is to blame, name no lane.
func TestLane(t *testing.T) {
	const lanes = 4
	for _, tt := range []struct {
		name   string
		words  map[uint64]uint32
		handle uint64
		lane   int // −1: none
	}{
		{"at rest", nil, 1, -1},
		{"the first lane", map[uint64]uint32{1: 1}, 1, 0},
		{"the last lane", map[uint64]uint32{7: lanes}, 7, lanes - 1},
		{"no lane of its own", map[uint64]uint32{1: lanes + 1}, 1, -1},
		{"nonsense", map[uint64]uint32{1: 1<<32 - 1}, 1, -1},
		{"another instance is", map[uint64]uint32{2: 1}, 1, -1},
		{"both are", map[uint64]uint32{1: 1, 2: 1}, 1, -1},
		{"both are, the other way round", map[uint64]uint32{1: 1, 2: 1}, 2, -1},
		{"the last instance that can say it", map[uint64]uint32{words - 1: 2}, words - 1, 1},
		{"one too many", map[uint64]uint32{0: 2}, words, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, w := shared(t)
			for handle, word := range tt.words {
				*w.Of(handle) = word
			}
			lane, ok := f.Lane(tt.handle, lanes)
			if ok != (tt.lane >= 0) || ok && lane != tt.lane {
				t.Errorf("got lane %d, %v; want %d", lane, ok, tt.lane)
			}
		})
	}
}

// Who has no word, or no file, does without.
func TestNone(t *testing.T) {
	f, w := shared(t)
	for _, handle := range []uint64{words, 1 << 63, 1<<64 - 1} {
		if w.Of(handle) != nil {
			t.Errorf("instance %d has a word", handle)
		}
	}
	if (*Words)(nil).Of(1) != nil {
		t.Error("there are words without a file")
	}
	if _, ok := (*File)(nil).Lane(1, 1); ok || (*File)(nil).Close() != nil {
		t.Error("a lane without a file")
	}
	if _, err := Open(f.Path()); err == nil {
		t.Error("a file that is removed can be opened")
	}
	*w.Of(1) = 1
	if err := f.f.Truncate(wordSize); err != nil { // as a plugin might
		t.Fatal(err)
	}
	if _, ok := f.Lane(1, 1); ok {
		t.Error("a lane in a file that ends before it")
	}
	f.Close()
	if _, ok := f.Lane(1, 1); ok {
		t.Error("a lane in a closed file")
	}
}
