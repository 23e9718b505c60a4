package space

import (
	"bytes"
	"testing"
)

// A column takes bytes of its own length and no others, and has them afterwards.
func FuzzColumnBytes(f *testing.F) {
	box := func(kind DType, shape ...int) Box {
		return Box{Shape: shape, Type: kind, Low: []float64{0}, High: []float64{1}}
	}
	spaces := []Space{Discrete{N: 3, Start: -1}, MultiDiscrete{NVec: []int64{2, 3}}, box(Float64, 2), box(Float32, 2, 2), box(Uint8, 3), box(Int64, 1)}
	for kind, s := range spaces {
		c := NewColumn(s, 2)
		f.Add(byte(kind), byte(2), c.AppendBytes(nil))
	}
	f.Add(byte(2), byte(1), []byte("\x00\x00\x00\x00\x00\x00\xf8\x7f\x01\x00\x00\x00\x00\x00\xf0\xff")) // NaN, -Inf with a bit more
	f.Fuzz(func(t *testing.T, kind, lanes byte, data []byte) {
		s := spaces[int(kind)%len(spaces)]
		c := NewColumn(s, int(lanes))
		err := c.SetBytes(data)
		if fits := len(data) == int(lanes)*c.Width*c.Type.Size(); (err == nil) != fits {
			t.Fatalf("%d bytes for %d lanes of %v: %v", len(data), lanes, s, err)
		}
		if err == nil && !bytes.Equal(c.AppendBytes(nil), data) {
			t.Fatalf("% x became % x", data, c.AppendBytes(nil))
		}
		for lane := range int(lanes) {
			if v := c.Get(s, lane); s.Check(&c, lane) == nil {
				v.CopyFrom(v)
			}
		}
	})
}
