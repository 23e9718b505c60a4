package space

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The bytes are those that encoding/binary writes, whatever the machine.
func TestNumbersAreLittleEndian(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOf(rapid.Float64()).Draw(t, "xs")
		var want []byte
		for _, x := range xs {
			want = binary.LittleEndian.AppendUint64(want, math.Float64bits(x))
		}
		if got := AppendNumbers([]byte{7}, xs); !slices.Equal(got, append([]byte{7}, want...)) {
			t.Fatalf("got % x, want 07 % x", got, want)
		}
		got := make([]float64, len(xs))
		SetNumbers(got, want)
		for i, x := range xs {
			if math.Float64bits(got[i]) != math.Float64bits(x) {
				t.Fatalf("element %d: got %v, want %v", i, got[i], x)
			}
		}
	})
}

func TestNumbersOfFourBytes(t *testing.T) {
	got := AppendNumbers(nil, []float32{1, -2})
	if want := []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}; !slices.Equal(got, want) { // IEEE 754
		t.Errorf("got % x, want % x", got, want)
	}
}

// The additional work of a big-endian machine after the copy.
func TestSwap(t *testing.T) {
	data := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	swap(data, 4)
	if want := []byte{4, 3, 2, 1, 8, 7, 6, 5}; !slices.Equal(data, want) {
		t.Errorf("got %v, want %v", data, want)
	}
}

func BenchmarkNumbers(b *testing.B) {
	xs := make([]float64, 1024)
	buf := AppendNumbers(nil, xs)
	b.ReportAllocs()
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			buf = AppendNumbers(buf[:0], xs)
		}
	})
	b.Run("set", func(b *testing.B) {
		for b.Loop() {
			SetNumbers(xs, buf)
		}
	})
}
