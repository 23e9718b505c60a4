package fromproto_test

import (
	"bytes"
	"image"
	"image/color"
	"testing"

	"github.com/rlrun/rlrun/framework/plugin/internal/fromproto"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/plugin/internal/toproto"
)

func TestFrame(t *testing.T) {
	sent := image.NewRGBA(image.Rect(0, 0, 3, 2))
	for i := range 6 {
		sent.SetRGBA(i%3, i/3, color.RGBA{uint8(i), uint8(10 * i), uint8(200 - i), 0xff})
	}
	m := over(t, toproto.Frame(sent))
	if want := []byte{5, 50, 195}; m.Width != 3 || m.Height != 2 || !bytes.Equal(m.Rgb[15:], want) {
		t.Errorf("%d × %d, the last pixel is %v, want %v", m.Width, m.Height, m.Rgb[15:], want)
	}
	got, err := fromproto.Frame(m)
	if err != nil || got.Rect != sent.Rect || !bytes.Equal(got.Pix, sent.Pix) {
		t.Errorf("%v (%v) became %v", sent, err, got)
	}
}

// Sizes are checked before anything is allocated.
func TestFrameRefused(t *testing.T) {
	for name, m := range map[string]*pb.RgbFrame{
		"empty":      {},
		"no bytes":   {Width: 2, Height: 2},
		"too few":    {Width: 2, Height: 2, Rgb: make([]byte, 11)},
		"too many":   {Width: 2, Height: 2, Rgb: make([]byte, 13)},
		"too wide":   {Width: 4097, Height: 1, Rgb: make([]byte, 3*4097)},
		"enormous":   {Width: 1<<32 - 1, Height: 1<<32 - 1},
		"overflowed": {Width: 1 << 31, Height: 1 << 31, Rgb: make([]byte, 0)},
		"flat":       {Width: 5, Rgb: []byte{}},
	} {
		if got, err := fromproto.Frame(m); err == nil {
			t.Errorf("%s: became %v", name, got.Rect)
		}
	}
}
