package footprint_test

import (
	"math/rand/v2"
	"testing"

	"github.com/rlrun/rlrun/internal/footprint"
)

type node struct {
	next  *node
	table []float64
	any   any
	pcg   rand.PCG
	rng   *rand.PCG // into the same variable
}

// A node has 8 + 24 + 16 + 16 + 8 = 72 bytes. Slices count with their spare room, shared arrays and
// pointers into what is counted once, and rings end.
func TestOf(t *testing.T) {
	table := make([]float64, 10, 100)
	n := &node{table: table}
	n.rng = &n.pcg
	if got, want := footprint.Of(n), int64(72+800); got != want {
		t.Errorf("a table: %d bytes, want %d", got, want)
	}
	n.next = &node{next: n, table: table[5:], any: []any{table[:3], nil}}
	if got, want := footprint.Of(n), int64(2*72+800+2*16); got != want {
		t.Errorf("a ring: %d bytes, want %d", got, want)
	}
	many := map[int32]*int64{1: new(int64), 2: new(int64)}
	if got, want := footprint.Of(many), int64(2*(4+8)+2*8+8); got != want {
		t.Errorf("a map: %d bytes, want %d", got, want)
	}
	if got := footprint.Of(nil) + footprint.Of(func() {}) + footprint.Of(7); got != 0 {
		t.Errorf("nothing: %d bytes", got)
	}
}
