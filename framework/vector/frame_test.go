package vector

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"testing"
)

func TestFrame(t *testing.T) {
	sent := image.NewRGBA(image.Rect(0, 0, 3, 2))
	for i := range 6 {
		sent.SetRGBA(i%3, i/3, color.RGBA{uint8(i), uint8(10 * i), uint8(200 - i), 0xff})
	}
	data, err := toFrame(sent)
	if want := []byte{3, 0, 0, 0, 2, 0, 0, 0, 0, 0, 200, 1, 10, 199}; err != nil || !bytes.HasPrefix(data, want) || len(data) != 8+18 {
		t.Errorf("%v, %v", data, err)
	}
	got, err := fromFrame(data)
	if err != nil || got.Rect != sent.Rect || !bytes.Equal(got.Pix, sent.Pix) {
		t.Errorf("%v (%v) became %v", sent, err, got)
	}
}

// Sizes are checked before anything is allocated.
func TestFrameRefused(t *testing.T) {
	for name, c := range map[string]struct {
		width, height uint32
		bytes         int
	}{
		"empty": {}, "no bytes": {2, 2, 0}, "too few": {2, 2, 11}, "too many": {2, 2, 13}, "too wide": {4097, 1, 3 * 4097},
		"enormous": {1<<32 - 1, 1<<32 - 1, 0}, "overflowed": {1 << 31, 1 << 31, 0}, "flat": {5, 0, 0},
	} {
		data := binary.LittleEndian.AppendUint32(nil, c.width)
		data = append(binary.LittleEndian.AppendUint32(data, c.height), make([]byte, c.bytes)...)
		if got, err := fromFrame(data); err == nil {
			t.Errorf("%s: became %v", name, got.Rect)
		}
	}
	if got, err := fromFrame([]byte{1, 0, 0, 0, 1}); err == nil {
		t.Errorf("a frame that ends in its size became %v", got.Rect)
	}
}
